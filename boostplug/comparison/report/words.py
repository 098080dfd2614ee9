"""A comparison in sentences: what to know before relying on it, how to read its table, and the recommendation."""

from collections.abc import Mapping
from textwrap import indent
from typing import Any

from boostplug.comparison.formats import counted, decimals, interval, is_missing, probability, short, signed
from boostplug.comparison.inputs.columns import PARTS
from boostplug.comparison.training.baselines import LINEAR
from boostplug.comparison.training.frameworks import NO_FRAMEWORK

Document = Mapping[str, Any]
"""`CompareResult.document`, or a part of it."""

CODE = "    "
"""Indent of a line of code."""
_HOPELESS_TIMES = 100  # multiple of the number of queries
_FOR_80_PERCENT = (2.80 / 1.96) ** 2  # multiple of the queries that give p < .05 with 50 % probability
_LOGGED = (
    "Labels of logged lists were seen in the old order, so a model that differs from it is judged low: see "
    "docs/guides/clicks.md, if positions are known."
)
_LITTLE_GAIN = 0.005  # gain from twice the training queries
_EARLY_ROUNDS, _MANY_ROUNDS = 10, 100  # rounds used, and allowed, that say that trees are too large for the data


def below_table(document: Document) -> list[str]:
    """Return the lines below the table."""
    return [
        *caveats(document),
        about_data(document),
        about_means(document),
        *about_differences(document),
        about_times(document),
        f"Trees: {document['settings']['trees']}.",
        f"All methods: {'; '.join(f'{name} {value}' for name, value in parameters(document))}.",
        *tuned(document),
        "Versions: " + ", ".join(f"{name} {number}" for name, number in document["versions"].items()) + ".",
        *(f"Note: {note}" for note in document["notes"]),
    ]


def caveats(document: Document) -> list[str]:
    """Return what readers must know first: missing runs, shared data, trainings at the cap, failures."""
    methods, rounds = document["methods"], document["settings"]["rounds"]
    lines = [f"WARNING: {warning}" for warning in document["warnings"]]
    if is_partial(document):
        planned = sum(method["runs_planned"] for method in methods)
        done = planned - len(document["not_run"])
        lines.insert(0, f"INCOMPLETE: interrupted after {done} of {planned} runs.")
    if capped := [method for method in methods if method["runs_at_cap"]]:
        names = ", ".join(f"{_where(m, document)} ({m['runs_at_cap']} of {m['runs_finished']} runs)" for m in capped)
        lines.append(
            f"No verdict on methods that trained to the cap of {rounds:,} rounds, nor beside a reference that did: "
            f"{names}. More rounds may change the order: raise the rounds."
        )
    early = [method for method in methods if method["rounds"] is not None and method["rounds"] <= _EARLY_ROUNDS]
    if rounds >= _MANY_ROUNDS and early:
        lines.append(
            f"Training stopped within {_EARLY_ROUNDS} of {rounds:,} rounds: "
            f"{', '.join(_where(m, document) for m in early)}. "
            "Such trees learn the training queries too fast: lower num_leaves or learning_rate in params (--params)."
        )
    references = {method["reference"] for method in methods}
    lines += [
        f"No Δ and p beside {title(method)}, which {'failed' if method['errors'] else 'was not run'}."
        for method in methods
        if title(method) in references and not method["runs_finished"]
    ]
    return lines + [
        f"FAILED: {method['framework']} {method['method']}: {error}" for method in methods for error in method["errors"]
    ]


def is_partial(document: Document) -> bool:
    """Return whether Ctrl-C left out runs."""
    return bool(document["interrupted"] or document["not_run"])


def frameworks(document: Document) -> list[str]:
    """Return the frameworks of the methods, in their order."""
    names = dict.fromkeys(method["framework"] for method in document["methods"])
    return [name for name in names if name != NO_FRAMEWORK]


def _where(method: Document, document: Document) -> str:
    """Return a method's name, with its framework if the comparison has several."""
    return title(method) if len(frameworks(document)) > 1 else str(method["method"])


def about_data(document: Document) -> str:
    """Return the sizes of the parts, the weights, and the number of test queries on which the metric is defined."""
    data, test = document["data"], document["test"]
    sizes = ", ".join(f"{part} {data[part]['queries']:,}/{data[part]['documents']:,}" for part in PARTS)
    folds = f" over {data['folds']} folds together" if data["folds"] > 1 else ""
    sentences = [f"Data: {data['name'] or 'given'}; queries/documents{folds}: {sizes}; {data['features']:,} features."]
    if data.get("weighted"):
        sentences.append(
            "Means and tests are by the weights of the queries. All methods train with the same weights, divided by "
            "their mean."
        )
    if data["test"]["queries"] - test["repeated"] != test["queries"]:
        metric = document["settings"]["metric"]
        sentences.append(f"{metric} is defined on {test['queries']:,} of the test queries.")
    if test["repeated"]:
        sentences.append("A test query of several folds counts once, by its mean over them.")
    return " ".join(sentences)


def about_means(document: Document) -> str:
    """Return the meaning of the columns of metrics."""
    settings, folds = document["settings"], document["data"]["folds"]
    n_seeds = len(settings["seeds"])
    runs = counted(n_seeds, "seed") + f" × {folds} folds" * (folds > 1)
    spread = f", {settings['metric']} ± standard deviation over the runs ({runs})"
    lower = "; ↓: lower is better" if settings["lower_is_better"] else ""
    return f"Test mean{spread if n_seeds * folds > 1 else ' of one run'}; bold: the framework's best{lower}."


def about_differences(document: Document) -> list[str]:
    """Return the meaning of Δ, its interval and p, if the table has any."""
    test, metric = document["test"], document["settings"]["metric"]
    references = dict.fromkeys(m["reference"] for m in document["methods"] if m["difference"] is not None)
    if not references:
        return []
    corrected = ", ".join(f"{counted(n, 'comparison')} with {name}" for name, n in test["comparisons"].items())
    queries = "test queries of the runs that both have" if document["not_run"] else f"{test['queries']:,} test queries"
    line = (
        f"Δ: difference in {metric} to the reference ({', '.join(references)}), with a {percent(document)} interval "
        f"(Student's t over the {queries}, mean over seeds). p: paired randomisation test over them "
        f"({test['flips']:,} sign flips), corrected by Holm's method{f' ({corrected})' * bool(corrected)}. "
        "Other seeds or training data may give other differences."
    )
    return [line]


def about_times(document: Document) -> str:
    """Return the meaning of the columns of times and rounds."""
    settings, used = document["settings"], "rounds: those used, mean over runs."
    runs = [r["seconds_per_round"] for m in document["methods"] for r in m["runs"] if r["error"] is None]
    if not any(runs):
        return f"No times, because other programs or trainings kept the processor busy. {used}"
    jobs = f", {settings['jobs']} trainings at once" if settings["jobs"] > 1 else ""
    missing = "; times are missing where other programs or trainings kept the processor busy" if None in runs else ""
    return (
        f"ms/round: the median round with {counted(settings['num_threads'], 'thread')}{jobs}, without the metric, with "
        f"the update of the validation scores{missing}. {used}"
    )


def parameters(document: Document) -> list[tuple[str, str]]:
    """Return the names and values of the parameters that all methods share."""
    settings = document["settings"]
    patience, tried, params = settings["early_stopping_rounds"], settings["tune"], settings["params"]
    fields = {
        "metric that stops and chooses": settings["validation_metric"],
        "rounds at most": f"{settings['rounds']:,}",
        "early stopping": f"after {patience} rounds without a better value" if patience else "none",
        "seeds": ", ".join(map(str, settings["seeds"])),
        "folds": str(document["data"]["folds"]),
        **{name: str(value) for name, value in params.items() if not isinstance(value, dict)},
        **{f"only {name}": _assignments(value) for name, value in params.items() if isinstance(value, dict) and value},
        "settings tried per method": str(tried) if tried else "none (not tuned)",
        "threads of a training": str(settings["num_threads"]),
        "trainings at once": str(settings["jobs"]),
    }
    if "min_rows" in fields:
        fields["min_rows"] += " (only lightgbm)"
    if "xgboost" in frameworks(document):
        fields["pairs of rank:ndcg and rank:pairwise"] = "XGBoost's default (lambdarank_pair_method=topk)"
    return [*fields.items()]


def _assignments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={f'{v:.3g}' if isinstance(v, float) else v}" for key, v in values.items())


def tuned(document: Document) -> list[str]:
    """Return the tuning in words, and a line per method and fold with the chosen setting."""
    settings, folds = document["settings"], document["data"]["folds"]
    if not settings["tune"]:
        return []
    training = (
        f"Tuned per method and fold: the best of {settings['tune']} settings by validation "
        f"{settings['validation_metric']} with the first seed, of trees from one space for all and the objective's own "
        "parameters (optuna's TPE, settings without hope pruned); the first setting is the one above."
    )
    lines = [training]
    for method in document["methods"]:
        for fold, chosen in {run["fold"]: run["tuned"] for run in method["runs"] if run["tuned"]}.items():
            where = f" fold {fold + 1}" if folds > 1 else ""
            values = _assignments({"objective": chosen["objective"], **chosen["parameters"]})
            untuned = "" if chosen["parameters"] else " (the untuned setting)"
            lines.append(f"Tuned: {method['framework']} {method['method']}{where}: {values}{untuned}")
            if failed := chosen.get("failed"):
                lines.append(f"{failed} of its {settings['tune']} settings failed, the first by {chosen['failure']}")
    return lines


def advice(document: Document) -> list[str]:
    """Return the recommendation as lines of words, and indented lines of code that save and train its model."""
    advice = document["recommendation"]
    if advice is None:
        return ["No recommendation: no run has finished."]
    unfinished = ["The comparison was interrupted: this holds for the finished runs only."] * is_partial(document)
    return [*sentences(document), *unfinished, *model_of(document)]


def headline(document: Document) -> str:
    """Return the first sentence of the recommendation."""
    return "Provisional: " * bool(document["recommendation"] and is_partial(document)) + advice(document)[0]


def sentences(document: Document) -> list[str]:
    """Return what to do, by how much, how sure, in plain counts, what would make it surer, and what is not known."""
    counts = plainly(document)
    known = [*_by_how_much(document), *_how_sure(document), *counts, *_surer(document)]
    is_logged = bool(counts) and document["recommendation"]["counts"]["logged"]
    return [_what_to_do(document), *known, *([_LOGGED] if is_logged else [])]


def _what_to_do(document: Document) -> str:
    advice = document["recommendation"]
    in_use = advice["incumbent"] or advice
    challenger, incumbent = _named(advice["challenger"], document), _named(in_use, document)
    best = _best(document)
    worse = "methods that other folds choose rank" if len(advice["chosen"]) > 1 else f"{challenger} ranks"
    return {
        "doubtful": f"Do not rely on this yet: {'; '.join(advice['reasons'])}.",
        "better": f"Change to {challenger}: it ranks significantly better than {incumbent}.",
        "level": f"Keep {incumbent}: {challenger} does not rank significantly better.",
        "worse": f"Keep {incumbent}: {worse} significantly worse.",
        "at the cap": f"No verdict yet, so keep {incumbent}: trainings ended at the cap of "
        f"{document['settings']['rounds']:,} rounds.",
        "too few queries": f"No verdict yet, so keep {incumbent}: {advice['queries'] or 0:,} test queries are too few.",
        "unchallenged": f"Keep {incumbent}: it is {best}.",
        "no incumbent": f"Take {challenger}: it is {best}, and nothing in use has a finished run.",
    }[advice["outcome"]]


def _best(document: Document) -> str:
    """Return what made a method the challenger, or let the incumbent stay."""
    advice = document["recommendation"]
    if advice["comparisons"]:
        return f"by validation {document['settings']['validation_metric']} the best of those clearly better there"
    if advice["among"] == 1:
        return "the only method" + " that has finished" * (len(document["methods"]) > 1)
    return f"the best of {advice['among']} {'over all folds' if len(advice['chosen']) > 1 else 'on validation'}"


def _by_how_much(document: Document) -> list[str]:
    """Return the values on test of the challenger, the incumbent and the frameworks' references."""
    advice, metric = document["recommendation"], document["settings"]["metric"]
    challenger, incumbent, difference = advice["challenger"], advice["incumbent"], advice["difference"]
    others = "".join(f"; {_named(m, document)} has {short(m['test'])}" for m in advice["second"])
    if difference is None or advice["outcome"] == "unchallenged":
        values = f"{short(challenger['test'])} on test and {short(challenger['validation'])} on validation"
        return [f"Its {metric} is {values}, the mean of {counted(advice['runs'], 'run')}{others}."]
    name, old = _named(challenger, document), f"{_named(incumbent, document)} ({short(incumbent['test'])})"
    side = f"{short(abs(difference))} {'above' if difference > 0 else 'below'}"
    side = side if round(difference, 4) else "level with"
    queries = f"better on {advice['better']:,} of {advice['queries']:,} queries, worse on {advice['worse']:,}"
    value = f"On test {name}, {_best(document)}, has {metric} {short(challenger['test'])}"
    if len(advice["chosen"]) == 1:
        return [f"{value}, {side} {old}: {queries}{others}."]
    n, folds = sum(title(one) == title(challenger) for one in advice["chosen"]), len(advice["chosen"])
    agree = f"{f'all {folds}' if n == folds else f'{n} of {folds}'} folds choose{'s' * (n == 1)} it"
    return [
        f"{value}, beside {old}{others}.",
        f"Chosen without the queries that test it, the method is {side} what it replaces: {queries}; {agree}.",
    ]


def _how_sure(document: Document) -> list[str]:
    advice = document["recommendation"]
    if advice["difference"] is None or advice["outcome"] == "unchallenged":
        return []
    p, n = advice["p"], advice["comparisons"]
    known = f"Its {percent(document)} interval is {' to '.join(map(signed, advice['interval']))}"
    known = known if interval(advice["interval"]) else "It has no interval"
    if is_missing(p):
        test = "there is no p, because more rounds might change it"
    else:
        why = f"corrected for {n} comparisons" if n else "not corrected, since validation chose the method"
        why = "not corrected, since each query tests what others chose" if len(advice["chosen"]) > 1 else why
        test = f"p {'= ' * (p >= 0.0005)}{probability(p)} ({why})"
    seen = ", each judged by models that have not seen it" * document["data"]["crossed"]
    return [f"{known}, and {test}, over {advice['queries']:,} test queries{seen}."]


def plainly(document: Document) -> list[str]:
    """Return the plain counts of the challenger and of what is in use."""
    advice = document["recommendation"]
    counts = advice and advice["outcome"] != "doubtful" and advice["counts"]
    if not counts:
        return []
    subject, beside = (_named(advice[which], document) for which in ("challenger", "incumbent"))
    if not counts["same"]:
        subject, beside = "the methods that other folds choose", "what they replace"
    today, clauses = "today" if advice["incumbent"]["framework"] == NO_FRAMEWORK else beside, list[str]()
    for count in counts["counts"]:
        digits, first = count["digits"], not clauses
        ours, theirs = (round(count[which], digits) for which in ("challenger", "incumbent"))
        change = f"{'difference ' * first}{decimals(ours - theirs, digits, '+')}"
        if interval(count["interval"]):
            ends = ", ".join(decimals(end, digits, "+") for end in count["interval"])
            change += f"{f', {percent(document)} interval' * first} [{ends}]"
        what = count["what"].replace("#", decimals(ours, digits))
        clauses.append(f"{what} ({f'{today} ' * first}{decimals(theirs, digits)}, {change})")
    return [f"With {subject}, {'; '.join(clauses)}."]


def _surer(document: Document) -> list[str]:
    """Return what more test queries, more rounds and more training queries are good for."""
    advice, sign = document["recommendation"], 1 if document["settings"]["greater_is_better"] else -1
    steps = []
    if advice["outcome"] == "at the cap":
        steps.append("more rounds may change the order, so raise the rounds")
    elif advice["outcome"] == "too few queries":
        steps.append("30 test queries are the least for a verdict, and some hundreds are better")
    elif advice["outcome"] == "worse" and len(advice["chosen"]) == 1:
        steps.append("the validation part misleads here, so choose on more validation queries")
    elif advice["outcome"] == "level" and advice["difference"] * sign > 0:
        steps.append(_next_step(document))
    elif advice["outcome"] == "better" and 2.0 * min(map(abs, advice["interval"])) < abs(advice["difference"]):
        steps.append(
            "a difference that is just significant is too large on average, so expect one in the half of its interval "
            "that is nearer to 0"
        )
    if (doubled := advice["doubled"]) and advice["outcome"] != "doubtful":
        less = sign * doubled["difference"]
        low, high = sorted(sign * end for end in doubled["interval"])
        half = f"half of the training queries gave {short(abs(less))} {'less' if less > 0 else 'more'}"
        if low > 0:
            steps.append(f"{half}, so twice as many may give nearly as much more")
        else:
            so = "more of them promise little" if high < _LITTLE_GAIN else "it is open whether more of them help"
            steps.append(f"{half}, no significant difference, so {so}")
    line = "; ".join(steps)
    return [f"{line[0].upper()}{line[1:]}."] if steps else []


def model_of(document: Document) -> list[str]:
    """Return words and code by which the recommended model is saved and trained again; nothing for a column."""
    advice, metric = document["recommendation"], document["settings"]["metric"]
    if not advice["code"] or advice["outcome"] == "doubtful":
        return []
    file = "ranker.json" if advice["framework"] == "xgboost" else "ranker.txt"
    option = f", add --model {file} to the command, or in Python" * (document["command"] is not None)
    about = ""
    seeds = len(document["settings"]["seeds"]) if advice["framework"] == NO_FRAMEWORK else 1  # of equal models
    if (n := advice["runs"] // seeds) > 1:
        about = f"The model is the mean of {n} trained ones, an ordinary booster. "
        if mean := advice["mean_of_seeds"]:
            whose = f"each fold's {mean['models']}" if document["data"]["folds"] > 1 else "them"
            about += f"On test the mean of {whose} has {metric} {short(mean['test'][metric])}. "
    save = [f"{about}To save it{option}:", f'{CODE}result.model.save_model("{file}")']
    if " --model" in (document["command"] or ""):
        save = [about.strip()] * bool(about)
    return [*save, "These lines train it again:", indent(advice["code"], CODE)]


def title(method: Document) -> str:
    """Return `Method.title`."""
    return f"{method['method']}" + f" in {method['framework']}" * bool(method["framework"] != NO_FRAMEWORK)


def _named(method: Document, document: Document) -> str:
    """Return a method as a sentence has it: with its framework if there are several; a column with an article."""
    if method["framework"] != NO_FRAMEWORK:
        return _where(method, document)
    return f"the {method['method']}" + " model" * bool(method["method"] == LINEAR)


def _next_step(document: Document) -> str:
    """Return the number of test queries with which such a difference is significant with 80 % probability."""
    advice, test = document["recommendation"], document["test"]
    if not interval(advice["interval"]) or not advice["queries"]:
        return "more test queries would decide it"
    low, high = advice["interval"]
    needed = _FOR_80_PERCENT * advice["queries"] * (0.5 * (high - low) / abs(advice["difference"])) ** 2
    if needed > _HOPELESS_TIMES * advice["queries"]:
        times = f"more than {_HOPELESS_TIMES} times as many test queries"
        return f"a difference this small would need {times} to be significant"
    more = needed - advice["queries"]
    in_all = more * (document["data"]["test"]["queries"] - test["repeated"]) / max(test["queries"], 1)
    kind = "" if in_all < 1.05 * more else f" on which the metric is defined, some {_rounded(in_all)} queries in all,"
    return (
        f"with about {_rounded(more)} more test queries{kind} a difference of this size is significant with 80 % "
        "probability"
    )


def _rounded(n: float) -> str:
    """Return a number to two digits."""
    step = 10 ** max(0, len(str(int(n))) - 2)
    return f"{step * max(1, round(n / step)):,}"


def percent(document: Document) -> str:
    """Return the level of the intervals."""
    return f"{100 * document['test']['level']:.3g} %"

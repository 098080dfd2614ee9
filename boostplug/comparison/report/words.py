"""A comparison in sentences: what to know before relying on it, how to read its table, and the recommendation."""

from collections.abc import Mapping
from typing import Any

from boostplug.comparison.inputs.clicks import biased_verdict
from boostplug.comparison.report.formats import counted, interval, is_missing, probability, short, signed

Document = Mapping[str, Any]
"""`CompareResult.document`, or a part of it."""

CODE = "    "
"""Indent of a line of code."""
HEADLINES = {
    "better": "significantly better than {incumbent}: change to it",
    "level": "keep it: {challenger} is not significantly different",
    "worse": "keep it: {challenger}, the best on validation, is significantly worse",
    "at the cap": "no verdict yet: trainings ended at the cap of {rounds} rounds",
    "too few queries": "no verdict yet: {queries} test queries are too few",
    "unchallenged": "keep it: it is the best on validation",
    "no incumbent": "best on validation; nothing to compare it with",
}
"""The verdict of the page for each outcome; for clicks there is no recommendation."""
_HOPELESS = 100  # multiple of the number of queries
_FOR_80_PERCENT = (2.80 / 1.96) ** 2  # multiple of the queries that give p < .05 with 50 % probability
_EARLY, _MANY = 10, 100  # rounds used, and allowed, that say that trees are too large for the data
_MOST_NAMES = 4  # methods close to the best on validation that are named


def below_table(document: Document) -> list[str]:
    """Return the lines below the table."""
    return [
        *caveats(document),
        about_data(document),
        about_means(document),
        *about_differences(document),
        about_times(document),
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
    alone = [method for method in methods if method["start"] is None]  # trees from a start may well be few
    early = [method for method in alone if method["rounds"] is not None and method["rounds"] <= _EARLY]
    if rounds >= _MANY and early:
        lines.append(
            f"Training stopped within {_EARLY} of {rounds:,} rounds: {', '.join(_where(m, document) for m in early)}. "
            "Such trees learn the training queries too fast: lower num_leaves or learning_rate in params."
        )
    references = {(method["framework"], method["reference"]) for method in methods}
    lines += [
        f"No Δ and p in {method['framework']}: {method['method']}, which its methods are compared with, "
        f"{'failed' if method['errors'] else 'was not run'}."
        for method in methods
        if (method["framework"], method["method"]) in references and not method["runs_finished"]
    ]
    return lines + [
        f"FAILED: {method['framework']} {method['method']}: {error}" for method in methods for error in method["errors"]
    ]


def is_partial(document: Document) -> bool:
    """Return whether Ctrl-C left out runs."""
    return bool(document["interrupted"] or document["not_run"])


def frameworks(document: Document) -> list[str]:
    """Return the frameworks of the methods, in their order."""
    return list(dict.fromkeys(method["framework"] for method in document["methods"]))


def _where(method: Document, document: Document) -> str:
    """Return a method's name, with its framework if the comparison has several."""
    several = len(frameworks(document)) > 1
    return f"{method['method']} in {method['framework']}" if several else str(method["method"])


def about_data(document: Document) -> str:
    """Return the sizes of the parts, the weights, and the number of test queries on which the metric is defined."""
    data, test = document["data"], document["test"]
    sizes = ", ".join(
        f"{part} {data[part]['queries']:,}/{data[part]['documents']:,}" for part in ("train", "valid", "test")
    )
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
    references = {m["framework"]: m["reference"] for m in document["methods"] if m["difference"] is not None}
    if not references:
        return []
    listed = ", ".join(f"{name} in {framework}" for framework, name in references.items())
    corrected = ", ".join(f"{counted(n, 'comparison')} in {name}" for name, n in test["comparisons"].items() if n)
    queries = "test queries of the runs that both have" if document["not_run"] else f"{test['queries']:,} test queries"
    found = document["recommendation"]
    own = found is not None and found["p"] is not None
    return [
        f"Δ: difference in {metric} to the reference ({listed}), with a {percent(document)} interval (Student's t over "
        f"the {queries}, mean over seeds). p: paired randomisation test over them ({test['flips']:,} sign flips). "
        + "p of the best on validation is not corrected: it was chosen before the test. " * own
        + (f"Holm's method corrects the others ({corrected}). " if corrected else "")
        + "Other seeds or training data may give other differences."
    ]


def about_times(document: Document) -> str:
    """Return the meaning of the columns of times and rounds."""
    settings, used = document["settings"], "rounds: those used, mean over runs."
    runs = [r["seconds_per_round"] for m in document["methods"] for r in m["runs"] if r["error"] is None]
    if not any(runs):
        return f"No times, because other programs kept the processor busy. {used}"
    jobs = f", {settings['jobs']} trainings at once" if settings["jobs"] > 1 else ""
    missing = "; times are missing where other programs kept the processor busy" if None in runs else ""
    return (
        f"ms/round: the median round with {counted(settings['num_threads'], 'thread')}{jobs}, without the metric, with "
        f"the update of the validation scores{missing}. {used}"
    )


def parameters(document: Document) -> list[tuple[str, str]]:
    """Return the names and values of the parameters that all methods share."""
    settings = document["settings"]
    patience, tried, params = settings["early_stopping_rounds"], settings["tune"], settings["params"]
    found = {
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
    if "min_rows" in found:
        found["min_rows"] += " (only lightgbm)"
    if "xgboost" in frameworks(document):
        found["pairs of rank:ndcg and rank:pairwise"] = "XGBoost's default (lambdarank_pair_method=topk)"
    return [*found.items()]


def _assignments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={f'{v:.3g}' if isinstance(v, float) else v}" for key, v in values.items())


def tuned(document: Document) -> list[str]:
    """Return the tuning in words, and a line per method and fold with the chosen setting."""
    settings, folds = document["settings"], document["data"]["folds"]
    if not settings["tune"]:
        return []
    how = (
        f"Tuned per method and fold: the best of {settings['tune']} settings by validation "
        f"{settings['validation_metric']} with the first seed, of trees from one space for all and the objective's own "
        "parameters (optuna's TPE, settings without hope pruned); the first setting is the one above."
    )
    lines = [how]
    for method in document["methods"]:
        for fold, chosen in {run["fold"]: run["tuned"] for run in method["runs"] if run["tuned"]}.items():
            where = f" fold {fold + 1}" if folds > 1 else ""
            values = _assignments({"objective": chosen["objective"], **chosen["parameters"]})
            untuned = "" if chosen["parameters"] else " (the untuned setting)"
            lines.append(f"Tuned: {method['framework']} {method['method']}{where}: {values}{untuned}")
            if failed := chosen.get("failed"):
                lines.append(f"{failed} of its {settings['tune']} settings failed, the first by {chosen['failure']}")
    return lines


def headline(document: Document) -> str:
    """Return the outcome for the recommended method in a few words."""
    found = document["recommendation"]
    return HEADLINES[found["outcome"]].format(
        challenger=_beside(found["challenger"], found),
        incumbent=_beside(found["incumbent"], found) if found["incumbent"] else "",
        rounds=f"{document['settings']['rounds']:,}",
        queries=f"{found['queries'] or 0:,}",
    )


def advice(document: Document) -> list[str]:
    """Return the recommendation as lines of words, and an indented line of code."""
    found, settings = document["recommendation"], document["settings"]
    if document.get("clicks"):
        return [biased_verdict(document["clicks"])]
    if found is None:
        return ["No recommendation: no run has finished."]
    unfinished = "The comparison was interrupted: this holds for the finished runs only. " * is_partial(document)
    lines = [f"{_choice(found, document)} {unfinished}{_reasons(found, document)}"]
    if close := [_beside(other, found) for other in found["within_one_standard_error"]]:
        more = f" and {len(close) - _MOST_NAMES} more" if len(close) > _MOST_NAMES else ""
        best = _beside(found["challenger"], found)
        lines.append(f"Within one standard error of {best} on validation: {', '.join(close[:_MOST_NAMES])}{more}.")
    tuned_by_fold = settings["tune"] and document["data"]["folds"] > 1
    runs = "its runs on the first fold, with the setting tuned there" if tuned_by_fold else _runs(found)
    regression = ", and fitted without qid, which XGBoost's regression does not take" * found["code"].startswith("xgb.")
    if mean := found["mean_of_seeds"]:
        value, known = short(mean["test"][settings["metric"]]), interval(mean["interval"])
        ends = f" ({percent(document)} interval {' to '.join(map(signed, mean['interval']))})" if known else ""
        lines.append(
            f"The mean of its {mean['models']} models has {settings['metric']} {value} on test, "
            f"{signed(mean['difference'])} beside single ones{ends}. It is result.model, an ordinary booster."
        )
    return [*lines, f"To train it (rounds: mean of {runs}){regression}:", f"{CODE}{found['code']}"]


def _runs(found: Document) -> str:
    return counted(found["runs"], "run")


def _beside(method: Document, found: Document) -> str:
    """Return a method's name, with its framework if it differs from the recommended method's."""
    other = f" in {method['framework']}" if method["framework"] != found["framework"] else ""
    return f"{method['method']}{other}"


def _choice(found: Document, document: Document) -> str:
    """Return the recommended method with its values."""
    outcome = found["outcome"]
    values = f"validation {short(found['validation'])}, test {short(found['test'])}; mean of {_runs(found)}"
    named = f"{found['method']} in {found['framework']}"
    if outcome in ("better", "no incumbent", "unchallenged"):
        return f"Recommended: {'keep ' * (outcome == 'unchallenged')}{named}, {_best(found, document)} ({values})."
    if outcome in ("at the cap", "too few queries"):
        return f"No verdict yet: keep {named} for now ({values})."
    return f"Recommended: keep {named} ({values})."


def _best(found: Document, document: Document) -> str:
    """Return why the challenger was chosen."""
    validation = f"validation {document['settings']['validation_metric']}"
    if found["comparisons"]:
        return f"by {validation} the best of the methods that are significantly better on test"
    return f"the best of {found['among']} by {validation}"


def _reasons(found: Document, document: Document) -> str:
    """Return the reasons on the test part to keep or choose the recommended method."""
    outcome, challenger, incumbent = found["outcome"], found["challenger"], found["incumbent"]
    queries = f"{found['queries'] or 0:,} test queries"
    if outcome == "unchallenged":
        return "There is no other method to compare it with." if found["among"] == 1 else "No other method does better."
    if incumbent is None or found["difference"] is None:
        return "There is nothing to compare it with: no reference has a finished run."
    on_test = f"On test it is {_difference(found, document)}"
    if outcome == "better":
        return f"{on_test}: significantly better on {queries}."
    values = f"{short(challenger['validation'])}; test {short(challenger['test'])}"
    ahead = found["difference"] > 0 if document["settings"]["greater_is_better"] else found["difference"] < 0
    ends = {
        "level": f": no significant difference on {queries}.{f' {_next_step(found)}' * ahead}",
        "worse": f": significantly worse on {queries}. The validation part misleads here: choose on more validation "
        "queries.",
        "at the cap": f", but trainings ended at the cap of {document['settings']['rounds']:,} rounds, and more rounds "
        "may change the order: raise the rounds.",
        "too few queries": f". {queries} are too few for a verdict: judge on 30 or more.",
    }
    return f"{_where(challenger, document)} is {_best(found, document)} ({values}). {on_test}{ends[outcome]}"


def _difference(found: Document, document: Document) -> str:
    """Return the challenger's difference to the incumbent in words, with its interval and p."""
    difference, p = found["difference"], found["p"]
    words = (
        f"{short(abs(difference))} {'above' if difference > 0 else 'below'}" if round(difference, 4) else "level with"
    )
    against = f"{words} {_where(found['incumbent'], document)} in {document['settings']['metric']}"
    if interval(found["interval"]):
        against += f" ({percent(document)} interval {' to '.join(map(signed, found['interval']))})"
    if is_missing(p):
        return against
    equal = f"p {'= ' * (p >= 0.0005)}{probability(p)}"
    corrected = found["comparisons"]
    return f"{against}, corrected {equal}, one of {corrected}" if corrected else f"{against}, {equal}"


def _next_step(found: Document) -> str:
    """Return the number of test queries with which such a difference is significant with 80 % probability."""
    if not interval(found["interval"]) or not found["queries"]:
        return "More test queries would decide it."
    low, high = found["interval"]
    needed = _FOR_80_PERCENT * found["queries"] * (0.5 * (high - low) / abs(found["difference"])) ** 2
    if needed > _HOPELESS * found["queries"]:
        return f"A difference this small would need more than {_HOPELESS} times as many test queries to be significant."
    more = needed - found["queries"]
    step = 10 ** max(0, len(str(int(more))) - 2)
    return (
        f"With about {step * max(1, round(more / step)):,} more test queries, a difference of this size is significant "
        "with 80 % probability."
    )


def percent(document: Document) -> str:
    """Return the level of the intervals."""
    return f"{100 * document['test']['level']:.3g} %"

"""A comparison in sentences: the lines below its table, and its recommendation."""

from math import isnan
from typing import Any

from boostplug.comparison.inputs.clicks import biased_verdict
from boostplug.comparison.report.report_table import probability, short, signed
from boostplug.comparison.summary import (
    FEWEST_QUERIES,
    SIGNIFICANT,
    Comparison,
    Contrast,
    MethodName,
    Outcome,
    Recommendation,
)

RECOMMENDED, NO_VERDICT = "Recommended: ", "No verdict yet: "
_INDENT = "    "  # of a line of code
_HOPELESS = 100.0  # multiple of the number of queries
_FOR_80_PERCENT = (2.80 / 1.96) ** 2  # multiple of the queries that give p < .05 with 50 % probability
_MOST_NAMES = 4  # methods close to the recommended one that are named


def below_table(document: Comparison) -> list[str]:
    """Return the lines below the table."""
    return [
        *unfinished(document),
        *warning_lines(document),
        *at_cap(document),
        *verdicts(document),
        *between_frameworks(document),
        about_data(document),
        about_means(document),
        *about_differences(document),
        *uncompared(document),
        f"All methods: {'; '.join(f'{name} {value}' for name, value in parameters_of_all(document))}.",
        about_times(document),
        *tuned(document),
        "Versions: " + ", ".join(f"{name} {number}" for name, number in document.versions.items()) + ".",
        *(f"Note: {note}" for note in document.notes),
        *(f"FAILED: {m.framework} {m.method}: {error}" for m in document.methods for error in m.errors),
    ]


def unfinished(document: Comparison) -> list[str]:
    """Return a line on runs missing after Ctrl-C or at the end of the budget."""
    methods, minutes = document.methods, document.settings.minutes
    planned = sum(m.runs_planned for m in methods)
    lines = []
    if document.interrupted:
        lines.append(f"INCOMPLETE: interrupted after {sum(m.runs_finished for m in methods)} of {planned} runs.")
    if document.out_of_time:
        missing = {(run.fold, run.seed) for run in document.not_run}
        each = methods[0].runs_planned
        lines.append(
            f"PARTIAL: {planned - len(document.not_run)} of {planned} runs in {minutes:g} "
            f"minute{'s' * (minutes != 1)}. All methods have {each - len(missing)} of their {counted(each, 'run')}."
            + (" To compare more in the time, name fewer losses." if len(missing) == each else "")
        )
    return lines


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: "1 seed", "2 seeds"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def warning_lines(document: Comparison) -> list[str]:
    """Return the warnings on the data, such as queries that two parts share."""
    return [f"WARNING: {warning}" for warning in document.warnings]


def at_cap(document: Comparison) -> list[str]:
    """Return the methods that ended at the cap of rounds and so get no verdict."""
    capped = [m for m in document.methods if m.runs_at_cap]
    if not capped:
        return []
    names = ", ".join(f"{_where(m, document)} ({m.runs_at_cap} of {m.runs_finished} runs)" for m in capped)
    cap = f"{document.settings.rounds:,} rounds"
    words = f"No verdict on methods that trained to the cap of {cap}, nor beside a reference that did: {names}."
    return [f"{words} More rounds may change the order: raise the rounds."]


def _where(method: MethodName, document: Comparison) -> str:
    """Return a method's name, with its framework if the comparison has several."""
    return method.method + (f" in {method.framework}" if len(document.frameworks) > 1 else "")


def about_data(document: Comparison) -> str:
    """Return the sizes of the parts, the weights, and the number of test queries on which the metric is defined."""
    data, test = document.data, document.test
    parts = {"train": data.train, "valid": data.valid, "test": data.test}
    sizes = ", ".join(f"{name} {part.queries:,}/{part.documents:,}" for name, part in parts.items())
    folds = "" if data.folds == 1 else f" over {data.folds} folds together"
    words = f"Data: {data.name or 'given'}; queries/documents{folds}: {sizes}; {data.features:,} features"
    if data.weighted:
        words += ", weighted: means and tests are by the weights of the queries. All methods train with the same "
        words += "weights, divided by their mean"
    words += "."
    if data.test.queries - test.repeated - test.queries:
        words += f" {document.settings.metric} is defined on {test.queries:,} of the test queries."
    return words + (" A test query of several folds counts once, by its mean over them." if test.repeated else "")


def about_means(document: Comparison) -> str:
    """Return the meaning of the metric columns."""
    settings = document.settings
    done = {(run.fold, run.seed) for m in document.methods for run in m.runs if run.error is None}
    n_folds, n_seeds = len({fold for fold, _ in done}), len({seed for _, seed in done})
    runs = counted(n_seeds, "seed") + (f" × {n_folds} folds" if n_folds > 1 else "")
    runs = runs if len(done) == n_seeds * n_folds else f"{len(done)} at most"
    spread = f", {settings.metric} ± standard deviation over the runs ({runs})" if len(done) > 1 else " of one run"
    lower = "; ↓: lower is better" if settings.lower_is_better else ""
    return f"Test mean{spread}; bold: the framework's best{lower}."


def about_differences(document: Comparison) -> list[str]:
    """Return the meaning of Δ, its interval and p, if the table has any."""
    test = document.test
    references = {m.framework: m.reference for m in document.methods if m.difference is not None}
    if not references:
        return []
    listed = ", ".join(f"{name} in {framework}" for framework, name in references.items())
    numbers = {framework: n for framework, n in test.comparisons.items() if n}
    many = ", ".join(
        counted(n, "comparison") + (f" in {framework}" if len(numbers) > 1 else "") for framework, n in numbers.items()
    )
    found = document.recommendation
    own = found is not None and found.p is not None
    which = "test queries of the runs that both have" if document.is_partial else f"{test.queries:,} test queries"
    return [
        f"Δ: difference in {document.settings.metric} to the reference ({listed}), with a {percent(document)} interval "
        f"(Student's t over the {which}, mean over seeds). "
        f"p: paired randomisation test over them ({test.flips:,} sign flips). "
        + ("p of the best on validation is not corrected: it was chosen before the test. " if own else "")
        + (f"Holm's method corrects the others ({many}). " if many else "")
        + "Other seeds or training data may give other differences."
    ]


def uncompared(document: Comparison) -> list[str]:
    """Return a line for each framework whose reference has no finished run."""
    referred = {(m.framework, m.reference) for m in document.methods}
    return [
        f"No Δ and p in {m.framework}: {m.method}, which its methods are compared with, "
        f"{'failed' if m.errors else 'was not run'}."
        for m in document.methods
        if m.key in referred and not m.runs_finished
    ]


def parameters_of_all(document: Comparison) -> list[tuple[str, str]]:
    """Return the names and values of the parameters that all methods share."""
    settings = document.settings
    stopping, tried, params = settings.early_stopping_rounds, settings.tune, settings.params
    common = {
        "metric that stops and chooses": settings.validation_metric,
        "rounds at most": f"{settings.rounds:,}",
        "early stopping": f"after {stopping} rounds without a better value" if stopping else "none",
        "seeds": ", ".join(map(str, settings.seeds)),
        "folds": str(document.data.folds),
        **{name: str(value) for name, value in params.items() if not isinstance(value, dict)},
        **{f"only {name}": _assignments(value) for name, value in params.items() if isinstance(value, dict) and value},
        "settings tried per method": str(tried) if tried else "none (not tuned)",
        "threads of a training": str(settings.num_threads),
        "trainings at once": str(settings.jobs),
    }
    if "min_rows" in common:
        common["min_rows"] += " (only lightgbm)"
    if settings.minutes is not None:
        common["budget in minutes"] = f"{settings.minutes:g}"
    if "xgboost" in document.frameworks:
        common["pairs of rank:ndcg and rank:pairwise"] = "XGBoost's default (lambdarank_pair_method=topk)"
    return [*common.items()]


def _assignments(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}={f'{v:.3g}' if isinstance(v, float) else v}" for key, v in values.items())


def about_times(document: Comparison) -> str:
    """Return the meaning of the columns of times and rounds."""
    settings = document.settings
    jobs = f", {settings.jobs} trainings at once" if settings.jobs > 1 else ""
    runs = [run.seconds_per_round for m in document.methods for run in m.runs if run.error is None]
    withheld = None in runs
    used = "rounds: those used, mean over runs."
    if withheld and not any(runs):
        return f"No times, because other programs kept the processor busy. {used}"
    return (
        f"ms/round: the median round with {counted(settings.num_threads, 'thread')}{jobs}, without the metric, with "
        "the update of the validation scores"
        + ("; times are missing where other programs kept the processor busy" if withheld else "")
        + f". {used}"
    )


def tuned(document: Comparison) -> list[str]:
    """Return the tuning in words, and a line per method and fold with the chosen setting."""
    settings = document.settings
    if not settings.tune:
        return []
    how = (
        f"Tuned per method and fold: the best of {settings.tune} settings by validation "
        f"{settings.validation_metric} with the first seed, of trees from one space for all and the objective's own "
        "parameters (optuna's TPE, settings without hope pruned); the first setting is the one above."
    )
    lines = [how]
    for method in document.methods:
        for fold, chosen in {run.fold: run.tuned for run in method.runs if run.tuned}.items():
            where = f" fold {fold + 1}" if document.data.folds > 1 else ""
            values = _assignments({"objective": chosen.objective, **chosen.parameters})
            untuned = "" if chosen.parameters else " (the untuned setting)"
            lines.append(f"Tuned: {method.framework} {method.method}{where}: {values}{untuned}")
            if chosen.failed:
                lines.append(f"{chosen.failed} of its {settings.tune} settings failed, the first by {chosen.failure}")
    return lines


def verdicts(document: Comparison) -> list[str]:
    """Return one sentence per framework: the test result of our loss that is best on validation."""
    lines: list[str] = []
    if document.clicks:
        return lines
    for framework in document.frameworks:
        ours = [
            (document.settings.sign * m.validation.mean, m, contrast)
            for m in document.methods
            if m.framework == framework
            and not m.built_in
            and (contrast := Contrast.from_summary(m))
            and m.validation.mean is not None
        ]
        if not ours:
            continue
        _, method, found = max(ours, key=lambda one: one[0])
        if document.recommendation is not None and document.recommendation.challenger.key == method.key:
            continue  # the recommendation says this
        n = document.test.comparisons.get(framework, 0)
        corrected = ("corrected ", f", one of {n}") if n > 1 else ("", "")
        how = "no verdict: see the rounds" if isnan(found.p) else _significance(found.p, *corrected)
        lines.append(
            f"{framework}: of our losses, {method.method} is best on validation; on test it is "
            f"{_against(found, document)} ({how})."
        )
    return lines


def between_frameworks(document: Comparison) -> list[str]:
    """Return one sentence per other framework: its best method against the recommended one, without the challenger."""
    return [
        f"Across frameworks: {found.method} is best on validation in {found.framework}; on test it is "
        f"{_against(contrast, document, f' in {found.reference_framework}')} "
        f"({_significance(found.p, after=', not corrected')})."
        for found in document.between_frameworks
        if (contrast := Contrast.from_summary(found)) is not None
    ]


def _significance(p: float, before: str = "", after: str = "") -> str:
    """Return p in words: "corrected p = .012, one of 3: significant"."""
    return f"{before}p {_equal(p)}{after}: {'significant' if p < SIGNIFICANT else 'not significant'}"


HEADLINES = {
    Outcome.BETTER: "significantly better than {incumbent}: change to it",
    Outcome.LEVEL: "keep it: {challenger} is not significantly different",
    Outcome.WORSE: "keep it: {challenger}, the best on validation, is significantly worse",
    Outcome.AT_CAP: "no verdict yet: trainings ended at the cap of {rounds} rounds",
    Outcome.TOO_FEW: "no verdict yet: {queries} test queries are too few",
    Outcome.UNCHALLENGED: "keep it: it is the best on validation",
    Outcome.NO_INCUMBENT: "best on validation; nothing to compare it with",
}
"""The badge of the page for each outcome; for `Outcome.CLICKS` there is no recommendation."""


def headline(found: Recommendation, document: Comparison) -> str:
    """Return the outcome for the recommended method in a few words."""
    return HEADLINES[found.outcome].format(
        challenger=_beside(found.challenger, found),
        incumbent=_beside(found.incumbent, found) if found.incumbent else "",
        rounds=f"{document.settings.rounds:,}",
        queries=f"{found.queries or 0:,}",
    )


def advice(document: Comparison) -> list[str]:
    """Return the recommendation as lines of words, and an indented line of code."""
    found, settings = document.recommendation, document.settings
    if document.clicks:
        return [biased_verdict(document.clicks)]
    if found is None:
        return ["No recommendation: no run has finished."]
    runs = counted(found.runs, "run")
    head = NO_VERDICT if found.outcome in (Outcome.AT_CAP, Outcome.TOO_FEW) else RECOMMENDED
    lines = [f"{head}{_choice(found, document)}{_unfinished_choice(document)} {_reasons(found, document)}"]
    if close := [_beside(other, found) for other in found.within_one_standard_error]:
        more = f" and {len(close) - _MOST_NAMES} more" if len(close) > _MOST_NAMES else ""
        best = _beside(found.challenger, found)
        lines.append(f"Within one standard error of {best} on validation: {', '.join(close[:_MOST_NAMES])}{more}.")
    folds = settings.tune and document.data.folds > 1
    averaged = "its runs on the first fold, with the setting tuned there" if folds else runs
    regression = ", and fitted without qid, which XGBoost's regression does not take" * found.code.startswith("xgb.")
    return [*lines, f"To train it (rounds: mean of {averaged}){regression}:", f"{_INDENT}{found.code}"]


def _beside(method: MethodName, found: Recommendation) -> str:
    """Return a method's name, with its framework if it differs from the recommended method's."""
    return method.method + (f" in {method.framework}" if method.framework != found.framework else "")


def _choice(found: Recommendation, document: Comparison) -> str:
    """Return the recommended method with its values."""
    values = f"validation {short(found.validation)}, test {short(found.test)}; mean of {counted(found.runs, 'run')}"
    named = f"{found.method} in {found.framework}"
    if found.outcome in (Outcome.UNCHALLENGED, Outcome.NO_INCUMBENT, Outcome.BETTER):
        kept = "keep " * (found.outcome is Outcome.UNCHALLENGED)
        return f"{kept}{named}, {_best(found, document)} ({values})."
    until = "" if found.outcome in (Outcome.LEVEL, Outcome.WORSE) else " for now"
    return f"keep {named}{until} ({values})."


def _best(found: Recommendation, document: Comparison) -> str:
    """Return the reason why the challenger was chosen."""
    validation = f"validation {document.settings.validation_metric}"
    if found.comparisons:
        return f"by {validation} the best of the methods that are significantly better on test"
    return f"the best of {found.among} by {validation}"


def _unfinished_choice(document: Comparison) -> str:
    words = " The comparison was interrupted: this holds for the finished runs only." * document.interrupted
    return (
        words
        + " The time was up before all runs had finished: this holds for the finished ones only." * document.out_of_time
    )


def _reasons(found: Recommendation, document: Comparison) -> str:
    """Return the reasons on the test part to keep or choose the recommended method."""
    outcome, queries = found.outcome, f"{found.queries or 0:,} test queries"
    if outcome is Outcome.UNCHALLENGED:
        return "There is no other method to compare it with." if found.among == 1 else "No other method does better."
    contrast = Contrast.from_summary(found)
    if outcome is Outcome.NO_INCUMBENT or contrast is None:
        return "There is nothing to compare it with: no reference has a finished run."
    where = f" in {found.incumbent.framework}" if found.incumbent and len(document.frameworks) > 1 else ""
    against = _against(contrast, document, where)
    if not isnan(contrast.p):
        corrected = f"corrected p {_equal(contrast.p)}, one of {found.comparisons}"
        against += f", {corrected}" if found.comparisons else f", p {_equal(contrast.p)}"
    if outcome is Outcome.BETTER:
        return f"On test it is {against}: significantly better on {queries}."
    ahead = contrast.difference * document.settings.sign > 0
    values = f"{short(found.challenger.validation)}; test {short(found.challenger.test)}"
    against = f"{_where(found.challenger, document)} is {_best(found, document)} ({values}). On test it is {against}"
    ends = {
        Outcome.LEVEL: f": no significant difference on {queries}." + f" {_next_step(contrast, found)}" * ahead,
        Outcome.WORSE: f": significantly worse on {queries}. The validation part misleads here: choose on more "
        "validation queries.",
        Outcome.AT_CAP: f", but trainings ended at the cap of {document.settings.rounds:,} rounds, and more rounds may "
        "change the order: raise the rounds.",
        Outcome.TOO_FEW: f". {found.queries or 0:,} test queries are too few for a verdict: judge on {FEWEST_QUERIES} "
        "or more.",
    }
    return against + ends[outcome]


def _next_step(contrast: Contrast, found: Recommendation) -> str:
    """Return the number of test queries with which such a difference is significant with 80 % probability."""
    if contrast.interval is None or not found.queries:
        return "More test queries would decide it."
    low, high = contrast.interval
    needed = _FOR_80_PERCENT * found.queries * (0.5 * (high - low) / abs(contrast.difference)) ** 2
    more = needed - found.queries
    if needed > _HOPELESS * found.queries:
        return (
            f"A difference this small would need more than {_HOPELESS:g} times as many test queries to be significant."
        )
    step = 10 ** max(0, len(str(int(more))) - 2)
    return (
        f"With about {step * max(1, round(more / step)):,} more test queries, a difference of this size is significant "
        "with 80 % probability."
    )


def _against(found: Contrast, document: Comparison, where: str = "") -> str:
    """Return a difference to the reference in words, with its interval."""
    words = f"{short(abs(found.difference))} {'above' if found.difference > 0 else 'below'}"
    if round(found.difference, 4) == 0:
        words = "level with"
    ends = ""
    if found.interval is not None:
        ends = f" ({percent(document)} interval {' to '.join(map(signed, found.interval))})"
    return f"{words} {found.reference}{where} in {document.settings.metric}{ends}"


def _equal(p: float) -> str:
    shown = probability(p)
    return shown if shown[0] == "<" else f"= {shown}"


def is_code(line: str) -> bool:
    """Return whether a line of the advice is code."""
    return line.startswith(_INDENT)


def percent(document: Comparison) -> str:
    """Return the level of the intervals."""
    return f"{100 * document.test.level:.3g} %"

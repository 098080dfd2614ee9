"""`compare`: our losses against the frameworks' built-in objectives, in one table."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from itertools import combinations, islice, product
from os import PathLike
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from boostplug.adapters.options import is_dart
from boostplug.adapters.parameter_names import refuse_unknown_parameters
from boostplug.comparison.data import (
    PARTS,
    Columns,
    Content,
    content_hashes,
    folds_of,
    name_of_folder,
    query_codes,
    shared_data_warning,
)
from boostplug.comparison.live import live_table
from boostplug.comparison.recommendation import METRICS
from boostplug.comparison.result import CompareResult
from boostplug.comparison.summary import Data, DataPart, Settings, Size
from boostplug.comparison.training import tuning
from boostplug.comparison.training.frameworks import FRAMEWORKS, Part, check_columns
from boostplug.comparison.training.kept import Kept, print_of_part, what_runs_depend_on
from boostplug.comparison.training.runs import Method, Origin, Plan, RunOutcome
from boostplug.comparison.training.schedule import Budget, check_picklable, outcomes_in_turn, outcomes_over_processes
from boostplug.comparison.training.trees import Trees
from boostplug.core.checks import check_flag, check_instance, check_integer, check_number, shown
from boostplug.core.extras import failed_imports, install, is_missing, remedy_of
from boostplug.core.naming import distinct_names
from boostplug.core.threads import get_num_threads
from boostplug.data.tables import is_frame, refuse_infinite, refuse_sparse_beside_dense, table_of
from boostplug.estimators.inputs import with_float32_labels
from boostplug.losses import LOSSES, Loss
from boostplug.metrics import Metric

__all__ = ["compare", "parse_losses"]

Losses = str | Loss | Iterable[str | Loss] | Mapping[str, Loss] | None

_LARGEST_SEED = 2**31 - 1
_MOST_SEEDS = 10_000  # each a training of every method; from some tens on, the mean stands still
_MOST_ROUNDS = 1_000_000
_MOST_TRIALS = 10_000
_DIGITS = 16  # of a digest, enough to tell data apart
_MOST_THREADS = 1024  # LightGBM hangs on tens of thousands


def compare(
    train: Any,
    valid: Any = None,
    test: Any = None,
    *,
    losses: Losses = None,
    baselines: str | Iterable[str] | None = None,
    frameworks: str | Iterable[str] | None = None,
    rounds: int = 100,
    seeds: int | Iterable[int] = 3,
    metrics: Metric | str | Iterable[Metric | str] = METRICS,
    metric: Metric | str = "NDCG@10",
    early_stopping_rounds: int | None = 30,
    params: Mapping[str, Any] | None = None,
    tune: int = 0,
    num_threads: int | None = None,
    jobs: int = 1,
    progress: bool | None = None,
    data: str | None = None,
    store: str | PathLike[str] | None = None,
    resume: bool = False,
    label: str | None = None,
    qid: str = "qid",
    weight: str | None = None,
    minutes: float | None = None,
) -> CompareResult:
    """Train losses and built-in objectives alike, and return their test metrics side by side.

    Every method grows the same kind of trees, for as many rounds, stopped early by the same function of ours on the
    validation part. A run that fails is reported in the result with its reason, and the others go on. Ctrl-C ends the
    comparison and returns what is finished, with ``result.interrupted`` set.

    Parameters
    ----------
    train, valid, test : data sets
        Each a `RankingData`; a tuple (X, y, qid); a mapping or object with `X`, `y`, `qid` or `group`, and `weight`; a
        DataFrame (pandas, polars, pyarrow) with the columns `label` and `qid`, or a tuple (DataFrame with the column
        `qid`, y); or a file of LETOR lines. Alternatively `train` alone: a fold (train, valid, test), a list of folds,
        or a folder of LETOR files or of ``Fold*``. Weights count in training, divided by their mean, and in all
        metrics. Data that stand in two parts are warned of in ``result.document["warnings"]``; a test query that
        stands in several folds counts once.
    losses : name, loss, iterable of names and losses, or mapping of names to losses, optional
        A name stands for all its variants in ``boostplug.losses.LOSSES``, or is an expression that `Loss.parse` reads:
        ".7*ndcg-boost + .3*qbrank". Default: all of the registry.
    baselines : name or iterable of names, optional
        Of LightGBM: ``lambdarank``, ``rank_xendcg``, ``regression``; of XGBoost: ``rank:ndcg``, ``rank:pairwise``,
        ``reg:squarederror``. Default: all.
    frameworks : "lightgbm", "xgboost", or an iterable of them, optional
        Default: both, or the one that is installed.
    rounds : int, default 100
        Boosting rounds at most.
    seeds : int or iterable of int, default 3
        Seeds of the row and column samples, or how many of them.
    metrics : metric, name, or iterable of metrics and names
        Columns of the table, on the test part; the last of the default is of the whole list. Of the default, one that
        is undefined on every query is left out with a note, as MAP is where no label reaches 1.
    metric : Metric or name, default "NDCG@10"
        Stops training early, and is what the difference, its interval and its p-value are about.
    early_stopping_rounds : int or None, default 30
        Rounds without a better validation value before training stops; the best round counts. None: all rounds count.
    params : mapping, optional
        What `boostplug.comparison.training.frameworks.Trees` takes: ``learning_rate``, ``num_leaves``, …
    tune : int, default 0
        Settings tried per method and fold before its runs, the same number for built-ins: trees from one space for all
        (`boostplug.comparison.training.tuning.TREE_SPACE`) and the objective's own parameters, with the first seed,
        chosen by `metric` on the validation part. One that is hopeless beside the others is ended early, and counts.
        0: none. Needs the extra ``tune``.
    num_threads : int, optional
        For the frameworks, losses and metrics, of all processes together. Default: as for losses.
    jobs : int, default 1
        Processes that train at once, each with an equal part of the threads, at least 1; on small data better than many
        threads for one training. Each holds the data. The result is that of one process with as many threads as each of
        them. Losses and metrics must be picklable; in a script, the call must stand under
        ``if __name__ == "__main__":``.
    progress : bool, optional
        The table as it grows, on stderr; where that is no terminal a line every 30 seconds. Default: the table alone.
    data : str, optional
        What the table calls the data. Default: the name of the folder, where `train` is one.
    store : str or path-like, optional
        Folder, made where there is none, that keeps the results of each training as it finishes, in a file that
        ``result.kept`` names. Those of a loss with code of your own are not kept, with a warning, unless its class or
        function has an attribute such as ``version = "1"``, which you change with the code; with a metric of your own
        without one, nothing is kept.
    resume : bool, default False
        Go on from what `store` keeps of this comparison, after Ctrl-C, a crash or a loss of power: but for times, the
        result is that of a comparison that was not interrupted. More losses and seeds may be asked for than then; data,
        settings, number of threads and versions must be the same.
    label, qid, weight : str
        Columns of DataFrames that hold grades, queries, and weights, where there are some; all others are features.
    minutes : float, optional
        A budget, from the first training on: none begins that the time passed suggests cannot end in it; one that is at
        work then is finished, but tuning ends with the round that is at work. ``result.out_of_time`` says whether it
        was too short, ``result.not_run`` what is missing; with `store`, `resume` goes on from there. Methods have the
        same folds and seeds where that is possible.

    Returns
    -------
    CompareResult

    Raises
    ------
    ImportError
        If a framework that was asked for, or both, are not installed.
    RuntimeError
        If one of several processes dies; `store` keeps what was finished.
    OSError
        If `store` cannot be written.
    ValueError
        If an argument makes no sense, or `store` holds other results than `resume` says; nothing has been trained then.

    Examples
    --------
    >>> import boostplug as bp
    >>> from boostplug.datasets import make_ranking
    >>> parts = [make_ranking(20, random_state=s) for s in range(3)]
    >>> result = bp.compare(*parts, frameworks=["lightgbm"], rounds=3, seeds=1)
    >>> result.failed, result.interrupted
    (False, False)
    >>> list(result.table["method"][:3])
    ['lambdarank', 'rank_xendcg', 'regression']
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        folds = folds_of(train, valid, test, Columns(label, qid, weight))
        for fold in folds:
            with_float32_labels(fold[0].queries)
    warned = list(dict.fromkeys(str(warning.message) for warning in caught))
    main = Metric.parse(metric)
    columns = _unique([*map(Metric.parse, _several(metrics, "metrics", (str, Metric)))], main)
    columns, left_out = _check_data(folds, columns, main, shown_by_default=metrics is METRICS)
    trees = Trees.of(params)
    seed_list = _seeds(seeds)
    rounds = check_integer("rounds", rounds, 1, remedy="100 is the default", most=_MOST_ROUNDS)
    tune = check_integer("tune", tune, 0, remedy="20 settings are a good start", most=_MOST_TRIALS)
    if early_stopping_rounds is not None:
        otherwise = ", or None for no early stopping"
        early_stopping_rounds = check_integer("early_stopping_rounds", early_stopping_rounds, 1, otherwise)
    otherwise = ", or None for OMP_NUM_THREADS, or all cores"
    asked = get_num_threads() if num_threads is None else num_threads
    threads = check_integer("num_threads", asked, 1, otherwise, most=_MOST_THREADS)
    if minutes is not None:
        minutes = check_number("minutes", minutes, above=0, otherwise=", or None for no limit")
    jobs = check_integer("jobs", jobs, 1, remedy="as many as there are cores are a good start", most=_MOST_THREADS)
    threads = max(1, threads // jobs)
    names, notes = _frameworks(frameworks)
    notes += left_out
    _check_readable(folds, names)
    _check_framework_parameters(trees, names, early_stopping_rounds)
    methods = _methods(names, parse_losses(losses), baselines)
    if not methods:
        raise ValueError("there is nothing to compare: losses and baselines are both empty")
    notes += _note_on_weights(folds, methods)
    if tune:
        tuning.require_optuna()
    if check_flag("resume", resume) and store is None:
        raise ValueError("resume goes on from what a folder keeps; name it as store")
    if store is not None and not isinstance(store, (str, PathLike)):
        raise TypeError(f"store must be the path of a folder; got {shown(store)}")

    plan = Plan(main, columns, trees, rounds, early_stopping_rounds, threads, tune, seed_list)
    if jobs > 1:
        check_picklable(plan, methods)
    settings = Settings(
        metric=main.name,
        metrics=[m.name for m in columns],
        greater_is_better=main.greater_is_better,
        lower_is_better=[m.name for m in columns if not m.greater_is_better],
        seeds=list(seed_list),
        rounds=rounds,
        early_stopping_rounds=early_stopping_rounds,
        params=asdict(trees),
        tune=tune,
        num_threads=threads,
        jobs=jobs,
        minutes=minutes,
    )
    prints = [[print_of_part(part) for part in fold] for fold in folds]
    contents = [[content_hashes(part) for part in fold] for fold in folds]
    name = str(data or (name_of_folder(Path(train)) if valid is None and _are_paths([train]) else ""))
    result = CompareResult(
        _described(name, folds),
        settings,
        methods,
        [test_part for _, _, test_part in folds],
        main,
        metrics=columns,
        notes=notes,
        warnings=[*warned, *_shared(contents)],
        codes=[query_codes([fold[i] for fold in contents]) for i in (1, 2)] if len(folds) > 1 else None,
        valid_weights=[valid_part.queries.query_weight for _, valid_part, _ in folds],
        origin=Origin(
            paths=_paths(train, valid, test),
            columns=_columns(label, qid, weight),
            parts=[
                DataPart(
                    part=name,
                    fold=f,
                    queries=part.queries.n_queries,
                    documents=part.queries.n_rows,
                    fingerprint=joblib.hash(found)[:_DIGITS],
                )
                for f, fold in enumerate(folds)
                for name, part, found in zip(PARTS, fold, prints[f], strict=True)
            ],
        ),
    )
    kept = None
    if store is not None:
        depends = what_runs_depend_on(prints, names, columns, settings)
        kept = Kept(Path(store), depends, methods, [test_part for *_, test_part in folds], columns, resume=resume)
    budget = Budget(minutes)
    with live_table(progress, plan, methods, len(folds), jobs=jobs, minutes=minutes) as (advance, show):
        try:
            cells = (
                outcomes_in_turn(plan, folds, methods, kept, advance, budget)
                if jobs == 1
                else outcomes_over_processes(plan, folds, methods, kept, advance, jobs, budget)
            )
            _add_in_order(result, cells, plan, methods, show)
            result.out_of_time = budget.limited and bool(result.not_run)
        except KeyboardInterrupt:
            result.interrupted = True
        finally:
            if kept is not None:
                result.kept = kept.close()
    return result


def _described(name: str, folds: Sequence[Sequence[Part]]) -> Data:
    """Return what is compared on, by name and size."""
    train, valid, test = (
        Size(
            queries=sum(fold[i].queries.n_queries for fold in folds),
            documents=sum(fold[i].queries.n_rows for fold in folds),
        )
        for i in range(len(PARTS))
    )
    weighted = any(part.queries.row_weight is not None for fold in folds for part in fold)
    n_features = int(folds[0][0].X.shape[1])
    return Data(
        name=name, folds=len(folds), features=n_features, train=train, valid=valid, test=test, weighted=weighted
    )


def _add_in_order(
    result: CompareResult,
    cells: Iterator[RunOutcome],
    plan: Plan,
    methods: Sequence[Method],
    show: Callable[[RunOutcome], None],
) -> None:
    """Show outcomes as they come, and add them by fold, seed and method; where Ctrl-C ends it, those that there are."""
    place = {id(method): i for i, method in enumerate(methods)}
    found: list[RunOutcome] = []
    try:
        with closing(cells) as running:  # type: ignore[type-var]
            for cell in running:
                found.append(cell)
                show(cell)
    finally:
        for cell in sorted(found, key=lambda cell: (cell.fold, plan.seeds.index(cell.seed), place[id(cell.method)])):
            result.add(cell)


def parse_losses(losses: Losses) -> dict[str, Loss]:
    """Return losses by the names that the table gives them.

    Parameters
    ----------
    losses : iterable of names and losses, mapping, or None
        As `compare` takes them.

    Returns
    -------
    dict of str to Loss

    Raises
    ------
    ValueError
        If a name is not in the registry; the message lists the names that are.
    """
    if isinstance(losses, Mapping):
        for name, loss in losses.items():
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                raise ValueError(f"losses has the name {name!r}; name losses by strings of one line")
            _check_loss(loss, f"losses[{name!r}]")
        return dict(losses)
    chosen: list[Loss] = []
    for item in LOSSES if losses is None else _several(losses, "losses", (str, Loss)):
        if isinstance(item, str):
            chosen.extend(Loss.parse(item))
        else:
            _check_loss(item, "an item of losses")
            chosen.append(item)
    # By parameters too: to a class with a constructor of its own the equality that it inherits says less.
    chosen = list({(loss, repr(loss.get_params())): loss for loss in chosen}.values())
    return dict(zip(distinct_names(chosen), chosen, strict=True))


def _paths(train: Any, valid: Any, test: Any) -> dict[str, str] | None:
    """Return the files or the folder that the data are, by the options of the command; None where they are none."""
    given = {"data": train} if valid is None else dict(zip(PARTS, (train, valid, test), strict=True))
    return {name: str(path) for name, path in given.items()} if _are_paths(given.values()) else None


def _are_paths(given: Iterable[Any]) -> bool:
    return all(isinstance(path, (str, PathLike)) for path in given)


def _columns(label: str | None, qid: str, weight: str | None) -> dict[str, str]:
    """Return what is said of DataFrames' columns, but for defaults."""
    given = {"label": label, "qid": None if qid == "qid" else qid, "weight": weight}
    return {name: column for name, column in given.items() if column is not None}


def _several(values: Any, what: str, single: type | tuple[type, ...]) -> list[Any]:
    """Return a single value, or several, as a list."""
    if isinstance(values, single):
        return [values]
    if isinstance(values, type):
        raise ValueError(f"{what} is the class {values.__name__}; pass {values.__name__}()")
    try:
        return list(values)
    except TypeError:
        raise ValueError(f"{what} must be one of the {what} or a list of them, got {values!r}") from None


def _check_loss(loss: Any, what: str) -> None:
    check_instance(what, loss, Loss, "MPBoost()")
    try:
        hash(loss)
    except TypeError as error:
        raise ValueError(f"{what} is {loss!r}, which has no hash ({error}); give it tuples, or names") from None


def _check_data(
    folds: Sequence[Sequence[Part]], metrics: Sequence[Metric], main: Metric, *, shown_by_default: bool
) -> tuple[list[Metric], list[str]]:
    """Return the metrics that are defined on some query of each test part, and a note on each that nobody asked for."""
    notes: dict[Metric, str] = {}
    for fold in folds:
        for name, part, needed in (("train", fold[0], ()), ("valid", fold[1], (main,)), ("test", fold[2], metrics)):
            weight = part.queries.query_weight
            if weight is not None and not np.any(weight):
                raise ValueError(f"{name}: all weights are 0; give its queries weights, or pass none")
            for metric in needed:
                try:
                    values = metric.per_query(np.zeros(part.queries.n_rows), part.queries)
                except ValueError as error:
                    raise ValueError(f"{metric.name} cannot be computed on {name}: {error}") from None
                if np.isnan(values).all():
                    why = f"undefined on every query of {name}: {_why_undefined(metric, part)}"
                    if metric == main or not shown_by_default:
                        raise ValueError(f"{metric.name} is {why}")
                    notes[metric] = f"{metric.name} is left out, {why}."
    return [metric for metric in metrics if metric not in notes], list(notes.values())


def _note_on_weights(folds: Sequence[Sequence[Part]], methods: Sequence[Method]) -> list[str]:
    """Return a note where weights differ within a query and XGBoost's own ranking objectives are compared."""
    built_in = any(isinstance(m.objective, str) and m.objective.startswith("rank:") for m in methods)
    weights = [(q.row_weight, q.boundaries[q.query_of_row]) for q in (fold[0].queries for fold in folds)]
    if not built_in or not any(w is not None and (w != w[first]).any() for w, first in weights):
        return []
    note = (
        "Weights differ within queries: XGBoost's own ranking objectives take one weight per query, the mean of its "
        "rows; all other methods take the weights of the rows."
    )
    return [note]


def _shared(contents: Sequence[Sequence[Content]]) -> list[str]:
    """Return a warning for each two parts of a fold that have data in common."""
    found = []
    for f, fold in enumerate(contents):
        where = f"Fold {f + 1}: " if len(contents) > 1 else ""
        for (a, name_a), (b, name_b) in combinations(zip(fold, PARTS, strict=True), 2):
            warning = shared_data_warning(a, b, name_a, name_b)
            found += [] if warning is None else [f"{where}{warning[0].upper()}{warning[1:]}"]
    return found


def _why_undefined(metric: Metric, part: Part) -> str:
    grade, most = getattr(metric, "relevant", None), part.queries.labels.max()
    if grade is None or not 0 < most < grade:
        return "it has no relevant document"
    return (
        f"labels up to {most:g} do not reach {grade:g}, from which on a document is relevant to it "
        f"(metrics= of bp.compare takes {type(metric).__name__}(relevant=…))"
    )


def _check_readable(folds: Sequence[Sequence[Part]], frameworks: Sequence[str]) -> None:
    """Raise where a framework refuses features, as the first rows of a DataFrame show, or reads parts differently."""
    for fold, framework in product(folds, frameworks):
        for name, part in zip(PARTS, fold, strict=True):
            if framework == "xgboost":
                refuse_infinite(part.X, f"{name}: X")
                refuse_sparse_beside_dense(table_of(part.X, least=0), table_of(fold[0].X, least=0), f"{name}: X")
            if is_frame(part.X):
                try:
                    check_columns(framework, part.X[:1])
                except ValueError as error:
                    raise ValueError(f"{name}: {framework} cannot read the columns: {error}") from None


def _check_framework_parameters(trees: Trees, frameworks: Sequence[str], early_stopping_rounds: int | None) -> None:
    """Raise for a parameter that a framework does not know, and for dropout with early stopping."""
    for framework in frameworks:
        given = getattr(trees, framework)
        refuse_unknown_parameters(framework, given, f"params[{framework!r}]")
        if early_stopping_rounds is not None and is_dart(given):
            raise ValueError(
                f"params[{framework!r}] asks for dart, whose later rounds change earlier trees, so that the model of "
                "the best round is gone when training stops; pass early_stopping_rounds=None, or another booster"
            )


def _unique(metrics: Sequence[Metric], main: Metric) -> list[Metric]:
    """Return each metric once, the main one among them."""
    return list(dict.fromkeys([*metrics, main]))


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    if isinstance(seeds, str) or not np.iterable(seeds):
        remedy = "give how many, or a list of seeds"
        return list(range(check_integer("seeds", seeds, 1, remedy=remedy, most=_MOST_SEEDS)))
    chosen = [check_integer("each of seeds", seed, 0, most=_LARGEST_SEED) for seed in islice(seeds, _MOST_SEEDS + 1)]
    if not chosen or len(set(chosen)) < len(chosen) or len(chosen) > _MOST_SEEDS:
        raise ValueError(
            f"seeds must be 1 to {_MOST_SEEDS} different integers from 0 to {_LARGEST_SEED}, got {shown(chosen)}"
        )
    return chosen


def _frameworks(asked: str | Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Return the frameworks to compare in, and a note for each that is left out."""
    names = list(dict.fromkeys(FRAMEWORKS if asked is None else _several(asked, "frameworks", str)))
    unknown = [name for name in names if name not in FRAMEWORKS]
    if unknown or not names:
        listed = ", ".join(map(repr, unknown)) or "none given"
        raise ValueError(f"frameworks must be of {', '.join(FRAMEWORKS)}; got {listed}")
    absent = failed_imports(names)
    if absent and (asked is not None or len(absent) == len(names)):
        name, error = next(iter(absent.items()))
        remedy = install(*absent) if all(map(is_missing, absent, absent.values())) else remedy_of(name, error)
        raise ImportError(f"{' and '.join(absent)} cannot be imported ({error}): {remedy}", name=name)
    notes = [
        f"{name} is not installed and left out ({install(name)})."
        if is_missing(name, error)
        else f"{name} cannot be imported ({error}) and is left out ({remedy_of(name, error)})."
        for name, error in absent.items()
    ]
    return [name for name in names if name not in absent], notes


def _methods(
    frameworks: Sequence[str], losses: Mapping[str, Loss], baselines: str | Iterable[str] | None
) -> list[Method]:
    known = [name for kind in FRAMEWORKS.values() for name in kind.baselines]
    wanted = known if baselines is None else _several(baselines, "baselines", str)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"there is no baseline {unknown[0]!r}; there are: {', '.join(known)}")
    taken = [name for name in losses if name in known]
    if taken:
        raise ValueError(f"losses has the name {taken[0]!r}, which is that of a built-in objective; choose another")
    methods = []
    for framework in frameworks:
        own = FRAMEWORKS[framework].baselines
        methods += [Method(name, framework, name, name == own[0]) for name in own if name in wanted]
        methods += [Method(name, framework, loss, is_reference=False) for name, loss in losses.items()]
    return methods

"""`compare`: our losses against the frameworks' built-in objectives, in one table."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from os import PathLike, environ
from threading import Event
from typing import Any

import numpy as np

from boostplug.comparison import arguments
from boostplug.comparison.arguments import DEFAULT_METRICS
from boostplug.comparison.comparison import Comparison, named_by_tuning, without_equal
from boostplug.comparison.console import progress_bar
from boostplug.comparison.decision import decide
from boostplug.comparison.formats import short
from boostplug.comparison.inputs.clicks import notes_on_judgements
from boostplug.comparison.inputs.columns import TableColumns, as_tuple
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.inputs.today import judged_by_today
from boostplug.comparison.result import CompareResult
from boostplug.comparison.training.baselines import (
    best_columns,
    methods_without_framework,
    notes_on_columns,
    notes_on_linear,
    runs_without_framework,
)
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.comparison.training.runs import FoldRuns, Method, MethodRun, warnings_of_runs
from boostplug.comparison.training.store import Store, open_store
from boostplug.comparison.training.workers import in_threads
from boostplug.losses import Loss
from boostplug.metrics import Metric

Advance = Callable[[str, int], None]
"""Of the progress bar: takes the description of what is next, and the number of finished steps."""
Job = tuple[FoldRuns, Method, list[int]]
"""A method on a fold with some seeds, trained in one thread."""


def compare(
    train: Any,
    valid: Any = None,
    test: Any = None,
    *,
    losses: arguments.Losses = None,
    baselines: str | Iterable[str] | None = None,
    incumbent: str | Loss | None = None,
    frameworks: str | Iterable[str] | None = None,
    rounds: int = 1000,
    seeds: int | Iterable[int] = 3,
    metrics: Metric | str | Iterable[Metric | str] = DEFAULT_METRICS,
    metric: Metric | str = "NDCG@10",
    early_stopping_rounds: int | None = 50,
    params: Mapping[str, Any] | None = None,
    tune: int = 0,
    num_threads: int | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    data: str | None = None,
    store: str | PathLike[str] | None = None,
    resume: bool = False,
    label: str | None = None,
    qid: str = "qid",
    weight: str | None = None,
    position: str | None = None,
    propensity: Any = None,
    labels: Iterable[str] = (),
    features: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    split: str | Sequence[float] | tuple[str, str] | None = None,
    folds: int | None = None,
    today: str | None = None,
) -> CompareResult:
    """Train losses and built-in objectives under equal conditions, and return their test metrics side by side.

    All methods grow the same kind of trees, and the same metric stops all of them on the validation part. Methods with
    the same scores in every run are one row. If a run fails, the table has the reason, and the other runs continue.
    Ctrl-C ends the comparison and returns the finished runs, with ``result.interrupted`` set.

    Parameters
    ----------
    train, valid, test : data sets
        Each of them is a `RankingData`, a DataFrame (pandas, polars, pyarrow) with the columns `label` and `qid`, or a
        file: CSV, Parquet (or a folder of Parquet files, as Spark writes it) or LETOR lines.

        Or only `train`: a fold (train, valid, test), a list of folds, or a folder of LETOR files or of ``Fold*``. Or
        one of the above, which `split` or `folds` divides by query.

        Weights count in training, divided by their mean, and in all metrics. ``result.document["warnings"]`` counts
        queries that are in two parts, by their ids, or by their rows and labels. A test query in several folds counts
        once.
    losses : name, loss, iterable of names and losses, or mapping of names to losses, optional
        A name is one loss at its defaults, or an expression that `Loss.parse` reads: ".7*NDCGBoost() + .3*QBRank()",
        "QBRank(preference_weight=.5)". "all": every variant in the registry that takes the labels. Default: the
        recommended losses `CRR`, `QBRank` and `MPBoost`; where no query has more than one relevant document,
        ``ListNet(target="labels")``, `QBRank` and `RankNet`; for clicks see `propensity`.
    baselines : name or iterable of names, optional
        LightGBM has ``lambdarank``, ``rank_xendcg``, ``regression``; XGBoost has ``rank:ndcg``, ``rank:pairwise``,
        ``reg:squarederror``. Without a framework, for dense features: ``column``, the single column that ranks the
        validation part best, either way round, and ``linear``, the `LinearRanker`. Default: all.
        ``lambdarank(norm=False)`` is lambdarank without its normalisation, and a default where no query has more than
        one relevant document.
    incumbent : str or Loss, optional
        The method that you use now: a loss, or a name in the table ("QBRank in lightgbm" if both frameworks have one of
        that name). The methods of its framework are compared with it. It is recommended unless another method is
        significantly better on test. Default: `today`, or the framework's LambdaMART, ``lambdarank`` or ``rank:ndcg``;
        with both frameworks, the better one on validation.
    frameworks : "lightgbm", "xgboost", or an iterable of them, optional
        Default: both, or the one that is installed.
    rounds : int, default 1000
        Largest number of boosting rounds. If a training reaches it before early stopping, the table marks the method
        and gives no verdict of significance: more rounds might change the order.
    seeds : int or iterable of int, default 3
        Seeds of the row and column samples, or their number.
    metrics : metric, name, or iterable of metrics and names
        Columns of the table, on the test part. The last default metric is for the complete list. A default metric that
        is undefined on every query is left out with a note: MAP, for example, if no label reaches 1. Where no query has
        more than one relevant document, the default is NDCG@10, MRR and ChoiceLogLoss.
    metric : Metric or name, default "NDCG@10"
        Stops training early. The difference, its interval and its p-value are of this metric.
    early_stopping_rounds : int or None, default 50
        Training stops after this number of rounds without a better validation value; the model of the best round is
        used. None: use all rounds.
    params : mapping, optional
        Parameters of `boostplug.comparison.training.trees.Trees`: ``learning_rate``, ``num_leaves``, … By default all
        methods grow the trees of `starting_params` for the training labels, in the fold with the fewest queries that
        hold a pair. What `params` names has its value, also under a framework's name:
        ``{"num_leaves": 15, "lightgbm": {"extra_trees": False}}``.

        Where the metric has a value on at least 500 validation queries of every fold, and neither `params` nor `tune`
        chooses ``num_leaves``, half and twice as many leaves are tried first: by `CRR`, or ``ListNet(target="labels")``
        for choices, in the first framework, with the first fold and seed. All methods then have the number that is best
        on validation. ``result.document["settings"]`` has the reasons for the trees, and the values.
    tune : int, default 0
        Number of settings tried per method and fold before its runs, the same for built-in objectives. A setting draws
        the trees from one space for all methods (`boostplug.comparison.training.tuning.TREE_SPACE`), and the parameters
        of the objective. It trains with the first seed, and `metric` on the validation part chooses. Hopeless settings
        are ended early, and count. The table names what was drawn. 0: no tuning. Needs the extra ``tune``.
    num_threads : int, optional
        Threads of frameworks, losses and metrics, for all trainings together. Default: one per training on small data
        (up to 5 million values of features), where more threads would wait for each other; otherwise as for losses.
        ``OMP_WAIT_POLICY`` becomes "passive" unless it is set, so that on a busy machine the threads of a framework
        that is imported later do not slow each other down.
    jobs : int, optional
        Number of trainings at once, each in a thread of this process with an equal share of `num_threads`, at least 1.
        Default: `num_threads`, or one per core, on small data, otherwise 1. Each thread bins the data for itself. A
        loss or metric of your own is then called by several threads at once. The result is that of one training at a
        time with as many threads.
    progress : bool, optional
        Show a bar on stderr. If that is not a terminal but, say, a file, write a line at most every 30 seconds. False:
        neither.
    data : str, optional
        Name of the data in the table. Default: the name of the folder, if `train` is a folder.
    store : str or path-like, optional
        File of JSON lines, made if missing, to which each finished run is added; ``result.kept`` names it. A folder
        stands for its file compare.jsonl. A loss of your own is trained again after `resume`, because its code may
        have changed. With a metric of your own nothing is kept. A warning says so.
    resume : bool, default False
        Continue this comparison from its runs in `store`, after Ctrl-C, a crash or a power failure. Except for times,
        the result is that of an uninterrupted comparison. You may add losses and seeds. If data, settings, files that
        `params` name, number of threads, versions or code differ, that is an error.
    label, qid, weight : str
        Columns of DataFrames with labels, query ids and weights; all other columns are features.
    position : str, optional
        Column of the positions at which users saw the rows, from 1, for losses that learn from clicks (`Unbiased`). In
        other data, `RankingData` holds them. Judgements need none: in a DataFrame or file for validation or test the
        column may be absent, or empty. The labels of a validation or test part with positions favour the order that was
        shown: without `propensity` a warning says so.
    propensity : array-like of shape (n_positions,), optional
        Probability that users look at position 1, 2, …, or the result of `boostplug.clicks.propensity`. Where
        validation and test parts have positions, methods are then stopped, chosen and judged by the DCG that clicks
        estimate. A click has the weight 1 over its propensity, at most 10; the mean of the positions where that cuts
        makes up for the rest. NDCG becomes DCG, because clicks do not show the ideal order, and other metrics are left
        out. Parts without positions are judged by their labels.

        If the training part has positions, the default losses learn from clicks. `RankNet` corrects nothing. `Unbiased`
        with method "ips", these propensities and power .25, .5, .75 and 1 corrects more, and so does "additive" with
        ridge .3, .03 and .003. Losses that you pass keep their own propensities.
    labels : iterable of str, optional
        Columns of more labels, for losses and metrics that read one of them: ``bp.QBRank().on("sale")``,
        "NDCG@10.on(sale)". In other data, `RankingData` holds them.
    features, drop : iterable of str, optional
        Columns of DataFrames that are features; columns that are left out. Default: all except those above.
    keep : iterable of str, optional
        Columns that are known before the list is shown, whatever they tell of the labels. Without it, no change is
        advised where a column looks like a leak, as clicks do.
    split : three shares or str, optional
        Split of one table or file by query. Three numbers are the shares of queries for training, validation and
        test, drawn with a fixed seed. A name is a column that holds "train", "valid" or "test" for each row. With
        ("time", column) the first 60 % of the queries by that column train, the next 20 % validate and the last 20 %
        test. Default: (0.6, 0.2, 0.2), or `folds`.
    folds : int, optional
        Number of folds into which one table or file is divided by query, from 3, in place of `split`. Each query is
        a test query of one fold and a validation query of another one, so the verdict rests on all of them. Default: 5
        where fewer than 1,000 queries hold two different labels, and there is no `split`.
    today : str, optional
        What ranks the lists in use: the name of a column with its score, "-COLUMN" where less is better, or "order",
        the order of the rows (an error beside a column "order"). All methods are compared with it, and it is
        recommended unless one is significantly better on test. The column stays a feature unless `drop` names it. Test
        queries in which a row lacks the score are left out, with a warning, and elsewhere such rows rank last. If that
        leaves fewer than 30 test queries, if the score is constant in most of them, or if it ranks worse than a random
        order, the recommendation says so first. The label as the score in use is an error.

    Returns
    -------
    CompareResult

    Raises
    ------
    ImportError
        If a framework in `frameworks`, or both, are not installed.
    OSError
        If `store` cannot be written.
    ValueError
        If an argument is invalid, or `store` holds other results than `resume` expects; raised before any training.

    Examples
    --------
    >>> import boostplug as bp
    >>> from boostplug.datasets import make_ranking
    >>> parts = [make_ranking(20, random_state=s) for s in range(3)]
    >>> result = bp.compare(*parts, frameworks=["lightgbm"], rounds=3, seeds=1)
    >>> result.failed, result.interrupted
    (False, False)
    >>> list(result.to_frame()["method"][:3])
    ['lambdarank', 'rank_xendcg', 'regression']
    """
    environ.setdefault("OMP_WAIT_POLICY", "passive")  # OpenMP's threads otherwise wait in a busy loop
    lists = as_tuple(labels) or (), as_tuple(features), as_tuple(drop) or (), as_tuple(keep) or (), as_tuple(split)
    columns = TableColumns(label, qid, weight, position, *lists, folds, today)
    # What needs no data is checked before files are read.
    columns.check()
    if today is not None and incumbent is not None:
        raise ValueError("today and incumbent both say what is in use; leave one out")
    rounds, patience, trials = arguments.as_budget(rounds, early_stopping_rounds, tune)
    seeds, (names, absent) = arguments.as_seeds(seeds), arguments.as_frameworks(frameworks)
    path, checked = arguments.as_store(store, resume=resume), arguments.as_threads(num_threads, jobs)
    loaded = LoadedData.from_arguments(train, valid, test, columns, data)
    about_clicks = notes_on_judgements(loaded.folds)
    if propensity is not None:
        loaded, of_clicks = loaded.weighed(propensity)
        about_clicks += of_clicks
    chosen = arguments.as_losses(losses, loaded)
    main, choosing, table_metrics, left_out = arguments.as_metrics(metric, metrics, loaded)
    loaded = judged_by_today(loaded, main)
    given = loaded.folds
    threads, jobs = arguments.threads_of_training(*checked, given, by_default=num_threads is None)
    trees, why = arguments.as_trees(params, given)
    plan = TrainingPlan(main, choosing, table_metrics, trees, rounds, patience, threads, trials, seeds, why)
    arguments.check_trainable(given, names, plan)
    loaded = loaded.judged_alone(choosing)
    best, wanted = best_columns(loaded.alone, choosing), arguments.as_baselines(baselines, loaded)
    methods = arguments.methods_to_compare(names, chosen, wanted, methods_without_framework(loaded, best, wanted))
    if incumbent is not None:
        methods = arguments.with_incumbent(incumbent, methods)
    methods, unsuited = arguments.suited_losses(methods, losses, given)
    tries = arguments.sizes_to_try(plan, params, loaded, methods)
    objectives = [method.objective for method in [*methods, *tries.values()]]
    kept = open_store(path, given, plan, objectives, resume=resume)
    about_choices = arguments.notes_on_one_chosen(losses, methods, table_metrics) if loaded.has_one_chosen else []
    about_columns = [*notes_on_columns(loaded, best), *notes_on_linear(loaded, methods)]
    notes = [*absent, *about_clicks, *left_out, *about_choices, *unsuited, *about_columns]
    comparison = Comparison(loaded, plan, methods, jobs=jobs, incumbent=incumbent, tries=tries)
    comparison, found = _trained(comparison, kept, progress)
    return CompareResult(comparison, [*notes, *found], kept)


def _trained(comparison: Comparison, kept: Store, progress: bool | None) -> tuple[Comparison, list[str]]:
    """Return the comparison with all runs, by fold, seed and method, and notes; Ctrl-C leaves those finished so far."""
    runs, about_sizes, interrupted = list[MethodRun](), list[str](), False
    plan, folds, methods = comparison.plan, comparison.data.folds, comparison.methods
    n_steps = len(comparison.tries) + comparison.n_planned * len(methods) + len(folds)
    with progress_bar(progress is not False, n_steps) as advance:
        try:
            for method, fold in product(methods, range(len(folds))):
                if not method.is_trained:
                    runs += runs_without_framework(plan, comparison.data, comparison.best_columns, method, fold)
                    advance("", len(plan.seeds))
            with warnings_of_runs():
                comparison, about_sizes = _sized(comparison, kept, advance)
            with warnings_of_runs(), closing(runs_of(comparison, kept, advance)) as new_runs:
                for run in new_runs:
                    runs.append(run)
                    advance("", 1)
        except KeyboardInterrupt:
            interrupted = True
        places = {method.key: place for place, method in enumerate(methods)}
        runs.sort(key=lambda run: (run.fold, plan.seeds.index(run.seed), places[run.framework, run.method]))
        named, runs = named_by_tuning(methods, runs)
        kept_methods, runs, notes = without_equal(named, runs)
        comparison = replace(comparison, asked=methods, methods=kept_methods, runs=runs, interrupted=interrupted)
        if not interrupted:
            try:
                comparison.half = _half(comparison, kept, dict(zip(named, methods, strict=True)), advance)
            except KeyboardInterrupt:
                comparison.interrupted = True
    return comparison, about_sizes + notes


def _sized(comparison: Comparison, kept: Store, advance: Advance) -> tuple[Comparison, list[str]]:
    """Return the comparison with the number of leaves that is best on the first fold's validation part, and a note."""
    plan, parts, tries, ended = comparison.plan, comparison.data.folds[0], comparison.tries, Event()
    plans = {n: replace(plan, trees=replace(plan.trees, num_leaves=n)) for n in tries}
    jobs = ((FoldRuns(plans[n], 0, parts, kept, ended=ended), tries[n], [*plan.seeds[:1]]) for n in tries)
    advance(" or ".join(f"{n} leaves" for n in tries), 0)
    runs = dict[int, MethodRun]()
    for (fold, *_), (run,) in in_threads(_runs, jobs, comparison.jobs, ended):
        runs[fold.plan.trees.num_leaves] = run
        advance("", 1)
    values = {n: runs[n].validation for n in tries if runs[n].error is None}
    if not values:
        return comparison, []
    best = (max if plan.valid_metric.greater_is_better else min)(values, key=values.__getitem__)
    listed = ", ".join(f"{short(value)} with {n}" for n, value in sorted(values.items()))
    name, metric = tries[best].title, plan.valid_metric.name
    note = f"{name} has {metric} on validation {listed} leaves, so the trees of all methods have {best}."
    plan = replace(plans[best], about_trees=f"{plan.about_trees}; validation chose {best} leaves")
    return replace(comparison, plan=plan, sizes=values), [note]


def _half(comparison: Comparison, kept: Store, asked: Mapping[Method, Method], advance: Advance) -> list[MethodRun]:
    """Return the runs of the challenger with the first seed and half of the training queries, one for each fold."""
    decision, runs = decide(comparison), list[MethodRun]()
    if decision is None or not decision.challenger.is_trained:
        return runs
    method, seed = decision.challenger, comparison.plan.seeds[0]
    for number, (train, *judging) in enumerate(comparison.data.folds):
        advance(f"{method.title}, half of the training queries, fold {number + 1}", 0)
        n = train.queries.n_queries
        half = train.take_queries(np.random.default_rng(0).permutation(n)[: (n + 1) // 2])
        fold = FoldRuns(comparison.plan, number, [half, *judging], kept, half=True)
        first = comparison.finished(method).get((number, seed))
        fold.tuned[asked[method]] = None if first is None else first.tuned
        with warnings_of_runs():
            run = fold.run(asked[method], seed)
        runs.append(replace(run, method=method.name))
        advance("", 1)
    return runs


def runs_of(comparison: Comparison, kept: Store, advance: Advance) -> Generator[MethodRun]:
    """Yield the runs of all trainings as they finish, first those that are in the store."""
    plan, ended = comparison.plan, Event()
    methods = [method for method in comparison.methods if method.is_trained]
    stored = dict[tuple[int, Method, int], MethodRun]()
    for number, parts in enumerate(comparison.data.folds):
        fold = FoldRuns(plan, number, parts, kept)
        found = {(number, *key): fold.find(*key) for key in product(methods, plan.seeds)}
        stored |= {key: run for key, run in found.items() if run is not None}
    yield from stored.values()

    def jobs() -> Iterator[Job]:
        for number, parts in enumerate(comparison.data.folds):
            fold = FoldRuns(plan, number, parts, kept, ended=ended)
            fold.tuned = {method: run.tuned for (place, method, _), run in stored.items() if place == number}
            for method in methods:
                left = [seed for seed in plan.seeds if (number, method, seed) not in stored]
                # A thread that tunes a method trains all its seeds.
                for seeds in [left] if plan.tune and comparison.jobs > 1 else [[seed] for seed in left]:
                    if seeds:
                        advance(f"{method.framework} {method.name}, seed {seeds[0]}, fold {number + 1}", 0)
                        yield fold, method, seeds

    for _, runs in in_threads(_runs, jobs(), comparison.jobs, ended):
        yield from runs


def _runs(job: Job) -> list[MethodRun]:
    fold, method, seeds = job
    return [fold.run(method, seed) for seed in seeds]

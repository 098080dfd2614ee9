"""`compare`: our losses against the frameworks' built-in objectives, in one table."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from os import PathLike
from typing import Any

from boostplug.comparison.arguments import (
    Losses,
    as_tuple,
    check_trainable,
    frameworks_of,
    is_small,
    limits_of,
    losses_of,
    methods_of,
    metrics_of,
    note_on_weights,
    parse_metrics,
    plan_of,
    store_of,
    suited_losses,
)
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.inputs.frames import Columns
from boostplug.comparison.live import live_bars
from boostplug.comparison.recommendation import DEFAULT_METRICS
from boostplug.comparison.result import CompareResult
from boostplug.comparison.sweep import sweep_of
from boostplug.comparison.training.kept import Kept, digest_of_comparison
from boostplug.comparison.training.runs import RunOutcome
from boostplug.comparison.training.schedule import outcomes_of
from boostplug.losses import Loss
from boostplug.metrics import Metric


def compare(
    train: Any,
    valid: Any = None,
    test: Any = None,
    *,
    losses: Losses = None,
    baselines: str | Iterable[str] | None = None,
    incumbent: str | Loss | None = None,
    frameworks: str | Iterable[str] | None = None,
    rounds: int = 1000,
    seeds: int | Iterable[int] = 3,
    metrics: Metric | str | Iterable[Metric | str] = DEFAULT_METRICS,
    metric: Metric | str = "NDCG@10",
    early_stopping_rounds: int | None = 30,
    params: Mapping[str, Any] | None = None,
    tune: int = 0,
    num_threads: int | None = None,
    jobs: int | None = 1,
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
    split: str | Sequence[float] | tuple[str, str] | None = None,
    minutes: float | None = None,
    sweep: Sequence[Loss | str] | None = None,
) -> CompareResult:
    """Train losses and built-in objectives alike, and return their test metrics side by side.

    All methods grow the same kind of trees, and one metric of ours stops all of them on the validation part. A run that
    fails is reported with its reason, and the others go on. Ctrl-C ends the comparison and returns what is finished,
    with ``result.interrupted`` set.

    Parameters
    ----------
    train, valid, test : data sets
        Each of them may be:

        - a `RankingData`, or a mapping or object with `X`, `y`, `qid` or `group`, and `weight`;
        - a DataFrame (pandas, polars, pyarrow) with the columns `label` and `qid`;
        - a tuple (X, y, qid), or (DataFrame with the column `qid`, y);
        - a file of LETOR lines.

        Alternatively `train` alone: a fold (train, valid, test), a list of folds, or a folder of LETOR files or of
        ``Fold*``. Or one DataFrame, CSV or Parquet file, which `split` divides by query.

        Weights count in training, divided by their mean, and in all metrics. Data in two parts are warned of in
        ``result.document["warnings"]``. A test query in several folds counts once.
    losses : name, loss, iterable of names and losses, or mapping of names to losses, optional
        A name stands for all its variants in ``boostplug.losses.LOSSES``, or is an expression that `Loss.parse` reads:
        ".7*ndcg-boost + .3*qbrank". "all": every variant in the registry that takes the labels. Default: those that we
        recommend, `CRR`, `QBRank` and `MPBoost`; with `propensity`, those that it says.
    baselines : name or iterable of names, optional
        Of LightGBM: ``lambdarank``, ``rank_xendcg``, ``regression``; of XGBoost: ``rank:ndcg``, ``rank:pairwise``,
        ``reg:squarederror``. Default: all.
    incumbent : str or Loss, optional
        The method that is in use: a loss, or a name in the table; "QBRank in lightgbm" where both frameworks have one
        of that name. It is what its framework's methods are compared with, and what is recommended unless another is
        significantly better on test. Default: the framework's LambdaMART, ``lambdarank`` or ``rank:ndcg``; with both
        frameworks, the one that is better on validation.
    frameworks : "lightgbm", "xgboost", or an iterable of them, optional
        Default: both, or the one that is installed.
    rounds : int, default 1000
        Boosting rounds at most. Where early stopping has not ended a training before, the table marks its method, and
        gives no verdict of significance on it: more rounds might change the order.
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
        What `boostplug.comparison.training.trees.Trees` takes: ``learning_rate``, ``num_leaves``, …
    tune : int, default 0
        Settings tried per method and fold before its runs, the same number for built-ins: trees from one space for all
        (`boostplug.comparison.training.tuning.TREE_SPACE`) and the objective's own parameters, with the first seed,
        chosen by `metric` on the validation part. One that is hopeless beside the others is ended early, and counts.
        0: none. Needs the extra ``tune``.
    num_threads : int, optional
        For the frameworks, losses and metrics, of all processes together. Default: one for each process on small data
        (up to 5 million values of features), where several threads would wait for each other; else as for losses.
    jobs : int or None, default 1
        Processes that train at once (joblib's), each with an equal part of the threads, at least 1. None: as many as
        there are cores on small data, else 1. Each bins the data for itself. The result is that of one process with as
        many threads as each of them.
    progress : bool, optional
        Bars on stderr with the mean validation score of each method so far; where that is no terminal, as in a script
        whose output is a file, a line at most every 30 seconds. False: neither.
    data : str, optional
        What the table calls the data. Default: the name of the folder, where `train` is one.
    store : str or path-like, optional
        Folder, made where there is none, that keeps the results of each training as it finishes, in a file that
        ``result.kept`` names. Results of a loss with code of your own are kept only if its class or function has an
        attribute such as ``version = "1"``, which you change with the code. Else a warning says so. With a metric of
        your own without one, nothing is kept.
    resume : bool, default False
        Go on from what `store` keeps of this comparison, after Ctrl-C, a crash or a loss of power: except for times,
        the result is that of a comparison that was not interrupted. There may be more losses and seeds than then; data,
        settings, number of threads and versions must be the same.
    label, qid, weight : str
        Columns of DataFrames that hold grades, queries, and weights, where there are some; all others are features.
    position : str, optional
        Column of the places where users saw the rows, from 1, for losses that learn from clicks (`Unbiased`). Of other
        data, `RankingData` holds them. Where a validation or test part has positions, its labels are clicks, which
        favour the order that was shown: without `propensity` there is no recommendation and no p.
    propensity : array-like of shape (n_positions,), optional
        How likely users look at position 1, 2, …, or what `boostplug.clicks.propensity` returns. Clicks on the
        validation part then stop and choose, and those on the test part judge, by the DCG that they estimate: each
        weighs 1 over its propensity, at most 10; the mean of the positions where that cuts makes up for the rest. NDCG
        becomes DCG, since clicks do not tell the ideal order, and other metrics are left out. Parts without positions
        are judged by their labels. If the training part has positions, the default losses learn from clicks: `RankNet`
        corrects nothing, `Unbiased` with method "ips", these propensities and power .25, .5, .75 and 1 corrects more,
        and so does "additive" with ridge .3, .03 and .003. A name such as "unbiased" in `losses` stands for variants
        with these propensities. Losses that you pass, and expressions, keep their own.
    labels : iterable of str, optional
        Columns of more labels, for losses and metrics that read one of them: ``bp.QBRank().on("sale")``,
        "NDCG@10.on(sale)". Of other data, `RankingData` holds them.
    features, drop : iterable of str, optional
        Columns of DataFrames that are features; columns that are left out. Default: all but those above.
    split : three shares or str, optional
        Of one DataFrame or file: the shares of its queries for training, validation and test, drawn with a fixed seed,
        or the column that says "train", "valid" or "test" of each row, or ("time", column): the first 60 % of the
        queries by that column train, the next 20 % validate and the last 20 % test. Default: (0.6, 0.2, 0.2).
    sweep : two losses, optional
        Trains their sums along a grid of weights, in place of the default losses. The result says which methods no
        other beats on both: by `metric` on the label that each of the two reads, or, where they read the same one, by
        the first two of `metrics`.
    minutes : float, optional
        A budget: no training begins after it; one that is at work then is finished. All folds are trained with the
        first seed before any with the second; with `tune`, all seeds of a fold before the next fold.
        ``result.out_of_time`` is whether it was too short, ``result.not_run`` what is missing. With `store`, `resume`
        goes on from there. Methods are compared on the folds and seeds that both have.

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
    >>> list(result.to_frame()["method"][:3])
    ['lambdarank', 'rank_xendcg', 'regression']
    """
    columns_of_frames = Columns(
        label, qid, weight, position,
        as_tuple(labels) or (), as_tuple(features), as_tuple(drop) or (), as_tuple(split),
    )  # fmt: skip
    loaded, about_clicks = LoadedData.from_arguments(train, valid, test, columns_of_frames, data), list[str]()
    if propensity is not None:
        loaded, about_clicks = loaded.weighed(propensity)
    folds = loaded.folds
    pair = None
    chosen = {} if losses is None and sweep is not None else losses_of(losses, folds, loaded.propensity)
    if sweep is not None:
        pair = sweep_of(sweep, parse_metrics(metrics), Metric.parse(metric))
        chosen = pair.beside(chosen)
        if "test" in loaded.weighed_clicks:
            pair = pair.on_clicks()
        metrics = [*pair.metrics] if metrics is DEFAULT_METRICS else [*pair.metrics, *parse_metrics(metrics)]
    weighed = loaded.weighed_clicks
    main, choosing, table_metrics, left_out = metrics_of(folds, metric, metrics, weighed=weighed)
    small = is_small(folds)
    jobs, minutes = limits_of(jobs, minutes, small=small)
    plan = plan_of(
        main,
        choosing,
        table_metrics,
        rounds=rounds,
        seeds=seeds,
        early_stopping_rounds=early_stopping_rounds,
        params=params,
        tune=tune,
        num_threads=num_threads,
        jobs=jobs,
        small=small,
    )
    names, absent = frameworks_of(frameworks)
    check_trainable(folds, names, plan)
    methods, unsuited = suited_losses(methods_of(names, chosen, baselines, incumbent), losses, folds)
    folder, kept = store_of(store, resume=resume), Kept()
    if folder is not None:
        digest = digest_of_comparison(loaded.fingerprints, names, plan)
        kept = Kept.from_folder(folder, digest, methods, table_metrics, resume=resume)
    notes = [*absent, *about_clicks, *left_out, *unsuited, *note_on_weights(folds, methods)]
    result = CompareResult(loaded, plan, methods, jobs=jobs, sweep=pair, minutes=minutes, notes=notes)
    result.runs.incumbent = incumbent
    _train(result, kept, progress, minutes)
    return result


def _train(result: CompareResult, kept: Kept, progress: bool | None, minutes: float | None) -> None:
    """Train, and add outcomes to the result by fold, seed and method; where Ctrl-C ends it, those that there are."""
    runs, found = result.runs, list[RunOutcome]()
    plan, folds, methods = runs.plan, runs.data.folds, runs.methods
    with live_bars(progress, plan, methods, len(folds)) as (begin, add):
        try:
            with closing(outcomes_of(plan, folds, methods, kept, runs.jobs, minutes, begin)) as outcomes:
                for run in outcomes:
                    found.append(run)
                    add(run)
        except KeyboardInterrupt:
            result.interrupted = True
    for run in sorted(found, key=lambda run: (run.fold, plan.seeds.index(run.seed), methods.index(run.method))):
        result.add(run)
    result.out_of_time = minutes is not None and not result.interrupted and bool(result.not_run)
    result.kept = kept.path

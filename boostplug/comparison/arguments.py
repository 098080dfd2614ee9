"""The arguments of `compare`, checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, product
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.adapters.lightgbm import check_parameters
from boostplug.comparison.inputs.clicks import losses_on_clicks, metric_of_clicks
from boostplug.comparison.inputs.columns import PARTS, DataFolds
from boostplug.comparison.inputs.features import check_finite
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.training.baselines import OWN_BASELINES
from boostplug.comparison.training.frameworks import FRAMEWORKS, WITHOUT_NORM
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.comparison.training.runs import Method
from boostplug.comparison.training.trees import Trees
from boostplug.comparison.training.tuning import silent_optuna
from boostplug.core.checks import check_flag, check_instance, check_integer, did_you_mean, shown
from boostplug.core.extras import install, is_installed
from boostplug.core.threads import get_num_threads
from boostplug.core.values import distinct_names
from boostplug.data.inputs import CheckedInputs
from boostplug.data.tables import check_same_sparsity, schema_of
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES, check_parameter_names, is_dart
from boostplug.losses import CRR, LOSSES, ListNet, Loss, MPBoost, QBRank, RankNet
from boostplug.losses.base.loss import CombinedLoss
from boostplug.metrics import ChoiceLogLoss, Metric
from boostplug.selection.starting import n_with_pair, trees_for

ALL = "all"  # every variant in the registry
Losses = str | Loss | Iterable[str | Loss] | Mapping[str, Loss] | None

DEFAULT_METRICS = ("NDCG@5", "NDCG@10", "MAP", "KendallTau")
"""Those that `compare` shows by default."""
DEFAULT_LOSSES = (CRR(), QBRank(), MPBoost())
"""The losses that `compare` trains by default: see docs/guides/which_loss.md."""
CHOICE_METRICS = ("NDCG@10", "MRR", "ChoiceLogLoss")
CHOICE_LOSSES = (ListNet(target="labels"), QBRank(), RankNet())
"""The same where no query has more than one relevant document."""

_DEFAULT_BASELINES = [name for kind in FRAMEWORKS.values() for name in kind.baselines if name != WITHOUT_NORM]
_BUILT_IN = [*_DEFAULT_BASELINES, WITHOUT_NORM]
_BY_RANK = [loss for variants in LOSSES.values() for loss in variants if getattr(loss, "propensity", None)]  # 1/rank
_LARGEST_SEED = 2**31 - 1
_MOST_SEEDS = 10_000  # each a training of every method; from some tens on, the mean stands still
_MOST_ROUNDS = 1_000_000
_MOST_TRIALS = 10_000
_LEAST_LEAVES = 3
_ENOUGH_QUERIES = 500  # of validation, to tell which size of the trees ranks better
_VALUES_FOR_ONE_THREAD = 5_000_000  # values of features: measured with 2 threads, LightGBM 4.7 and XGBoost 3.2
_MOST_THREADS = 1024  # LightGBM hangs on tens of thousands


def as_trees(params: Mapping[str, Any] | None, folds: DataFolds) -> tuple[Trees, str]:
    """Return the trees that `params` describes, checked, by default those that fit the labels, and the reasons."""
    fewest = min((fold[0] for fold in folds), key=lambda train: n_with_pair(train.queries))
    defaults, why = trees_for(fewest.queries, int(fewest.X.shape[1]))
    if isinstance(params, Mapping) and "column_fraction" in params:
        defaults["xgboost"].pop("colsample_bytree", None)  # which would win
    trees = Trees.from_params(params, defaults)
    why = f"in the smallest training part, {why}" if len(folds) > 1 else why
    return trees, f"{why}; params set {', '.join(params)}" if params else why


def sizes_to_try(
    plan: TrainingPlan, params: Mapping[str, Any] | None, data: LoadedData, methods: Sequence[Method]
) -> dict[int, Method]:
    """Return the method that tries each number of leaves: the first default loss in the methods' first framework.

    Empty if `params` or tuning choose the leaves, or if a fold has few validation queries.
    """
    given, framework = params or {}, next((m.framework for m in methods if m.is_trained), "")
    names = {*given, *given.get("lightgbm", {}), *given.get("xgboost", {})}
    zeros = [(np.zeros(valid.queries.n_rows), valid.queries) for _, valid, _ in data.folds]
    n_defined = min(np.isfinite(plan.valid_metric.per_query(*of_fold)).sum() for of_fold in zeros)
    if plan.tune or names & {*LIGHTGBM_ALIASES["num_leaves"]} or n_defined < _ENOUGH_QUERIES or not framework:
        return {}
    own, loss = plan.trees.num_leaves, (CHOICE_LOSSES if data.has_one_chosen else DEFAULT_LOSSES)[0]
    sizes = own, max(_LEAST_LEAVES, own // 2), 2 * own
    return dict.fromkeys(sizes, Method(distinct_names([loss])[0], framework, loss))


def as_budget(rounds: int, early_stopping_rounds: int | None, tune: int) -> tuple[int, int | None, int]:
    """Return the most rounds, the patience of early stopping, and the number of settings to try, checked."""
    rounds = check_integer("rounds", rounds, 1, remedy="1000 is the default", most=_MOST_ROUNDS)
    if early_stopping_rounds is not None:
        otherwise = ", or None for no early stopping"
        early_stopping_rounds = check_integer("early_stopping_rounds", early_stopping_rounds, 1, otherwise)
    trials = check_integer("tune", tune, 0, remedy="20 settings are a good start", most=_MOST_TRIALS)
    if trials:
        silent_optuna()  # raises if it is not installed
    return rounds, early_stopping_rounds, trials


def is_small(folds: DataFolds) -> bool:
    """Return whether one thread trains as fast as several: so few values that threads wait for each other."""
    return all(fold[0].queries.n_rows * int(fold[0].X.shape[1]) <= _VALUES_FOR_ONE_THREAD for fold in folds)


def as_threads(num_threads: int | None, jobs: int | None) -> tuple[int, int | None]:
    """Return how many threads there are, and how many trainings run at once, checked."""
    otherwise = ", or None for OMP_NUM_THREADS, or all cores"
    asked = get_num_threads() if num_threads is None else num_threads
    threads = check_integer("num_threads", asked, 1, otherwise, most=_MOST_THREADS)
    if jobs is not None:
        jobs = check_integer("jobs", jobs, 1, remedy="as many as there are cores are a good start", most=_MOST_THREADS)
    return threads, jobs


def threads_of_training(threads: int, jobs: int | None, folds: DataFolds, *, by_default: bool) -> tuple[int, int]:
    """Return how many threads a training has, and how many trainings run at once; on small data one, by default."""
    small = is_small(folds)
    if jobs is None:
        jobs = threads if small else 1
    return 1 if small and by_default else max(1, threads // jobs), jobs


def as_store(store: str | PathLike[str] | None, *, resume: bool) -> Path | None:
    """Return the file that keeps finished trainings, checked."""
    if check_flag("resume", resume) and store is None:
        raise ValueError("resume goes on from the results in a file; name it as store")
    if store is None:
        return None
    if not isinstance(store, (str, PathLike)):
        raise TypeError(f"store must be the path of a file; got {shown(store)}")
    path = Path(store)
    return path / "compare.jsonl" if path.is_dir() else path


def as_losses(losses: Losses, data: LoadedData) -> dict[str, Loss]:
    """Return the losses to train, by name: by default those for clicks if clicks judge by propensities."""
    if losses is None and data.has_one_chosen:
        return parse_losses(CHOICE_LOSSES)
    if losses is None and data.propensity is not None and (on_clicks := losses_on_clicks(data.folds, data.propensity)):
        return on_clicks
    return parse_losses(losses, data.propensity)


def parse_losses(losses: Losses, propensity: Sequence[float] | None = None) -> dict[str, Loss]:
    """Return losses by the names that the table gives them.

    Parameters
    ----------
    losses : iterable of names and losses, mapping, or None
        As `compare` takes them.
    propensity : sequence of float, optional
        By position: replaces the propensities of losses in the registry. Other losses keep their own.

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
    for item in DEFAULT_LOSSES if losses is None else _several(losses, "losses", (str, Loss)):
        if item in _BUILT_IN:
            raise ValueError(f"losses has {item!r}, a built-in objective; name it in baselines, or pass 'LambdaRank'")
        if isinstance(item, str):
            named = chain.from_iterable(LOSSES.values()) if item == ALL else Loss.parse(item)[:1]
            chosen += [_with_propensity(loss, propensity) for loss in named]
        else:
            _check_loss(item, "an item of losses")
            chosen.append(item)
    # By parameters too: to a class with a constructor of its own the equality that it inherits says less.
    chosen = list({(loss, repr(loss.parameters())): loss for loss in chosen}.values())
    return dict(zip(distinct_names(chosen), chosen, strict=True))


def _with_propensity(loss: Loss, propensity: Sequence[float] | None) -> Loss:
    """Return the loss with other propensities if its own are the registry's."""
    replaced = propensity is not None and any(loss is known for known in _BY_RANK)
    return loss.with_params(propensity=propensity) if replaced else loss


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


def as_metrics(
    metric: Metric | str, metrics: Metric | str | Iterable[Metric | str], data: LoadedData
) -> tuple[Metric, Metric, list[Metric], list[str]]:
    """Return the metric that judges, the one that chooses, all that judge, and a note on each that is left out.

    Those of the default are left out that are undefined on every query of a test part, and all that weighed clicks
    cannot estimate.
    """
    main, by_default = Metric.parse(metric), metrics is DEFAULT_METRICS
    wanted = _several(CHOICE_METRICS if by_default and data.has_one_chosen else metrics, "metrics", (str, Metric))
    columns = list(dict.fromkeys([*map(Metric.parse, wanted), main]))
    weighed, estimated, left_out = data.weighed_clicks, metric_of_clicks(main), list[str]()
    if weighed and estimated is None:
        raise ValueError(f"metric={main.name!r}: weighted clicks estimate only DCG; pass metric='DCG@10'")
    choosing = estimated if estimated and "valid" in weighed else main
    if estimated and "test" in weighed:
        main = estimated
        unknown = [one.name for one in columns if metric_of_clicks(one) is None]
        left_out = [f"{name} is left out: weighed clicks do not estimate it." for name in unknown]
        columns = list(dict.fromkeys(filter(None, map(metric_of_clicks, columns))))
    if not main.has_per_query:
        raise ValueError(
            f"metric={main.name!r} has no value per query, by which methods are tested; pass it in metrics, and pass "
            "another one such as 'NDCG@10' as metric"
        )
    notes: dict[Metric, str] = {}
    for fold in data.folds:
        for name, part, needed in zip(PARTS, fold, ((), (choosing,), columns), strict=True):
            weight = part.queries.query_weight
            if weight is not None and not np.any(weight):
                raise ValueError(f"{name}: all weights are 0; give its queries weights, or pass none")
            for one in needed:
                if why := _why_undefined(one, part, name):
                    if one in (main, choosing) or not by_default:
                        raise ValueError(f"{one.name} is {why}")
                    notes[one] = f"{one.name} is left out, {why}."
    return main, choosing, [one for one in columns if one not in notes], [*left_out, *notes.values()]


def suited_losses(methods: Sequence[Method], losses: Losses, folds: DataFolds) -> tuple[list[Method], list[str]]:
    """Return the methods without those that "all" stands for and that cannot learn from the data, and notes on them."""
    is_all = losses == ALL or (isinstance(losses, (list, tuple)) and ALL in losses)
    without_positions = any(train.queries.position is None for train, *_ in folds)
    left, unsuited = list[Method](), dict[str, list[str]]()
    for method in methods:
        loss, why = method.objective, ""
        if isinstance(loss, Loss) and loss.traits.positions and without_positions:
            if not is_all:
                raise ValueError(
                    f"{method.name} learns from clicks at positions, and train has none. Name their column by "
                    "position= (--position), or pass RankingData(X, y, qid=…, position=…)."
                )
            why = "they learn from clicks at positions, and the data has no positions"
        elif isinstance(loss, Loss) and is_all and (outside := _refused_labels(loss, folds)):
            why = f"they do not take labels from {outside[0]:g} to {outside[1]:g}"
        if why:
            unsuited.setdefault(why, []).append(method.name)
        else:
            left.append(method)
    return left, [f"Left out, since {why}: {', '.join(dict.fromkeys(names))}." for why, names in unsuited.items()]


def _refused_labels(loss: Loss, folds: DataFolds) -> tuple[float, float] | None:
    """Return the range of the labels that the loss reads, if it does not take them all."""
    if isinstance(loss, CombinedLoss):  # its parts may read different labels
        ranges = (_refused_labels(part, folds) for part in loss.losses)
        return next(filter(None, ranges), None)
    read = [loss.with_own_labels(part.queries) for fold in folds for part in fold[:2]]
    labels = np.concatenate([queries.labels[queries.judged] for queries in read])
    least, largest = float(labels.min(initial=0.0)), float(labels.max(initial=0.0))
    return (least, largest) if least < loss.traits.labels.least or largest > loss.traits.labels.most else None


def _why_undefined(metric: Metric, part: CheckedInputs, name: str) -> str | None:
    """Return why a metric has no value on a part; None where it has one."""
    zeros = np.zeros(part.queries.n_rows)
    try:
        values = metric.per_query(zeros, part.queries) if metric.has_per_query else metric(zeros, part.queries)
    except ValueError as error:
        least = part.queries.labels.min(initial=0.0)
        if least < 0.0:
            return (
                f"undefined for negative labels, and {name} has {least:g}: shift them to start at 0, or pass "
                "metric='SpearmanRho' (--metric SpearmanRho)"
            )
        raise ValueError(f"{metric.name} cannot be computed on {name}: {error}") from None
    if not np.isnan(values).all():
        return None
    most = metric.with_own_labels(part.queries).labels.max()
    return f"undefined on every query of {name}: it has no relevant document, with labels up to {most:g}"


def check_trainable(folds: DataFolds, frameworks: Sequence[str], plan: TrainingPlan) -> None:
    """Raise where a framework would read parts differently or refuse them, and for wrong parameters."""
    for fold, place in product(folds, range(len(PARTS))):
        check_same_sparsity(schema_of(fold[place].X), schema_of(fold[0].X), f"{PARTS[place]}: X")
        if "xgboost" in frameworks:
            check_finite(fold[place], PARTS[place])
    for framework in frameworks:
        given = getattr(plan.trees, framework)
        check_parameter_names(framework, given, f"params[{framework!r}]")
        check_parameters(given)
        if plan.patience is not None and is_dart(given):
            raise ValueError(
                f"params[{framework!r}] asks for dart, whose later rounds change earlier trees, so that the model of "
                "the best round is gone when training stops; pass early_stopping_rounds=None, or another booster"
            )


def as_seeds(seeds: int | Iterable[int]) -> list[int]:
    """Return the seeds, checked."""
    if isinstance(seeds, str) or not np.iterable(seeds):
        remedy = "give how many, or a list of seeds"
        return list(range(check_integer("seeds", seeds, 1, remedy=remedy, most=_MOST_SEEDS)))
    chosen = [check_integer("each of seeds", seed, 0, most=_LARGEST_SEED) for seed in islice(seeds, _MOST_SEEDS + 1)]
    if not chosen or len(set(chosen)) < len(chosen) or len(chosen) > _MOST_SEEDS:
        raise ValueError(
            f"seeds must be 1 to {_MOST_SEEDS} different integers from 0 to {_LARGEST_SEED}, got {shown(chosen)}"
        )
    return chosen


def as_frameworks(asked: str | Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Return the frameworks to compare in, and a note for each that is left out."""
    names = list(dict.fromkeys(FRAMEWORKS if asked is None else _several(asked, "frameworks", str)))
    unknown = [name for name in names if name not in FRAMEWORKS]
    if unknown or not names:
        listed = ", ".join(map(repr, unknown)) or "none given"
        raise ValueError(f"frameworks must be of {', '.join(FRAMEWORKS)}; got {listed}")
    absent = [name for name in names if not is_installed(name)]
    if absent and (asked is not None or len(absent) == len(names)):
        raise ImportError(f"{' and '.join(absent)} cannot be imported: {install(*absent)}", name=absent[0])
    notes = [f"{name} is not installed and left out ({install(name)})." for name in absent]
    return [name for name in names if name not in absent], notes


def as_baselines(baselines: str | Iterable[str] | None, data: LoadedData) -> list[str]:
    """Return the names of the baselines, checked."""
    by_default = [*(_BUILT_IN if data.has_one_chosen else _DEFAULT_BASELINES), *OWN_BASELINES]
    wanted = by_default if baselines is None else _several(baselines, "baselines", str)
    known = [*_BUILT_IN, *OWN_BASELINES]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise ValueError(f"there is no baseline {unknown[0]!r}; there are: {', '.join(known)}{near}")
    return wanted


def methods_to_compare(
    frameworks: Sequence[str], losses: Mapping[str, Loss], baselines: Sequence[str], others: Sequence[Method]
) -> list[Method]:
    """Return what is compared: in each framework the baselines, and then the losses.

    The `others` need no framework; the score in use among them comes first.
    """
    taken = [name for name in losses if name in _BUILT_IN]
    if taken:
        raise ValueError(f"losses has the name {taken[0]!r}, which is that of a built-in objective; choose another")
    methods = []
    for framework in frameworks:
        own = FRAMEWORKS[framework].baselines
        methods += [Method(name, framework, name, name == own[0]) for name in own if name in baselines]
        methods += [Method(name, framework, loss) for name, loss in losses.items()]
    methods = [*(m for m in others if m.is_reference), *methods, *(m for m in others if not m.is_reference)]
    if not methods:
        raise ValueError("there is nothing to compare: losses and baselines are both empty")
    return methods


def notes_on_one_chosen(losses: Losses, methods: Sequence[Method], metrics: Sequence[Metric]) -> list[str]:
    """Return what `compare` does otherwise where no query has more than one relevant document, and why."""
    found = []
    if losses is None:
        found.append("No query has more than one relevant document. CRR is left out, which gains less on such lists.")
    if any(method.name == WITHOUT_NORM for method in methods):
        found.append(f"{WITHOUT_NORM} is lambdarank without its normalisation, which harms lists of one choice.")
    if ChoiceLogLoss() in metrics:
        found.append(
            "ChoiceLogLoss reads scores as log odds of the choice, which ListNet(target='labels') and RankNet fit; "
            "scores of the others have other scales."
        )
    return found


def with_incumbent(incumbent: str | Loss, methods: Sequence[Method]) -> list[Method]:
    """Return the methods with the incumbent as reference: "NAME" in each framework, "NAME in FRAMEWORK" in one.

    Names are taken in any case, but for built-in objectives, since lambdarank is not LambdaRank.
    """
    exact = not isinstance(incumbent, str) or incumbent.partition(" in ")[0].casefold() in _BUILT_IN
    same = str if exact else str.casefold
    name = same(incumbent) if isinstance(incumbent, str) else incumbent
    found = [m for m in methods if name in (same(m.name), same(f"{m.name} in {m.framework}"), m.objective)]
    if not found:
        listed = ", ".join(dict.fromkeys(m.name for m in methods))
        raise ValueError(
            f"incumbent must be one of the methods ({listed}), got {shown(incumbent)}; add it to losses or "
            "baselines. A column with the score in use goes to today= (--today)"
        )
    frameworks = {m.framework for m in found}
    return [replace(m, is_reference=m in found) if m.framework in frameworks else m for m in methods]

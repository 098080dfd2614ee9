"""Compile before the first call: all kernels that losses, metrics, rankers and readers use, once for each machine.

Later processes find the code on disk (see `boostplug.kernels.base.compiling`), in the image of a container too.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from boostplug.core.checks import shown
from boostplug.core.naming import parameters
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.datasets import load_letor
from boostplug.kernels.base.compiling import compiled_so_far
from boostplug.losses import LOSSES, LambdaRank, Loss, PairwiseLoss
from boostplug.metrics import ECE, MAP, METRICS, NDCG, LogLoss, Metric
from boostplug.rankers import RANKERS

__all__ = ["WarmUp", "names", "warmup"]

Floats = NDArray[np.float64]

_SIZES = (300, 40, 12, 3, 1)  # documents of the queries: sums of long lists are other kernels than those of short ones
_LONG = (4000, 5)  # the same for lists of documents that all have grades of their own
_GRADES = 5
_SPREADS = (0.1, 3.0, 1000.0)  # of scores: where exponentials leave the range of floats, other kernels work


class WarmUp(NamedTuple):
    """Result of a warm-up.

    Attributes
    ----------
    n_compiled, n_found : int
        Kernels, one for each combination of types: compiled now, and found in the cache or in this process.
    seconds : float
    folders : list of Path
        Where the cache is.
    """

    n_compiled: int
    n_found: int
    seconds: float
    folders: list[Path]

    def __str__(self) -> str:
        where = ", ".join(map(str, self.folders))
        if not self.n_compiled:
            return f"all {self.n_found} kernels were there ({self.seconds:.1f} s), in {where}"
        return f"{self.n_compiled} kernels compiled in {self.seconds:.1f} s, {self.n_found} were there; in {where}"


def warmup(progress: Callable[[str, int, float], object] | None = None) -> WarmUp:
    """Compile all kernels for this machine, and keep them on disk for later processes.

    A second call takes a few seconds. It calls every registered loss on lists of all kinds, with and without weights
    and explicit pairs, also as the frameworks do. Then it calls the metrics, the reference rankers, `Pairs.from_clicks`
    and the reader of LETOR files.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(name, n_compiled, seconds)`` after each of them.

    Returns
    -------
    WarmUp

    Raises
    ------
    ValueError
        If `progress` cannot be called.
    OSError
        If compiled code cannot be kept on disk; said with the first kernel that cannot.
    """
    if progress is not None and not callable(progress):
        raise ValueError(
            f"progress must be a callable of a name, how many kernels were compiled, and seconds, or None; got "
            f"{shown(progress)}"
        )
    began = time.perf_counter()
    before = after = compiled_so_far()
    for name, call in _calls():
        start, compiled = time.perf_counter(), after.n_compiled
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of data made to reach all kernels; what cannot be kept is said below
            call()
        after = compiled_so_far()
        if after.in_memory:  # at once: compiling the rest takes minutes, and would be lost too
            raise OSError(
                "compiled code cannot be kept: no folder can be written to; set NUMBA_CACHE_DIR to one that can"
            )
        if progress is not None:
            progress(name, after.n_compiled - compiled, time.perf_counter() - start)
    n_compiled, n_found = after.n_compiled - before.n_compiled, after.n_found + before.n_compiled
    return WarmUp(n_compiled, n_found, time.perf_counter() - began, after.folders)


def names() -> list[str]:
    """Return what `warmup` calls, in its order."""
    return [name for name, _ in _calls()]


def _calls() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield what is to be called, by name."""
    data = [*_data()]
    for name, losses in LOSSES.items():
        settings = (changed for loss in losses for changed in _settings(loss))
        yield name, partial(_each, partial(_call_loss, data=data), settings)
    # With ties in row order, which the registry does not have: it breaks a property of losses.
    truncated = [LambdaRank(metric=metric, truncation=30, norm=True) for metric in (NDCG(), MAP())]
    yield "LambdaRank(truncation)", partial(_each, partial(_call_loss, data=data), truncated)
    softplus = (  # a user's own function, with its derivatives, with and without weights of pairs
        lambda d: np.logaddexp(0.0, -d),
        lambda d: -0.5 * (1.0 - np.tanh(0.5 * d)),
        lambda d: 0.25 * (1.0 - np.tanh(0.5 * d) ** 2),
    )
    pairwise = [PairwiseLoss(*softplus, weight=weight) for weight in (None, np.subtract)]
    yield "PairwiseLoss", partial(_each, partial(_call_loss, data=data), pairwise)
    for name, kind in METRICS.items():
        yield name, partial(_each, partial(_call_metric, data=data), _variants(kind))
    for name, rankers in RANKERS.items():
        yield name, partial(_each, _fit, rankers)
    yield "Pairs", _list_pairs
    yield "load_letor", _read


def _each(call: Callable[[Any], None], values: Iterable[Any]) -> None:
    for value in values:
        call(value)


class _Data(NamedTuple):
    queries: Queries
    scores: list[Floats]


def _data() -> Iterator[_Data]:
    """Yield lists with grades, real-valued ones, two grades, weights, rows without a label, and explicit pairs.

    Long lists have no positions: no result page is as long.
    """
    rng = np.random.default_rng(0)

    def with_scores(queries: Queries, spreads: tuple[float, ...] = _SPREADS) -> _Data:
        if np.diff(queries.boundaries).max() <= max(_SIZES):
            place = np.arange(queries.n_rows) - queries.boundaries[queries.query_of_row]
            queries = queries.with_positions(1 + place % 10)
        return _Data(queries, [spread * rng.normal(size=queries.n_rows) for spread in spreads])

    n = sum(_SIZES)
    grades = rng.integers(0, _GRADES, n).astype(np.float64)
    real = (_GRADES - 1.0) * rng.random(n)
    weight = 0.5 + rng.random(n)
    winner, loser = rng.permutation(n)[: n // 2 * 2].reshape(2, -1)
    for labels in (grades, np.minimum(grades, 1.0), real):
        yield with_scores(Queries(labels, group=_SIZES))
        yield with_scores(Queries(labels, group=_SIZES, weight=weight))
    yield with_scores(Queries(grades, group=_SIZES, labelled=rng.random(n) < 0.8, weight=weight))
    yield with_scores(Queries(4.0 * rng.random(sum(_LONG)), group=_LONG), (1.0,))
    yield with_scores(Queries(grades, group=_SIZES, pairs=Pairs(winner, loser)))
    margin = 0.5 + rng.random(len(winner))
    pairs = Pairs(winner, loser, weight=margin, margin=margin)
    yield with_scores(Queries(grades, group=_SIZES, weight=weight, pairs=pairs))


def _settings(loss: Loss) -> Iterator[Loss]:
    """Yield a loss, and with each of its parameters set to each name that it knows, or to a number at a bound."""
    yield loss
    as_dataclass: Any = loss  # its parameters are fields
    hints = get_type_hints(type(loss))
    for name, known, _ in parameters(loss):
        for part in (hints.get(name), *get_args(hints.get(name))):
            numbers = (0.0, 1.0) if part is float else ()
            for value in get_args(part) if get_origin(part) is Literal else numbers:
                with suppress(ValueError):  # a number that the parameter cannot be
                    if value != known:
                        yield replace(as_dataclass, **{name: value})


def _call_loss(loss: Loss, data: list[_Data]) -> None:
    largest = 1.0 if loss.binary_labels else loss.largest_label
    for queries, all_scores in data:
        given = queries.pairs is None or loss.takes_pairs
        if given and queries.labels.max() <= largest and (queries.position is not None or not loss.needs_position):
            for scores in all_scores:
                loss.value(scores, queries)
                loss.gradient_hessian(scores.astype(np.float32), queries)
    if not loss.needs_position:  # which arrays alone do not have
        queries, (scores, *_) = data[0 if loss.largest_label >= _GRADES - 1 else 2]  # all grades, or two
        loss(queries.labels, scores, None, np.diff(queries.boundaries))


def _variants(kind: type[Metric]) -> Iterator[Metric]:
    """Yield a metric with small cut-offs and large ones, which are the work of other kernels."""
    if issubclass(kind, (ECE, LogLoss)):
        return  # NumPy computes them
    yield kind()
    if "k" in kind().get_params(deep=False):
        yield kind(k=5)  # type: ignore[call-arg]
        yield kind(k=200)  # type: ignore[call-arg]


def _call_metric(metric: Metric, data: list[_Data]) -> None:
    for queries, all_scores in data[:2]:
        for scores in all_scores[:1]:
            metric.per_query(scores.astype(np.float32), queries)
            metric(scores, queries)
            metric(np.zeros(queries.n_rows), queries)  # ties alone


def _fit(ranker: Any) -> None:
    """Fit on grades; on many, and on explicit pairs, which are listed one by one."""
    rng = np.random.default_rng(0)
    X, y, group = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), [20, 30, 10]
    for dtype in (np.float64, np.float32):
        model = clone(ranker).set_params(n_estimators=2)
        model.fit(X.astype(dtype), y, group=group).predict(X.astype(dtype))
    clone(ranker).set_params(n_estimators=2).fit(X, 4.0 * rng.random(60), group=group)
    with suppress(ValueError):  # of rankers that take none
        clone(ranker).set_params(n_estimators=2).fit(X, y, group=group, pairs=Pairs([0, 1, 20], [2, 3, 21]))


def _list_pairs() -> None:
    """List pairs of clicks, counting the pages that show both documents, and of purchases."""
    Pairs.from_clicks([0, 1, 0, 1], group=[2, 2], position=[1, 2, 1, 2], row=[0, 1, 0, 1], min_impressions=2)
    Pairs.from_implicit([0, 1], group=[2])


def _read() -> None:
    with TemporaryDirectory(prefix="boostplug-") as folder:
        path = Path(folder, "lines.txt")
        for feature in (2, 300, 70_000):  # features are kept as integers of 8, 16 or 32 bits
            path.write_text(f"2 qid:1 1:0.5 2:-1.5e-3 # a\n0 qid:1 {feature}:1\n")
            load_letor(path)

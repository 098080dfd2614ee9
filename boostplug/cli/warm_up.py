"""Ahead-of-time compilation of the kernels of losses, metrics, rankers and readers, once for each machine.

Later processes find the code on disk (see `boostplug.kernels.base.compiling`), in the image of a container too.
"""

import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from boostplug.core.checks import shown
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.datasets import load_letor
from boostplug.kernels.base.compiling import compiled_so_far
from boostplug.losses import LOSSES, LambdaRank, Loss, QBRank
from boostplug.metrics import MAP, METRICS, NDCG, Metric
from boostplug.rankers import RANKERS
from boostplug.testing import suited_data


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
        kernels = f"{self.n_compiled} kernels compiled in {self.seconds:.1f} s, {self.n_found} were there"
        return f"{kernels}; in {', '.join(map(str, self.folders))}"


def warmup(progress: Callable[[str, int, float], object] | None = None) -> WarmUp:
    """Compile the kernels of losses, metrics and rankers for this machine, and keep them on disk for later processes.

    A second call takes a few seconds. It calls every registered loss on the data of `testing.check_loss`, then the
    metrics, the reference rankers, `Pairs.from_clicks` and the reader of LETOR files.

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
        If compiled code cannot be kept on disk; raised for the first kernel that cannot.
    """
    if progress is not None and not callable(progress):
        raise ValueError(
            f"progress must be a callable of a name, how many kernels were compiled, and seconds, or None; got "
            f"{shown(progress)}"
        )
    began = time.perf_counter()
    before = after = compiled_so_far()
    for name, call in _calls().items():
        start, compiled = time.perf_counter(), after.n_compiled
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an error below says what cannot be kept
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


def _calls() -> dict[str, Callable[[], None]]:
    """Return functions that call everything that has kernels, by name."""
    others = (QBRank(margin=1.0), *(LambdaRank(metric=metric, truncation=30, norm=True) for metric in (NDCG(), MAP())))
    losses = LOSSES | {"settings with kernels of their own": others}
    return {
        **{name: partial(_call_losses, variants) for name, variants in losses.items()},
        **{name: partial(_call_metric, kind) for name, kind in METRICS.items()},
        **{name: partial(_fit, rankers) for name, rankers in RANKERS.items()},
        "clicks and LETOR files": _read_data,
    }


def _call_losses(losses: Iterable[Loss]) -> None:
    for loss in losses:
        for _, scores, queries in suited_data(loss, np.random.default_rng(0)):
            loss.value(scores, queries)
            loss.gradient_hessian(scores.astype(np.float32), queries)
            if not loss.needs_position and queries.pairs is None:  # as LightGBM's rankers do
                loss(queries.labels, scores, None, np.diff(queries.boundaries))


def _call_metric(kind: type[Metric]) -> None:
    kind()(np.zeros(8), Queries(np.arange(8.0) % 2, group=[5, 3]))


def _fit(rankers: Iterable[Any]) -> None:
    """Fit on grades, on many different labels, and on explicit pairs, which are listed one by one."""
    rng = np.random.default_rng(0)
    X, y, group = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), [20, 30, 10]
    for ranker in rankers:
        model = clone(ranker).set_params(n_estimators=2)
        model.fit(X, y, group=group).predict(X)
        model.fit(X, 4.0 * rng.random(60), group=group)
        with suppress(ValueError):  # rankers that take no pairs
            model.fit(X, y, group=group, pairs=Pairs([0, 1, 20], [2, 3, 21]))


def _read_data() -> None:
    """List pairs of clicks, counting the pages that show both documents, and of purchases; read LETOR files."""
    Pairs.from_clicks([0, 1, 0, 1], group=[2, 2], position=[1, 2, 1, 2], row=[0, 1, 0, 1], min_impressions=2)
    Pairs.from_implicit([0, 1], group=[2])
    with TemporaryDirectory(prefix="boostplug-") as folder:
        path = Path(folder, "lines.txt")
        for feature in (2, 300, 70_000):  # features are kept as integers of 8, 16 or 32 bits
            path.write_text(f"2 qid:1 1:0.5 2:-1.5e-3 # a\n0 qid:1 {feature}:1\n")
            load_letor(path)

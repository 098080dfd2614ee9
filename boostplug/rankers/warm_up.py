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
from typing import Any

import numpy as np
from sklearn.base import clone

from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.datasets import load_letor
from boostplug.kernels.base.compiling import compiled_so_far
from boostplug.losses import LOSSES, LambdaRank, Loss, QBRank
from boostplug.metrics import MAP, METRICS, NDCG, Metric
from boostplug.rankers import RANKERS
from boostplug.testing import example_data, suited

_LONG = 3000  # documents of a list that is summed in the ways that short lists do not need


def warmup(progress: Callable[[str, float], object] | None = None) -> None:
    """Compile the kernels of losses, metrics and rankers for this machine, and keep them on disk for later processes.

    A second call takes a few seconds. It calls every registered loss on the data of `testing.check_loss` and on a long
    list. Then it calls the metrics, the reference rankers and the reader of LETOR files.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(name, seconds)`` after each of them.

    Raises
    ------
    OSError
        If compiled code cannot be kept on disk.
    """
    others = (QBRank(margin=1.0), *(LambdaRank(metric=metric, truncation=30, norm=True) for metric in (NDCG(), MAP())))
    calls: dict[str, Callable[[], None]] = {
        **{name: partial(_call_losses, variants) for name, variants in LOSSES.items()},
        "settings with kernels of their own": partial(_call_losses, others),
        **{name: partial(_call_metric, kind) for name, kind in METRICS.items()},
        **{name: partial(_fit, rankers) for name, rankers in RANKERS.items()},
        "LETOR files": _read_data,
    }
    for name, call in calls.items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        if compiled_so_far().in_memory:  # at once: compiling the rest takes minutes, and would be lost too
            raise OSError("compiled code cannot be kept: set NUMBA_CACHE_DIR to a folder that can be written to")
        if progress is not None:
            progress(name, time.perf_counter() - start)


def _call_losses(losses: Iterable[Loss]) -> None:
    rng = np.random.default_rng(0)
    long = rng.normal(size=_LONG), Queries(rng.integers(0, 150, _LONG), group=[_LONG])
    for loss in losses:
        for scores, given in (*((scores, queries) for _, scores, queries in example_data(rng)), long):
            if given.pairs is not None and not loss.traits.pairs:
                continue
            queries = suited(loss, given)
            loss.value(scores, queries)
            loss.gradient_hessian(scores.astype(np.float32), queries)
            if not loss.traits.positions and queries.pairs is None:  # as LightGBM's rankers do
                loss(queries.labels, scores, None, queries.group)


def _call_metric(kind: type[Metric]) -> None:
    kind()(np.zeros(8), Queries(np.arange(8.0) % 2, group=[5, 3]))


def _fit(rankers: Iterable[Any]) -> None:
    """Fit on grades, on many different labels, and on explicit pairs, which are listed one by one."""
    rng = np.random.default_rng(0)
    X, y, group = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), [20, 30, 10]
    for ranker in rankers:
        model = clone(ranker)
        if "n_estimators" in model.get_params():
            model.set_params(n_estimators=2)
        model.fit(X, y, group=group).predict(X)
        model.fit(X, 4.0 * rng.random(60), group=group)
        with suppress(ValueError):  # rankers that take no pairs
            model.fit(X, y, group=group, pairs=Pairs([0, 1, 20], [2, 3, 21]))


def _read_data() -> None:
    """Read LETOR files."""
    with TemporaryDirectory(prefix="boostplug-") as folder:
        path = Path(folder, "lines.txt")
        for feature in (2, 300, 70_000):  # features are kept as integers of 8, 16 or 32 bits
            path.write_text(f"2 qid:1 1:0.5 2:-1.5e-3 # a\n0 qid:1 {feature}:1\n")
            load_letor(path)

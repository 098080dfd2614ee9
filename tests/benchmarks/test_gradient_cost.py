"""Cost of one call as a share of lambdarank's own gradient: `pytest -m benchmark -s`.

Both in one run, 2 threads, 720,000 documents in 6,000 queries with 5 grades (the shape of MSLR-WEB30K's folds). The
built-in's gradient is its round minus a regression round on one trivial feature, where the trees cost next to nothing.
"""

import time

import numpy as np
import pytest

import boostplug as bp
from boostplug.losses import LOSSES
from boostplug.threads import set_num_threads

N_QUERIES, N_DOCUMENTS = 6_000, 120
SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]  # of grades 0..4 in MSLR-WEB30K
CALLS = 21
LIMITS = {bp.MPBoost: 0.15, bp.QBRank: 0.35, bp.NDCGBoost: 0.25, bp.RankNet: 0.3, bp.AdaRank: 0.5}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    n = N_QUERIES * N_DOCUMENTS
    labels = rng.choice(5, p=SHARES, size=n).astype(np.float64)
    return rng.integers(0, 2, (n, 1)).astype(np.float64), labels, np.full(N_QUERIES, N_DOCUMENTS), rng.normal(size=n)


def seconds_per_round(objective, X, labels, group):
    lgb = pytest.importorskip("lightgbm")
    params = {"objective": objective, "num_leaves": 2, "num_threads": 2, "verbose": -1}
    booster = lgb.Booster(params, lgb.Dataset(X, labels, group=group, params={"verbose": -1}))
    return median_seconds(booster.update)


def median_seconds(call):
    call()
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


@pytest.mark.benchmark
def test_share_of_lambdarank(data):
    X, labels, group, scores = data
    queries = bp.Queries(labels, group=group)
    set_num_threads(2)
    try:
        shares = {}
        for _ in range(3):  # interleaved, so that a noisy minute spoils one round of three
            lambdarank = seconds_per_round("lambdarank", X, labels, group) - seconds_per_round("l2", X, labels, group)
            for variants in LOSSES.values():
                for loss in variants:
                    own = median_seconds(lambda loss=loss: loss.gradient_hessian(scores, queries))
                    shares.setdefault(loss, []).append((own / lambdarank, own, lambdarank))
    finally:
        set_num_threads(None)
    for loss, runs in shares.items():
        share, own, lambdarank = sorted(runs)[1]
        print(f"{loss!r}: {1e3 * own:.1f} ms, lambdarank {1e3 * lambdarank:.1f} ms, share {share:.3f}")
    for loss, runs in shares.items():
        assert sorted(runs)[1][0] <= LIMITS[type(loss)], loss

"""After `bp.warmup()` no first call compiles, and a new loss is picked up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import boostplug as bp
from boostplug.rankers import warm_up

ROOT = Path(__file__).parents[2]

CALLS = """
import itertools
import numpy as np, boostplug as bp
from boostplug.kernels.base.compiling import compiled_so_far
from boostplug.losses import LOSSES
from boostplug.testing import suited
from boostplug.metrics import METRICS
from boostplug.rankers import RANKERS
from sklearn.base import clone

bp.warmup()
before = compiled_so_far()

def known(what):
    after = compiled_so_far()
    assert after.n_compiled + after.n_found == before.n_compiled + before.n_found, what

rng = np.random.default_rng(1)
def frozen(x):
    x.setflags(write=False)
    return x

def queries(labels, group, **more):
    return bp.Queries(labels, group=group, **more)

n = 700
group = [500, 150, 30, 10, 9, 1]
weight = rng.integers(1, 4, n)
data = [
    queries(rng.integers(0, 3, n), group),
    queries(rng.integers(0, 2, n).astype(np.float32), group, weight=weight),
    queries(frozen(rng.random(n)), group, weight=weight.astype(np.float32)),
    queries(rng.integers(0, 40, n), group, labelled=rng.random(n) < 0.5),
    queries(np.zeros(n), group),
    queries([], []),
    queries(rng.random(3000), [3000]),
    queries(rng.integers(0, 3, n), group, pairs=bp.Pairs([0, 1, 2], [5, 6, 600])),
    queries(rng.integers(0, 3, n), group, weight=weight, pairs=bp.Pairs([0, 1], [5, 6], weight=[1, 2], margin=[1, 2])),
]
registered = [*itertools.chain(*LOSSES.values())]
losses = [
    *registered,
    *(kind(normalization=how) for kind in (bp.QBRank, bp.NDCGBoost, bp.RankNet) for how in ("rows", "query")),
    *(bp.MPBoost(hessian=h) for h in ("gentle", "bound")), *(bp.QBRank(hessian=h) for h in ("global",)),
    *(bp.NDCGBoost(hessian=h) for h in ("bound", "global")), bp.NDCGBoost(gain="linear"), bp.QBRank(margin=1.0),
    bp.QBRank(preference_weight=1.0), bp.QBRank(preference_weight=0.0), bp.RankNet(sigmoid=2.0),
    bp.AdaRank(metric=bp.MAP(), base=bp.MPBoost()), bp.AdaRank(metric=bp.ERR(), base=bp.QBRank()),
    bp.MPBoost(distance=np.sqrt),
]
for loss, q in itertools.product(losses, data):
    if q.pairs is None or loss.traits.pairs:
        q = suited(loss, q) if loss.traits.positions else q
        drawn = rng.normal(size=q.n_rows)
        for scores in (drawn.astype(np.float32), 1e4 * drawn):
            if q.n_rows > 2000 and (scores.max() > 100 or loss not in registered):
                continue
            try:
                loss.value(frozen(scores), q), loss.gradient_hessian(scores.tolist(), q)
            except ValueError as error:
                assert "max_grade" in str(error) or "distance" in str(error), error
            known((loss, q, scores[:3]))
loss = bp.MPBoost()
loss(data[0].labels.astype(np.float32), rng.normal(size=n), weight.astype(np.float32), np.array(group, np.int32))
known("as an objective")
for kind in METRICS.values():
    if kind in (bp.ECE, bp.LogLoss):  # which NumPy computes
        continue
    variants = [kind()]
    for name, values in {"k": (1, 10, 64, 65, 10**6), "ties": ("order",), "pooled": (True,), "p": (0.5,)}.items():
        variants += [kind(**{name: value}) for value in values if name in kind().parameters()]
    for metric in variants:
        for q in data[:1] + data[4:6]:
            for scores in (np.zeros(q.n_rows), rng.normal(size=q.n_rows).astype(np.float32)):
                metric.per_query(frozen(scores), q), metric(scores.tolist(), q)
                known((metric, scores[:3]))
X, y = rng.normal(size=(90, 4)).astype(np.float32), rng.integers(0, 3, 90).astype(float)
for ranker in itertools.chain(*RANKERS.values()):
    fitted = clone(ranker)
    if "n_estimators" in fitted.get_params():
        fitted.set_params(n_estimators=3)
    fitted.fit(X, y, group=[50, 40], sample_weight=np.repeat([1.0, 2.0], [50, 40]))
    fitted.predict(X[:7].tolist())
    known(ranker)
    fitted.fit(X, 4.0 * rng.random(90), group=[50, 40])
    known((ranker, "grades of their own"))
    try:
        fitted.fit(X, y, group=[50, 40], pairs=bp.Pairs([0, 1, 50], [5, 6, 60], weight=[1.0, 2.0, 1.0]))
    except ValueError as error:
        assert "pairs" in str(error), error
    known((ranker, "pairs"))
log = {"group": [3, 2], "position": [1, 2, 3, 2, 1], "impressions": [2] * 5}
bp.Pairs.from_clicks([0, 1, 0, 1, 0], **log, row=np.arange(5), propensity=[1, 1, 1])
bp.Pairs.from_clicks(bp.datasets.ClickLog([0, 1, 0, 1, 0], qid=list("aaabb"), position=[1, 2, 3, 2, 1]), row=range(5))
bp.Pairs.from_clicks([False, True], group=[2], rule="all_unclicked", row=[0, 1])
bp.Pairs.from_implicit(np.arange(5) % 2, group=np.array([3, 2], np.int32), random_state=2**40)
known("pairs of clicks")
for framework in ("lightgbm", "xgboost"):
    try:
        kind = bp.LGBMRanker if framework == "lightgbm" else bp.XGBRanker
    except ImportError:
        continue
    metric = {"eval_metric": bp.NDCG(10)}
    of_kind, of_fit = ({"verbose": -1}, metric) if framework == "lightgbm" else (metric, {"verbose": False})
    for objective in (bp.MPBoost(), bp.NDCGBoost(), bp.AdaRank()):
        fitted = kind(objective=objective, n_estimators=2, n_jobs=1, **of_kind)
        fitted.fit(X, y, group=[50, 40], eval_set=[(X, y)], eval_group=[[50, 40]], **of_fit)
        known((framework, objective))
print("in memory" if before.in_memory else "kept")
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:boostplug", "-c", code],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.ci
def test_no_first_call_compiles_after_it():
    """By the number of types that kernels are compiled for, whatever the cache has of earlier processes."""
    pytest.importorskip("sklearn")
    assert run(CALLS) == "kept"


@pytest.mark.filterwarnings("ignore:.*nothing to learn from")
def test_a_loss_of_the_registry_is_called(monkeypatch):
    called, told = [], []

    class Mine(bp.RankNet):
        def compute_gradient_hessian(self, scores, queries, scale):
            called.append((queries.row_weight is not None, queries.pairs is not None, queries.n_rows > 1000))
            return super().compute_gradient_hessian(scores, queries, scale)

    monkeypatch.setattr(warm_up, "LOSSES", {"mine": (Mine(), Mine(sigmoid=2.0))})
    monkeypatch.setattr(warm_up, "_call_metric", lambda _: None)
    monkeypatch.setattr(warm_up, "_fit", lambda _: None)
    bp.warmup(lambda name, seconds: told.append(name))
    assert {"mine", "NDCG", "MAP", "QBRankRanker", "LETOR files"} <= set(told)
    assert {(False, False, False), (True, False, False), (True, True, False), (False, False, True)} <= set(called)


PROBE = """
import warnings; warnings.simplefilter("error")
import numpy as np, boostplug as bp
from boostplug.kernels.base.compiling import compiled_so_far
bp.MRR()(np.arange(3.0), bp.Queries([0, 1, 0], group=[3]))
found = compiled_so_far()
print(found.n_compiled, found.n_found, *found.folders)
"""


@pytest.mark.ci
def test_a_cache_for_any_processor_is_found_again_under_that_name_alone(tmp_path):
    generic = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_CPU_NAME": "generic"}
    first, second = run(PROBE, **generic), run(PROBE, **generic)
    assert [first[:3], second[:3]] == ["1 0", "0 1"]
    assert second.split()[2].startswith(str(tmp_path))
    assert run(PROBE, NUMBA_CACHE_DIR=str(tmp_path))[:3] == "1 0"  # for this machine's own processor
    assert run(PROBE, **generic)[:3] == "0 1"


def test_code_that_cannot_be_kept_is_an_error_at_once(monkeypatch):
    compiled = warm_up.compiled_so_far()._replace(in_memory=True)
    monkeypatch.setattr(warm_up, "compiled_so_far", lambda: compiled)
    with pytest.raises(OSError, match="cannot be kept"):
        bp.warmup(lambda *_: pytest.fail("went on"))

"""LGBMRanker on two workers: the model of one machine, whatever lies where, and errors that leave nobody waiting."""

import os
import signal
import threading
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import boostplug as bp
from boostplug.losses import LOSSES

lgb = pytest.importorskip("lightgbm")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster

PARAMS = {"n_estimators": 6, "num_leaves": 8, "min_child_samples": 1, "verbose": -1}
EVERY = [variants[0] for variants in LOSSES.values() if not (variants[0].couples_queries or variants[0].needs_position)]
FEATURES = [f"f{i}" for i in range(5)]


def table(n_queries=40):
    """Return features that have few values, so that the halves of the rows are binned as the whole is."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(4, 20, n_queries)
    X = rng.integers(0, 12, (int(sizes.sum()), 5)) / 4
    y = np.clip(np.round(X[:, 0] + X[:, 1] / 2 + rng.normal(0.0, 0.7, len(X))), 0, 4)
    frame = pd.DataFrame(X, columns=FEATURES)
    weight = np.repeat(rng.uniform(0.5, 2.0, n_queries), sizes)
    return frame.assign(y=y, weight=weight, query=np.repeat(np.arange(n_queries), sizes))


TABLE = table()
HALVES = (TABLE[TABLE["query"] < 20], TABLE[TABLE["query"] >= 20])


def placed(client, parts, workers=(0, 1)):
    """Return a frame of these partitions, each on a worker of its own, where the next fit leaves it."""
    addresses = sorted(client.nthreads())
    held = [
        client.persist(dd.from_pandas(part, npartitions=1, sort=False), workers=[addresses[at]])
        for part, at in zip(parts, workers, strict=True)
    ]
    return dd.concat(held)


@pytest.fixture
def machines(client):
    """Return what tells of the trainings so far: with how many machines each worker took part in one."""

    def listen():
        import lightgbm

        lightgbm.joined = []
        if not hasattr(lightgbm, "as_it_was"):
            lightgbm.as_it_was = lightgbm.Booster.set_network

            def joining(self, machines, local_listen_port=12400, listen_time_out=120, num_machines=1):
                if num_machines > 1:
                    lightgbm.joined.append((num_machines, listen_time_out))
                return lightgbm.as_it_was(self, machines, local_listen_port, listen_time_out, num_machines)

            lightgbm.Booster.set_network = joining

    def joined():
        import lightgbm

        return lightgbm.joined

    client.run(listen)
    return lambda: sorted(map(tuple, client.run(joined).values()))


BOTH = [((2, 5),), ((2, 5),)]  # each of two, with a time limit of five minutes


def fit(client, ddf, loss=LOSSES["ranknet"][0], *, weighted=False, **params):
    ranker = bp.dask.LGBMRanker(objective=loss, client=client, **{**PARAMS, **params})
    weight = {"sample_weight": ddf["weight"]} if weighted else {}
    return ranker.fit(ddf[FEATURES], ddf["y"], qid=ddf["query"], **weight)


def alone(frame=TABLE, loss=LOSSES["ranknet"][0], *, weighted=False, **params):
    weight = {"sample_weight": frame["weight"]} if weighted else {}
    ranker = bp.LGBMRanker(objective=loss, n_jobs=1, **{**PARAMS, **params})
    return ranker.fit(frame[FEATURES], frame["y"], qid=frame["query"], **weight)


def assert_same(ranker, other, frame=TABLE):
    expected = other.predict(frame[FEATURES])
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(ranker.to_local().predict(frame[FEATURES]), expected, rtol=0, atol=1e-6)


# --- the model of one machine -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", EVERY)
def test_every_loss_gives_the_model_of_one_machine(client, machines, loss):
    ranker = fit(client, placed(client, HALVES), loss, weighted=True)
    assert machines() == BOTH
    other = alone(loss=loss, weighted=True)
    assert_same(ranker, other)
    assert ranker.booster_.model_to_string() != alone(HALVES[0], loss, weighted=True).booster_.model_to_string()


def test_a_worker_of_clicks_beside_one_of_five_grades(client, machines):
    clicks = HALVES[0].assign(y=(HALVES[0]["y"] > 2).astype(float))
    loss = bp.MPBoost()
    ranker = fit(client, placed(client, [clicks, HALVES[1]]), loss)
    assert machines() == BOTH
    whole = pd.concat([clicks, HALVES[1]])
    assert_same(ranker, alone(whole, loss), whole)


@pytest.mark.parametrize("kind", ["strings", "beyond 2^32"])
def test_shuffled_rows_with_ids_of_any_type(client, machines, kind):
    query = TABLE["query"]
    ids = query.map("query {}".format) if kind == "strings" else query * 2**33 + 7
    mixed = TABLE.assign(query=ids).sample(frac=1.0, random_state=0)
    whole = bp.dask.partition_by_query(dd.from_pandas(mixed, npartitions=5, sort=False), "query", npartitions=4)
    parts = client.gather(client.compute(whole.to_delayed()))
    ranker = fit(client, placed(client, parts, workers=(0, 1, 0, 1)))
    assert machines() == BOTH
    assert_same(ranker, alone())


@pytest.mark.parametrize(
    ("parts", "workers", "joined"),
    [
        ((TABLE,), (0,), [(), ()]),
        (HALVES, (1, 1), [(), ()]),
        ((HALVES[0], HALVES[1], TABLE[:0]), (0, 0, 1), [(), ()]),
        ((TABLE[:0], HALVES[0], HALVES[1]), (0, 0, 1), BOTH),
    ],
    ids=["one partition", "one worker", "a worker without rows", "a partition without rows"],
)
def test_queries_anywhere(client, machines, parts, workers, joined):
    ranker = fit(client, placed(client, parts, workers))
    assert machines() == joined
    assert_same(ranker, alone())


def test_a_model_goes_on_from_another(client, machines, tmp_path):
    first = fit(client, placed(client, HALVES))
    first.booster_.save_model(tmp_path / "first.txt")
    ddf = placed(client, HALVES)
    second = bp.dask.LGBMRanker(objective=bp.MPBoost(), client=client, **PARAMS)
    second.fit(ddf[FEATURES], ddf["y"], qid=ddf["query"], init_model=tmp_path / "first.txt")
    local = bp.LGBMRanker(objective=bp.MPBoost(), n_jobs=1, **PARAMS)
    local.fit(TABLE[FEATURES], TABLE["y"], qid=TABLE["query"], init_model=alone())
    assert_same(second, local)
    assert second.booster_.num_trees() == 12
    assert machines() == [((2, 5), (2, 5))] * 2


# --- predictions, and what is left of the cluster -----------------------------------------------------------------


def test_predictions_are_lazy_and_of_the_kind_of_their_collection(client):
    ranker = fit(client, placed(client, HALVES))
    expected = alone().predict(TABLE[FEATURES])
    ddf = dd.from_pandas(TABLE.rename(columns={"query": "qid"})[[*FEATURES, "qid"]], npartitions=3)
    series = ranker.predict(ddf)
    assert isinstance(series, dd.Series)
    pd.testing.assert_series_equal(series.compute(), pd.Series(expected, TABLE.index))
    with_empty = placed(client, [HALVES[0][FEATURES], TABLE[:0][FEATURES], HALVES[1][FEATURES]], (0, 1, 1))
    np.testing.assert_array_equal(ranker.predict(with_empty).compute(), expected)
    leaves = ranker.predict(with_empty, pred_leaf=True)
    assert isinstance(leaves, dd.DataFrame)
    np.testing.assert_array_equal(leaves.compute(), ranker.predict(TABLE[FEATURES], pred_leaf=True))
    ddf = placed(client, HALVES)
    score = ranker.score(ddf[FEATURES], ddf["y"], ddf["weight"], qid=ddf["query"], metric=bp.NDCG(5))
    rows = {"qid": TABLE["query"], "metric": bp.NDCG(5)}
    local = ranker.to_local().score(TABLE[FEATURES], TABLE["y"], TABLE["weight"], **rows)
    assert ranker.score(TABLE[FEATURES], TABLE["y"], TABLE["weight"], **rows) == local
    assert score == pytest.approx(local, abs=1e-12)


def test_saved_models_know_nothing_of_the_workers(client, tmp_path):
    ranker = fit(client, placed(client, HALVES))
    local = ranker.to_local()
    assert type(local) is bp.LGBMRanker
    assert local.get_params() == {k: v for k, v in ranker.get_params().items() if k not in {"client", "time_out"}}
    local.booster_.save_model(tmp_path / "model.txt")
    plain = lgb.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(plain.predict(TABLE[FEATURES]), ranker.predict(TABLE[FEATURES]))
    text = (tmp_path / "model.txt").read_text()
    assert "[machines: ]" in text
    assert "[num_machines: 1]" in text
    assert not {"machines", "num_machines", "local_listen_port", "time_out"} & local.booster_.params.keys()
    refitted = local.refit(TABLE[FEATURES], TABLE["y"], qid=TABLE["query"])
    assert refitted.booster_.num_trees() == 6
    assert ranker.best_iteration_ == alone().best_iteration_
    assert ranker.feature_name_ == FEATURES


# --- refused before any training ------------------------------------------------------------------------------------


def test_split_queries_are_an_error_before_training(client, machines):
    cut = len(HALVES[0]) + 1
    parts, query = [TABLE[:cut], TABLE[cut:]], 20
    with pytest.raises(ValueError, match=rf"1 of 40 queries lie in several partitions: {query} in 0 and 1; .*by_query"):
        fit(client, placed(client, parts))
    assert machines() == [(), ()]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"objective": bp.AdaRank()}, "weighs each query by the scores of all others, which LightGBM cannot add up"),
        ({"objective": bp.AdaRank}, "objective is the class AdaRank"),
        ({"objective": np.mean}, "a function would see the rows of one worker alone"),
        ({"class_weight": "balanced"}, "class_weight='balanced' has no meaning"),
        ({"early_stopping_round": 5}, "early_stopping_round is not taken with collections"),
        ({"eval_metric": bp.NDCG(10)}, "eval_metric is not taken with collections"),
        ({"tree_learner": "feature"}, "tree_learner must be 'data' or 'voting', .* got 'feature'"),
        ({"linear_tree": True}, "linear_tree trains on one machine only"),
        ({"time_out": 0}, r"time_out must be an integer of at least 1 \(minutes\); got 0"),
        ({"lambdarank_norm": False}, "lambdarank_norm"),
    ],
)
def test_parameters_that_make_no_sense_there(client, machines, params, message):
    ddf = placed(client, HALVES)
    ranker = bp.dask.LGBMRanker(**{"objective": bp.RankNet(), **PARAMS, **params})
    with pytest.raises(ValueError, match=message):
        ranker.fit(ddf[FEATURES], ddf["y"], qid=ddf["query"])
    assert machines() == [(), ()]


def test_what_is_of_one_machine_is_refused(client):
    with pytest.raises(ValueError, match=r"X must be a Dask collection, got 'DataFrame'; .*use boostplug\.LGBMRanker"):
        bp.dask.LGBMRanker(client=client).fit(TABLE[FEATURES], TABLE["y"], qid=TABLE["query"])
    ddf = placed(client, HALVES)
    with pytest.raises(ValueError, match="client is asynchronous; pass"):
        bp.dask.LGBMRanker(client=SimpleNamespace(asynchronous=True)).fit(ddf[FEATURES], ddf["y"], qid=ddf["query"])
    with pytest.raises(ValueError, match="call to_local"):
        bp.dask.LGBMRanker(client=client).refit(TABLE[FEATURES], TABLE["y"])


# --- errors on workers ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Fails(bp.Loss):
    """Squared error that fails on the worker that holds the first half, once scores have moved."""

    n_rows: int
    hessian_kind = "exact"

    def compute_value(self, scores, queries):
        raise NotImplementedError

    def compute_gradient_hessian(self, scores, queries, scale):
        if queries.n_rows == self.n_rows and scores.any():
            raise KeyError("what only one worker meets")
        return scores - queries.labels, np.ones(queries.n_rows)


@pytest.mark.parametrize("tree_learner", ["data", "voting"])
@pytest.mark.parametrize("half", [0, 1])
def test_an_error_on_one_worker_ends_the_fit_and_spoils_no_other(client, machines, half, tree_learner):
    ddf = placed(client, HALVES)
    with pytest.raises(KeyError, match="what only one worker meets") as caught:
        fit(client, ddf, Fails(n_rows=len(HALVES[half])), n_estimators=10_000, tree_learner=tree_learner)
    assert caught.value.__notes__ == [f"raised on worker {sorted(client.nthreads())[half]}"]
    assert_same(fit(client, ddf), alone())
    assert machines() == [((2, 5), (2, 5))] * 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"bagging_by_query": True, "subsample": 0.5, "subsample_freq": 1}, "bagging_by_query=True trains a constant"),
        ({"boosting_type": "nonsense"}, "Unknown boosting type nonsense"),
    ],
)
def test_what_all_workers_refuse_spoils_no_other_fit(client, machines, params, message):
    ddf = placed(client, HALVES)
    with pytest.raises(ValueError, match=message):
        fit(client, ddf, **params)
    assert_same(fit(client, ddf), alone())
    assert machines() == [((2, 5), (2, 5))] * 2


def test_a_loss_with_nothing_to_learn_from_anywhere_warns_once(client):
    same = [part.assign(y=1.0) for part in HALVES]
    with pytest.warns(UserWarning, match="has nothing to learn from") as caught:
        fit(client, placed(client, same))
    assert len(caught) == 1
    fit(client, placed(client, [same[0], HALVES[1]]))  # one worker alone may have nothing


def test_the_plain_ranker_refuses_local_scales_and_the_next_fit_works(client, machines):
    ddf = placed(client, HALVES)
    sizes = ddf["query"].map_partitions(lambda query: query.groupby(query).size(), meta=("query", "int64"))
    plain = lgb.DaskLGBMRanker(objective=bp.MPBoost(), client=client, time_out=1, **PARAMS)
    with (
        pytest.raises(ValueError, match=r"LightGBM trains on 2 machines, .*use boostplug\.dask\.LGBMRanker"),
        pytest.warns(UserWarning, match="n_jobs will be ignored"),
    ):
        plain.fit(ddf[FEATURES], ddf["y"], group=sizes)
    assert_same(fit(client, ddf), alone())
    assert machines() == [((2, 1), (2, 5))] * 2
    one = placed(client, [TABLE], (0,))
    sizes = one["query"].map_partitions(lambda query: query.groupby(query).size(), meta=("query", "int64"))
    with pytest.warns(UserWarning, match="n_jobs will be ignored"):
        plain.fit(one[FEATURES], one["y"], group=sizes)
    np.testing.assert_allclose(
        plain.to_local().predict(TABLE[FEATURES]), alone(loss=bp.MPBoost()).predict(TABLE[FEATURES]), atol=1e-6
    )


@dataclass(frozen=True, kw_only=True)
class Tells(bp.RankNet):
    """A loss that says when training has begun."""

    def compute_gradient_hessian(self, scores, queries, scale):
        if scores.any():
            distributed.Event("started").set()
        return super().compute_gradient_hessian(scores, queries, scale)


@pytest.mark.parametrize("n_workers", [pytest.param(1, marks=pytest.mark.ci), 2])
def test_a_killed_worker_is_a_clean_error_and_those_that_are_left_train_again(n_workers):
    """Where it was the only one that trained, nobody but the driver notices."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=None
        ) as own,
        distributed.Client(own, set_as_default=False) as client,
    ):
        process = max(client.run(os.getpid).items())[1]

        def kill():
            if distributed.Event("started", client=client).wait(60):
                os.kill(process, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(RuntimeError, match=r"a worker was lost .*client\.restart\(\)"):
            fit(client, placed(client, HALVES[:n_workers], range(n_workers)), Tells(), n_estimators=1_000_000)
        killer.join()
        client.wait_for_workers(n_workers, timeout=60)
        client.restart()  # the other one may still wait for it
        # Wherever the rows are now: a nanny may take its time.
        assert_same(fit(client, dd.from_pandas(TABLE, npartitions=1, sort=False)), alone())

"""XGBRanker on two workers: the model and the metrics of one machine, whatever lies where, and when one is lost."""

import _thread
import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import boostplug as bp

xgb = pytest.importorskip("xgboost")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster

PARAMS = {"n_estimators": 8, "max_depth": 3, "min_child_weight": 0.1}
# adapters/test_job.py trains every loss on several of XGBoost's workers.
SOME = [bp.MPBoost(), bp.QBRank(), bp.AdaRank(), 0.5 * bp.NDCGBoost() + bp.RankNet()]


def table(n_queries=40, seed=0, **columns):
    """Return features that have few values, so that machines bin them alike whatever rows they hold."""
    data = bp.datasets.make_ranking(n_queries=n_queries, random_state=seed)
    X = data.X[:, :6]
    steps = np.round((X - np.nanmin(X, axis=0)) / np.ptp(np.nan_to_num(X), axis=0) * 60)
    frame = pd.DataFrame(steps, columns=[f"f{i}" for i in range(6)])
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(frame)).round(2)
    return frame.assign(y=data.y, query=pd.factorize(data.qid)[0], weight=weight, **columns)


FEATURES = [f"f{i}" for i in range(6)]
TRAIN, VALID = table(), table(24, 1)


def on_workers(client, frame, cut=(20,)):
    """Return a frame in partitions, of which each begins after so many queries; those of even number go together."""
    at = np.searchsorted(cut, pd.factorize(frame["query"])[0], side="right")
    addresses = sorted(client.nthreads())
    parts = [
        client.persist(
            dd.from_pandas(frame[at == place], npartitions=1, sort=False),
            workers=[addresses[place % len(addresses)]],
            allow_other_workers=True,  # once that one is gone
        )
        for place in range(len(cut) + 1)
    ]
    return dd.concat(parts)


class SourceWeights(xgb.callback.TrainingCallback):
    """Leaves a file for each worker that trains."""

    def __init__(self, folder):
        super().__init__()
        self.folder = str(folder)

    def before_training(self, model):
        rank, n = xgb.collective.get_rank(), xgb.collective.get_world_size()
        Path(self.folder, f"{rank} of {n} in {os.getpid()}").touch()
        return model

    def after_iteration(self, model, epoch, evals_log):
        if xgb.collective.get_rank() == 0:
            with Path(self.folder, "rounds").open("a", encoding="utf-8") as file:
                file.write(f"{epoch} ")


class Fatal(xgb.callback.TrainingCallback):
    """Once, on the second worker of two, ends that process, or raises."""

    def __init__(self, folder, round_, *, kills=True):
        super().__init__()
        self.folder, self.round, self.kills = str(folder), round_, kills

    def before_iteration(self, model, epoch, evals_log):
        done = Path(self.folder, "done")
        if epoch == self.round and xgb.collective.get_rank() == 1 and not done.exists():
            done.touch()
            if self.kills:
                os.kill(os.getpid(), signal.SIGKILL)
            raise LookupError("nothing here")


def fit(client, tmp_path, loss, frame, valid=None, *, weighted=False, workers=2, **params):
    """Return a ranker that so many workers have trained."""
    ranker = bp.dask.XGBRanker(
        objective=loss, client=client, callbacks=[SourceWeights(tmp_path)], **{**PARAMS, **params}
    )
    sets = {} if valid is None else {"eval_set": [(valid[FEATURES], valid["y"])], "eval_qid": [valid["query"]]}
    weight = {"sample_weight": frame["weight"]} if weighted else {}
    if weighted and valid is not None:
        sets["sample_weight_eval_set"] = [valid["weight"]]
    ranker.fit(frame[FEATURES], frame["y"], qid=frame["query"], verbose=False, **weight, **sets)
    files = sorted(path.name for path in tmp_path.glob("* of *"))
    assert [name.split(" in ")[0] for name in files] == [f"{rank} of {workers}" for rank in range(workers)]
    assert len({name.split(" in ")[1] for name in files}) == workers
    return ranker


def alone(loss, frame=TRAIN, valid=None, *, weighted=False, **params):
    """Return the ranker of one machine."""
    ranker = bp.XGBRanker(objective=loss, n_jobs=1, **{**PARAMS, **params})
    sets = {} if valid is None else {"eval_set": [(valid[FEATURES], valid["y"])], "eval_qid": [valid["query"]]}
    weight = {"sample_weight": frame["weight"]} if weighted else {}
    if weighted and valid is not None:
        sets["sample_weight_eval_set"] = [valid["weight"]]
    return ranker.fit(frame[FEATURES], frame["y"], qid=frame["query"], verbose=False, **weight, **sets)


def assert_same(ranker, other, frame=TRAIN):
    expected = other.predict(frame[FEATURES])
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(ranker.predict(frame[FEATURES]), expected, rtol=0, atol=1e-6)


# --- the model of one machine -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", SOME, ids=lambda loss: loss.name)
def test_losses(client, tmp_path, loss):
    ranker = fit(client, tmp_path, loss, on_workers(client, TRAIN))
    assert_same(ranker, alone(loss))


def test_weights_of_rows(client, tmp_path):
    """They may be larger on one worker than on the other."""
    loss, metrics = bp.AdaRank(base=bp.MPBoost()), {"eval_metric": [bp.MAP(), bp.NDCG(5)]}
    train, valid = (f.assign(weight=f["weight"] * np.where(f["query"] < 20, 1.0, 9.0)) for f in (TRAIN, VALID))
    frames = (on_workers(client, train), on_workers(client, valid))
    ranker = fit(client, tmp_path, loss, *frames, weighted=True, **metrics)
    other = alone(loss, train, valid, weighted=True, **metrics)
    assert_same(ranker, other)
    told, expected = ranker.evals_result()["validation_0"], other.evals_result()["validation_0"]
    assert told.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(told[name], values, rtol=1e-6)
    with pytest.raises(AssertionError):
        assert_same(ranker, alone(loss))


def test_weights_in_any_unit(client, tmp_path):
    """Weights of 1e-80 are 0 in single precision, in which xgboost.dask keeps them."""
    frame = on_workers(client, TRAIN.assign(weight=TRAIN["weight"] * 1e-80))
    assert_same(fit(client, tmp_path, bp.MPBoost(), frame, weighted=True), alone(bp.MPBoost(), weighted=True))


def test_clicks_on_one_worker_and_grades_on_the_other(client, tmp_path):
    grades = np.where(TRAIN["query"] < TRAIN["query"].max() // 2 + 1, TRAIN["y"] > 0, TRAIN["y"]).astype(float)
    frame = TRAIN.assign(y=grades)
    loss = bp.MPBoost()
    assert_same(fit(client, tmp_path, loss, on_workers(client, frame)), alone(loss, frame))


@pytest.mark.parametrize("name", ["{:03d}, a name", None])
def test_ids_of_any_kind(client, tmp_path, name):
    """Of 64 bits too, of which a DMatrix would take the lower half alone."""
    query = TRAIN["query"]
    frame = TRAIN.assign(query=query.map(name.format) if name else query.astype(np.int64) * 2**33)
    ranker = fit(client, tmp_path, bp.RankNet(), on_workers(client, frame, [10, 20, 30]))
    assert_same(ranker, alone(bp.RankNet()))


def test_rows_in_any_order_by_a_column_of_ids(client, tmp_path):
    mixed = TRAIN.sample(frac=1.0, random_state=0).rename(columns={"query": "qid"})
    whole = client.persist(bp.dask.partition_by_query(dd.from_pandas(mixed, npartitions=3, sort=False), "qid"))
    ranker = bp.dask.XGBRanker(objective=bp.QBRank(), client=client, callbacks=[SourceWeights(tmp_path)], **PARAMS)
    ranker.fit(whole[[*FEATURES, "qid"]], whole["y"], verbose=False)
    assert_same(ranker, alone(bp.QBRank()))


def test_validation_rows_on_a_worker_without_training_rows(client, tmp_path):
    """They move to the worker that trains."""
    frame, valid = on_workers(client, TRAIN, [40]), on_workers(client, VALID, [0])
    metrics = {"eval_metric": ["ndcg@3", bp.MAP(), bp.NDCG(5)]}
    ranker = fit(client, tmp_path, bp.AdaRank(), frame, valid, workers=1, **metrics)
    other = alone(bp.AdaRank(), valid=VALID, **metrics)
    assert_same(ranker, other)
    assert ranker.evals_result() == other.evals_result()


def test_categories_with_a_validation_set_that_lies_on_one_worker(client, tmp_path):
    """XGBoost takes no matrix without rows there."""
    kind = pd.CategoricalDtype([f"c{i}" for i in range(61)])
    train, valid = (f.assign(f0=f["f0"].fillna(0).map("c{:.0f}".format).astype(kind)) for f in (TRAIN, VALID))
    params = {"enable_categorical": True, "eval_metric": bp.NDCG(5)}
    frame = on_workers(client, train)
    ranker = fit(client, tmp_path, bp.RankNet(), frame, on_workers(client, valid, [5, 5]), **params)
    other = alone(bp.RankNet(), train, valid, **params)
    assert_same(ranker, other, train)
    assert ranker.evals_result() == other.evals_result()
    with pytest.raises(
        ValueError, match=r"eval_set\[0\]'s X has 1 partitions with rows for 2 workers, .*repartition it"
    ):
        fit(client, tmp_path, bp.RankNet(), frame, on_workers(client, valid, [40]), **params)


def test_labels_are_those_of_single_precision(client, tmp_path):
    train = TRAIN.assign(y=TRAIN["y"] + 2.0**24)
    with pytest.warns(UserWarning, match="^labels such as .* are equal in single precision"):
        ranker = fit(client, tmp_path, bp.RankNet(), on_workers(client, train))
    assert_same(ranker, alone(bp.RankNet(), train.assign(y=np.float32(train["y"]))))
    with pytest.raises(
        ValueError, match=r"in partition 0 of the training set: labels\[\d+\] = .* beyond single precision"
    ):
        fit(client, tmp_path, bp.RankNet(), on_workers(client, train.assign(y=TRAIN["y"] * 1e39)))


def test_columns_are_drawn_alike_on_all_workers(client, tmp_path):
    params = {"colsample_bynode": 0.5, "feature_weights": np.arange(1.0, 7.0)}
    assert_same(fit(client, tmp_path, bp.RankNet(), on_workers(client, TRAIN), **params), alone(bp.RankNet(), **params))


def test_a_training_goes_on_from_a_model(client, tmp_path):
    first = alone(bp.RankNet())
    ranker = bp.dask.XGBRanker(objective=bp.RankNet(), client=client, **PARAMS)
    frame = on_workers(client, TRAIN)
    ranker.fit(frame[FEATURES], frame["y"], qid=frame["query"], verbose=False, xgb_model=first)
    other = bp.XGBRanker(objective=bp.RankNet(), n_jobs=1, **PARAMS)
    other.fit(TRAIN[FEATURES], TRAIN["y"], qid=TRAIN["query"], verbose=False, xgb_model=first)
    assert ranker.get_booster().num_boosted_rounds() == 16
    assert_same(ranker, other)


# --- metrics and early stopping -----------------------------------------------------------------------------------


def test_metrics_and_early_stopping_are_those_of_all_workers(client, tmp_path):
    """Of whom one holds five queries of 24, and would stop elsewhere."""
    valid = on_workers(client, VALID, [5])
    params = {"n_estimators": 60, "early_stopping_rounds": 3, "eval_metric": [bp.MAP(), "ndcg@3", bp.NDCG(5)]}
    ranker = fit(client, tmp_path, bp.MPBoost(), on_workers(client, TRAIN), valid, **params)
    other = alone(bp.MPBoost(), valid=VALID, **params)
    told, expected = ranker.evals_result()["validation_0"], other.evals_result()["validation_0"]
    np.testing.assert_allclose(told.pop("ndcg@3"), expected.pop("ndcg@3"), rtol=1e-12)  # XGBoost's own
    assert told == expected
    assert ranker.best_iteration == other.best_iteration < 56
    assert ranker.best_score == other.best_score
    assert_same(ranker, other)
    few = VALID[VALID["query"] < 5]
    assert alone(bp.MPBoost(), valid=few, **params).best_iteration != other.best_iteration


def test_the_training_set_as_validation_set_is_recognised(client):
    frame = on_workers(client, TRAIN)
    X, y = frame[FEATURES], frame["y"]
    ranker = bp.dask.XGBRanker(objective=bp.MPBoost(), client=client, **PARAMS)
    ranker.fit(X, y, qid=frame["query"], eval_set=[(X, y)], verbose=False)
    value = ranker.score(X, y, qid=frame["query"])
    assert ranker.evals_result()["validation_0"]["pre_NDCG@10"][-1] == pytest.approx(value, abs=1e-6)
    assert value == pytest.approx(alone(bp.MPBoost()).score(TRAIN[FEATURES], TRAIN["y"], qid=TRAIN["query"]), abs=1e-12)


# --- a ranker as others are ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted(client):
    frame = on_workers(client, TRAIN)
    ranker = bp.dask.XGBRanker(objective=bp.MPBoost(), client=client, **PARAMS)
    return ranker.fit(frame[FEATURES], frame["y"], qid=frame["query"], verbose=False)


def test_predictions_of_a_frame_are_lazy(client, fitted):
    frame = on_workers(client, TRAIN.rename(columns={"query": "qid"}).assign(query=TRAIN["query"]))
    scores = fitted.predict(frame[[*FEATURES, "qid"]])
    assert isinstance(scores, dd.Series)
    assert scores.npartitions == frame.npartitions
    found = scores.compute()
    assert found.index.equals(TRAIN.index)
    assert (found.dtype, scores.dtype) == (np.float32, np.float32)
    np.testing.assert_array_equal(found, fitted.predict(TRAIN[FEATURES]))
    margins = fitted.predict(frame[FEATURES], output_margin=True, iteration_range=(0, 2)).compute()
    np.testing.assert_array_equal(margins, fitted.to_local().predict(TRAIN[FEATURES], iteration_range=(0, 2)))
    with pytest.raises(ValueError, match="another order"):
        fitted.predict(frame[FEATURES[::-1]])


def test_to_local_saved_and_exported(fitted, tmp_path):
    local = fitted.to_local()
    assert type(local) is bp.XGBRanker
    assert local.objective == bp.MPBoost()
    expected = local.predict(TRAIN[FEATURES])
    fitted.save_model(tmp_path / "model.json")
    booster = xgb.Booster(model_file=tmp_path / "model.json")
    np.testing.assert_array_equal(booster.predict(xgb.DMatrix(TRAIN[FEATURES])), expected)
    plain = fitted.export()
    assert type(plain) is xgb.XGBRanker
    np.testing.assert_array_equal(plain.predict(TRAIN[FEATURES]), expected)
    assert (fitted.n_features_in_, list(fitted.feature_names_in_)) == (6, FEATURES)


# --- refused before any training ----------------------------------------------------------------------------------


def test_split_queries(client):
    frame = on_workers(client, TRAIN)
    cut = TRAIN["query"].to_numpy().copy()
    cut[cut == cut.max()] = 0
    with pytest.raises(ValueError, match=r"1 of 39 queries lie in several partitions: 0 in 0 and 1; .*partition_by"):
        fit_on(client, frame, qid=on_workers(client, TRAIN.assign(other=cut))["other"])


def fit_on(client, frame, loss=None, ranker=None, **arguments):
    ranker = bp.dask.XGBRanker(objective=loss or bp.MPBoost(), client=client, **{**PARAMS, **(ranker or {})})
    given = {"X": frame[FEATURES], "y": frame["y"], "qid": frame["query"], "verbose": False, **arguments}
    return ranker.fit(**given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group": [3, 4]}, "group is not taken with collections"),
        ({"pairs": bp.Pairs([0], [1])}, "pairs on collections are not possible"),
        ({"base_margin": np.zeros(3)}, "base_margin is not taken with collections"),
        ({"eval_qid": dd.from_pandas(VALID["query"], npartitions=1)}, r"eval_qid must be a list"),
        ({"eval_metric": lambda y, scores: 0.0}, "would see the rows of one worker"),
        ({"eval_metric": "ndcg", "ranker": {"lambdarank_unbiased": True}}, "lambdarank_unbiased"),
        ({"ranker": {"booster": "gblinear"}}, "booster='gblinear' trains on one machine only"),
        ({"ranker": {"tree_method": "exact"}}, "tree_method='exact' trains on one machine only"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds must be"),
        ({"early_stopping_rounds": 5}, "early_stopping_rounds=5 needs a validation set; pass eval_set"),
    ],
)
def test_what_has_no_meaning_here(client, arguments, message):
    with pytest.raises(ValueError, match=message):
        fit_on(client, dd.from_pandas(TRAIN, npartitions=1), **arguments)


def test_weights_that_xgboosts_own_would_not_see(client):
    frame = dd.from_pandas(TRAIN, npartitions=1)
    X, y, weight = frame[FEATURES], frame["y"], frame["weight"]
    with pytest.raises(ValueError, match="sample_weight cannot be used by objectives of XGBoost's"):
        fit_on(client, frame, "rank:ndcg", sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight cannot be used by eval_metrics of XGBoost's"):
        fit_on(client, frame, X=X, y=y, sample_weight=weight, eval_set=[(X, y)], eval_metric=["map", bp.MAP()])


# --- what goes wrong in a training --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Broken(bp.RankNet):
    """Cannot train on queries of one worker."""

    def compute_gradient_hessian(self, scores, queries, scale):
        if queries.n_queries == 30:
            raise ArithmeticError("thirty queries are too many")
        return super().compute_gradient_hessian(scores, queries, scale)


def test_errors_of_losses_are_raised_and_not_tried_again(client, tmp_path):
    frame = on_workers(client, TRAIN, [10])
    with pytest.raises(ArithmeticError, match=r"on worker . of 2: thirty queries are too many"):
        fit_on(client, frame, Broken(), {"callbacks": [SourceWeights(tmp_path)]})
    assert len(list(tmp_path.glob("* of 2 in *"))) == 2
    assert_same(fit(client, tmp_path, bp.RankNet(), frame), alone(bp.RankNet()))


def test_an_error_of_one_worker_alone(client, tmp_path):
    frame = on_workers(client, TRAIN)
    before = {*client.futures}
    with pytest.raises(
        (LookupError, RuntimeError), match=r"nothing here|has raised an error that its log shows"
    ) as kept:
        fit_on(client, frame, ranker={"callbacks": [Fatal(tmp_path, 3, kills=False)]})
    assert kept.tb
    client.nthreads()  # what the client releases, it releases before it asks this
    assert not [
        key for key in {*client.futures} - before if "_part" in str(key)
    ]  # data that the trace of the error would keep
    assert_same(fit(client, tmp_path, bp.RankNet(), frame), alone(bp.RankNet()))


def test_a_metric_that_several_workers_cannot_tell(client):
    frame = on_workers(client, TRAIN)
    with pytest.raises(TypeError, match="PrecisionAtPercent"):
        fit_on(
            client, frame, eval_set=[(frame[FEATURES], frame["y"])], eval_qid=[frame["query"]],
            eval_metric=bp.PrecisionAtPercent(10),
        )  # fmt: skip


# --- XGBoost's own way --------------------------------------------------------------------------------------------


def test_xgboosts_own_training_on_dask_is_right_through_the_loss(client):
    from xgboost import dask as xgb_dask

    grades = np.where(TRAIN["query"] < 20, TRAIN["y"] > 0, TRAIN["y"]).astype(float)
    frame = on_workers(client, TRAIN.assign(y=grades))
    params = {"max_depth": 3, "min_child_weight": 0.1, "objective": "rank:pairwise", "base_score": 0.0, "nthread": 1}
    matrix = xgb_dask.DaskQuantileDMatrix(client, frame[FEATURES], frame["y"], qid=frame["query"])
    booster = xgb_dask.train(client, {**params, "disable_default_eval_metric": 1}, matrix, 8, obj=bp.MPBoost())[
        "booster"
    ]
    expected = alone(bp.MPBoost(), TRAIN.assign(y=grades)).predict(TRAIN[FEATURES])
    np.testing.assert_allclose(booster.predict(xgb.DMatrix(TRAIN[FEATURES])), expected, rtol=0, atol=1e-6)


# --- a worker is lost ------------------------------------------------------------------------------------------------


class Begun(xgb.callback.TrainingCallback):
    """Tells the client that rounds have begun."""

    def after_iteration(self, model, epoch, evals_log):
        if epoch == 1:
            distributed.Event("begun").set()


@pytest.mark.ci
def test_an_interrupted_client_leaves_no_worker_busy(client, tmp_path):
    """The training would take far longer than the next one may."""
    frame = on_workers(client, TRAIN)

    def interrupt():
        if distributed.Event("begun", client=client).wait(60):
            _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        fit_on(client, frame, ranker={"callbacks": [Begun()], "n_estimators": 1_000_000})
    assert_same(fit(client, tmp_path, bp.RankNet(), frame), alone(bp.RankNet()))


@pytest.fixture
def mortal():
    """Return the client of a cluster for one test, in which a worker may die."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=None) as own,
        distributed.Client(own, set_as_default=False) as client,
    ):
        yield client


def test_a_worker_that_is_killed(mortal, tmp_path):
    client = mortal
    frame = on_workers(client, TRAIN)
    ranker = bp.dask.XGBRanker(objective=bp.MPBoost(), client=client, callbacks=[Fatal(tmp_path, 5)], **PARAMS)
    with pytest.raises(RuntimeError, match=r"one has left the cluster .* fit again"):
        ranker.fit(frame[FEATURES], frame["y"], qid=frame["query"], verbose=False)
    ranker.set_params(callbacks=None).fit(frame[FEATURES], frame["y"], qid=frame["query"], verbose=False)
    assert_same(ranker, alone(bp.MPBoost()))

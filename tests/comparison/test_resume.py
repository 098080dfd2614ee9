"""A comparison that was ended goes on where it was, never from another's results; its store survives kills."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from reports import ONE, without_times
from scipy import sparse

import boostplug as bp
from boostplug.comparison.inputs.contents import digest_of_part
from boostplug.comparison.training import store as module
from boostplug.comparison.training.store import Store, has_own_code
from boostplug.data.inputs import CheckedInputs
from boostplug.losses import LOSSES

SMALL = {**ONE, "losses": ["ranknet"], "rounds": 2, "seeds": 2, "metrics": "NDCG@5"}
OTHERS = "holds no results of this comparison, only of one with other data, settings, files, versions or code; name"


@pytest.fixture
def store(tmp_path):
    """Options that keep trainings in a file."""
    return {**SMALL, "store": tmp_path / "kept.jsonl"}


@pytest.mark.parametrize("tune", [0, 3])
def test_an_interrupted_comparison_goes_on_where_it_was(tiny, trained, store, tune):
    """A tuning that was interrupted starts anew; a run that has ended is not trained again."""
    if tune:
        pytest.importorskip("optuna")
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    whole = bp.compare(folds, **SMALL, tune=tune)
    planned = list(trained)
    assert len(planned) == 2 * 2 * (2 + tune) + 2  # on half of the queries of each fold, at last
    done = []
    for _ in range(len(planned)):
        trained.clear()
        trained.until = 6 if tune else 3
        result = bp.compare(folds, **store, tune=tune, resume=bool(done))
        done += trained
        assert result.interrupted == (len(trained) == trained.until)
        if not result.interrupted:
            break
    assert done == planned if not tune else len(done) < 2 * len(planned)
    assert without_times(result) == without_times(whole)
    assert result.per_query.equals(whole.per_query)
    trained.clear()
    again = bp.compare(folds, **store, tune=tune, resume=True)
    assert not trained
    assert again.document == result.document  # times too
    assert again.kept == result.kept == store["store"]
    np.testing.assert_array_equal(again.model.predict(tiny[2].X), whole.model.predict(tiny[2].X))


def test_more_losses_and_seeds_are_added(tiny, trained, store):
    bp.compare(*tiny, **store)
    trained.clear()
    more = {"seeds": [1, 7], "losses": ["ranknet", bp.MPBoost(hessian="bound")]}
    result = bp.compare(*tiny, **store | more, resume=True)
    *of_all, (_, of_half, _) = trained
    assert [name for name, seed, _ in of_all if seed == 1] == ["MPBoost"]
    assert (len(of_all), of_half) == (1 + 3, 1)
    assert without_times(result) == without_times(bp.compare(*tiny, **SMALL | more))


def test_what_failed_is_tried_again(tiny, trained, store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(bp.RankNet, "compute_gradient_hessian", lambda *_: 1 / 0)
        assert bp.compare(*tiny, **store).failed
    trained.clear()
    assert not bp.compare(*tiny, **store, resume=True).failed
    assert trained.names[:2] == ["RankNet"] * SMALL["seeds"]
    assert len(trained) <= 3  # one on half of the queries


def test_results_of_other_settings_are_not_taken(tiny, trained, store):
    bp.compare(*tiny, **store)
    trained.clear()
    for changed in (
        {"rounds": 3},
        {"early_stopping_rounds": None},
        {"params": {"num_leaves": 40}},
        {"params": {"lightgbm": {"path_smooth": 1.0}}},
        {"metric": "MAP"},
        {"metrics": ["NDCG@5", "MAP"]},
        {"metric": bp.NDCG(10, gain="linear")},
        {"num_threads": 2, "jobs": 1},
    ):
        with pytest.raises(ValueError, match=OTHERS):
            bp.compare(*tiny, **store | changed, resume=True)
    assert not trained


def test_results_of_other_data_and_versions_are_not_taken(tiny, trained, store, monkeypatch):
    bp.compare(*tiny, **store)
    trained.clear()
    train, *others = tiny
    weight = 1.0 + np.arange(len(train.y)) % 2
    for changed in ({"X": train.X + (weight == 1)[:, None]}, {"y": 3.0 - train.y}, {"weight": weight}):
        other = bp.RankingData(**{"X": train.X, "y": train.y, "group": train.group} | changed)
        with pytest.raises(ValueError, match=OTHERS):
            bp.compare(other, *others, **store, resume=True)
    bp.compare(bp.RankingData(train.X.copy(), train.y, group=train.group), *others, **store, resume=True)
    plain = module.versions
    monkeypatch.setattr(module, "versions", lambda *more: {**plain(*more), "numba": "0.0.1"})
    with pytest.raises(ValueError, match=OTHERS):
        bp.compare(*tiny, **store, resume=True)
    assert not trained


def test_a_file_named_by_a_parameter_is_part_of_the_settings(tiny, store, tmp_path):
    splits = tmp_path / "splits.json"
    store["params"] = {"lightgbm": {"forcedsplits_filename": str(splits)}}
    splits.write_text('{"feature": 0, "threshold": 0.5}')
    bp.compare(*tiny, **store)
    for change in (lambda: splits.write_text('{"feature": 1, "threshold": 0.5}'), splits.unlink):
        change()
        with pytest.raises(ValueError, match=OTHERS):
            bp.compare(*tiny, **store, resume=True)


def test_an_empty_folder_is_no_error(tiny, tmp_path):
    """As a comparison leaves it that was killed before its first training ended."""
    with pytest.warns(UserWarning, match="there is nothing to resume in .*; starting anew"):
        bp.compare(*tiny, **SMALL, store=tmp_path / "new" / "kept.jsonl", resume=True)


def test_a_store_that_cannot_be_written_is_an_error(tiny, trained, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        bp.compare(*tiny, **SMALL, store=tmp_path / "file" / "kept.jsonl")
    assert not trained


def test_without_resume_nothing_is_lost(tiny, trained, store, tmp_path):
    result = bp.compare(*tiny, **store)
    content = result.kept.read_bytes()
    trained.clear()
    for more, message in (({}, r"holds results of this very comparison: resume=True"), ({"rounds": 1}, OTHERS)):
        with pytest.raises(ValueError, match=message):  # one file holds one comparison
            bp.compare(*tiny, **store | more)
        assert result.kept.read_bytes() == content
    assert not trained
    assert bp.compare(*tiny, **SMALL, store=tmp_path).kept == tmp_path / "compare.jsonl"


@pytest.mark.parametrize("content", [b"\x00\xff\n" * 9, b"query,grade\n1,2\n"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tiny, store, content):
    store["store"].write_bytes(content)
    with pytest.raises(ValueError, match=r"kept.jsonl holds no results; remove it to start anew"):
        bp.compare(*tiny, **store)
    assert store["store"].read_bytes() == content


def test_a_line_that_was_cut_off_costs_only_itself(tmp_path):
    path, first = tmp_path / "results", {"a": [1.5, None]}
    Store(path).add("a", first)
    start = len(path.read_bytes())
    Store(path).add("b", {"x": 0.1})
    content = path.read_bytes()
    for n in range(start, len(content)):
        path.write_bytes(content[:n])
        again = Store(path)
        assert again.get("a") == first
        again.add("c", 3)
        assert [Store(path).get(key) for key in "ac"] == [first, 3]
    path.write_bytes(content[:9])
    assert Store(path).get("a") is None


# --- What tells one thing from another -------------------------------------------------------------------------------


def twice(gap):
    return 2.0 * gap


@dataclass(frozen=True, kw_only=True)
class Own(bp.MPBoost):
    """A user's loss."""


def test_our_losses_and_metrics_are_known_by_their_texts():
    losses = [loss for losses in LOSSES.values() for loss in losses]
    values = [*losses, bp.NDCG(5), bp.MAP().on("sale"), 0.5 * bp.RankNet() + bp.QBRank().on("sale"), "lambdarank"]
    assert not any(map(has_own_code, values))
    assert len({*map(repr, values)}) == len(values)
    own = [Own(), type("MPBoost", (bp.MPBoost,), {})(), 0.5 * Own() + bp.QBRank(), bp.AdaRank(base=Own())]
    own += [bp.MPBoost(distance=twice), bp.MPBoost(distance=partial(twice)), bp.NDCG(gain=twice), bp.NDCG(gain=np.sqrt)]
    assert all(map(has_own_code, own))


@pytest.mark.parametrize("metrics", ["NDCG@5", [bp.NDCG(5, gain=twice)]])
def test_code_of_ones_own_is_trained_again(tiny, trained, store, metrics):
    """It may have changed, and so may that of any module which it calls."""
    some = {**store, "losses": [Own(), "ranknet"], "metrics": metrics}
    with pytest.warns(UserWarning, match=r"has code of your own.*trainings? (are|is) (not )?kept in store"):
        whole = bp.compare(*tiny, **some)
    assert bool(whole.kept) == (metrics == "NDCG@5")
    trained.clear()
    with pytest.warns(UserWarning, match=r"has code of your own"):
        again = bp.compare(*tiny, **some, resume=whole.kept is not None)
    assert len(trained) == (2 if metrics == "NDCG@5" else 7)
    assert "Own" in trained.names
    assert without_times(again) == without_times(whole)


def test_data_are_known_by_their_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3)).astype(np.float32)
    queries = bp.Queries([0, 1, 0, 1, 0, 1], group=[3, 3])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    other = X.copy()
    other[5, 2] = np.nextafter(other[5, 2], np.float32(9))
    tables = [
        *(X, other, X[:, ::-1], sparse.csr_matrix(X), sparse.csr_matrix(other), frame),
        frame.rename(columns={"a": "x"}),
        *(frame.assign(a=pd.Categorical(list(values))) for values in ("xyzxyz", "xyzxyw")),
    ]

    def found(X, queries=queries):
        return digest_of_part(CheckedInputs(X, queries))

    assert len({*map(found, tables)}) == len(tables)
    assert found(frame) == found(pd.concat([frame[["a"]], frame[["b", "c"]]], axis=1))
    assert found(np.asfortranarray(X)) == found(X.copy()) == found(X.astype(np.float64))
    assert found(X, bp.Queries(queries.labels, group=[2, 4])) != found(X)
    assert found(X, bp.Queries(1 - queries.labels, group=[3, 3])) != found(X)

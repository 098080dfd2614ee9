"""A comparison that was ended goes on where it was, never from another's results; its store survives kills."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from reports import without_times
from scipy import sparse

import boostplug as bp
from boostplug.comparison.inputs.contents import digest_of_part
from boostplug.comparison.training import store as module
from boostplug.comparison.training.frameworks import FRAMEWORKS
from boostplug.comparison.training.store import Store, has_own_code
from boostplug.data.inputs import CheckedInputs
from boostplug.losses import LOSSES

SOME = {"losses": ["ranknet"], "baselines": "lambdarank", "frameworks": "lightgbm", "progress": False}
SMALL = {"rounds": 2, "seeds": 2, "num_threads": 1, "metrics": "NDCG@5", **SOME}


@pytest.fixture
def trained(monkeypatch):
    """What has been trained; `trained.until` trainings are, and then Ctrl-C comes."""

    class Trained(list):
        until = None

    trained, run = Trained(), FRAMEWORKS["lightgbm"].run

    def watched(self, setting, seed, *args, **options):
        if len(trained) == trained.until:
            raise KeyboardInterrupt
        trained.append((str(setting.objective), seed))
        return run(self, setting, seed, *args, **options)

    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", watched)
    return trained


@pytest.mark.parametrize("tune", [0, 3])
def test_an_interrupted_comparison_goes_on_where_it_was(tiny, trained, tmp_path, tune):
    """A tuning that was interrupted starts anew; a run that has ended is not trained again."""
    if tune:
        pytest.importorskip("optuna")
    some = {**SMALL, "tune": tune}
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    whole = bp.compare(folds, **some)
    planned = list(trained)
    assert len(planned) == 2 * 2 * (2 + tune) + 2  # on half of the queries of each fold, at last
    done = []
    for _ in range(len(planned)):
        trained.clear()
        trained.until = 6 if tune else 3
        result = bp.compare(folds, **some, store=tmp_path / "kept.jsonl", resume=bool(done))
        done += trained
        assert result.interrupted == (len(trained) == trained.until)
        if not result.interrupted:
            break
    assert done == planned if not tune else len(done) < 2 * len(planned)
    assert without_times(result) == without_times(whole)
    assert result.per_query.equals(whole.per_query)
    trained.clear()
    again = bp.compare(folds, **some, store=tmp_path / "kept.jsonl", resume=True)
    assert not trained
    assert again.document == result.document  # times too
    assert again.kept == result.kept
    assert result.kept == tmp_path / "kept.jsonl"


def test_more_losses_and_seeds_are_added(tiny, trained, tmp_path):
    bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl")
    trained.clear()
    more = {**SMALL, "seeds": [1, 7], "losses": ["ranknet", bp.MPBoost(hessian="bound")]}
    result = bp.compare(*tiny, **more, store=tmp_path / "kept.jsonl", resume=True)
    *of_all, (_, of_half) = trained
    assert [name.partition("(")[0] for name, seed in of_all if seed == 1] == ["MPBoost"]
    assert (len(of_all), of_half) == (1 + 3, 1)
    assert without_times(result) == without_times(bp.compare(*tiny, **more))


def test_what_failed_is_tried_again(tiny, trained, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(bp.RankNet, "compute_gradient_hessian", lambda *_: 1 / 0)
        result = bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl")
    assert result.failed
    trained.clear()
    again = bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl", resume=True)
    assert not again.failed
    of_all = trained[: SMALL["seeds"]]
    assert {name.partition("(")[0] for name, _ in of_all} == {"RankNet"}
    assert len(trained) - len(of_all) <= 1  # on half of the queries


OTHERS = "holds no results of this comparison, only of one with other data, settings, files, versions or code; name"


def test_results_of_other_settings_are_not_taken(tiny, trained, tmp_path):
    bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl")
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
            bp.compare(*tiny, **{**SMALL, **changed}, store=tmp_path / "kept.jsonl", resume=True)
    assert not trained


def test_results_of_other_data_and_versions_are_not_taken(tiny, trained, tmp_path, monkeypatch):
    bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl")
    trained.clear()
    train, valid, test = tiny
    for changed in ({"X": train.X + (np.arange(len(train.X)) == 0)[:, None]}, {"y": 3.0 - train.y}):
        other = bp.RankingData(**{"X": train.X, "y": train.y, "group": train.group} | changed)
        with pytest.raises(ValueError, match=OTHERS):
            bp.compare(other, valid, test, **SMALL, store=tmp_path / "kept.jsonl", resume=True)
    same = bp.RankingData(train.X.copy(), train.y, group=train.group)
    bp.compare(same, valid, test, **SMALL, store=tmp_path / "kept.jsonl", resume=True)
    plain = module.versions
    monkeypatch.setattr(module, "versions", lambda *more: {**plain(*more), "numba": "0.0.1"})
    with pytest.raises(ValueError, match=OTHERS):
        bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl", resume=True)
    assert not trained


def test_a_file_named_by_a_parameter_is_part_of_the_settings(tiny, tmp_path):
    splits = tmp_path / "splits.json"
    some = {**SMALL, "params": {"lightgbm": {"forcedsplits_filename": str(splits)}}, "store": tmp_path / "kept.jsonl"}
    splits.write_text('{"feature": 0, "threshold": 0.5}')
    bp.compare(*tiny, **some)
    splits.write_text('{"feature": 1, "threshold": 0.5}')
    with pytest.raises(ValueError, match=OTHERS):
        bp.compare(*tiny, **some, resume=True)
    splits.unlink()
    with pytest.raises(ValueError, match=OTHERS):
        bp.compare(*tiny, **some, resume=True)


def test_an_empty_folder_is_no_error(tiny, tmp_path):
    """As a comparison leaves it that was killed before its first training ended."""
    with pytest.warns(UserWarning, match="there is nothing to resume in .*; starting anew"):
        bp.compare(*tiny, **SMALL, store=tmp_path / "new" / "kept.jsonl", resume=True)


def test_a_store_that_cannot_be_written_is_an_error(tiny, trained, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        bp.compare(*tiny, **SMALL, store=tmp_path / "file" / "kept.jsonl")
    assert not trained


def test_without_resume_nothing_is_lost(tiny, trained, tmp_path):
    result = bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl")
    content = result.kept.read_bytes()
    trained.clear()
    with pytest.raises(ValueError, match=r"holds results of this very comparison: resume=True"):
        bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl")
    assert not trained
    assert result.kept.read_bytes() == content
    with pytest.raises(ValueError, match=OTHERS):  # one file holds one comparison
        bp.compare(*tiny, **{**SMALL, "rounds": 1}, store=result.kept)
    assert result.kept.read_bytes() == content
    assert bp.compare(*tiny, **SMALL, store=tmp_path).kept == tmp_path / "compare.jsonl"


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


@pytest.mark.parametrize(
    "value",
    [
        *(Own(), type("MPBoost", (bp.MPBoost,), {})(), 0.5 * Own() + bp.QBRank(), bp.AdaRank(base=Own())),
        *(bp.MPBoost(distance=twice), bp.MPBoost(distance=partial(twice)), bp.NDCG(gain=twice), bp.NDCG(gain=np.sqrt)),
    ],
)
def test_code_of_ones_own_is_not_known_by_its_text(value):
    assert has_own_code(value)


@pytest.mark.parametrize("metrics", ["NDCG@5", [bp.NDCG(5, gain=twice)]])
def test_code_of_ones_own_is_trained_again(tiny, trained, tmp_path, metrics):
    """It may have changed, and so may that of any module which it calls."""
    some = {**SMALL, "losses": [Own(), "ranknet"], "store": tmp_path / "kept.jsonl", "metrics": metrics}
    with pytest.warns(UserWarning, match=r"has code of your own.*trainings? (are|is) (not )?kept in store"):
        whole = bp.compare(*tiny, **some)
    assert bool(whole.kept) == (metrics == "NDCG@5")
    trained.clear()
    with pytest.warns(UserWarning, match=r"has code of your own"):
        again = bp.compare(*tiny, **some, resume=whole.kept is not None)
    assert len(trained) == (2 if metrics == "NDCG@5" else 7)
    assert {name.partition("(")[0] for name, _ in trained} >= {"Own"}
    assert without_times(again) == without_times(whole)


def test_data_are_known_by_their_values():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3)).astype(np.float32)
    queries = bp.Queries([0, 1, 0, 1, 0, 1], group=[3, 3])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    other = X.copy()
    other[5, 2] = np.nextafter(other[5, 2], np.float32(9))
    tables = [
        *(X, other, X[:, ::-1], sparse.csr_matrix(X), sparse.csr_matrix(other), frame),
        frame.rename(columns={"a": "x"}),
        frame.assign(a=pd.Categorical(list("xyzxyz"))),
        frame.assign(a=pd.Categorical(list("xyzxyw"))),
    ]

    def found(X, queries=queries):
        return digest_of_part(CheckedInputs(X, queries))

    prints = [found(table) for table in tables]
    assert len(set(prints)) == len(tables)
    assert found(frame) == found(pd.concat([frame[["a"]], frame[["b", "c"]]], axis=1))
    assert found(np.asfortranarray(X)) == found(X.copy()) == found(X.astype(np.float64))
    assert found(X, bp.Queries(queries.labels, group=[2, 4])) != found(X)
    assert found(X, bp.Queries(1 - queries.labels, group=[3, 3])) != found(X)


RESULTS = {"a": [1.5, None], "b": {"x": 0.1}}


@pytest.fixture
def store(tmp_path):
    """A store with two results."""
    store = Store(tmp_path / "results")
    for key, result in RESULTS.items():
        store.add(key, result)
    return store


def found_in(store, *keys):
    again = Store(store.path)
    return {key: again.get(key) for key in keys}


@pytest.mark.parametrize("content", [b"\x00\xff\n" * 9, b"query,grade\n1,2\n"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(store, content):
    store.path.write_bytes(content)
    with pytest.raises(ValueError, match=r"results holds no results; remove it to start anew"):
        Store(store.path)
    assert store.path.read_bytes() == content


def test_a_line_that_was_cut_off_costs_only_itself(store):
    content = store.path.read_bytes()
    for n in range(len(content.splitlines()[0]) + 1, len(content)):
        store.path.write_bytes(content[:n])
        again = Store(store.path)
        assert again.get("a") == RESULTS["a"]
        again.add("c", 3)
        assert found_in(store, "a", "c") == {"a": RESULTS["a"], "c": 3}
    store.path.write_bytes(content[:9])
    assert found_in(store, "a") == {"a": None}

"""A comparison that was ended goes on where it was, and never from the results of another."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from reports import without_times
from scipy import sparse

import boostplug as bp
from boostplug.comparison.training import kept as module
from boostplug.comparison.training.frameworks import FRAMEWORKS, Part
from boostplug.comparison.training.kept import fingerprint, print_of_part
from boostplug.comparison.training.store import Store, digest, head_of

SOME = {"losses": ["ranknet"], "baselines": "lambdarank", "frameworks": "lightgbm", "progress": False}
SMALL = {"rounds": 2, "seeds": 2, "num_threads": 1, "metrics": "NDCG@5", **SOME}


@pytest.fixture
def trained(monkeypatch):
    """What has been trained; `trained.until` trainings are, and then Ctrl-C comes."""

    class Trained(list):
        until = None

    trained, run = Trained(), FRAMEWORKS["lightgbm"].run

    def watched(self, objective, seed, *args):
        if len(trained) == trained.until:
            raise KeyboardInterrupt
        trained.append((str(objective), seed))
        return run(self, objective, seed, *args)

    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", watched)
    return trained


@pytest.mark.parametrize("tune", [0, 3])
def test_an_interrupted_comparison_goes_on_where_it_was(tiny, trained, tmp_path, tune):
    if tune:
        pytest.importorskip("optuna")
    some = {**SMALL, "tune": tune}
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    whole = bp.compare(folds, **some)
    planned = list(trained)
    assert len(planned) == 2 * 2 * (2 + tune)
    done = []
    for _ in range(len(planned)):
        trained.clear()
        trained.until = 3
        result = bp.compare(folds, **some, store=tmp_path, resume=bool(done))
        done += trained
        assert result.interrupted == (len(trained) == 3)
        if not result.interrupted:
            break
    assert done == planned
    assert without_times(result) == without_times(whole)
    assert result.per_query.equals(whole.per_query)
    trained.clear()
    again = bp.compare(folds, **some, store=tmp_path, resume=True)
    assert not trained
    assert again.document == result.document  # times too
    assert again.kept == result.kept
    assert result.kept.parent == tmp_path


def test_more_losses_and_seeds_are_added(tiny, trained, tmp_path):
    bp.compare(*tiny, **SMALL, store=tmp_path)
    trained.clear()
    more = {**SMALL, "seeds": [1, 7], "losses": ["ranknet", bp.MPBoost(hessian="bound")]}
    result = bp.compare(*tiny, **more, store=tmp_path, resume=True)
    assert [name.partition("(")[0] for name, seed in trained if seed == 1] == ["MPBoost"]
    assert len(trained) == 1 + 3
    assert without_times(result) == without_times(bp.compare(*tiny, **more))


def test_what_failed_is_tried_again(tiny, trained, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(bp.RankNet, "compute_gradient_hessian", lambda *_: 1 / 0)
        result = bp.compare(*tiny, **SMALL, store=tmp_path)
    assert result.failed
    trained.clear()
    again = bp.compare(*tiny, **SMALL, store=tmp_path, resume=True)
    assert not again.failed
    assert [name.partition("(")[0] for name, _ in trained] == ["RankNet", "RankNet"]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"rounds": 3}, r"rounds \(2 there, 3 now\)"),
        ({"early_stopping_rounds": None}, r"early_stopping_rounds \(30 there, none now\)"),
        ({"params": {"num_leaves": 4}}, r"params\.num_leaves \(15 there, 4 now\)"),
        ({"params": {"lightgbm": {"extra_trees": True}}}, r"params\.lightgbm\.extra_trees \(none there, True now\)"),
        ({"metric": "MAP"}, r"metric \(NDCG@10 there, MAP now\), metrics "),
        ({"metrics": ["NDCG@5", "MAP"]}, "metrics "),
        ({"metric": bp.NDCG(10, gain="linear")}, r"metric \(NDCG@10 there, NDCG@10\(linear\) now\)"),
        ({"num_threads": 2}, r"num_threads \(1 there, 2 now\)"),
        ({"frameworks": ["lightgbm", "xgboost"]}, r"xgboost \(none there, \d"),
    ],
)
def test_other_settings_are_refused_and_named(tiny, trained, tmp_path, changed, named):
    bp.compare(*tiny, **SMALL, store=tmp_path)
    trained.clear()
    with pytest.raises(
        ValueError, match=rf"holds no results of this comparison; .*differ in .*{named}.*leave out resume"
    ):
        bp.compare(*tiny, **{**SMALL, **changed}, store=tmp_path, resume=True)
    assert not trained


def test_other_data_and_versions_are_refused_and_named(tiny, trained, tmp_path, monkeypatch):
    bp.compare(*tiny, **SMALL, store=tmp_path)
    trained.clear()
    train, valid, test = ({"X": part.X.copy(), "y": part.y.copy(), "group": part.group} for part in tiny)
    for part, array, named in ((train, "X", "features of train"), (test, "y", "labels of test")):
        kept = part[array].copy()
        part[array][(0,) * kept.ndim] = 3
        with pytest.raises(ValueError, match=f"differ in {named}, fold 1: "):
            bp.compare(train, valid, test, **SMALL, store=tmp_path, resume=True)
        part[array][:] = kept
    bp.compare(train, valid, test, **SMALL, store=tmp_path, resume=True)
    plain = module.versions
    for name in ("boostplug", "lightgbm", "numpy", "numba"):
        with monkeypatch.context() as patch:
            patch.setattr(module, "versions", lambda *more, name=name: {**plain(*more), name: "0.0.1"})
            with pytest.raises(ValueError, match=rf"differ in {name} \(\S+ there, 0\.0\.1 now\): "):
                bp.compare(*tiny, **SMALL, store=tmp_path, resume=True)
    assert not trained


def test_without_resume_nothing_is_lost(tiny, trained, tmp_path):
    result = bp.compare(*tiny, **SMALL, store=tmp_path)
    content = result.kept.read_bytes()
    trained.clear()
    with pytest.raises(ValueError, match=r"holds results of this very comparison \(4 trainings\): resume=True"):
        bp.compare(*tiny, **SMALL, store=tmp_path)
    assert not trained
    assert result.kept.read_bytes() == content
    other = bp.compare(*tiny, **{**SMALL, "rounds": 1}, store=tmp_path)
    assert other.kept != result.kept


def test_damaged_results_are_named(tiny, tmp_path):
    result = bp.compare(*tiny, **SMALL, store=tmp_path)
    for content in (b"null\n", b"garbage", result.kept.read_bytes().replace(b'"rounds": 2', b'"rounds": 9')):
        result.kept.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{result.kept.name} .*remove it to start anew"):
            bp.compare(*tiny, **SMALL, store=tmp_path, resume=True)
        with pytest.raises(ValueError, match=rf"{result.kept.name} is damaged; remove it"):
            bp.compare(*tiny, **{**SMALL, "rounds": 1}, store=tmp_path, resume=True)


# --- What tells one thing from another -------------------------------------------------------------------------------


def twice(gap):
    return 2.0 * gap


def thrice(gap):
    return 3.0 * gap


thrice.version = "1"


@dataclass(frozen=True, kw_only=True)
class Own(bp.MPBoost):
    """A user's loss."""


@dataclass(frozen=True, kw_only=True)
class OwnVersion(bp.MPBoost):
    """A user's loss whose code is known by its version."""

    version: ClassVar[str] = "1"


def test_losses_are_known_by_their_parameters_and_versions(monkeypatch):
    losses = [bp.MPBoost(), bp.MPBoost(hessian="bound"), bp.MPBoost(distance=bp.LinearDistance()), bp.RankNet()]
    losses += [OwnVersion(), OwnVersion(hessian="bound"), bp.MPBoost(distance=thrice), bp.NDCG(5), bp.NDCG(10)]
    prints = [fingerprint(loss) for loss in losses]
    assert len({*prints} - {None}) == len(losses)
    equal = "-newton"[1:]  # but not the same string
    assert fingerprint(bp.MPBoost(hessian=equal)) == prints[0]
    assert fingerprint("lambdarank") == "lambdarank"
    monkeypatch.setattr(OwnVersion, "version", "2")
    assert fingerprint(losses[4]) not in {None, prints[4]}
    for unknown in (Own(), bp.MPBoost(distance=twice), bp.MPBoost(distance=lambda gap: gap), bp.NDCG(gain=twice)):
        assert fingerprint(unknown) is None


def test_a_loss_of_ones_own_is_trained_again(tiny, trained, tmp_path):
    """Its code may have changed, and so may that of any module which it calls."""
    some = {**SMALL, "losses": [Own(), OwnVersion()], "store": tmp_path}
    with pytest.warns(UserWarning, match=r"the loss Own\(.*has code of your own.*its trainings are not kept in store"):
        whole = bp.compare(*tiny, **some)
    trained.clear()
    with pytest.warns(UserWarning, match=r'an attribute such as version = "1"'):
        again = bp.compare(*tiny, **some, resume=True)
    assert [name.partition("(")[0] for name, _ in trained] == ["Own", "Own"]
    assert without_times(again) == without_times(whole)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: run["per_query"]["NDCG@5"].pop(), "does not hold a number for each test query"),
        (lambda run: run["per_query"].update(MAP=run["per_query"]["NDCG@5"]), "lacks metrics or rounds"),
        (lambda run: run["test"].update({"NDCG@5": 0.99}), "contradicts itself"),
        (lambda run: run.update(validation=0.99), "contradicts itself"),
        (lambda run: run.update(rounds=7), "lacks metrics or rounds"),
        (lambda run: run.update(rounds="2"), "is no result of a training"),
        (lambda run: run.update(curve=["high"]), "is no result of a training"),
        (lambda run: run.pop("gains"), "is no result of a training"),
    ],
)
def test_forged_results_are_refused(tiny, trained, tmp_path, change, message):
    """Rows with a right digest whose content cannot come from a training."""
    path = bp.compare(*tiny, **SMALL, store=tmp_path).kept
    with Store(path, head_of(path)) as store:
        key, run = next(iter(store.done.items()))
        change(run)
        store.add(key, run)
    trained.clear()
    with pytest.raises(ValueError, match=rf"{path.name}: the entry 'fold 1 .*{message}.*remove the file"):
        bp.compare(*tiny, **SMALL, store=tmp_path, resume=True)
    assert not trained


def test_data_are_known_by_their_values():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3)).astype(np.float32)
    queries = bp.Queries([0, 1, 0, 1, 0, 1], group=[3, 3])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    other = X.copy()
    other[5, 2] = np.nextafter(other[5, 2], np.float32(9))
    tables = [
        *(X, other, X.astype(np.float64), X[:, ::-1], sparse.csr_matrix(X), sparse.csr_matrix(other), frame),
        frame.rename(columns={"a": "x"}),
        frame.assign(a=pd.Categorical(list("xyzxyz"))),
        frame.assign(a=pd.Categorical(list("xyzxyw"))),
        frame.assign(a=pd.array([1, None, 3, 4, 5, 6], dtype="Int64")),
    ]

    def found(X, queries=queries):
        return print_of_part(Part(X, queries))

    prints = [str(found(table)) for table in tables]
    assert len(set(prints)) == len(tables)
    assert found(frame) == found(pd.concat([frame[["a"]], frame[["b", "c"]]], axis=1))
    assert found(np.asfortranarray(X)) == found(X.copy())
    assert found(X, bp.Queries(queries.labels, group=[2, 4])) != found(X)
    assert found(X, bp.Queries(1 - queries.labels, group=[3, 3])) != found(X)
    assert digest([np.zeros((0, 3))]) == digest([])

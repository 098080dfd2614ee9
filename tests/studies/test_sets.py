"""The public data sets of the studies, from small files of the same form."""

import gzip

import numpy as np
import pytest

from boostplug.datasets import make_ranking
from studies.quality.sets import SETS, share_of, with_one_relevant

N_FOLDS = 5


def svmlight(data, names, path, opener=open):
    """Write rows whose query is one of `names`."""
    with opener(path, "wt") as file:
        for x, y, q in zip(data.X, data.y, data.qid, strict=True):
            if q in names:
                features = " ".join(f"{i}:{value:.4g}" for i, value in enumerate(x, 1) if not np.isnan(value))
                file.write(f"{y:g} qid:{q} {features}\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with small files of every set."""
    folder = tmp_path_factory.mktemp("data")
    data = make_ranking(40, n_features=6, mean_list_size=8, empty_queries=0.0, random_state=3)
    fifths = [np.unique(data.qid)[k::N_FOLDS] for k in range(N_FOLDS)]
    for name in ("mq2008", "ohsumed"):
        for f in range(N_FOLDS):
            (fold := folder / name / f"Fold{f + 1}").mkdir(parents=True)
            svmlight(data, np.concatenate([fifths[(f + j) % N_FOLDS] for j in range(3)]), fold / "train.txt")
            svmlight(data, fifths[(f + 3) % N_FOLDS], fold / "vali.txt")
            svmlight(data, fifths[(f + 4) % N_FOLDS], fold / "test.txt")
    (folder / "mslr_sample").mkdir()
    for i, name in enumerate(("train.txt", "vali.txt", "test.txt")):
        svmlight(data, fifths[i], folder / "mslr_sample" / name)
    for name in ("yandex", "nfcorpus", "jester"):
        (folder / name).mkdir()
        for k, names in enumerate(fifths):
            svmlight(data, names, folder / name / f"S{k + 1}.txt.gz", gzip.open)
    (folder / "ml-100k").mkdir()
    rng = np.random.default_rng(0)
    rows = [(u, i, rng.integers(1, 6), 0) for u in range(12) for i in rng.permutation(130)[: 90 + 2 * u]]
    text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    (folder / "ml-100k" / "u.data").write_text(text)
    return folder


@pytest.mark.parametrize("name", SETS)
def test_each_set_is_five_folds_that_test_every_query_once(name, folder):
    folds = [SETS[name].load(folder, f) for f in range(N_FOLDS)]
    labels = [np.sort(np.concatenate([part.queries.labels for part in fold])) for fold in folds[1:]]
    assert all(np.array_equal(of_fold, labels[0]) for of_fold in labels)
    if name in {"mslr", "movielens"}:  # their folds are cut here, from all that there is
        assert sum(fold[2].queries.n_queries for fold in folds) == sum(part.queries.n_queries for part in folds[0])
    tested = np.concatenate([fold[2].queries.labels for fold in folds])
    assert np.array_equal(np.sort(tested), labels[0])


def test_a_larger_share_holds_the_queries_of_a_smaller_one(folder):
    train, _, _ = SETS["nfcorpus"].load(folder, 0)
    fifth, half = (share_of(train, share) for share in (0.2, 0.5))
    assert fifth.queries.n_queries == round(0.2 * train.queries.n_queries)
    assert {*map(bytes, fifth.X)} <= {*map(bytes, half.X)}


def test_one_of_the_best_documents_stays_relevant(folder):
    fold = SETS["yandex"].load(folder, 0)
    for before, after in zip(fold, with_one_relevant(fold, np.random.default_rng(0)), strict=True):
        best = np.maximum.reduceat(before.queries.labels, before.queries.boundaries[:-1])
        assert np.add.reduceat(after.queries.labels, after.queries.boundaries[:-1]).tolist() == (best > 0).tolist()
        assert (before.queries.labels == best[before.queries.query_of_row])[after.queries.labels > 0].all()

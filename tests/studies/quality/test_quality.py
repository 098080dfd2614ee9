"""The study of quality: its sets, its cells, what they add up to, the protocol's rules and the pages."""

import gzip
import json

import numpy as np
import pytest

from boostplug.comparison.training.frameworks import DataPart
from boostplug.comparison.training.runs import Method
from boostplug.data.queries import Queries
from boostplug.datasets import make_ranking
from boostplug.losses import MPBoost, QBRank
from studies.quality import __main__ as command
from studies.quality import page, protocol, result, run, sets, summary
from studies.quality.protocol import StudyPart, jobs_of
from studies.quality.sets import SETS
from studies.quality.summary import Arm, Cells, arms

N_FOLDS = 5
MADE = ("clicks", "fair-pairs", "one-relevant", "nfcorpus-balanced")  # of other sets


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


@pytest.fixture
def small(monkeypatch):
    """Two small parts in place of the study's."""
    peers = {"lightgbm": ("lambdarank", "regression"), "xgboost": ("rank:ndcg",)}
    common = {"peers": peers, "sets": ("mslr", "nfcorpus"), "folds": (0, 1), "rounds": 3}
    parts = {
        "24 leaves": StudyPart(name="24 leaves", losses=(*protocol.QBRANKS, MPBoost(normalization="none")), **common),
        "8 leaves": StudyPart(name="8 leaves", leaves=8, losses=protocol.QBRANKS, **common),
    }
    for module in (protocol, run, summary, result, command):
        monkeypatch.setattr(module, "PARTS", parts)
    return parts


def queries_of(parts):
    return sum(part.queries.n_queries for part in parts)


@pytest.mark.parametrize("name", [name for name in SETS if name not in MADE])
def test_each_set_is_five_folds_that_test_every_query_once(name, folder):
    folds = [SETS[name].load(folder, f) for f in range(N_FOLDS)]
    labels = [np.sort(np.concatenate([part.queries.labels for part in fold])) for fold in folds[1:]]
    assert all(np.array_equal(of_fold, labels[0]) for of_fold in labels)
    if name in {"mslr", "movielens"}:  # their folds are cut here, from all that there is
        assert sum(fold[2].queries.n_queries for fold in folds) == queries_of(folds[0])
    tested = np.concatenate([fold[2].queries.labels for fold in folds])
    assert np.array_equal(np.sort(tested), labels[0])
    assert len(SETS[name].metrics) == 4


def test_fair_pairs_do_not_follow_the_order_in_which_documents_were_shown(folder):
    """Skipped documents stood above: such pairs say the opposite of the ranker that showed them; fair ones do not."""
    grades = np.repeat(np.tile([0.0, 1.0], 200), 10)
    part = DataPart(np.zeros((4000, 1)), Queries(grades, group=[20] * 200))
    shares = {}
    for name, fair in (("skip above", False), ("fair", True)):
        queries = sets._clicked(part, np.random.default_rng(0), fair=fair).queries
        winner, loser = grades[queries.pairs.winner], grades[queries.pairs.loser]
        assert len(winner) > 100
        shares[name] = (winner > loser).sum() / (winner != loser).sum()
    assert shares["skip above"] < 0.5
    assert shares["fair"] > 0.6


def test_cells_are_kept_one_by_one_and_not_trained_again(folder, small, tmp_path, monkeypatch):
    store = tmp_path / "cells"
    trained = []
    real = run._trained

    def counted(folder, job):
        trained.append(job.key)
        if len(trained) == 4:
            raise KeyboardInterrupt
        return real(folder, job)

    monkeypatch.setattr(run, "_trained", counted)
    with pytest.raises(KeyboardInterrupt):
        run.run(folder, store, small, processes=1)
    assert len(run.kept_cells(store)) == 3
    run.run(folder, store, small, processes=1)
    jobs = [job for part in small.values() for job in jobs_of(part)]
    assert len(trained) == len(jobs) + 1 == len(set(trained)) + 1
    assert set(run.kept_cells(store)) == {job.key for job in jobs}

    cells = Cells(run.kept_cells(store))
    arm = arms(small["24 leaves"], "xgboost")[0]
    _, _, test = SETS["nfcorpus"].load(folder, 0)
    assert len(cells.per_query(arm, "nfcorpus")[0]) == test.queries.n_queries

    target, source = tmp_path / "page.md", tmp_path / "q.json"
    command.main(["sum", "--data", str(folder), "--store", str(store), str(source)])
    document = json.loads(source.read_text())
    for row in document["pooled"]:
        for name, found in row["by_measure"].items():
            assert ("p" in found) == ("of_sets_p" in found) == (name == "NDCG@10")  # no test is made of the others
    names = page.tables(document)
    assert {"rule", "pooled 24 leaves", "peers 8 leaves", "24 leaves, xgboost", "whole lists 24 leaves"} <= set(names)
    target.write_text("text\n" + "".join(f"<!-- table: {name} -->\nstale\n<!-- end -->\n" for name in names))
    command.main(["page", str(source), str(target)])
    text = target.read_text()
    assert "stale" not in text
    assert text.startswith("text\n")
    for framework, method in (("xgboost", "rank:ndcg"), ("lightgbm", "lambdarank")):
        mean = cells.mean(Arm("24 leaves", Method(method, framework, method, is_reference=True)), "mslr")
        assert f"| {method} | {page.decimals(round(mean, 5))} |" in text


class Kept:
    """Cells that are told: the values of each method's queries by set, with noise that all methods share."""

    def __init__(self, parts, values):
        self.cells = {}
        rng = np.random.default_rng(0)
        noise = {data: rng.normal(0, 0.1, 200) for data in SETS}
        own = {}
        for part in parts.values():
            for job in jobs_of(part):
                method = job.method.objective
                key = (part.name, job.method.framework, repr(method), job.data)
                own.setdefault(key, rng.normal(0, 0.02, 200))
                mean = values(part.name, job.method.framework, method, job.data)
                per_query = 0.5 + mean + noise[job.data] + own[key]
                per_query[:3] = np.nan
                self.cells[job.key] = {
                    "error": None,
                    "rounds": 7,
                    "tuned": None,
                    "per_query": {metric.name: per_query.tolist() for metric in SETS[job.data].metrics},
                }


def told(small, values):
    return Cells(Kept(small, values).cells)


def test_differences_are_of_queries(small):
    cells = told(
        small,
        lambda _part, _framework, method, data: 0.05 * (method == MPBoost(normalization="none") and data == "mslr"),
    )
    reference, *_, ours = arms(small["24 leaves"], "lightgbm")
    assert ours.method.objective == MPBoost(normalization="none")
    ahead, level = (cells.difference(ours, reference, data) for data in ("mslr", "nfcorpus"))
    assert ahead.difference == pytest.approx(0.05, abs=0.01)
    assert ahead.interval[0] > 0.03
    assert ahead.p < 0.001
    assert level.interval[0] < 0 < level.interval[1] or abs(level.difference) < 0.01
    overall = cells.overall(ours, reference, ["mslr", "nfcorpus"])
    both = [cells.per_query(arm, data) for arm in (ours, reference) for data in ("mslr", "nfcorpus")]
    a, b = (np.concatenate([*both[i], *both[i + 1]]) for i in (0, 2))
    assert overall.difference == pytest.approx(np.nanmean(a - b))
    assert overall.worst_set == "nfcorpus"
    assert overall.n_queries == np.count_nonzero(~np.isnan(a))


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        ({(0.5, "none"): 0.02}, (0.5, "none")),
        ({(0.5, "rows"): 0.0202, (0.3, "rows"): 0.0203}, (0.5, "rows")),  # within a standard error: the middle
    ],
)
def test_the_rule_takes_the_best_candidate_and_of_equals_the_middle(small, best, expected):
    def values(_part, _framework, method, _data):
        if isinstance(method, QBRank):
            return best.get((method.preference_weight, method.normalization), 0.0)
        return 0.0

    found = summary.chosen(summary.candidates(told(small, values))).loss
    assert (found.preference_weight, found.normalization) == expected

"""TREC's files against ir-measures, which reads and scores them by trec_eval; what is no such file."""

import gzip
import re
from collections import defaultdict
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
import pytrec_eval
from ir_measures import AP, RR, Bpref, P, R, Rprec, nDCG
from scipy.sparse import csr_matrix

import boostplug as bp
from boostplug.datasets import Qrels, Run, join_trec, load_letor, load_qrels, load_run, save_qrels, save_run

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 0\nq2\t0\td9\t1\n\nq3 0 d4 1\n"
RUN = "q2 Q0 d1 1 3.5 bm25\nq1 Q0 d2 1 9 bm25\nq1 Q0 d8 2 8e-1 bm25\nq1 Q0 d1 3 .5 bm25\nq2  Q0 d9 2 -1 bm25\n"


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_runs_are_read_and_the_rows_of_a_query_stand_together(written):
    run = load_run(written("run", RUN))
    assert run.qid.tolist() == ["q2", "q2", "q1", "q1", "q1"]
    assert run.doc_ids.tolist() == ["d1", "d9", "d2", "d8", "d1"]
    np.testing.assert_array_equal(run.scores, [3.5, -1, 9, 0.8, 0.5])


@pytest.mark.parametrize(
    "changed", [gzip.compress, lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n"), lambda b: b[:-1]]
)
def test_the_same_file_in_other_forms(written, changed):
    plain, other = load_run(written("run", RUN)), load_run(written("other", changed(RUN.encode())))
    assert other.qid.tolist() == plain.qid.tolist()
    assert other.doc_ids.tolist() == plain.doc_ids.tolist()
    np.testing.assert_array_equal(other.scores, plain.scores)
    assert other.tag == "bm25"


def test_comments_blank_lines_and_words_behind_the_tag_are_skipped_as_trec_eval_does(written):
    commented = RUN.replace("bm25", "bm25 of  May").replace("q1 Q0 d8", "\n # 3 0 2 1 5 6\n#\n\nq1 Q0 d8")
    run, plain = load_run(written("commented", "# made by x\n" + commented)), load_run(written("run", RUN))
    assert run.doc_ids.tolist() == plain.doc_ids.tolist()
    assert run.tag == "bm25"
    qrels = load_qrels(written("qrels", "# a\n# b\n\n" + QRELS.replace("d9", "#9")))
    assert qrels.doc_ids.tolist() == ["d1", "d2", "d3", "d1", "#9", "d4"]
    with pytest.raises(ValueError, match="line 2: 'q1 0 d2 1 x' is not \"<query> <iteration> <document> <grade>\""):
        load_qrels(written("qrels", "# a\nq1 0 d2 1 x\n"))


MEASURES = [
    (AP, bp.MAP(empty=0)),
    (AP(rel=2), bp.MAP(relevant=2, empty=0)),
    (AP @ 5, bp.MAP(5, empty=0)),
    (nDCG @ 10, bp.NDCG(10, gain="linear", empty=0)),
    (nDCG, bp.NDCG(None, gain="linear", empty=0)),
    (R @ 5, bp.Recall(5, empty=0)),
    (R(rel=2) @ 60, bp.Recall(60, relevant=2, empty=0)),
    (Rprec, bp.RPrecision(empty=0)),
    (Rprec(rel=2), bp.RPrecision(relevant=2, empty=0)),
    (P @ 10, bp.Precision(10, empty=0)),
    (RR, bp.MRR(None, empty=0)),
    (Bpref, bp.Bpref(empty=0)),
    (Bpref(rel=2), bp.Bpref(relevant=2, empty=0)),
]


def test_values_are_those_of_ir_measures(tmp_path):
    """Lists of 1 to 60 documents with distinct scores, of which some are judged."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 61, 40)
    qid, n = np.repeat(np.arange(40), sizes), sizes.sum()
    scores, y, labelled = rng.permutation(n) - 30.5, rng.choice([0, 0, 0, 1, 2], n), rng.random(n) < 0.7
    labelled[np.cumsum(sizes) - 1] = True  # each query is in the qrels
    y[(qid % 10 == 1) & (y == 0)] = 1  # Bpref is another one without documents that are judged non-relevant
    save_run(tmp_path / "run", scores, qid=qid)
    save_qrels(tmp_path / "qrels", y, qid=qid, labelled=labelled)
    known = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels")))
    ranked = list(ir_measures.read_trec_run(str(tmp_path / "run")))
    queries = bp.Queries(y, qid=qid, labelled=labelled)
    for theirs, ours in MEASURES:
        expected = {one.query_id: one.value for one in ir_measures.iter_calc([theirs], known, ranked)}
        values = ours.per_query(scores, queries)
        for query, value in enumerate(values):
            assert value == pytest.approx(expected.get(str(query), 0.0), rel=1e-12, abs=1e-15), (theirs, query)
        mean = ours.score(y, scores, qid=qid, labelled=labelled)
        assert mean == pytest.approx(ir_measures.calc_aggregate([theirs], known, ranked)[theirs], rel=1e-12)
        assert 0.03 < mean < 0.95


# --- joined with rows of features ------------------------------------------------------------------------------------

FEATURES = """0 qid:1 1:.5 2:1 # d1
0 qid:1 1:.25 # d2
0 qid:2 1:1 # d1
0 qid:2 2:2 # d9
0 qid:3 1:3 2:3 # d4
"""


@pytest.fixture
def letor(written):
    return load_letor(written("features.txt", FEATURES))


def test_files_are_joined_by_ids_of_different_types_and_in_any_order(written, letor):
    """Queries are integers in the features, text in the others."""
    assert letor.qid.dtype == np.int64
    qrels = load_qrels(written("qrels", "3 0 d4 -1\n2 0 d1 1\n2 0 d9 0\n1 0 d2 2\n1 0 d1 0\n9 0 d1 4\n"))
    run = load_run(written("run", "2 Q0 d9 1 7 bm25\n2 Q0 d1 2 6 bm25\n1 Q0 d2 1 0 bm25\n1 Q0 d1 2 -1 bm25\n"
                                  "3 Q0 d4 1 5 bm25\n3 Q0 d5 1 5 bm25\n"))  # fmt: skip
    joined = join_trec(letor, qrels, run, run._replace(tag="again", scores=run.scores + 1))
    assert joined.y.tolist() == [0, 2, 1, 0, 0]  # a negative grade says "not judged"
    assert joined.feature_names == ("1", "2", "bm25", "again")
    assert joined.X.dtype == np.float32
    np.testing.assert_array_equal(joined.X[:, :2], letor.X)
    assert joined.X[:, 2].tolist() == [-1, 0, 6, 7, 5]
    assert joined.X[:, 3].tolist() == [0, 1, 7, 8, 6]
    assert joined.qid.tolist() == letor.qid.tolist()
    assert letor.X.shape == (5, 2)


@pytest.mark.parametrize("kind", ["pandas", "polars", "sparse", "integers"])
def test_other_tables_of_features_are_joined_and_zeros_stay_written(kind):
    X = np.array([[1, 0], [2, 3], [0, 4]])
    frame = pd.DataFrame(X, columns=["a", "b"])
    table = {"pandas": frame, "polars": pl.from_pandas(frame), "sparse": csr_matrix(X, dtype=np.float32), "integers": X}
    ids = {"qid": ["x", "x", "y"], "doc_ids": [10, 11, 10]}
    run = Run(np.array(["x", "y", "x"]), np.array(["11", "10", "10"]), np.array([0.5, 0.0, 1.5]), "bm25")
    joined = join_trec(bp.RankingData(table[kind], [1, 0, 2], **ids, weight=[1, 2, 3], position=[1, 2, 1]), run)
    assert joined.feature_names == (("a", "b", "bm25") if kind in {"pandas", "polars"} else ("1", "2", "bm25"))
    dense = joined.X.toarray() if kind == "sparse" else np.asarray(joined.X)
    np.testing.assert_array_equal(dense, np.column_stack([X, [1.5, 0.5, 0.0]]))
    assert kind != "sparse" or joined.X.nnz == 4 + 3
    assert (joined.y.tolist(), joined.weight.tolist(), joined.position.tolist()) == ([1, 0, 2], [1, 2, 3], [1, 2, 1])


CLOSE = [16777217.0, 16777216.0]  # equal in float32


@pytest.mark.parametrize("form", [np.array, csr_matrix], ids=["array", "sparse"])
def test_scores_that_single_precision_merges_are_warned_of(form):
    ids = {"qid": [1, 1, 2], "doc_ids": ["a", "b", "a"]}
    run = Run(["1", "1", "2"], ["a", "b", "a"], [*CLOSE, 5], "bm25")
    X = form(np.eye(3, dtype=np.float32))
    with pytest.warns(UserWarning, match=r"unequal scores of the run 'bm25' are equal in X's float32; pass X.astype"):
        joined = join_trec(bp.RankingData(X, [1, 0, 2], **ids), run)
    assert joined.X.dtype == np.float32
    run = run._replace(scores=[CLOSE[0], 5, CLOSE[1]])
    join_trec(bp.RankingData(X, [1, 0, 2], **ids), run)  # of two queries: no ties


@pytest.mark.parametrize("kind", [float, bool, np.int8, np.int64])
def test_scores_beside_other_numbers_are_in_double_precision(kind):
    data = bp.RankingData(np.eye(2, dtype=kind), [1, 0], qid=[1, 1], doc_ids=["a", "b"])
    assert join_trec(data, Run(["1", "1"], ["a", "b"], CLOSE, "bm25")).X[:, 2].tolist() == CLOSE


def test_data_without_rows_are_joined():
    data = bp.RankingData(np.zeros((0, 2)), [], qid=[], doc_ids=[])
    joined = join_trec(data, Qrels(["1"], ["a"], [1.0]), Run(["1"], ["a"], [1.0], "bm25"))
    assert (joined.X.shape, joined.feature_names) == ((0, 3), ("1", "2", "bm25"))


def test_rows_that_a_table_lacks_are_counted(letor):
    qrels = Qrels(np.array(["1", "2"]), np.array(["d1", "d9"]), np.array([3.0, 1.0]))
    what = r"3 of 5 rows are missing in the qrels and get the label 0; 1 of 3 queries have no row there"
    with pytest.warns(UserWarning, match=what):
        joined = join_trec(letor, qrels)
    assert joined.y.tolist() == [3, 0, 0, 1, 0]
    run = Run(np.array(["1", "1", "2"]), np.array(["d1", "d2", "d1"]), np.array([1.0, 2.0, 3.0]), "bm25")
    what = r"2 of 5 rows are missing in the run 'bm25' and get the score NaN; 1 of 3 queries have no row there"
    with pytest.warns(UserWarning, match=what):
        joined = join_trec(letor, run)
    np.testing.assert_array_equal(joined.X[:, 2], [1, 2, 3, np.nan, np.nan])
    np.nan_to_num(joined.X[:, -1], copy=False, nan=-1.0)  # as the tutorial does
    assert joined.X[:, 2].tolist() == [1, 2, 3, -1, -1]


def test_ids_that_never_match_are_refused_with_both_sides(letor):
    """The same number with zeros before it is another query, as `trec_eval` reads it."""
    run = Run(np.array(["01", "02"]), np.array(["d1", "d9"]), np.array([3.0, 1.0]), "bm25")
    message = r"5 of 5 rows are missing in the run 'bm25': it has \[\('01', 'd1'\), .*data \[\('1', 'd1'\), .*alike"
    with pytest.raises(ValueError, match=message):
        join_trec(letor, run)


def test_a_run_beside_a_ranker_is_what_today_compares_with(letor):
    """The column is named by the run, and judged as the run itself."""
    data = bp.datasets.load_bundled()
    parts, runs = [], []
    for name, of in zip("abc", data, strict=True):
        part = bp.RankingData(**{**of, "doc_ids": [f"{name}{i}" for i in range(of.n_rows)]})
        scores = np.nan_to_num(part.X[:, 0] + part.X[:, 6])
        shuffled = np.random.default_rng(1).permutation(part.n_rows)
        run = Run(part.qid.astype(str)[shuffled], part.doc_ids[shuffled], scores[shuffled], "engine")
        parts.append(join_trec(part, run))
        runs.append(scores)
    options = {"losses": (), "baselines": "lambdarank", "frameworks": "lightgbm", "rounds": 2, "num_threads": 1}
    result = bp.compare(*parts, today="engine", **options)
    of_engine = result.per_query.query("method == 'column engine'")["NDCG@10"].mean()
    assert of_engine == pytest.approx(bp.NDCG(10)(runs[2], data.test.queries), abs=1e-6)


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "metrics.md"
TRECS_NAMES = re.findall(r"^\| `(\w+)` \| `([\w@]+)` \| `(.+)` \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("row", TRECS_NAMES, ids=lambda row: row[0])
def test_names_of_trec_eval_are_those_that_the_guide_says(row):
    """By trec_eval's own code, of grades 0 to 3; some queries hold no relevant document, some rows are not judged."""
    assert len(TRECS_NAMES) == 10
    name, of_ir_measures, ours = row
    rng = np.random.default_rng(11)
    sizes = rng.integers(1, 130, 30)
    qid, n = np.repeat(np.arange(30), sizes), sizes.sum()
    scores, y, labelled = rng.permutation(n) / 8, rng.choice([0, 0, 0, 1, 2, 3], n), rng.random(n) < 0.8
    labelled[np.cumsum(sizes) - 1] = True
    y[qid % 10 == 1] = 0
    known, ranked = defaultdict(dict), defaultdict(dict)
    for query, document, grade, judged, score in zip(qid, range(n), y, labelled, scores, strict=False):
        ranked[str(query)][f"d{document}"] = float(score)
        if judged:
            known[str(query)][f"d{document}"] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(known, {re.sub(r"_(\d+)$", r".\1", name)})
    theirs = np.mean([values[name] for values in evaluator.evaluate(ranked).values()])
    value = eval(ours, vars(bp.metrics)).score(y, scores, qid=qid, labelled=labelled)  # noqa: S307 (our own page)
    assert value == pytest.approx(theirs, rel=1e-12)
    assert 0.01 < value < 0.99
    measure, _, k = of_ir_measures.partition("@")
    measure = getattr(ir_measures, measure) @ int(k) if k else getattr(ir_measures, measure)
    assert ir_measures.calc_aggregate([measure], known, ranked)[measure] == pytest.approx(theirs, rel=1e-12)


def test_queries_that_a_run_lacks_count_as_0_for_ir_measures():
    known = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    for of, expected in ((known, 0.5), ({"q1": known["q1"]}, 1.0)):
        assert ir_measures.calc_aggregate([AP], of, {"q1": {"a": 2.0, "b": 1.0}})[AP] == expected


def test_ndcg_without_a_cut_off_is_named_so():
    assert (bp.NDCG(None).name, bp.NDCG().name) == ("NDCG@None", "NDCG@10")
    assert bp.Metric.parse("NDCG@None") == bp.NDCG(None)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_what_is_written_is_read(tmp_path, name):
    rng = np.random.default_rng(2)
    qid, y, scores = np.repeat([7, 1, 30], [5, 1, 4]), rng.integers(0, 3, 10), rng.normal(size=10).astype(np.float32)
    labelled, doc_ids = rng.random(10) < 0.7, np.array([f"d{i}" for i in rng.permutation(10)])
    save_run(tmp_path / f"run-{name}", scores, qid=qid, doc_ids=doc_ids, tag="ours")
    save_qrels(tmp_path / f"qrels-{name}", y, qid=qid, doc_ids=doc_ids, labelled=labelled)
    run, qrels = load_run(tmp_path / f"run-{name}"), load_qrels(tmp_path / f"qrels-{name}")
    order = np.lexsort((-scores, [1] * 5 + [2] + [3] * 4))
    np.testing.assert_array_equal(run.scores, scores[order].astype(float))
    assert run.doc_ids.tolist() == doc_ids[order].tolist()
    assert run.qid.tolist() == [str(one) for one in qid[order]]
    assert run.tag == "ours"
    np.testing.assert_array_equal(qrels.y, y[labelled])
    assert qrels.doc_ids.tolist() == doc_ids[labelled].tolist()
    assert (tmp_path / f"run-{name}").read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    expected = bp.MAP(empty=0).score(y, scores, qid=qid, labelled=labelled)
    ranked = list(ir_measures.read_trec_run(str(tmp_path / f"run-{name}")))
    assert [one.doc_id for one in ranked] == run.doc_ids.tolist()
    known = list(ir_measures.read_trec_qrels(str(tmp_path / f"qrels-{name}")))
    assert ir_measures.calc_aggregate([AP], known, ranked)[AP] == pytest.approx(expected, rel=1e-12)


def test_ranks_are_of_the_query_and_ties_stay_in_row_order(tmp_path):
    save_run(tmp_path / "run", [1, 2, 2, 5], qid=[1.0, 1.0, 1.0, 2.0])
    lines = [line.split() for line in (tmp_path / "run").read_text().splitlines()]
    found = [(line[0], line[2], line[3]) for line in lines]
    assert found == [("1", "1", "1"), ("1", "2", "2"), ("1", "0", "3"), ("2", "3", "1")]

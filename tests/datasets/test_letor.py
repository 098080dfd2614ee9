"""`load_letor`, `load_fold`, `load_folds`: every format, every refusal, and equality with scikit-learn's reader."""

import gzip
import math
import re

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from boostplug.datasets import letor, load_fold, load_folds, load_letor

NAN = math.nan


@pytest.fixture
def write(tmp_path):
    def write(text, name="train.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def float32(token):
    with np.errstate(over="ignore", under="ignore"):
        return np.float32(float(token))


# --- Formats -------------------------------------------------------------------------------------------------------

LETOR3 = "2 qid:1 1:0.5 2:0 3:-1.25 #docid = 244338\n0 qid:1 1:1 2:2 3:3 #docid = 9897\n1 qid:22 1:0 2:0 3:7 #docid=5\n"
LETOR4 = "0 qid:10 1:0.007477 2:1.0 #docid = GX008-86-4444840 inc = 1 prob = 0.086622\n"
MSLR = "2 qid:1 1:3 2:3 \n0 qid:1 1:1 2:0.019231 \n"


def test_letor_and_mslr(write):
    data = load_letor(write(LETOR3))
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.X, np.float32([[0.5, 0, -1.25], [1, 2, 3], [0, 0, 7]]))
    assert data.y.dtype == np.float64
    np.testing.assert_array_equal(data.y, [2, 0, 1])
    assert data.qid.dtype == np.int64
    np.testing.assert_array_equal(data.qid, [1, 1, 22])
    assert data.group.dtype == np.int64
    np.testing.assert_array_equal(data.group, [2, 1])
    assert data.doc_ids.tolist() == ["244338", "9897", "5"]
    assert load_letor(write(LETOR4)).doc_ids.tolist() == ["GX008-86-4444840"]
    assert load_letor(write(MSLR)).doc_ids is None


@pytest.mark.parametrize(
    "comment",
    ["# D{}", "#D{}", "# docid: D{}", "# doc-id D{}", "#docid = D{} inc = 1", "# DocNo=D{}", "# 3 doc_id D{} x"],
)
def test_comments_that_hold_ids(write, comment):
    lines = "".join(f"1 qid:1 1:{k} {comment.format(k)}\r\n" for k in range(3))
    assert load_letor(write(lines)).doc_ids.tolist() == ["D0", "D1", "D2"]


def test_comments_that_are_not_read_are_named(write):
    path = write("# a title of it\n1 qid:1 1:1 # D0\n0 qid:1 1:2 # not an id\n1 qid:1 1:3 #docid =\n1 qid:1 1:4 #\n")
    with pytest.warns(UserWarning, match=r"id are not read: 2 in .*train.txt, such as 'not an id'; write '# ID'"):
        assert load_letor(path).doc_ids.tolist() == ["D0", "", "", ""]


@pytest.mark.parametrize("line", ["1 qid:1 1:1 # {}\n", "1 qid:{} 1:1\n"])
def test_a_long_id_widens_no_other(write, line):
    data = load_letor(write("".join(line.format(name) for name in ["x" * 10_000, *(f"d{k}" for k in range(99))])))
    assert sum(ids.nbytes for ids in (data.qid, data.doc_ids) if ids is not None) < 10_000


def test_scores_to_start_from_are_named(write):
    path = write(MSLR)
    write("0.1\n0.2\n", "train.txt.init")
    with pytest.warns(UserWarning, match=r"train.txt.init is not read; pass the scores to start from as init_score"):
        load_letor(path)


def test_features_that_a_line_leaves_out_may_be_missing(write, tmp_path):
    for name in ("train", "vali", "test"):
        path = write("1 qid:1 1:0 3:1\n0 qid:1\n", f"Fold1/{name}.txt")
    for data in (load_letor(path, missing="nan"), load_folds(tmp_path, missing="nan")[0].test):
        np.testing.assert_array_equal(data.X, [[0, NAN, 1], [NAN] * 3])
    with pytest.raises(ValueError, match="missing='nan' is of a dense X"):
        load_letor(path, missing="nan", sparse=True)
    with pytest.raises(ValueError, match="missing must be one of 'zero', 'nan'; got None"):
        load_letor(path, missing=None)


def test_a_dense_table_of_hardly_any_values_is_refused(write):
    path = write("1 qid:1 100000000:1\n0 qid:1 2:1\n")
    with pytest.raises(ValueError, match=r"a dense X of 2 rows and 100000000 columns takes .*; pass sparse=True"):
        load_letor(path)
    assert load_letor(path, sparse=True).X.shape == (2, 10**8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 qid:1 2:0.5 5:1\n0 qid:1\n3 qid:2 1:0.25\n", [[0, 0.5, 0, 0, 1], [0] * 5, [0.25, 0, 0, 0, 0]]),
        ("0 qid:1 1:NULL 2:1\n0 qid:1 2:NULL\n", [[NAN, 1], [0, NAN]]),
        ("0 qid:1 1:nan 2:1\n0 qid:1 2:nan\n", [[NAN, 1], [0, NAN]]),
        ("1 qid:1 3:3 1:1 2:2\n0 qid:1 1:4\n", [[1, 2, 3], [4, 0, 0]]),
        ("1 qid:1 2:5\n1 qid:1 0:3\n", [[0, 0, 5], [3, 0, 0]]),
    ],
    ids=["left-out zeros, as Istella and Yahoo have them", "NULL", "nan", "unsorted features", "a feature 0"],
)
def test_values_in_dense_and_sparse_tables(write, text, expected):
    path = write(text)
    np.testing.assert_array_equal(load_letor(path).X, np.float32(expected))
    X = load_letor(path, sparse=True).X
    assert X.has_sorted_indices
    np.testing.assert_array_equal(X.toarray(), np.float32(expected))


@pytest.mark.parametrize("sparse", [False, True])
def test_values_beyond_float32_are_missing(write, sparse):  # Istella
    first = write("1 qid:1 1:2 2:1.79769313486e+308\n0 qid:1 1:-1.79769313486e+308 2:1e39\n", "a.txt")
    second = write("1 qid:1 1:2 2:3.4028235e38\n0 qid:1 1:inf 2:-inf\n", "b.txt")
    third = write("1 qid:1 1:1.7976931348623157081452742373e+308\n", "c.txt")
    message = rf"^values beyond float32, .*: 3 in {re.escape(str(first))}, 1 in {re.escape(str(third))}; rescale"
    with pytest.warns(UserWarning, match=message) as warned:
        parts = letor.load_files([first, second, third], sparse=sparse)
    assert len(warned) == 1
    a, b, c = (part.X.toarray() if sparse else part.X for part in parts)
    np.testing.assert_array_equal(a, np.float32([[2, NAN], [NAN, NAN]]))
    np.testing.assert_array_equal(b, np.float32([[2, np.finfo(np.float32).max], [math.inf, -math.inf]]))
    np.testing.assert_array_equal(c, np.float32([[NAN, 0]]))


@pytest.mark.parametrize("block", [16, 23, 1 << 22])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("last", "name"), [("", "a.txt"), ("newline", "a.txt.gz"), ("blank lines", "a.txt.gz")])
def test_blank_lines_comments_line_ends_and_blocks_change_nothing(write, monkeypatch, block, newline, last, name):
    monkeypatch.setattr(letor, "_BLOCK", block)
    lines = [
        "# a comment",
        "",
        "1 qid:7 1:0.5 2:2 #docid = a",
        " \t ",
        "\t0  qid:7\t2:3   #docid = b",
        "2 qid:8 3:NULL",
    ]
    text = newline.join(lines) + {"": "", "newline": newline, "blank lines": newline * 3}[last]
    data = load_letor(write(text, name))
    np.testing.assert_array_equal(data.X, np.float32([[0.5, 2, 0], [0, 3, 0], [0, 0, NAN]]))
    np.testing.assert_array_equal(data.y, [1, 0, 2])
    np.testing.assert_array_equal(data.qid, [7, 7, 8])
    assert data.doc_ids.tolist() == ["a", "b", ""]
    sparse = load_letor(write(text, name), sparse=True)
    np.testing.assert_array_equal(sparse.X.toarray(), data.X)


def test_ids_that_are_no_integers_are_strings(write):
    data = load_letor(write("1 qid:a-1 1:1\n0 qid:7 1:1\n0 qid:7 1:2\n"))
    assert data.qid.tolist() == ["a-1", "7", "7"]
    assert data.qid.dtype.kind == "U"
    np.testing.assert_array_equal(data.group, [1, 2])
    assert load_letor(write("1 qid:99999999999999999999 1:1\n")).qid.tolist() == ["99999999999999999999"]
    assert load_letor(write("1 qid:-9223372036854775808 1:1\n")).qid.tolist() == [-(2**63)]
    for written in ("007", "+7", "7.0", "7e0", "0x7", "-07", "07"):  # as written, they are other queries than 7
        data = load_letor(write(f"1 qid:{written} 1:1\n0 qid:{written} 1:2\n0 qid:7 1:1\n"))
        assert data.qid.tolist() == [written, written, "7"]


def test_sparse_holds_entries_as_written(write):
    X = load_letor(write("1 qid:1 1:0 3:NULL\n0 qid:1 2:5\n"), sparse=True).X
    assert isinstance(X, scipy.sparse.csr_matrix)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X.data, np.float32([0, NAN, 5]))
    np.testing.assert_array_equal(X.indptr, [0, 2, 3])


# --- Side files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "side"), [("rank.train", ".query"), ("rank.train.gz", ".group")])
@pytest.mark.parametrize("sizes", ["2\n1\n", "2\r\n1", "2 1\n\n"])
def test_sizes_in_a_side_file(write, name, side, sizes):
    path = write("1 1:1\n0 1:2\n2 2:3\n", name)
    write(sizes, "rank.train" + side)
    data = load_letor(path)
    np.testing.assert_array_equal(data.qid, [0, 0, 1])
    np.testing.assert_array_equal(data.group, [2, 1])
    np.testing.assert_array_equal(data.y, [1, 0, 2])


def test_a_side_file_beside_qids_must_agree(write):
    path = write("1 qid:1 1:1\n0 qid:1 1:2\n2 qid:3 2:3\n")
    write("2\n1\n", "train.txt.query")
    np.testing.assert_array_equal(load_letor(path).qid, [1, 1, 3])
    write("1\n2\n", "train.txt.query")
    with pytest.raises(ValueError, match=r"train.txt: qid and group disagree"):
        load_letor(path)


@pytest.mark.parametrize(("name", "newline"), [("rank.train", "\n"), ("rank.train.gz", "\r\n")])
def test_weights_and_positions_in_side_files(write, name, newline):
    path = write("1 1:1\n0 1:2\n2 2:3\n", name)
    for suffix, lines in {"query": "21", "weight": ["1", "0.5", "2e0"], "position": "312"}.items():
        write(newline.join(lines), f"rank.train.{suffix}")
    data = load_letor(path)
    np.testing.assert_array_equal(data.group, [2, 1])
    np.testing.assert_array_equal(data.weight, [1, 0.5, 2])
    np.testing.assert_array_equal(data.position, [3, 1, 2])
    assert data.position.dtype == np.int64


def test_each_part_of_a_fold_has_its_own_side_files(write, tmp_path):
    for i, name in enumerate(("train", "vali", "test")):
        write("1 qid:1 1:1\n0 qid:1 1:2\n", f"Fold1/{name}.txt")
        write(f"{i}\n3\n", f"Fold1/{name}.txt.weight")
    write("2\n1\n", "Fold1/test.txt.position")
    for fold in (load_fold(tmp_path / "Fold1"), *load_folds(tmp_path)):
        assert [part.weight.tolist() for part in fold] == [[0, 3], [1, 3], [2, 3]]
        assert fold.train.position is fold.vali.position is None
        assert fold.test.position.tolist() == [2, 1]


# --- Refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [32, 1 << 22])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 1:1", "qid is on some lines only; write qid:<query>"),
        *(
            (f"0 {tokens}", f"cannot read '{token}'; each line must read")
            for tokens, token in {
                "qid: 1:1": "qid:",
                "qid:2 1:1 qid:2": "qid:2",
                "qid:2 3:abc": "3:abc",
                "qid:2 3: 1": "3:",
                "qid:2 -1:3": "-1:3",
                "qid:2 2147483647:3": "2147483647:3",
            }.items()
        ),
        *((f"0 qid:2 1:{number}", "cannot read") for number in ("1_0", "0x10", "1e", "1.2.3", "--1")),
        *((f"0 qid:2 1:1 #{character}1 qid:2 1:2", "cannot read '#.*1'") for character in "\r\f\v\0"),
        ("0 qid:2 1:1\r0 qid:2 1:2", "cannot read"),
        ("# \r0 qid:2 1:2", "cannot read"),
        ("0 qid:2 1:1 \0\0", "cannot read"),  # a file that was not written to its end
        ("0 qid:2\x1c 1:1", "cannot read"),
        ("0 qid:2 2:1 1:3 2:1", "cannot read '2:1'; each line must read .*, with each feature once"),
        ("nan qid:2 1:1", "cannot read 'nan'; each line must read"),
        ("1e999 qid:2 1:1", "cannot read '1e999'"),
        ("z" * 10**5 + " qid:2 1:1", r"cannot read 'z{20,100}…"),
    ],
)
def test_bad_lines_are_refused_by_name_and_line(write, monkeypatch, block, line, message):
    monkeypatch.setattr(letor, "_BLOCK", block)
    path = write(f"# head\n1 qid:1 1:0.5 2:1\n\n0 qid:7 1:12345678901234567890\n{line}\n0 qid:9 2:1\n")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}, line 5: {message}"):
        load_letor(path)


# --- Folds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("train.txt", "vali.txt", "test.txt"), ("train.txt.gz", "valid.txt", "test.txt.gz")])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_fold_has_one_width(write, tmp_path, names, sparse):
    for name, text in zip(names, ["1 qid:1 1:1\n", "1 qid:2 3:1\n", "1 qid:3 2:1\n"], strict=True):
        write(text, name)
    fold = load_fold(tmp_path, sparse=sparse)
    assert [part.X.shape for part in fold] == [(1, 3)] * 3
    assert [part.qid[0] for part in (fold.train, fold.vali, fold.test)] == [1, 2, 3]
    assert load_fold(str(tmp_path), n_features=5).test.X.shape == (1, 5)
    with pytest.raises(ValueError, match="feature 3 is beyond n_features"):
        load_fold(tmp_path, n_features=2)


def test_a_fold_has_one_first_feature(write, tmp_path):
    for name, text in {"train": "1 qid:1 1:1\n", "vali": "1 qid:2 3:1\n", "test": "1 qid:3 0:4\n"}.items():
        write(text, f"{name}.txt")
    fold = load_fold(tmp_path)
    np.testing.assert_array_equal(fold.train.X, np.float32([[0, 1, 0, 0]]))
    np.testing.assert_array_equal(fold.vali.X, np.float32([[0, 0, 0, 1]]))
    np.testing.assert_array_equal(fold.test.X, np.float32([[4, 0, 0, 0]]))


# --- Numbers -------------------------------------------------------------------------------------------------------


def test_values_are_the_nearest_float32(write):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**63, 3000, dtype=np.int64).view(np.float64)
    spread = np.concatenate([bits[np.isfinite(bits)], rng.normal(size=2000), np.exp(rng.normal(size=2000) * 40)])
    spread = spread[np.abs(spread) < 3e38]
    # Halfway between two neighbours of float32, and a little beside: the hardest tokens to round.
    low = np.abs(rng.normal(size=500)).astype(np.float32)
    half = (low.astype(np.float64) + np.nextafter(low, np.float32(9))) / 2
    tokens = [f"{x:.17g}" for x in spread] + [repr(float(x)) for x in spread[:1000]]
    tokens += [f"{x:.{d}f}" for d in range(25) for x in rng.normal(size=40) * 1000]
    tokens += [f"{x:.40f}" for x in half] + [f"{np.nextafter(x, 9):.30e}" for x in half]
    tokens += [f"{x:.60f}1" for x in half] + ["123456789" * 4, "0." + "0" * 30 + "123", "1" + "0" * 30 + "e-25", "3e38"]
    lines = [f"0 qid:1 {i + 1}:{token}" for i, token in enumerate(tokens)]
    X = load_letor(write("\n".join(lines)), sparse=True).X
    expected = np.array([float32(token) for token in tokens])
    np.testing.assert_array_equal(X.data.view(np.uint32), expected.view(np.uint32))
    labels = load_letor(write("\n".join(f"{token} qid:1" for token in tokens))).y
    np.testing.assert_array_equal(labels, [float(token) for token in tokens])


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("letor") / "file.txt"


@st.composite
def files(draw):
    """Lines that scikit-learn reads too: sorted features from 1, contiguous integer ids, no missing value."""
    single = st.floats(-(2.0**99), 2.0**99, width=32)
    value = single.map(repr) | st.integers(-999, 999).map(str) | st.floats(-9, 9).map(repr)
    lines = []
    for qid in draw(st.lists(st.integers(0, 10**6), min_size=1, max_size=4, unique=True)):
        for _ in range(draw(st.integers(1, 4))):
            ids = sorted(draw(st.sets(st.integers(1, 12), min_size=1, max_size=8)))
            gap = draw(st.sampled_from([" ", "  "]))
            features = gap.join(f"{i}:{draw(value)}" for i in ids)
            lines.append(f"{draw(value)} qid:{qid}{gap}{features}{draw(st.sampled_from(['', ' ', ' # docid = a b']))}")
    newline = draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    return newline.join(lines) + draw(st.sampled_from(["", newline]))


@given(files(), st.sampled_from([64, 1 << 16]))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equals_scikit_learn(scratch, monkeypatch, text, block):
    monkeypatch.setattr(letor, "_BLOCK", block)
    scratch.write_bytes(text.encode())
    X, y, qid = load_svmlight_file(str(scratch), query_id=True, dtype=np.float32, zero_based=False)
    dense, sparse = load_letor(scratch), load_letor(scratch, sparse=True)
    np.testing.assert_array_equal(dense.X, X.toarray())
    np.testing.assert_array_equal(sparse.X.toarray(), X.toarray())
    np.testing.assert_array_equal(dense.y, y)
    np.testing.assert_array_equal(dense.qid, qid)
    assert dense.group.sum() == len(y)

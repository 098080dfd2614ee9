"""What parts and folds share: a test query counts once, and data that stand in two parts are warned of."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reports import ONE, row_of
from scipy import sparse

import boostplug as bp
from boostplug.comparison.significance import merge_repeated, pooled_test
from boostplug.datasets import RankingData, make_ranking


@pytest.fixture(scope="module")
def apart():
    """Three parts with nothing in common, ids included."""
    made = [make_ranking(40, n_features=5, mean_list_size=8, random_state=seed) for seed in range(3)]
    return [RankingData(part.X, part.y, qid=part.qid + 1000 * i) for i, part in enumerate(made)]


# --- One query in several folds --------------------------------------------------------------------------------------


def test_a_fold_passed_several_times_says_no_more_than_once(apart):
    once, ten = (bp.compare([tuple(apart)] * times, **ONE) for times in (1, 4))
    a, b = (row_of(result, "RankNet") for result in (once, ten))
    assert a["p"] == b["p"]
    for name in ("difference", "z", "interval"):
        assert b[name] == pytest.approx(a[name], abs=1e-12)
    assert ten.document["test"]["queries"] == once.document["test"]["queries"]
    assert "A test query of several folds counts once" in str(ten)
    assert "counts once" not in str(once)


def pages_of(part):
    """Return a part whose rows have positions: lists that were shown."""
    return replace(part, position=np.concatenate([np.arange(1, n + 1) for n in part.group]))


def test_a_query_is_known_by_its_id(apart):
    """Ids that only number the queries of each part say nothing, and pages may be shown again."""
    train, valid, test = apart
    for again, same in (
        (RankingData(pd.DataFrame(test.X), test.y, qid=test.qid), True),
        (RankingData(test.X, test.y, qid=test.qid + 1000), False),
        (RankingData(test.X, test.y, group=test.group), False),
        (pages_of(test), False),
    ):
        found = bp.compare([(train, valid, test), (train, valid, again)], **ONE).document["test"]
        assert found["repeated"] == (test.n_queries if same else 0)


def test_repeated_cross_validation_counts_each_query_once():
    """Two partitions into folds: the mean of each query over both decides, and all folds are one stratum."""
    rng = np.random.default_rng(0)
    d = rng.normal(size=60)
    codes = [fold for _ in range(2) for fold in np.array_split(rng.permutation(60), 3)]
    a = [d[fold] + rng.normal(size=len(fold)) * 0.1 for fold in codes]
    zeros = [np.zeros(len(fold)) for fold in codes]
    means = np.zeros(60)
    for fold, values in zip(codes, a, strict=True):
        means[fold] += values / 2
    found = pooled_test(a, zeros, codes=codes, counts="sets")
    expected = pooled_test([means], [np.zeros(60)])
    assert found.n_queries == 60
    assert found.difference == pytest.approx(expected.difference, abs=1e-12)
    assert found.z == pytest.approx(expected.z, abs=1e-12)
    width, independent = (np.diff(f.interval)[0] for f in (found, pooled_test(a, zeros, counts="sets")))
    assert width == pytest.approx(np.diff(expected.interval)[0], rel=0.05)
    assert independent < 0.8 * width


def test_queries_of_one_code_are_averaged_by_their_weights():
    d, v, s = np.array([1.0, 2.0, 5.0, 4.0, 6.0]), np.array([1.0, 3.0, 1.0, 2.0, 1.0]), np.array([0, 0, 1, 2, 1])
    mean, weight, stratum = merge_repeated(d, v, s, np.array([7, 3, 7, 9, 5]))
    np.testing.assert_array_equal(mean, [(1 * 1 + 1 * 5) / 2, 2.0, 4.0, 6.0])
    np.testing.assert_array_equal(weight, [2.0, 3.0, 2.0, 1.0])
    assert stratum[0] == stratum[1] == stratum[3] != stratum[2]  # query 7 joins strata 0 and 1
    assert (mean * weight).sum() == (d * v).sum()


# --- Data in several parts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda train, valid, _test: (train, valid, train),
            "test shares 40 queries with train (ids 2, 3, 4, …), 40 with the same rows and labels: metrics on test are",
        ),
        (lambda train, valid, _test: (train, valid, valid), "test shares 40 queries with valid"),
        (
            lambda train, valid, test: (train, valid, RankingData(test.X, test.y, qid=test.qid - 2000 + 39)),
            "test shares 1 query with train (ids 41): metrics on test are too high. Split the data by query.",
        ),
    ],
)
def test_shared_queries_are_warned_of(apart, change, message):
    result = bp.compare(*change(*(replace(part, qid=part.qid + 1) for part in apart)), **ONE)
    assert any(message in line for line in result.document["warnings"])
    assert message in result.to_markdown()
    assert message in " ".join(str(result).split())
    found = result.document["recommendation"]
    assert (found["outcome"], found["method"]) == ("doubtful", "lambdarank")
    assert result.recommendation.startswith(f"Do not rely on this yet: {message.partition(':')[0]}")
    assert set(result.to_frame()["outcome"].dropna()) == {"doubtful"}
    assert "LGBMRanker(" not in result.recommendation


def test_one_shared_query_in_hundreds_leaves_a_verdict(apart):
    train, valid, _ = (replace(part, qid=part.qid + 1) for part in apart)
    other, n = make_ranking(150, n_features=5, mean_list_size=8, random_state=9), train.group[0]
    X, y = np.r_[other.X, train.X[:n]], np.r_[other.y, train.y[:n]]
    result = bp.compare(train, valid, RankingData(X, y, qid=np.r_[other.qid + 5000, train.qid[:n]]), **ONE)
    assert any("test shares 1 query with train" in line for line in result.document["warnings"])
    assert result.document["recommendation"]["reasons"] == []


def frame_of(part):
    """Return a DataFrame with missing values and a category."""
    frame = pd.DataFrame(part.X).add_prefix("f").assign(kind=pd.Categorical(np.where(part.X[:, 0] > 0, "a", "b")))
    frame.loc[part.X[:, 1] > 1, "f1"] = np.nan
    return frame.assign(grade=part.y, qid=part.qid)


FORMS = {
    "arrays": lambda part: part,
    "sparse": lambda part: replace(part, X=sparse.csr_matrix(np.nan_to_num(part.X))),
    "pandas": frame_of,
    "polars": lambda part: pl.from_pandas(frame_of(part)),
    "pyarrow": lambda part: pa.Table.from_pandas(frame_of(part), preserve_index=False),
}


def shared_of(parts, **options):
    """Return the warnings of shared queries, without any training."""
    found = bp.compare(*parts, losses=(), baselines=(), today="order", **options).document["warnings"]
    return [line for line in found if " shares " in line]


@pytest.mark.parametrize("form", FORMS)
def test_copies_are_found_by_what_they_hold(apart, form):
    """Under other ids, in another order of rows, and where ids only number the queries of each part."""
    train, valid, test = apart
    rows = np.concatenate([np.arange(a, b)[::-1] for a, b in pairwise(train.queries.boundaries[:8])])
    copies = RankingData(train.X[rows], train.y[rows], qid=train.qid[rows] + 5000)
    both = RankingData(np.r_[test.X, copies.X], np.r_[test.y, copies.y], qid=np.r_[test.qid, copies.qid])
    options = {} if form in ("arrays", "sparse") else {"label": "grade"}
    (line,) = shared_of([FORMS[form](part) for part in (train, valid, both)], **options)
    assert line.startswith(
        "test shares 7 queries with train (ids 5001, 5002, 5003, …), 7 with the same rows and labels:"
    )
    assert line.endswith("metrics on test are too high. Split the data by query. Remove the copies.")
    assert shared_of([FORMS[form](part) for part in apart], **options) == []
    numbered = [RankingData(part.X, part.y, group=part.group) for part in (train, train, test)]
    (line,) = shared_of([FORMS[form](part) for part in numbered], **options)
    assert line.startswith("valid shares 40 queries with train (ids 0, 1, 2, …), 40 with the same rows and labels")


def test_copies_within_one_table(apart):
    table = pd.concat([frame_of(apart[0]), frame_of(apart[0]).assign(qid=apart[0].qid + 700)])
    found = shared_of([table], label="grade", split=(0.6, 0.2, 0.2))
    assert [line.split()[0] for line in found] == ["valid", "test", "test"]
    assert all("with the same rows and labels" in line for line in found)


def test_queries_that_were_cut_are_found_where_ids_count_from_0(apart):
    """Of a part that misses a query, the ids do not number the queries of the part."""
    rows, part = frame_of(replace(apart[0], qid=apart[0].queries.query_of_row)), np.arange(apart[0].n_rows) % 2
    train, valid = rows[part == 0], rows[(part == 1) & (rows["qid"] != 7)]
    (line,) = shared_of([train, valid, frame_of(apart[2])], label="grade")
    assert line.startswith("valid shares 39 queries with train (ids 0, 1, 2, …): metrics on valid are too high.")


def test_pages_queries_of_equal_rows_and_parts_with_nothing_in_common_are_not_warned_of(apart):
    assert shared_of([pages_of(apart[0])] * 3) == []
    flat = [RankingData(np.ones((80, 2)), np.ones(80), qid=np.arange(40).repeat(2) + start) for start in (0, 90, 180)]
    assert shared_of(flat) == []
    numbered = [RankingData(part.X, part.y, group=part.group) for part in apart]
    for parts in (apart, numbered):
        assert bp.compare(*parts, **ONE).document["warnings"] == []

"""Queries brought together, and split ones seen; without a cluster, whose schedulers do the same."""

import numpy as np
import pandas as pd
import pytest

import boostplug as bp

N = 400
QUERY = np.random.default_rng(0).integers(0, 30, N)
IDS = {
    "int64 beyond 2^32": QUERY.astype(np.int64) * 2**33,
    "uint64 beyond 2^63": QUERY.astype(np.uint64) + np.uint64(2**63),
    "float": QUERY * 1.5,
    "strings": np.array([f"q{i}" for i in QUERY], dtype=object),
    "nullable": pd.array(QUERY, dtype="Int64"),
    "arrow": pd.array([f"q{i}" for i in QUERY], dtype="string[pyarrow]"),
    "dates": pd.Timestamp("2020-01-01") + pd.to_timedelta(QUERY, "D"),
}


@pytest.fixture(autouse=True)
def _here():
    """Compute in this process, also while other tests have a cluster."""
    dask = pytest.importorskip("dask")
    with dask.config.set({"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"}):
        yield


def frame(ids, npartitions=5):
    import dask.dataframe as dd

    return dd.from_pandas(pd.DataFrame({"query": ids, "place": np.arange(len(ids))}), npartitions=npartitions)


@pytest.mark.ci
@pytest.mark.parametrize("kind", IDS)
def test_queries_come_together_with_their_rows_in_order(kind):
    import dask

    ids = IDS[kind]
    with pytest.raises(ValueError, match=r"of 30 queries lie in several partitions: .*partition_by_query"):
        bp.dask.check_partitions(frame(ids), "query")
    whole = bp.dask.partition_by_query(frame(ids), "query", npartitions=4)
    parts = dask.compute(*whole.to_delayed())
    assert len(parts) == whole.npartitions == 4
    together = pd.concat(parts)
    assert sorted(together["place"]) == list(range(N))
    assert (np.asarray(together["query"])[np.argsort(together["place"])] == np.asarray(ids)).all()
    at = QUERY[together["place"]]
    heads = np.r_[True, at[1:] != at[:-1]]
    assert heads.sum() == len(np.unique(QUERY))  # each whole, and in one partition
    assert (np.diff(together["place"])[~heads[1:]] > 0).all()
    assert sum(len(part) > 0 for part in parts) > 1
    bp.dask.check_partitions(whole, "query")


def test_a_split_query_is_named():
    ids = np.repeat(["a", "b", "c", "d"], 5)  # two partitions: rows 0 to 9, 10 to 19
    bp.dask.check_partitions(frame(ids, 2), "query")
    ids[[3, 17]] = "b", "b"
    with pytest.raises(ValueError, match=r"^1 of 4 queries lie in several partitions: 'b' in 0 and 1; bring"):
        bp.dask.check_partitions(frame(ids, 2), "query")


def parts_with(other):
    """Return a frame whose second partition holds the ids as numbers of another type."""
    import dask.dataframe as dd

    parts = [pd.DataFrame({"query": [1, 1, 2, 0]}), pd.DataFrame({"query": pd.array([3, 4, 2, 4], dtype=other)})]
    return dd.from_map(lambda number: parts[number], range(2), meta=parts[0][:0])


@pytest.mark.ci
@pytest.mark.parametrize("other", ["int8", "Int64"])
def test_an_id_is_the_same_whatever_type_of_integer_holds_it(other):
    with pytest.raises(ValueError, match=r"^1 of 5 queries lie in several partitions: 2 in 0 and 1; bring"):
        bp.dask.check_partitions(parts_with(other), "query")
    bp.dask.check_partitions(bp.dask.partition_by_query(parts_with(other), "query"), "query")


@pytest.mark.ci
@pytest.mark.parametrize("other", ["float64", "uint64", "object"])
def test_partitions_with_ids_of_other_types_are_refused(other):
    with pytest.raises(ValueError, match="query ids have other types in some partitions; convert them to one"):
        bp.dask.check_partitions(parts_with(other), "query")


@pytest.mark.ci
def test_floating_ids_that_may_be_rounded_are_refused():
    ids = frame(np.float32([1, 2, 3, 2**24]), 2)
    for check in (bp.dask.check_partitions, lambda ddf, qid: bp.dask.partition_by_query(ddf, qid).compute()):
        with pytest.raises(ValueError, match=r"query\[1\] = 16777216.0 is too large an id for float32"):
            check(ids, "query")


@pytest.mark.ci
def test_missing_ids_are_refused_when_computed():
    ddf = frame(np.r_[np.arange(9.0), np.nan], 2)
    with pytest.raises(ValueError, match=r"query of partition 1: query\[4\] = nan is not an id"):
        bp.dask.check_partitions(ddf, "query")
    with pytest.raises(ValueError, match=r"query\[4\] = nan is not an id"):
        bp.dask.partition_by_query(ddf, "query").compute()


@pytest.mark.ci
def test_arguments_that_make_no_sense_are_refused():
    for function in (bp.dask.partition_by_query, bp.dask.check_partitions):
        with pytest.raises(TypeError, match=r"dask\.dataframe\.DataFrame, got 'DataFrame'; for data in memory"):
            function(pd.DataFrame({"query": [1]}), "query")
        with pytest.raises(
            ValueError, match=r"qid must name a column of ddf; got 'qid', the columns are \['query', 'pl"
        ):
            function(frame(QUERY), "qid")
    with pytest.raises(ValueError, match="npartitions must be an integer of at least 1"):
        bp.dask.partition_by_query(frame(QUERY), "query", npartitions=1.5)

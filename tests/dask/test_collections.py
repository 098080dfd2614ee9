"""What both rankers make of collections before they train, on two workers."""

import numpy as np
import pandas as pd
import pytest

import boostplug as bp
from boostplug.data.inputs import Inputs

pytestmark = [pytest.mark.cluster, pytest.mark.ci]
LOCAL = "boostplug.LGBMRanker"
SIZES = [3, 1, 4, 2, 5, 5]  # two queries in each of three partitions


def table():
    rng = np.random.default_rng(0)
    n = sum(SIZES)
    columns = {"a": rng.random(n), "b": rng.integers(0, 9, n), "y": rng.integers(0, 3, n).astype(float)}
    return pd.DataFrame({**columns, "w": rng.random(n) + 0.5, "qid": np.repeat([f"q{i}" for i in range(6)], SIZES)})


def frame(of=None):
    import dask.dataframe as dd

    of = table() if of is None else of
    return dd.from_map(lambda at: of.iloc[at], [slice(0, 4), slice(4, 10), slice(10, 20)])


def parts(client, ddf=None, X=("a", "b"), fitted=None, **changes):
    ddf = frame() if ddf is None else ddf
    from boostplug.dask.collections import partitioned_set

    given = {"X": ddf[list(X)], "y": ddf["y"], "qid": ddf["qid"], **changes}
    return partitioned_set(client, Inputs(**given).take_columns(), local=LOCAL, fitted=fitted)


def test_a_part_holds_what_its_partition_held(client):
    known = table()
    found = parts(client, weight=frame()["w"])
    assert found.schema == (2, ("a", "b"), {}, False, "the model")
    held = client.gather(found.futures)
    pd.testing.assert_frame_equal(pd.concat([part.X for part in held]), known[["a", "b"]])
    np.testing.assert_array_equal(np.concatenate([part.queries.labels for part in held]), known["y"])
    np.testing.assert_array_equal(np.concatenate([part.queries.row_weight for part in held]), known["w"])
    np.testing.assert_array_equal(np.concatenate([np.diff(part.queries.boundaries) for part in held]), SIZES)
    assert np.concatenate([summary.ids for summary in found.summaries]).tolist() == [f"q{i}" for i in range(6)]


def test_rows_of_a_query_come_together_in_their_order(client):
    known = table()
    mixed = known.iloc[[2, 3, 0, 1, *range(4, 20)]]
    part = parts(client, frame(mixed), weight=frame(mixed)["w"]).futures[0].result()
    np.testing.assert_array_equal(part.X["a"], known["a"].iloc[[2, 0, 1, 3]])
    np.testing.assert_array_equal(part.queries.labels, known["y"].iloc[[2, 0, 1, 3]])
    np.testing.assert_array_equal(part.queries.row_weight, known["w"].iloc[[2, 0, 1, 3]])
    assert part.queries.boundaries.tolist() == [0, 3, 4]


def test_a_column_named_qid_and_arrays_are_taken_alike(client):
    from boostplug.dask.collections import partitioned_set

    ddf = frame()
    expected = client.gather(parts(client).futures)
    by_column = client.gather(parts(client, X=("a", "b", "qid"), qid=None).futures)
    blocks = ddf[["a", "b"]].to_dask_array(lengths=True)
    by_array = parts(client, X=("a", "b"), y=ddf["y"].values, qid=ddf["qid"]).futures
    given = Inputs(X=blocks.rechunk({1: 1}), y=ddf["y"].values, qid=ddf["qid"])
    in_columns = partitioned_set(client, given.take_columns(), local=LOCAL).futures
    for others in (by_column, client.gather(by_array), client.gather(in_columns)):
        for part, other in zip(expected, others, strict=True):
            np.testing.assert_array_equal(np.asarray(part.X), np.asarray(other.X))
            np.testing.assert_array_equal(part.queries.labels, other.queries.labels)
            np.testing.assert_array_equal(part.queries.boundaries, other.queries.boundaries)


def test_a_shuffle_over_workers_gives_features_and_labels_one_order(client):
    import dask
    import dask.dataframe as dd

    rng = np.random.default_rng(0)
    query = rng.integers(0, 40, 500)
    known = pd.DataFrame({"a": np.arange(500.0), "y": np.arange(500.0), "qid": query * 2**33})
    with dask.config.set({"dataframe.shuffle.method": "p2p"}):
        whole = bp.dask.partition_by_query(dd.from_pandas(known, npartitions=6), "qid", npartitions=3)
        found = parts(client, whole, X=("a",))
    held = client.gather(found.futures)
    assert sum(part.queries.n_queries for part in held) == len(np.unique(query))
    for part, summary in zip(held, found.summaries, strict=True):
        np.testing.assert_array_equal(part.X["a"], part.queries.labels)
        np.testing.assert_array_equal(query[part.X["a"].astype(int)] * 2**33, summary.ids[part.queries.query_of_row])
        assert all((np.diff(rows) > 0).all() for rows in np.split(part.queries.labels, part.queries.boundaries[1:-1]))


def test_other_columns_and_categories_are_refused(client):
    import dask.dataframe as dd

    known = table()
    known["c"] = np.array(["red", "blue"])[known["b"] % 2]
    found = parts(client, frame(known.astype({"c": "category"})), X=("a", "c"))
    assert found.schema.names == ("a", "c")

    def read(at):
        return known.iloc[at].astype({"c": "category"})

    per_partition = dd.from_map(read, [slice(0, 1), slice(1, 20)], meta=read(slice(0, 0)))
    with pytest.raises(ValueError, match=r"^X in partition 1: the columns 'c' have other categories .*categorize"):
        parts(client, per_partition, X=("a", "c"), qid=per_partition["a"])
    with pytest.raises(ValueError, match=r"eval_set\[0\]'s X in partition 0 has .* columns in another order"):
        parts(client, X=("b", "a"), fitted=found.schema._replace(names=("a", "b")), where="eval_set[0]'s ")

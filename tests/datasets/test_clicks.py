"""`load_clicks`: CSV and Parquet files, and what is wrong with them."""

import pandas as pd
import pytest

from boostplug.datasets import ClickLog, load_clicks

FRAME = pd.DataFrame(
    {
        "session": ["b", "a", "b", "a", "c"],
        "rank": [2, 1, 1, 2, 1],
        "click": [1, 0, 0, 1, 1],
        "words": ["x", "x", "x", "x", "NA"],
        "doc": [7, 8, 9, 7, 9],
        "who": ["old", "new", "old", "new", "old"],
        "times": [1, 2, 3, 4, 5],
        "other": [None, "1", "2", "3", "4"],
    }
)
NAMES = {"clicked": "click", "position": "rank", "qid": "session"}
OPTIONAL = {"query": "words", "document": "doc", "ranker": "who", "impressions": "times"}


def written(folder, name, frame=FRAME):
    path = folder / name
    if path.suffix in (".parquet", ".pq"):
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.parquet", "log.pq"])
def test_files_of_each_kind(tmp_path, name):
    log = load_clicks(str(written(tmp_path, name)), **NAMES, **OPTIONAL)
    assert isinstance(log, ClickLog)
    assert log.group.tolist() == [2, 2, 1]  # pages in the order of their first rows, their rows as in the file
    assert log.position.tolist() == [2, 1, 1, 2, 1]
    assert log.clicked.tolist() == [1, 0, 0, 1, 1]
    assert log.query.tolist() == ["x", "x", "x", "x", "NA"]
    assert log.document.tolist() == [7, 9, 8, 7, 9]
    assert log.ranker.tolist() == ["old", "old", "new", "new", "old"]
    assert log.impressions.tolist() == [1, 3, 2, 4, 5]


def test_default_names_and_absent_columns(tmp_path):
    frame = pd.DataFrame({"qid": [1, 1], "position": [1, 2], "clicked": [False, True]})
    log = load_clicks(written(tmp_path, "log.csv", frame))
    assert log.clicked.tolist() == [0, 1]
    assert log.query is log.document is log.ranker is log.impressions is None


def test_a_file_without_rows_is_an_empty_log(tmp_path):
    assert len(load_clicks(written(tmp_path, "log.csv", FRAME[:0]), **NAMES)) == 0

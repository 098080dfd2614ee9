"""`load_clicks`: CSV and Parquet files, and what is wrong with them."""

import pandas as pd
import pytest

import boostplug as bp
from boostplug.datasets import ClickLog, load_clicks

COLUMNS = {
    "query": ("words", ["x", "x", "x", "x", "NA"]),
    "document": ("doc", [7, 8, 9, 7, 9]),
    "ranker": ("who", ["old", "new", "old", "new", "old"]),
    "impressions": ("times", [1, 2, 3, 4, 5]),
}
FRAME = pd.DataFrame({"session": list("bbaac"), "rank": [2, 1, 1, 2, 1], "click": [1, 0, 0, 1, 1]})
FRAME = FRAME.assign(**dict(COLUMNS.values()), other=[None, *"1234"])
NAMES = {"clicked": "click", "position": "rank", "qid": "session"}
OPTIONAL = {name: column for name, (column, _) in COLUMNS.items()}


def written(folder, name, frame=FRAME):
    path = folder / name
    if path.suffix in (".parquet", ".pq"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.parquet", "log.pq"])
def test_files_of_each_kind(tmp_path, name):
    log = load_clicks(str(written(tmp_path, name)), **NAMES, **OPTIONAL)
    assert isinstance(log, ClickLog)
    assert log.group.tolist() == [2, 2, 1]
    assert log.position.tolist() == [2, 1, 1, 2, 1]
    assert log.clicked.tolist() == [1, 0, 0, 1, 1]
    for column, (_, values) in COLUMNS.items():
        assert getattr(log, column).tolist() == values
    with pytest.raises(ValueError, match="scores and log have the same index in different orders"):
        bp.clicks.evaluate(FRAME["times"][::-1], log, propensity=[1, 0.5])


def test_pages_whose_rows_are_apart_are_refused(tmp_path):
    """The log would have another order than features from the same file."""
    frame = FRAME.iloc[[0, 2, 1, 3, 4]]
    with pytest.raises(ValueError, match=r"log.csv: qid must be contiguous: 'b' appears again in row 2 .*session"):
        load_clicks(written(tmp_path, "log.csv", frame), **NAMES)

"""Columns that say what the labels are: each kind leaves no advice, and no feature of real data is one of them."""

import os
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reports import ONE, THREE
from scipy import sparse

import boostplug as bp
from boostplug.comparison.inputs.columns import TableColumns
from boostplug.comparison.inputs.features import share_in_order
from boostplug.comparison.inputs.leaks import Leaks, find_leaks
from boostplug.data.inputs import CheckedInputs

pytest.importorskip("lightgbm")

N, SIZE = 150, 10
ROWS = N * SIZE
ONE_ROUND = {**ONE, "rounds": 1, "label": "label", "qid": "query"}
RNG = np.random.default_rng(7)
MATCH, NOISE = RNG.normal(size=(2, ROWS))
UTILITY = MATCH + NOISE
CLICK = UTILITY > 1.2
LABELS = {
    "click": CLICK * 1.0,
    "chosen": np.eye(SIZE)[UTILITY.reshape(N, SIZE).argmax(axis=1)].ravel(),
    "grade": np.digitize(UTILITY, [0.0, 1.2, 2.0, 2.8]) * 1.0,
    "stars": np.digitize(UTILITY, [-1.0, 0.0, 1.2, 2.0]) + 1.0,
    "time": np.exp(UTILITY),
}


def chance(share):
    return RNG.random(ROWS) < share


def table(label="click", **columns):
    """Return a table whose labels are of a kind, with a feature that knows something, and other columns."""
    frame = pd.DataFrame({"match": MATCH, "label": LABELS[label], "query": np.repeat(np.arange(N) * 7 + 3, SIZE)})
    return frame.assign(**columns)


def text(*choices):
    """Return a column of a CSV file as `compare` reads it."""
    return pd.Categorical(np.select(choices[:-1:2], choices[1::2], choices[-1]))


def compared(*tables, **given):
    """Return the document of a comparison."""
    return bp.compare(*tables, **ONE_ROUND | (THREE if len(tables) == 1 else {}) | given).document


def found(*tables, **given):
    """Return the warnings about leaks, by column, and the reasons."""
    document = compared(*tables, **given)
    warnings = [line.split("'") for line in document["warnings"] if "Is it known before the list is shown?" in line]
    return {line[1]: "'".join(line[2:]) for line in warnings}, document["recommendation"]["reasons"]


# --- kinds -----------------------------------------------------------------------------------------------------------

MARKS = {
    "stage": (np.maximum(CLICK, chance(0.05)), "is nonzero in 100 % of the"),
    "stage_98": ((CLICK & chance(0.98)) | chance(0.05), "is nonzero in 9"),
    "dwell": (np.where(CLICK | chance(0.04), RNG.random(ROWS), np.nan), "is nonzero in 100 % of the"),
    "status": (text(CLICK, "bought", chance(0.5), "seen", "not seen"), "is 'bought' in 100 % of the"),
    "blurred": (text(CLICK ^ chance(0.01), "bought", "seen"), "is 'bought' in 9"),
    "code": (np.where(CLICK, 2, RNG.choice([1, 3], ROWS)), "is 2 in 100 % of the"),
    "sentinel": (np.where(CLICK | chance(0.02), 9.0 * RNG.random(ROWS), -1.0), "values in 100 % of the"),
    "order_id": (text(CLICK, [f"o{k}" for k in range(ROWS)], None), "values in 100 % of the"),
    "sales": (CLICK * chance(0.4) * RNG.integers(1, 4, ROWS), "of which 100 % have a label above 0 (of all rows 2"),
    "paid": (np.where(CLICK & chance(0.3), RNG.random(ROWS), np.nan), "of which 100 % have a label above 0"),
    "orphans": ((CLICK & chance(0.5)) | (~CLICK & chance(0.002)), "of which 9"),
    "part": (text(CLICK & chance(0.4), "bought", chance(0.5), "seen", "not seen"), "is 'bought' in "),
    "returned": (text(CLICK & chance(0.4), "yes", None), "is 'yes' in "),
}
ORDERS = {
    "plus_1": lambda y: y + 1,
    "twice": lambda y: 2 * y,
    "squared": lambda y: (y + 5) ** 2,
    "minus": lambda y: -y,
    "jittered": lambda y: y + 1e-4 * RNG.random(ROWS),
}


def test_each_column_that_marks_the_labels_is_a_leak():
    warnings, reasons = found(table(**{name: values for name, (values, _) in MARKS.items()}))
    assert set(warnings) == {*MARKS}
    for name, (_, words) in MARKS.items():
        assert words in warnings[name], (name, warnings[name])
        assert f"If not, leave it out: drop=['{name}'] (--drop {name})" in warnings[name]
    assert "alone it has NDCG@10 ." in warnings["stage"]
    assert len(reasons) == 6
    five = "['stage', 'stage_98', 'dwell', 'status', 'blurred', …]"
    assert reasons[-1].startswith(f"and 8 more; drop them (drop={five}, --drop stage,stage_98,dwell,status,blurred, …)")
    assert "the column 'stage' is nonzero in 100 % of the" in reasons[0]


@pytest.mark.parametrize("label", LABELS)
def test_each_column_that_orders_rows_as_the_labels_do_is_a_leak(label):
    frame = table(label)
    columns = {name: of(frame["label"].to_numpy()) for name, of in ORDERS.items()}
    warnings, _ = found(frame.assign(**columns))
    assert set(warnings) == {*ORDERS}
    for name in ORDERS:
        how = "against the label;" if name == "minus" else "as the label does"
        assert f"ranks the rows of each query {how}" in warnings[name], (name, warnings[name])


def test_some_faults_do_not_hide_the_order_of_the_labels():
    frame = table("time")
    frame["rounded"] = np.where(chance(0.003), 0.0, frame["label"])
    line = found(frame)[0]["rounded"]
    assert line.startswith(" ranks the rows of each query as the label does, at 99")
    assert "% of the steps from one label to the next; alone it has NDCG@10 " in line


@pytest.mark.parametrize("label", ["grade", "stars", "time"])
def test_a_column_that_marks_the_best_labels_is_a_leak(label):
    frame = table(label)
    high = frame["label"] >= np.quantile(frame["label"], 0.9)
    frame["liked"] = (high | chance(0.04)) * 1.0
    frame["word"] = text(high, "good", "")
    frame["shared"] = (high & chance(0.5)) * 1.0
    assert set(found(frame)[0]) == {"liked", "word", "shared"}


def test_what_is_known_before_is_no_leak():
    own = np.repeat(RNG.random(N) < 0.5, SIZE)
    others = {
        "all_words": np.where(CLICK, chance(0.97), chance(0.4)),
        "in_stock": CLICK | chance(0.9),
        "exact": np.where(CLICK, chance(0.3), chance(0.015)),
        "bestseller": pd.Categorical(np.where(CLICK & chance(0.02), 0, RNG.integers(0, 60, ROWS))),
        "once": pd.Categorical([f"p{k}" for k in range(ROWS)]),
        "twice": pd.Categorical([f"p{k}" for k in RNG.integers(0, ROWS // 2, ROWS)]),
        "of_query": own * 1.0,
        "strong": UTILITY + 0.4 * RNG.normal(size=ROWS),
        "steps": np.digitize(UTILITY + 0.5 * RNG.normal(size=ROWS), np.linspace(-2.0, 2.0, 12)) * 1.0,
    }
    warnings, reasons = found(table(**others))
    assert set(warnings) == {"all_words"}  # a doubt
    assert reasons == []
    frame = table("chosen")
    frame["label"] *= np.repeat(np.arange(N) < N // 2, SIZE)
    frame["converted"] = frame.groupby("query")["label"].transform("max")  # ranks no rows of a query
    assert found(frame) == ({}, [])


@pytest.mark.skipif("BOOSTPLUG_DATA" not in os.environ, reason="BOOSTPLUG_DATA does not name a folder of real data")
def test_no_feature_of_real_data_is_a_leak(tmp_path):
    """Nor close to one: at most 70 % of the steps between labels are ordered, where a leak orders 98 %."""
    folder, n_sets = Path(os.environ["BOOSTPLUG_DATA"]), 0
    names = [f"{one}/train.txt" for one in ("mq2008/Fold1", "ohsumed/Fold1", "ohsumed_null/Fold1", "mslr_sample")]
    names += [f"{one}/S1.txt.gz" for one in ("yandex", "nfcorpus", "jester")]
    for name in names:
        with pd.io.common.get_handle(folder / name, "rt", compression="infer") as file:
            (tmp_path / "some.txt").write_text("".join(islice(file.handle, 2500)))
        data = bp.datasets.load_letor(tmp_path / "some.txt")
        best = pd.Series(data.y).groupby(data.qid).transform("max")
        for y in (data.y, (data.y == best) * (best > 0.0) * 1.0, (data.y >= np.quantile(data.y, 0.9)) * 1.0):
            part = CheckedInputs(data.X, bp.Queries(y, qid=data.qid))
            assert find_leaks([[part] * 3], {}, bp.NDCG(10), TableColumns()) == Leaks([], [], []), name
            orders = [share_in_order(s * X.astype(float), part.queries) for X in data.X.T for s in (1, -1)]
            assert max(orders) < 0.7
            n_sets += 1
    assert n_sets == 21


# --- the verdict, and keep -------------------------------------------------------------------------------------------


def test_a_leak_leaves_no_advice_until_it_is_dropped_or_kept():
    frame = table(clicked=np.maximum(CLICK, chance(0.05)) * 1)
    result = bp.compare(frame, **ONE_ROUND, **THREE)
    (reason,) = result.document["recommendation"]["reasons"]
    assert reason.startswith("the column 'clicked' is nonzero in 100 % of the ")
    assert " rows of train with a label above 0, and in " in reason
    assert reason.endswith(
        " % of the others; drop it (drop=['clicked'], --drop clicked), or pass keep=['clicked'] (--keep clicked) if it "
        "is known before the list is shown"
    )
    assert result.recommendation.splitlines()[0] == f"Do not rely on this yet: {reason}."
    assert result.document["recommendation"]["outcome"] == "doubtful"
    _, both = found(frame.assign(sold=CLICK * chance(0.4)))
    assert both[0] == reason.partition(";")[0]
    assert both[1].startswith("the column 'sold' is nonzero in ")
    assert "drop them (drop=['clicked', 'sold'], --drop clicked,sold), or pass keep=['clicked', 'sold'] (" in both[1]
    for some in ({"drop": ["clicked"]}, {"keep": ["clicked"]}):
        document = compared(frame, **some)
        assert document["recommendation"]["reasons"] == []
        assert document["recommendation"]["outcome"] != "doubtful"
        assert not [line for key in ("warnings", "notes") for line in document[key] if "'clicked'" in line]
        assert f"{next(iter(some))}=('clicked',)" in document["call"]


@pytest.mark.parametrize("keep", [[], ["copy", "strong"]])
def test_a_kept_column_is_not_warned_of_nor_noted_as_nearly_as_good_as_the_best_model(keep):
    document = compared(table(copy=LABELS["click"]), keep=keep[:1])
    assert len([line for line in document["warnings"] if "copy" in line]) == 2 * (not keep)
    assert (document["recommendation"]["outcome"] == "doubtful") == (not keep)
    notes = " ".join(compared(table(strong=UTILITY + 0.3 * RNG.normal(size=ROWS)), keep=keep[1:])["notes"])
    assert ("'strong'" in notes) == (not keep)


def test_columns_to_keep_are_named():
    frame = table()
    data = bp.RankingData(frame[["match"]].assign(clicked=CLICK + 1), frame["label"], qid=frame["query"])
    array = bp.RankingData(data.X.to_numpy(), data.y, qid=data.qid)
    own = {"label": None, "qid": "qid"}
    for given, some, keep, message in (
        (frame, {}, ["clickd"], "there is no column 'clickd' for keep; the columns are .*"),
        (data, own, ["clickd"], "there is no column 'clickd' for keep; the columns are .*"),
        (frame, {}, "clicked", "keep must be a list of names of columns; got 'clicked'"),
        (array, own, ["a"], "there is no column 'a' for keep; X has no named columns"),
    ):
        with pytest.raises(ValueError, match=message):
            compared(given, **some, keep=keep)
    reasons = [found(given, **own, keep=keep)[1] for given, keep in ((data, []), (data, ["clicked"]), (array, []))]
    assert [len(of_one) for of_one in reasons] == [1, 0, 1]
    assert reasons[2][0].startswith("the column 'number 2' ranks the rows of each query as the label does")
    assert reasons[2][0].endswith("; leave out what is not known before the list is shown")


@pytest.mark.parametrize("drop", [(), ("clicked",)])
def test_a_score_in_use_that_is_a_leak_is_named_as_such(drop):
    frame = table(clicked=(np.maximum(CLICK, chance(0.05)) * 1))
    _, (reason,) = found(frame, today="clicked", drop=drop)
    assert reason.startswith("the score in use, today='clicked', is nonzero in 100 % of the ")
    known = "name what ranked the lists before the labels were known"
    assert reason.endswith(f"{known}, or pass keep=['clicked'] (--keep clicked) if this did")
    assert found(frame, today="clicked", keep=["clicked"])[1] == []


def part_of_chance(first, n=70, size=10):
    query = np.repeat(np.arange(n) + first, size)
    values = np.random.default_rng(first).random((n * size, 3))
    clicked, label = (values[:, 1:] < (0.1, 0.2)).T * 1.0
    return pd.DataFrame({"some": values[:, 0], "clicked": clicked, "label": label, "query": query})


@pytest.mark.parametrize("leaking", ["train", "valid", "test"])
def test_a_leak_in_one_part_of_one_fold_leaves_no_advice(leaking):
    """As of a column that was logged in one part only: alone it may be best there."""
    folds = [[part_of_chance(1000 * (3 * k + j)) for j in range(3)] for k in (0, 1)]
    place = ["train", "valid", "test"].index(leaking)
    folds[1][place] = folds[1][place].assign(clicked=lambda frame: np.maximum(frame["label"], frame["clicked"]))
    recommendation = compared(folds, split=None)["recommendation"]
    (reason,) = recommendation["reasons"]
    assert reason.startswith("the column 'clicked' is nonzero in 100 % of the ")
    assert f" rows of {leaking} with a label above 0" in reason
    assert recommendation["outcome"] == "doubtful"


def test_the_part_whose_rows_a_column_orders_is_named():
    parts = list(bp.split_queries(table("grade", copy=chance(0.1) * 1.0), qid="query"))
    parts[2] = parts[2].assign(copy=parts[2]["label"] + 1)
    _, (reason,) = found(*parts)
    assert reason.startswith("the column 'copy' ranks the rows of each query of test as the label does; drop it")


def test_a_leak_of_the_label_that_the_metric_reads_leaves_no_advice():
    frame = table("grade", sale=chance(0.15) * 1.0).assign(in_cart=lambda of: np.maximum(of["sale"], chance(0.05)))
    assert found(frame, labels=["sale"])[1] == []
    _, (reason,) = found(frame, labels=["sale"], metric="NDCG@10.on(sale)")
    assert reason.startswith("the column 'in_cart' is nonzero in 100 % of the ")
    assert " rows of train with a label 'sale' above 0, and in " in reason


def test_a_sparse_column_and_one_of_text_in_a_file_are_leaks(tmp_path):
    names = ["match", "rare", "clicked"]
    frame = table(clicked=np.maximum(CLICK, chance(0.05)) * 1, rare=CLICK & (np.arange(ROWS) < 20))
    X = sparse.csr_matrix(frame[names].to_numpy(float))
    data = bp.RankingData(X, frame["label"], qid=frame["query"], feature_names=names)
    _, (reason,) = found(data, label=None, qid="qid")
    assert reason.startswith("the column 'clicked' is nonzero in 100 % of the ")
    table(status=text(CLICK, "bought", "seen")).to_csv(tmp_path / "shop.csv", index=False)
    warnings, (reason,) = found(tmp_path / "shop.csv")
    assert "is 'bought' in 100 % of the" in warnings["status"]
    assert "--keep status" in reason


def test_growth_with_time_is_a_warning_and_no_reason():
    stock = np.arange(ROWS) + RNG.random(ROWS)
    frame = table(day=np.repeat(np.arange(N), SIZE), part=np.repeat(["train", "valid", "test"], ROWS // 3), stock=stock)
    warnings, reasons = found(frame, split=("time", "day"), drop=["part"])
    assert "grows with the time of the rows" in warnings["stock"]
    assert reasons == []
    assert found(frame, split="part", drop=["day"])[0] == {}  # whose order may be any
    frame["clicked"] = np.maximum(CLICK, chance(0.05)) * (1 + np.arange(ROWS))
    assert len(found(frame, split=("time", "day"), drop=["part"])[1]) == 1


def test_a_strong_mark_on_few_rows_of_a_later_part_is_no_leak():
    """By chance it marks 95 % of some 50 rows; of the first training part it marks 88 %."""
    folds = [[part_of_chance(1000 * (3 * k + j), n=25 if j else 150) for j in range(3)] for k in range(3)]
    for fold in folds:
        for k, part in enumerate(fold):
            mark = np.where(part["label"] > 0, np.arange(len(part)) % 50 < (48 if k else 44), part["clicked"])
            fold[k] = part.assign(match=mark)
    assert found(folds, split=None)[1] == []

"""Clicks as labels: without propensities a warning is given; with them the metric is what the clicks estimate."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reports import QUICK, names_of, row_of
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli.app import app
from boostplug.comparison.inputs.columns import TableColumns
from boostplug.comparison.inputs.folds import LoadedData

pytest.importorskip("xgboost")

THETA = 1.0 / np.arange(1.0, 11.0)


@pytest.fixture(scope="module")
def parts():
    """Clicks of 900 pages in three parts, and the grades behind them."""
    truth = bp.datasets.make_ranking(60, n_features=6, random_state=0)
    log = bp.clicks.simulate(truth, sessions=900, max_position=10, random_state=0)
    pages = bp.RankingData.from_clicks(truth.X[log.document], log)
    return (*bp.split_queries(pages, split=(5 / 9, 2 / 9, 2 / 9)), truth)


def compared(*parts, **options):
    given = {"losses": bp.RankNet(), "baselines": "rank:ndcg", "frameworks": "xgboost", "rounds": 60}
    return bp.compare(*parts, **QUICK | given | {"early_stopping_rounds": 10} | options)


@pytest.fixture(scope="module")
def weighed(parts):
    return compared(*parts[:3], propensity=THETA, metrics=["DCG@3", "NDCG@10", "MAP"])


def test_labels_of_lists_that_were_shown_are_warned_of(parts, weighed, tmp_path):
    """There is a verdict all the same, as for one who does not name the positions."""
    result = compared(*parts[:3], rounds=300)
    words = "The labels of valid and test come from lists that were shown (position), and favour the order there"
    assert result.document["recommendation"]["outcome"] in {"better", "worse", "level", "unchallenged"}
    assert any(method["p"] is not None for method in result.document["methods"])
    result.to_html(tmp_path / "report.html")
    for text in ((tmp_path / "report.html").read_text(), result.to_markdown(), str(result)):
        assert words in " ".join(text.split())
    judged = compared(parts[0], parts[1], parts[3], rounds=3)
    assert any("The labels of valid come from lists" in warning for warning in judged.document["warnings"])
    assert not any("that were shown" in warning for warning in weighed.document["warnings"])


def test_weighed_clicks_are_the_estimate_of_evaluate_and_the_call_makes_them_again(parts, weighed):
    train, valid, test, _ = parts
    document = weighed.document
    assert "MAP is left out" in " ".join(document["notes"])
    log = bp.clicks.ClickLog(test.y, group=test.group, position=test.position)
    scores = weighed.best.fit(train.X, train.y, group=train.group).predict(test.X)
    values = row_of(weighed, document["recommendation"]["method"])["test"]
    for k in (3, 10):
        estimate = bp.clicks.evaluate(scores, log, metric=bp.DCG(k), propensity=np.maximum(THETA, 0.1))
        assert values[f"DCG@{k}(linear).on(ips)"]["mean"] == pytest.approx(estimate.estimate, rel=1e-6)
    about = f"test holds {estimate.n_clicks:,} clicks. Each counts 1/propensity of its position, at most 10"
    assert any(note.startswith(about) for note in document["notes"])
    again = eval(document["call"], {"bp": bp, "train": train, "valid": valid, "test": test})  # noqa: S307 (ours)
    assert row_of(again, "RankNet")["test"] == row_of(weighed, "RankNet")["test"]


def test_cut_weights_leave_no_bias_on_average(parts):
    """At η = 2 the weights of positions 4 to 10 are cut at 10; the labels are then shrunk to their mean relevance."""
    theta = THETA**2
    click, position = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0]), np.array([1, 3, 4, 4, 10, 10])
    part = bp.RankingData(np.zeros((6, 6)), click, group=[6], position=position)
    loaded, notes = LoadedData.from_arguments(parts[0], part, part, TableColumns(), None).weighed(theta)
    assert "for 2 the mean of such positions makes up for the rest" in notes[0]
    found = loaded.folds[0][1].queries.labels_by_name["ips"]
    rate = 2 / (2 * theta[3] + 2 * theta[9])
    at_4, at_10 = (1 - 10 * theta[3]) * rate, (1 - 10 * theta[9]) * rate
    np.testing.assert_allclose(found, [1, 0, 10 + at_4, at_4, at_10, 10 + at_10])
    assert found[2:].sum() == pytest.approx(4 * rate)


def test_weighed_clicks_choose_for_judgements(parts):
    result = compared(parts[0], parts[1], parts[3], propensity=THETA)
    settings = result.document["settings"]
    assert (settings["validation_metric"], settings["metric"]) == ("DCG@10(linear).on(ips)", "NDCG@10")
    assert "on validation" in result.recommendation


def trained(result):
    """Return the losses of a comparison by name, as its document spells them."""
    own = [method for method in result.document["methods"] if not method["built_in"]]
    return {method["method"]: bp.Loss.parse(method["objective"])[0] for method in own}


def test_the_default_losses_correct_the_bias_more_and_less(parts):
    train = parts[0]
    log = bp.clicks.ClickLog(train.y, group=train.group, position=train.position)
    given = bp.clicks.propensity(log, method="randomised")
    theta = tuple(given.propensity.tolist())
    losses = trained(compared(*parts[:3], losses=None, propensity=given, rounds=1))
    assert [*losses.values()] == [
        bp.RankNet(),
        *(bp.Unbiased(method="ips", propensity=theta, power=power) for power in (0.25, 0.5, 0.75, 1.0)),
        *(bp.Unbiased(method="additive", ridge=ridge) for ridge in (0.003, 0.03, 0.3)),
    ]


# --- clicks train, judgements choose and judge ------------------------------------------------------------------------

NAMED = {"label": "y", "qid": "page", "position": "shown_at"}


@pytest.fixture(scope="module")
def judged(parts):
    """The training pages, and two judged parts without positions."""
    return parts[0], *bp.split_queries(parts[3], split=(0.5, 0.25, 0.25))[:2]


def as_frame(data, **more):
    return pd.DataFrame(data.X).add_prefix("f").assign(y=data.y, page=np.asarray(data.qid).astype(str), **more)


@pytest.mark.parametrize("kind", ["absent", "empty", "None", "polars", "pyarrow", "folds", "CSV", "command"])
def test_positions_are_asked_of_the_clicks_and_not_of_judged_tables(judged, kind, tmp_path):
    expected = compared(*judged, losses=bp.Unbiased())
    empty = {"empty": {"shown_at": np.nan}, "pyarrow": {"shown_at": np.nan}, "None": {"shown_at": None}}.get(kind, {})
    train = as_frame(judged[0], shown_at=judged[0].position)
    tables = [train, *(as_frame(part, **empty) for part in judged[1:])]
    if kind in ("CSV", "command"):
        paths = [str(tmp_path / f"{name}.csv") for name in ("train", "valid", "test")]
        for table, path in zip(tables, paths, strict=True):
            table.to_csv(path, index=False)
        tables = paths
    convert = {"polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}.get(kind, lambda table: table)
    tables = [convert(table) for table in tables]
    if kind == "command":
        given = dict(zip(("train", "valid", "test"), tables, strict=True), **NAMED, rounds=60, seeds=1)
        given |= {"losses": "Unbiased()", "baselines": "rank:ndcg", "frameworks": "xgboost", "num-threads": 1}
        given |= {"early-stopping-rounds": 10, "json": tmp_path / "result.json"}
        command = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        done = CliRunner().invoke(app, ["compare", *command])
        assert done.exit_code == 0, done.output
        document = json.loads((tmp_path / "result.json").read_text())
    else:
        result = compared(*([[tables]] if kind == "folds" else tables), losses=bp.Unbiased(), **NAMED)
        document = result.document
    assert [method["test"] for method in document["methods"]] == [row["test"] for row in expected.document["methods"]]
    assert not any("that were shown" in warning for warning in document["warnings"])
    assert any("without positions (valid and test)" in note for note in document["notes"])


def test_positions_are_asked_of_training_tables_and_of_one_table(judged):
    train, valid, test = (as_frame(part) for part in judged)
    clicked = train.assign(shown_at=judged[0].position)
    for given in ((train, valid, test), (train,)):
        with pytest.raises(ValueError, match="there is no column 'shown_at' for position"):
            compared(*given, **NAMED)
    for given in (
        (clicked, valid.assign(shown_at=[1, *[np.nan] * (len(valid) - 1)]), test),
        (clicked.assign(shown_at=np.nan),),
    ):
        with pytest.raises(ValueError, match=r"position\[\d\] = nan is not a position"):
            compared(*given, **NAMED)
    with pytest.raises(ValueError, match=r"leave out label, or pass tables as RankingData.from_frame\(…\), too"):
        compared(clicked, *judged[1:], **NAMED)
    for other in ("weight", "today"):
        with pytest.raises(ValueError, match=f"valid: there is no column 'f0_too' for {other}"):
            compared(clicked.assign(f0_too=1.0), valid, test, **NAMED, **{other: "f0_too"})
    mixed = bp.RankingData.from_frame(clicked, **NAMED), *judged[1:]
    result = compared(*mixed, rounds=300)
    assert any(method["p"] is not None for method in result.document["methods"])
    assert not any("shares" in warning for warning in result.document["warnings"])  # whose queries the pages are of


def test_propensities_of_training_clicks_make_the_default_losses_for_judgements(judged):
    result = compared(*judged, losses=None, propensity=THETA, rounds=1)
    methods = [loss.method for loss in trained(result).values() if isinstance(loss, bp.Unbiased)]
    assert methods == ["ips", "ips", "ips", "ips", "additive", "additive", "additive"]
    settings = result.document["settings"]
    assert (settings["validation_metric"], settings["metric"]) == ("NDCG@10", "NDCG@10")


def test_named_losses_train_with_the_propensities_that_judge(parts):
    theta = tuple((THETA**0.5).tolist())
    own = "Unbiased(method='ips', propensity=(1.0, .5, .4, .3, .2, .2, .2, .2, .2, .2))"
    result = compared(*parts[:3], losses=["unbiased", own], propensity=theta, rounds=1)
    found = [(loss.method, loss.propensity) for loss in trained(result).values()]
    assert found == [("additive", None), ("ips", (1, 0.5, 0.4, 0.3, *6 * [0.2]))]
    every = trained(compared(*parts[:3], losses="all", propensity=theta, rounds=1))
    weighed = [loss for loss in every.values() if isinstance(loss, bp.Unbiased) and loss.method == "ips"]
    assert [loss.propensity for loss in weighed] == [theta]
    assert bp.losses.LOSSES["unbiased"][2].propensity == tuple(THETA)  # the registry's stay


def test_the_default_losses_are_the_usual_ones_without_propensities_or_positions(parts):
    for data, theta in ((parts[:3], None), ((parts[3], *parts[1:3]), THETA)):
        found = names_of(compared(*data, losses=None, rounds=1, propensity=theta))
        assert found == ["rank:ndcg", "CRR", "QBRank", "MPBoost(Log)"]


def test_what_cannot_be_estimated_is_refused(parts):
    """Before anything is trained, also where only the training pages have a position without a propensity."""
    train, valid, test, truth = parts
    further = bp.RankingData(train.X, train.y, group=train.group, position=train.position + 1)
    for given, options, words in (
        ((train, valid, test), {"propensity": [1.0, 0.5]}, r"position\[\d+\] = 3 has no propensity"),
        ((train, valid, test), {"propensity": THETA, "metric": "MAP"}, "estimate only DCG"),
        ((train, valid, test), {"propensity": []}, "propensity is empty"),
        ((truth, truth, truth), {"propensity": THETA}, "no part has positions"),
        ((further, valid, test), {"propensity": THETA, "losses": None}, "= 11 has no propensity"),
    ):
        with pytest.raises(ValueError, match=words):
            compared(*given, **options)

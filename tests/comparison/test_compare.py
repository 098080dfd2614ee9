"""What `compare` trains, measures and reports."""

import json
import re
import sys
from dataclasses import dataclass
from io import StringIO

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from reports import ONE, QUICK, compare_one, names_of, row_of
from rich.console import Console
from scipy import stats

import boostplug as bp
from boostplug.comparison.arguments import parse_losses
from boostplug.comparison.significance import holm, randomisation_test
from boostplug.datasets import Fold
from boostplug.selection.starting import trees_for

BUILT_IN = ["lambdarank", "rank_xendcg", "regression", "rank:ndcg", "rank:pairwise", "reg:squarederror"]


@dataclass(frozen=True, kw_only=True)
class Broken(bp.MPBoost):
    """Fails after some calls."""

    error: type[BaseException] = RuntimeError

    def gradient_hessian(self, scores, queries):
        raise self.error("broken on purpose")


def test_all_methods_in_both_frameworks(result):
    expected = [("lightgbm", name) for name in (*BUILT_IN[:3], "MPBoost(Log)")]
    expected += [("xgboost", name) for name in (*BUILT_IN[3:], "MPBoost(Log)")]
    table = result.to_frame()
    assert list(zip(table["framework"], table["method"], strict=True)) == expected
    assert not result.failed
    assert (table["runs_finished"] == 2).all()
    assert table[["NDCG@5", "NDCG@10", "MAP", "validation"]].stack().between(0.05, 1).all()
    assert table["KendallTau"].between(-1, 1).all()
    assert (table["seconds_per_round"].dropna() > 0).all()
    assert table["rounds"].between(1, 4).all()


def test_options_of_built_in_objectives_go_to_these_alone(parts):
    """Beside a loss they mean nothing, and would be refused."""
    options = {"lightgbm": {"lambdarank_truncation_level": 1}, "xgboost": {"lambdarank_num_pair_per_sample": 1}}
    methods = {"losses": [bp.MPBoost()], "baselines": ["lambdarank", "rank:ndcg"], **QUICK}
    found, without = (bp.compare(*parts, params=params, **methods).document["methods"] for params in (options, None))
    for one, other in zip(found, without, strict=True):
        same = one["runs"][0]["test"] == other["runs"][0]["test"]
        assert same == (one["method"] == "MPBoost(Log)")


def test_numbers_are_those_of_plain_training(parts, result):
    """One cell of each framework by hand, with the frameworks alone."""
    train, valid, test = parts
    found, _ = trees_for(train.queries, train.X.shape[1])
    rate, leaves, rows, columns = (found[n] for n in ("learning_rate", "num_leaves", "row_fraction", "column_fraction"))
    tree = {"learning_rate": rate, "num_leaves": leaves, "max_bin": 255, "min_data_in_leaf": 20, "lambda_l2": 1.0}
    sample = {"bagging_fraction": rows, "bagging_freq": 1, "feature_fraction": columns, **found.get("lightgbm", {})}
    seeds = dict.fromkeys(("bagging_seed", "feature_fraction_seed", "extra_seed"), 1)
    params = {"objective": bp.MPBoost(), "metric": "None", "verbosity": -1, "num_threads": 1, **tree, **sample, **seeds}
    booster = lgb.train(params, lgb.Dataset(train.X, train.y, group=train.group), 4)
    by_round = [bp.NDCG(10)(booster.predict(valid.X, num_iteration=r), valid.queries) for r in (1, 2, 3, 4)]
    best = int(np.argmax(by_round)) + 1
    (ours,) = (run for run in row_of(result, "MPBoost(Log)")["runs"] if run["seed"] == 1)
    assert ours["rounds"] == best
    np.testing.assert_allclose(ours["curve"], by_round, atol=1e-12)
    assert ours["validation"] == pytest.approx(max(by_round), abs=1e-12)
    test_value = bp.NDCG(10)(booster.predict(test.X, num_iteration=best), test.queries)
    assert ours["test"]["NDCG@10"] == pytest.approx(test_value, abs=1e-12)

    params = {
        "objective": "rank:ndcg", "base_score": 0, "tree_method": "hist", "grow_policy": "lossguide",
        "max_leaves": leaves, "max_depth": 0, "max_bin": 255, "learning_rate": rate, "min_child_weight": 1e-3,
        "reg_lambda": 1.0, "subsample": rows, "colsample_bytree": columns, "seed": 0, "nthread": 1,
        **found.get("xgboost", {}),
    }  # fmt: skip
    booster = xgb.train(params, xgb.QuantileDMatrix(train.X, train.y, group=train.group, max_bin=255), 4)
    ours = row_of(result, "rank:ndcg")["runs"][0]
    scores = booster.predict(xgb.DMatrix(test.X), iteration_range=(0, ours["rounds"]), output_margin=True)
    assert ours["test"]["MAP"] == pytest.approx(bp.MAP()(scores, test.queries), abs=1e-12)


def test_differences_and_p_values_follow_from_the_values_per_query(settled):
    table, values = settled.to_frame(), settled.per_query
    mean = values.groupby(["framework", "method", "query"])["NDCG@10"].mean()
    p = {"lightgbm": [], "xgboost": []}
    for row in table.itertuples():
        if row.method in {"lambdarank", "rank:ndcg"}:
            assert np.isnan(row.difference)
            continue
        reference = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}[row.framework]
        ours, theirs = mean[row.framework, row.method], mean[row.framework, reference]
        assert row.difference == pytest.approx((ours - theirs).mean(), abs=1e-12)
        base = table[(table.framework == row.framework) & (table.method == reference)]["NDCG@10"].item()
        assert row.difference == pytest.approx(table.loc[row.Index, "NDCG@10"] - base, abs=1e-12)
        p[row.framework].append(randomisation_test(ours.to_numpy(), theirs.to_numpy()))
        interval = stats.ttest_rel(ours, theirs, nan_policy="omit").confidence_interval()
        np.testing.assert_allclose([row.interval_low, row.interval_high], interval, rtol=1e-9, atol=1e-12)
    for framework, of_framework in p.items():
        found = table[table.framework == framework]
        np.testing.assert_allclose(found["p"].dropna(), of_framework, atol=2e-3)  # weights 1/n round differently
        np.testing.assert_allclose(found["p_holm"].dropna(), holm(found["p"].dropna()))


def test_the_column_of_p_says_what_it_is_corrected_for(settled):
    assert settled.document["test"]["comparisons"] == {"lambdarank in lightgbm": 4, "rank:ndcg in xgboost": 4}
    assert "corrected by Holm's method (4 comparisons with lambdarank in lightgbm" in " ".join(str(settled).split())


def test_a_training_stops_after_so_many_rounds_without_a_better_one(settled):
    """As good as the best is not better."""
    for run in (run for row in settled.document["methods"] for run in row["runs"]):
        curve = run["curve"]
        assert run["rounds"] == int(np.argmax(curve)) + 1
        assert run["rounds_trained"] == len(curve) == run["rounds"] + 3


def test_spread_is_over_seeds_and_seeds_matter(result):
    for row in result.document["methods"]:
        runs = [run["test"]["NDCG@10"] for run in row["runs"]]
        assert len(set(runs)) == 2
        assert row["test"]["NDCG@10"]["mean"] == pytest.approx(np.mean(runs))
        assert row["test"]["NDCG@10"]["spread"] == pytest.approx(np.std(runs, ddof=1))


@pytest.mark.parametrize("write", ["to_json", "to_html", "to_markdown"])
def test_a_file_of_another_kind_is_not_replaced(result, tmp_path, write):
    path = tmp_path / "train.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileExistsError, match="something else; name another file"):
        getattr(result, write)(path)
    assert path.read_text() == "a,b\n1,2\n"


def test_json_holds_what_the_table_shows(parts, result, tmp_path):
    result.to_json(tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["schema"] == "boostplug.compare/5"
    assert {"boostplug", "python", "lightgbm", "xgboost", "numpy"} <= set(document["versions"])
    assert document["settings"]["seeds"] == [0, 1]
    assert document["settings"]["params"].items() >= trees_for(parts[0].queries, parts[0].X.shape[1])[0].items()
    assert document["data"]["test"] == {"queries": 25, "documents": len(result.outcomes.data.tests[0].X)}
    table = result.to_frame()
    for row, (_, shown) in zip(document["methods"], table.iterrows(), strict=True):
        assert row["method"] == shown["method"]
        for name in ("NDCG@5", "NDCG@10", "MAP", "KendallTau"):
            assert row["test"][name]["mean"] == shown[name]
        for name in ("difference", "p", "p_holm", "seconds_per_round", "rounds"):
            assert row[name] == shown[name] or (row[name] is None and str(shown[name]) in {"None", "nan"})


@pytest.mark.parametrize("width", [60, 120])
def test_no_width_cuts_a_number_or_a_name(result, width):
    buffer = StringIO()
    Console(file=buffer, width=width).print(result)
    text = buffer.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    shown = re.findall(r"[^\s│]+", text)
    for row in result.document["methods"]:
        assert row["method"] in shown
        for value in row["test"].values():
            assert any(f"{value['mean']:.4f}".removeprefix("0") == cell.rstrip(",") for cell in shown)


def test_the_least_error_is_the_best(parts):
    methods = {"losses": [bp.MPBoost()], "baselines": BUILT_IN[:3], "frameworks": "lightgbm"}
    result = bp.compare(*parts, **methods, metric=bp.PairError("half"), metrics="NDCG@5", **{**QUICK, "rounds": 6})
    means = {name: row_of(result, name)["test"]["PairError(half)"]["mean"] for name in names_of(result)}
    text = str(result)
    assert "PairError(half) ↓" in text
    assert "NDCG@5 ↓" not in text
    best = min(means, key=means.get)
    assert best != max(means, key=means.get)
    shown = f"**{means[best]:.4f}**".replace("0.", ".")
    (bold,) = (line for line in result.to_markdown().splitlines() if shown in line)
    assert f"| {best} |" in bold
    difference = means["MPBoost(Log)"] - means["lambdarank"]
    assert row_of(result, "MPBoost(Log)")["difference"] == pytest.approx(difference, abs=1e-12)


def test_a_failing_cell_is_reported_and_the_rest_shows(parts):
    result = bp.compare(*parts, **{**ONE, "losses": {"ours": bp.MPBoost(), "broken": Broken()}})
    assert result.failed
    broken = row_of(result, "broken")
    assert (broken["runs_finished"], broken["test"]["MAP"]["mean"]) == (0, None)
    assert row_of(result, "ours")["runs_finished"] == 1
    text = str(result)
    assert "FAILED: lightgbm broken: RuntimeError: broken on purpose" in text
    assert re.search(r"lightgbm\s+broken\s+failed", text)
    assert "RuntimeError" in result.to_frame()["error"].iloc[2]


def test_without_a_finished_run_nothing_is_best(parts):
    result = compare_one(*parts, framework="lightgbm", objective=Broken())
    for ask in (lambda: result.best, lambda: result.model):
        with pytest.raises(ValueError, match="nothing is best: no run is finished"):
            ask()


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_interrupted_within_a_round_shows_what_is_finished(parts, framework):
    losses = {"stopped": Broken(error=KeyboardInterrupt)}
    result = bp.compare(*parts, losses=losses, frameworks=framework, **QUICK)
    assert result.interrupted
    assert not result.failed
    assert [row["runs_finished"] for row in result.document["methods"]] == [
        1,
        1,
        1,
        0,
        1,
        1,
    ]  # first, what trains at once
    for words in ("INCOMPLETE: interrupted after 5 of 6 runs", "not run", "No verdict"):
        assert words in str(result)


def test_one_framework_is_missing(parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    result = bp.compare(*parts, losses=[bp.MPBoost()], baselines=(), **QUICK)
    assert set(result.to_frame()["framework"]) == {"lightgbm"}
    assert "xgboost is not installed and left out (pip install 'boostplug[xgboost]')" in str(result)


def test_folds(parts):
    train, valid, test = parts
    folds = [Fold(train, valid, test), (valid, test, train)]
    result = bp.compare(folds, **ONE)
    ours = result.document["methods"][1]
    assert [run["fold"] for run in ours["runs"]] == [0, 1]
    means = result.to_frame()["NDCG@10"]
    assert ours["difference"] == pytest.approx(means[1] - means[0], abs=1e-12)
    assert set(result.per_query["fold"]) == {0, 1}
    assert "1 seed × 2 folds" in str(result)
    assert bp.compare(folds[0], **ONE).document["methods"][0]["runs_planned"] == 1


def test_names_of_losses():
    for name, losses in bp.losses.LOSSES.items():
        assert list(parse_losses(name).values()) == [losses[0]]
    assert parse_losses("mpboost") == {"MPBoost(Log)": bp.MPBoost()}
    assert {"MPBoost(Log)", "MPBoost(Linear)", "QBRank", "QBRank(.3)", "ListNet(labels)"} < {*parse_losses("all")}
    clash = [bp.QBRank(margin=0.9), bp.QBRank(preference_weight=0.9), bp.QBRank(preference_weight=0.25)]
    assert list(parse_losses(clash)) == [*map(repr, clash[:2]), "QBRank(.25)"]
    same_label = parse_losses([bp.MPBoost(distance=lambda gap: gap), bp.MPBoost(distance=lambda gap: 2 * gap)])
    assert len(same_label) == 2
    assert len(parse_losses([bp.MPBoost(), bp.MPBoost()])) == 1


@pytest.mark.parametrize(
    ("framework", "own"),
    [("lightgbm", {"shrinkage_rate": 0.5, "min_child_samples": 3}), ("xgboost", {"eta": 0.5, "lambda": 2})],
)
def test_own_parameters_of_a_framework_win_under_any_name(parts, framework, own):
    given = {"framework": framework, "objective": bp.RankNet()}
    named = {"lightgbm": {"learning_rate": 0.5, "min_rows": 3}, "xgboost": {"learning_rate": 0.5, "l2": 2}}[framework]
    found, expected = (compare_one(*parts, **given, params=params) for params in ({framework: own}, named))
    assert found.per_query.equals(expected.per_query)


@pytest.mark.parametrize(
    "arguments",
    [
        {"losses": {"mine": 3}},
        {"losses": {"lambdarank": bp.MPBoost()}},  # the name of a built-in objective
        {"losses": (), "baselines": ()},
        {"frameworks": ["catboost"]},
        {"rounds": 0},
        {"seeds": [1, 1]},
        {"seeds": [2**31]},
        {"resume": True},
        {"params": {"lightgbm": {"application": "binary"}}},
        {"params": {"lightgbm": {"num_iterations": 3}}},
        {"params": {"xgboost": {"eta": 0.1, "seed": 3}}},
        {"metric": "nope"},
    ],
)
def test_what_makes_no_sense_is_refused_before_training(parts, arguments):
    with pytest.raises(ValueError, match=r"; |must be|nothing to compare"):
        bp.compare(*parts, **{**ONE, "losses": Broken(error=AssertionError), **arguments})


def test_labels_below_one_leave_map_out(parts):
    """Real labels of 0 to .6, as the mean over assessors: the default comparison goes on, and says what is missing."""
    small = [bp.RankingData(part.X, part.y * 0.15, qid=part.qid) for part in parts]
    some = {**ONE, "baselines": "regression"}
    result = bp.compare(*small, **some)
    assert [name for name in result.to_frame() if name in {"NDCG@5", "NDCG@10", "MAP", "KendallTau"}] == [
        "NDCG@5", "NDCG@10", "KendallTau",
    ]  # fmt: skip
    said = "Note: MAP is left out, undefined on every query of test: it has no relevant document, with labels up to 0.6"
    assert said in " ".join(str(result).split())
    for asked in ({"metric": "MAP"}, {"metrics": ["MAP"]}):
        with pytest.raises(ValueError, match=r"MAP is undefined on every query of .*labels up to 0\.6"):
            bp.compare(*small, **some, **asked)
    found = bp.compare(*small, **some, metrics=[bp.MAP(relevant=0.3)]).to_frame()
    assert found["MAP(relevant=0.3)"].notna().all()

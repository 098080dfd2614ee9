"""The verdict beside what is in use: the score of today, rows without a framework, folds, leaks, half the queries."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from reports import ONE, THREE, names_of, row_of
from scipy import sparse

import boostplug as bp
from boostplug.model.boosters import as_booster

pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

N, SIZE = 120, 10
COLUMNS = {"label": "grade", "qid": "query"}
SHOP = {**ONE, **COLUMNS, "losses": "crr", "rounds": 30, "early_stopping_rounds": 5}
UNTRAINED = {**COLUMNS, "losses": (), "baselines": "column"}


def shop(n=N, *, of_price=0.0, seed=0):
    """Return rows with a score in use; the price is worth something that it does not know."""
    rng = np.random.default_rng(seed)
    match, price, noise = rng.normal(size=(3, n * SIZE))
    utility = match - of_price * price + rng.normal(size=n * SIZE)
    frame = pd.DataFrame({"old_score": match, "price": price, "noise": noise})
    frame["grade"] = np.digitize(utility, [0.8, 1.8])
    return frame.assign(query=np.repeat(np.arange(n) * 7 + 3, SIZE))


def warnings_of(*data, **options):
    """Return the warnings of data, without any training."""
    return bp.compare(*data, **UNTRAINED | options).document["warnings"]


@pytest.fixture(scope="module")
def better():
    """A comparison in which a trained model is better than the score in use."""
    baselines = ["lambdarank", "rank_xendcg", "regression", "column"]
    return bp.compare(shop(600, of_price=1.5), **{**SHOP, "baselines": baselines, "rounds": 200}, today="old_score")


def value_of(scores, frame):
    """Return the mean over five folds of about as many queries, which is the mean over all of them."""
    return bp.NDCG(10).score(frame["grade"], scores, qid=frame["query"])


# --- today -----------------------------------------------------------------------------------------------------------


def test_all_methods_are_compared_with_the_score_in_use(better):
    found = better.document
    others = [m for m in found["methods"] if m["method"] != "column old_score"]
    assert {m["reference"] for m in others} == {"column old_score"}
    today = row_of(better, "column old_score")["test"]["NDCG@10"]["mean"]
    for method in others:
        assert method["difference"] == pytest.approx(method["test"]["NDCG@10"]["mean"] - today, abs=1e-12)
    assert found["test"]["comparisons"] == {"column old_score": len(others)}
    assert found["recommendation"]["outcome"] == "better"
    assert found["recommendation"]["incumbent"]["method"] == "column old_score"
    assert "significantly better than the column old_score." in better.recommendation.splitlines()[0]
    others = [*found["recommendation"]["second"], found["recommendation"]["challenger"]]
    assert {"lambdarank", "rank:ndcg"} & {one["method"] for one in others}
    assert "Column 'old_score', the score in use, is a feature of the methods too." in found["notes"]


@pytest.mark.parametrize("today", ["old_score", "-price", "order"])
def test_today_is_a_column_either_way_round_or_the_order(today):
    frame = shop()
    scores = {"old_score": frame["old_score"], "-price": -frame["price"], "order": -np.arange(len(frame))}[today]
    result = bp.compare(frame, **SHOP, today=today, drop=["price"], folds=4)
    name = "order of the rows" if today == "order" else f"column {today}"
    per_query = result.per_query
    found = per_query[per_query["method"] == name]["NDCG@10"].mean()
    assert found == pytest.approx(value_of(scores, frame))
    assert result.document["data"]["features"] == 2  # the column of today stays one unless dropped
    assert f"today='{today}'" in result.document["call"]
    assert ("feature of the methods too" in " ".join(result.document["notes"])) == (today == "old_score")


def test_nothing_better_is_a_verdict_without_a_model():
    result = bp.compare(shop(), **{**SHOP, "baselines": []}, today="old_score", features=["noise"])
    assert result.recommendation.splitlines()[0].startswith("Keep the column old_score: ")
    assert result.document["recommendation"]["code"] == ""
    assert "save" not in result.recommendation
    for ask in (lambda: result.best, lambda: result.model):
        with pytest.raises(
            ValueError, match=r"no model is best: column old_score is recommended, which needs no training"
        ):
            ask()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, lambda X: pd.DataFrame(X, columns=list("ab"))])
def test_today_of_data_that_are_no_table(make):
    frame = shop()
    X = frame[["old_score", "price"]].to_numpy()
    data = bp.RankingData(make(X), frame["grade"], qid=frame["query"], feature_names=list("ab"))
    result = bp.compare(data, data, data, **ONE, today="-a")
    assert row_of(result, "column -a")["test"]["NDCG@10"]["mean"] == pytest.approx(value_of(-X[:, 0], frame))
    with pytest.raises(ValueError, match=r"there is no column 'c' for today"):
        bp.compare(data, data, data, **ONE, today="c")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"today": "old"}, "there is no column 'old' for today"),
        ({"today": 3}, "today must be the name of a column"),
        ({"today": "far"}, r"today: column 'far'\[3\] = inf is infinite; write a number, or leave the cell empty"),
        ({"today": "price", "incumbent": "crr"}, "today and incumbent both say what is in use"),
        ({"folds": 2}, "folds must be an integer of at least 3"),
        ({"folds": 5, **THREE}, "folds and split both divide the table"),
        ({"folds": 500}, "only 113 queries hold two different labels"),
        ({"folds": 5, "valid": shop(), "test": shop()}, "folds divides one table or file"),
    ],
)
def test_what_contradicts_itself_is_refused(options, message):
    frame = shop().assign(far=lambda of: of["price"].where(of.index != 3, np.inf))
    with pytest.raises(ValueError, match=message):
        bp.compare(frame, **SHOP, **options)


# --- rows without a framework ----------------------------------------------------------------------------------------


def test_the_best_column_of_validation_and_the_linear_model_are_rows():
    frame = shop(of_price=3.0)
    parts = bp.split_queries(frame, qid="query")
    result = bp.compare(*parts, **{**SHOP, "baselines": ["column", "linear"]})
    train, _, test = parts
    assert row_of(result, "column -price")["test"]["NDCG@10"]["mean"] == pytest.approx(value_of(-test["price"], test))
    X = ["old_score", "price", "noise"]
    ranker = bp.LinearRanker().fit(train[X], train["grade"], qid=train["query"])
    assert row_of(result, "linear")["test"]["NDCG@10"]["mean"] == pytest.approx(value_of(ranker.predict(test[X]), test))
    assert {row_of(result, name)["framework"] for name in ("column -price", "linear")} == {"none"}
    assert row_of(result, "linear")["rounds"] is None


def test_the_linear_model_may_be_recommended_and_saved(tmp_path):
    frame = shop(300, of_price=1.5)
    result = bp.compare(frame, **{**SHOP, "losses": [], "baselines": "linear"}, today="old_score")
    assert result.recommendation.splitlines()[0].startswith("Change to the linear model: ")
    assert "bp.LinearRanker().fit(train, 'grade', qid='query')" in result.document["recommendation"]["code"]
    X = frame[["old_score", "price", "noise"]]
    assert np.ptp(result.best.fit(X, frame["grade"], qid=frame["query"]).predict(X)) > 0
    result.model.save_model(tmp_path / "ranker.txt")
    assert value_of(result.model.predict(X), frame) > value_of(frame["old_score"], frame) + 0.02


def test_the_score_in_use_that_is_the_best_column_is_one_row():
    result = bp.compare(shop(), **{**SHOP, "baselines": "column"}, today="old_score", **THREE)
    assert names_of(result) == ["column old_score", "CRR"]
    assert "Column old_score is also the best single column." in result.document["notes"]


# --- rows ------------------------------------------------------------------------------------------------------------


def test_rows_that_train_the_same_are_one_row():
    weights = {"one": 0.5, "another": 0.5, "third": 0.9}
    losses = {name: bp.QBRank(preference_weight=weight) for name, weight in weights.items()}
    given = {**SHOP, "losses": losses, "rounds": 10, "folds": 3}
    result = bp.compare(shop(), **given)
    assert names_of(result) == ["lambdarank", "one", "third"]
    assert "another in lightgbm has the scores of one in lightgbm in every run, so both are one row." in str(result)
    assert "'another'" in result.document["call"]
    assert names_of(bp.compare(shop(), **given, incumbent="another")) == ["lambdarank", "another", "third"]


def test_tuned_rows_have_the_names_of_what_was_drawn():
    pytest.importorskip("optuna")
    some = {**SHOP, "losses": ["qbrank"], "tune": 8, **THREE}
    result = bp.compare(shop(of_price=1.0), **some)
    for method in result.document["methods"]:
        tuned = method["runs"][0]["tuned"]
        if not tuned["parameters"]:
            assert method["method"] in {"lambdarank", "QBRank"}
        elif method["built_in"]:
            assert method["method"] == "lambdarank, tuned"
        else:
            assert method["method"] == f"{bp.Loss.parse(tuned['objective'])[0].name}, tuned"
            assert method["objective"] == tuned["objective"]
    assert any(name.endswith(", tuned") for name in names_of(result))
    folds = bp.compare(shop(), **{**some, "tune": 2, "split": None, "folds": 3})
    assert all(method["runs_finished"] == 3 for method in folds.document["methods"])


def test_probabilities_are_judged_only_where_scores_are_logits():
    frame = shop()
    frame["grade"] = (frame["grade"] > 0).astype(int)
    given = {**SHOP, "losses": bp.LogisticError(), "baselines": ["regression", "linear"]}
    given["metrics"] = ["NDCG@10", "LogLoss", "ECE"]
    result = bp.compare(frame, **given, today="old_score", **THREE)
    table = result.to_frame().set_index("method")
    assert table.loc["LogisticError", ["LogLoss", "ECE"]].notna().all()
    assert table.loc[["regression", "linear", "column old_score"], ["LogLoss", "ECE"]].isna().all(axis=None)
    assert not result.failed


# --- folds -----------------------------------------------------------------------------------------------------------


def test_each_query_tests_once_and_validates_once():
    frame = shop().sample(frac=1.0, random_state=0)  # rows of queries apart
    folds = bp.split_queries(frame, qid="query", label="grade", folds=5)
    queries, n_labels = set(frame["query"]), frame.groupby("query")["grade"].nunique()
    for place in (1, 2):
        of_part = [set(fold[place]["query"]) for fold in folds]
        assert sum(map(len, of_part)) == len(queries)
        assert set.union(*of_part) == queries
    for fold in folds:
        assert sorted(np.concatenate([part.index for part in fold])) == sorted(frame.index)
        train, valid, test = (set(part["query"]) for part in fold)
        assert not train & (valid | test)
        assert (n_labels[[*test]] > 1).sum() in {22, 23}  # of 113


def test_few_queries_with_a_pair_are_spread_over_the_folds():
    frame = shop(200)
    frame.loc[frame["query"] >= 3 + 7 * 12, "grade"] = 0
    folds = bp.split_queries(frame, qid="query", label="grade", folds=5)
    assert [test.loc[test["grade"] > 0, "query"].nunique() for _, _, test in folds] == [3, 3, 2, 2, 2]


def test_folds_are_the_default_of_few_queries_in_one_table():
    few, many = shop(), shop(1100)
    for frame, options, n_folds in ((few, {}, 5), (few, THREE, 1), (many, {}, 1), (many, {"folds": 3}, 3)):
        document = bp.compare(frame, **UNTRAINED | options).document
        assert document["data"]["folds"] == n_folds
        assert ("folds=3" in document["call"]) == (options == {"folds": 3})


def test_the_model_of_folds_is_their_mean_and_each_query_was_judged_unseen(better):
    found = better.document["recommendation"]
    runs = [run for run in better.outcomes.runs if (run.framework, run.method) == (found["framework"], found["method"])]
    assert found["runs"] == len(runs) == 5
    frame = shop(600, of_price=1.5)
    X = frame[["old_score", "price", "noise"]]
    for run in runs:
        test = better.outcomes.data.tests[run.fold]
        assert len(run.scores) == len(test.X)
    matrix = xgb.DMatrix(X) if found["framework"] == "xgboost" else X
    mean = np.mean([as_booster(run.model.encode()).predict(matrix) for run in runs], axis=0)
    np.testing.assert_allclose(better.model.predict(matrix), mean, rtol=1e-5)
    assert "each judged by models that have not seen it" in better.recommendation


# --- columns ---------------------------------------------------------------------------------------------------------


def test_numbers_with_units_are_no_ids(tmp_path):
    frame = shop()
    frame["price"] = pd.Categorical([f"EUR {price:.2f}" for price in np.exp(frame["price"])])
    frame["sku"] = pd.Categorical([f"P{k:04d}" for k in frame.index])
    frame["fee"] = pd.Categorical([f"US$ {k:,}.50" for k in frame.index])
    assert warnings_of(frame) == []  # its own categories
    frame.to_csv(tmp_path / "shop.csv", index=False)
    numbers, fees, ids = warnings_of(tmp_path / "shop.csv")
    assert numbers.startswith("Column 'price' is text ('EUR 0")
    assert fees.startswith("Column 'fee' is text ('US$ ")
    assert numbers.endswith("write them as 1234.5, without units.")
    assert "'sku' looks like an id: drop=['sku'] (--drop sku)." in ids
    assert "price" not in ids


def test_repeated_rows_do_not_hide_a_column_of_places():
    """Trained on as a feature, the places that users saw make clicks look like judgements."""
    frame = shop().assign(place=np.tile(np.arange(1, SIZE + 1), N))
    (once,) = warnings_of(frame)
    assert once == (
        "Column 'place' numbers the rows of each query, as places in a list do. If users saw the rows at these places, "
        "pass position='place' (--position place). If not, and if it is no measurement either, "
        "pass drop=['place'] (--drop place)."
    )
    assert "repeated" not in once
    (line,) = warnings_of(pd.concat([frame, frame.sample(frac=0.02, random_state=0)]))
    assert "rows the number stands in its query twice: are these rows repeated?" in line
    assert warnings_of(frame, drop=["place"]) == []


def test_a_column_nearly_as_good_as_the_best_model_is_noted_once():
    frame = shop(300)
    frame["weak"] = frame["old_score"] + np.random.default_rng(5).normal(size=len(frame)) * 0.7
    result = bp.compare(frame, **SHOP)
    (note,) = (note for note in result.document["notes"] if note.startswith("Alone within 0.02 of the best model"))
    assert "column 'old_score' (." in note
    assert "'noise'" not in note
    assert "'weak'" not in note
    assert "Alone within" not in str(bp.compare(shop(300), **SHOP, today="old_score"))


@pytest.mark.parametrize(
    "number",
    [
        lambda rows: rows,
        lambda rows: len(rows) - rows,
        lambda rows: rows * 3 + 100_000,  # two of three rows were left out
        lambda rows: np.random.default_rng(0).permutation(rows),
    ],
    ids=["ascending", "descending", "gaps", "shuffled"],
)
@pytest.mark.parametrize("form", ["frame", "array", "parts"])
def test_a_column_that_numbers_the_rows_gets_one_warning(number, form):
    frame = shop(200).assign(row_id=number(np.arange(200 * SIZE)))
    X, names = frame.drop(columns=["grade", "query"]), ["old_score", "price", "noise", "row_id"]
    data = bp.RankingData(X.to_numpy(), frame["grade"], qid=frame["query"], feature_names=names)
    given = {"frame": [frame], "array": [data], "parts": bp.split_queries(frame, qid="query")}[form]
    (line,) = warnings_of(*given, **{"label": None, "qid": "qid"} if form == "array" else {})
    assert line.startswith("Column 'row_id' numbers the rows of the table, as an index does that was written with it.")
    assert line.endswith("drop=['row_id'] (--drop row_id).")
    assert warnings_of(frame, drop=["row_id"]) == []


def test_measurements_are_no_row_numbers():
    rng, frame = np.random.default_rng(0), shop()
    frame["cents"] = rng.permutation(10**6)[: len(frame)]  # all differ
    frame["views"] = rng.integers(0, len(frame), len(frame))  # some are equal
    frame["share"] = np.arange(len(frame)) / 7  # is no whole number
    assert warnings_of(frame) == []


def test_labels_that_are_places_get_a_warning():
    frame = shop()
    place = frame.groupby("query")["old_score"].rank(ascending=False, method="first")
    for places in (place, place.where(frame["query"] > 300, place.clip(upper=SIZE - 1))):  # some last two are level
        (line,) = warnings_of(frame.assign(grade=places), drop=["old_score"])
        assert line.startswith("The labels number the rows of each query from 1, as places do")
        assert line.endswith("If 1 is the best place, pass label = largest place - place.")
    for labels in (SIZE - place, frame["grade"] + 1, place.where(place < 4, 4)):
        assert warnings_of(frame.assign(grade=labels), drop=["old_score"]) == []


def test_ids_and_categories_of_a_file_that_were_text_are_named_in_one_line(tmp_path):
    frame, rng = shop(), np.random.default_rng(0)
    frame["product"] = pd.Categorical([f"P{k:03d}" for k in rng.integers(0, 400, len(frame))])
    frame["brand"] = pd.Categorical(rng.choice(["acme", "zeta"], len(frame)))
    frame["size"] = pd.Categorical(rng.integers(36, 48, len(frame)))  # no text that should be numbers
    frame["seller_id"] = rng.integers(0, 300, len(frame))
    frame["length"] = frame["paid"] = rng.integers(0, 300, len(frame))
    (line,) = warnings_of(frame)
    assert line == "'seller_id' looks like an id: drop=['seller_id'] (--drop seller_id)."
    frame.to_csv(tmp_path / "shop.csv", index=False)
    (line,) = warnings_of(tmp_path / "shop.csv")
    assert line.startswith(
        "Read as categories: product ('P000', 380 values), brand ('acme'). 'product', 'seller_id' look"
    )


@pytest.mark.parametrize("form", ["frame", "parquet"])
def test_a_column_with_the_name_of_an_id_is_one_if_it_has_many_numbers(form, tmp_path):
    frame, rng = shop(2400), np.random.default_rng(0)
    frame["hotel_id"] = rng.integers(0, 1100, len(frame))  # fewer than half of the training queries
    frame["city_id"] = rng.integers(0, 300, len(frame))
    frame["hotelId"] = frame["hotel_id"].where(rng.random(len(frame)) < 0.9)  # some are missing
    frame["stars"] = rng.integers(0, 1100, len(frame))
    names, given = ["hotel_id", "hotelId"], frame
    if form == "parquet":
        names, given = ["shop id", *names], tmp_path / "hotels.parquet"
        frame.assign(**{"shop id": frame["hotel_id"].astype(str)}).to_parquet(given)
    (line,) = warnings_of(given)
    assert line.startswith("Read as categories: shop id (") == (form == "parquet")
    assert line.endswith(f"{str(names)[1:-1]} look like ids: drop={names} (--drop {','.join(names)}).")


# --- what would make it surer ----------------------------------------------------------------------------------------


class Watched(bp.CRR):
    """A loss that tells the sizes of what it trains on."""

    sizes: ClassVar = []

    def gradient_hessian(self, scores, queries):
        self.sizes.append(queries.n_queries)
        return super().gradient_hessian(scores, queries)


def test_half_of_the_training_queries_says_what_more_are_worth(better):
    doubled = better.document["recommendation"]["doubled"]
    (words,) = (line for line in better.recommendation.splitlines() if "alf of the training queries" in line)
    assert f"{abs(doubled['difference']):.4f}".removeprefix("0") in words
    result = bp.compare(shop(), **{**SHOP, "losses": Watched(), "baselines": ()}, **THREE)
    assert sorted(set(Watched.sizes)) == [36, 72]
    found = result.per_query["NDCG@10"].to_numpy() - result.outcomes.half[0].per_query["NDCG@10"]
    assert result.document["recommendation"]["doubled"]["difference"] == pytest.approx(np.nanmean(found))


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ([0.001, 0.02], "half of the training queries gave .0080 less, so twice as many may give nearly as much more."),
        ([-0.001, 0.02], "no significant difference, so it is open whether more of them help."),
        ([-0.003, 0.004], "no significant difference, so more of them promise little."),
    ],
)
def test_what_half_of_the_queries_says_depends_on_its_interval(better, interval, words):
    from boostplug.comparison.report.words import advice

    document = better.document
    document["recommendation"]["doubled"] = {"difference": 0.008, "interval": interval}
    assert any(line.lower().endswith(words) for line in advice(document))


def test_better_and_worse_queries_are_counted(better):
    found = better.document["recommendation"]
    rows = better.per_query.set_index(["fold", "method", "query"])["NDCG@10"].sort_index()
    chosen = [one["method"] for one in found["chosen"]]
    difference = pd.concat([rows[f, name] - rows[f, "column old_score"] for f, name in enumerate(chosen)])
    assert (found["better"], found["worse"]) == ((difference > 1e-12).sum(), (difference < -1e-12).sum())
    assert found["better"] + found["worse"] <= found["queries"] == difference.notna().sum()

"""Several labels at once: `Queries.labels_by_name`, ``fit(labels=)``, ``.on`` of losses and metrics."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework

import boostplug as bp

DATA = bp.datasets.make_ranking(n_queries=40, random_state=0)
RNG = np.random.default_rng(0)
CLICK = (RNG.random(DATA.n_rows) < 0.3).astype(float)
SALE = np.where(RNG.random(DATA.n_rows) < 0.4, np.nan, (DATA.y > 1).astype(float))
LABELS = {"click": CLICK, "sale": SALE}
QUERIES = bp.Queries(DATA.y, group=DATA.group, labels_by_name=LABELS)
ON_CLICK = bp.Queries(CLICK, group=DATA.group)
ON_SALE = bp.Queries(np.nan_to_num(SALE), group=DATA.group, labelled=~np.isnan(SALE))
SCORES = RNG.normal(size=DATA.n_rows)
LOSS = bp.QBRank().on("click") + 2.0 * bp.RankNet().on("sale")
METRIC = bp.NDCG(5).on("sale")


# Losses and metrics


@pytest.mark.parametrize(
    "loss",
    [
        bp.MPBoost(), bp.CRR(), bp.AdaRank(), bp.Correlation(), bp.LambdaRank(), 0.5 * bp.NDCGBoost() + bp.ListNet(),
        bp.CalibratedSoftmax(max_grade=1.0),
    ],
    ids=lambda loss: loss.name,
)  # fmt: skip
def test_a_bound_loss_is_the_loss_on_that_label(loss):
    bound = loss.on("sale")
    np.testing.assert_array_equal(bound.value(SCORES, QUERIES), loss.value(SCORES, ON_SALE))
    np.testing.assert_array_equal(bound.gradient_hessian(SCORES, QUERIES), loss.gradient_hessian(SCORES, ON_SALE))
    assert bound.scale(QUERIES) == loss.scale(ON_SALE)
    assert replace(bound.traits, pairs=loss.traits.pairs) == loss.traits


@pytest.mark.filterwarnings("error")
def test_a_loss_of_a_bound_loss_asks_its_label_whether_an_order_is_taught():
    """The labels `y` teach none."""
    data = bp.RankingData(DATA.X, np.zeros(DATA.n_rows), group=DATA.group, labels={"click": CLICK})
    loss = bp.AdaRank(base=bp.QBRank(preference_weight=1.0).on("click"), metric=bp.NDCG(3).on("click"))
    assert loss.why_no_order(data.queries) is None
    assert np.array_equal(loss.with_own_labels(data.queries).labels, CLICK)


def test_a_sum_of_bound_losses_has_the_sum_of_their_derivatives():
    on_click, on_sale = bp.QBRank().gradient_hessian(SCORES, ON_CLICK), bp.RankNet().gradient_hessian(SCORES, ON_SALE)
    expected = np.array(on_click) + 2.0 * np.array(on_sale)
    np.testing.assert_allclose(LOSS.gradient_hessian(SCORES, QUERIES), expected, rtol=1e-12, atol=1e-12)


def test_parts_bases_and_metrics_are_bound_unless_they_are_already():
    whole = bp.AdaRank(metric=bp.NDCG(3), base=bp.RankNet()).on("sale")
    mixed = bp.AdaRank(metric=bp.NDCG(3).on("click"), base=bp.RankNet()).on("sale")
    found = mixed.gradient_hessian(SCORES, QUERIES)[0]
    assert not np.array_equal(whole.gradient_hessian(SCORES, QUERIES)[0], found)
    factors = bp.AdaRank(metric=bp.NDCG(3)).factors(SCORES, ON_CLICK)
    expected = factors[QUERIES.query_of_row] * bp.RankNet().gradient_hessian(SCORES, ON_SALE)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (bp.RankNet().on("click") + bp.QBRank()).on("sale") == bp.RankNet().on("click") + bp.QBRank().on("sale")


@pytest.mark.parametrize("metric", [bp.NDCG(5), bp.MAP(), bp.PairError(pooled=True)])
def test_a_bound_metric_is_the_metric_on_that_label(metric):
    bound = metric.on("sale")
    assert bound(SCORES, QUERIES) == metric(SCORES, ON_SALE)
    np.testing.assert_array_equal(bound.per_query(SCORES, QUERIES), metric.per_query(SCORES, ON_SALE))
    assert bound.greater_is_better == metric.greater_is_better
    assert bound.name == f"{metric.name}.on(sale)"


def test_names_are_read_back():
    assert repr(LOSS) == f"{bp.QBRank()!r}.on('click') + 2.0 * {bp.RankNet()!r}.on('sale')"
    assert LOSS.name == "QBRank.on(click) + 2 RankNet.on(sale)"
    assert bp.Loss.parse(repr(LOSS)) == (LOSS,)
    assert bp.Loss.parse("qbrank().on('click') + 2*RankNet.on('sale')") == (LOSS,)
    assert bp.Metric.parse(METRIC.name) == METRIC == bp.Metric.parse("ndcg@5.on('sale')")
    base = bp.AdaRank(metric=METRIC)
    assert bp.Loss.parse(repr(base)) == (base,)
    assert pickle.loads(pickle.dumps(LOSS)) == LOSS
    assert LOSS.with_params(part_2__loss__sigmoid=2.0).parts[1] == bp.RankNet(sigmoid=2.0).on("sale")


# Queries


def test_pairs_never_replace_bound_labels():
    paired = bp.Queries(DATA.y, group=DATA.group, pairs=bp.Pairs([0], [1]), labels_by_name=LABELS)
    found = bp.RankNet().on("click").gradient_hessian(SCORES, paired)[0]
    np.testing.assert_array_equal(found, bp.RankNet().gradient_hessian(SCORES, ON_CLICK)[0])
    both = (bp.RankNet() + bp.NDCGBoost().on("click")).gradient_hessian(SCORES, paired)[0]
    alone = bp.RankNet().gradient_hessian(SCORES, paired)[0] + bp.NDCGBoost().gradient_hessian(SCORES, ON_CLICK)[0]
    np.testing.assert_allclose(both, alone, rtol=1e-12, atol=1e-12)


def test_labels_survive_pickling_and_the_choice_of_rows():
    again = pickle.loads(pickle.dumps(QUERIES))
    assert METRIC(SCORES, again) == METRIC(SCORES, QUERIES)
    rows = RNG.random(DATA.n_rows) < 0.7
    kept = QUERIES.of_rows(rows)
    np.testing.assert_array_equal(kept.labels_by_name["sale"], SALE[rows])
    weighted = bp.Queries(DATA.y, group=DATA.group, weight=rows.astype(float), labels_by_name=LABELS)
    assert np.isfinite(bp.AdaRank().on("click").gradient_hessian(SCORES, weighted)[0]).all()


def test_labels_by_name_alone():
    queries = bp.Queries(None, group=DATA.group, labels_by_name=LABELS)
    np.testing.assert_array_equal(
        bp.MPBoost().on("sale").gradient_hessian(SCORES, queries)[0], bp.MPBoost().gradient_hessian(SCORES, ON_SALE)[0]
    )


# Frameworks


@every_framework
def test_datasets_and_rankers_train_on_both(F):
    data = F.data(F.kinds[0], data=DATA.X, label=DATA.y, group=DATA.group)
    bp.set_labels(data, click=CLICK)
    bp.set_labels(data, {"sale": SALE})  # the other one stays
    ranker = F.fit(LOSS, DATA.X, DATA.y, qid=DATA.qid, labels=LABELS)
    np.testing.assert_allclose(F.predict(F.train(LOSS, data)[0], DATA.X), ranker.predict(DATA.X), rtol=1e-6)


@every_framework
def test_rankers_take_labels_of_validation_sets_and_score_by_them(F):
    n = int(DATA.group[:20].sum())
    half = {label: values[:n] for label, values in LABELS.items()}
    valid = {"valid": (DATA.X[:n], DATA.y[:n], DATA.qid[:n]), "eval_labels": [half], "metric": METRIC}
    ranker = F.fit(LOSS, DATA.X, DATA.y, qid=DATA.qid, labels=LABELS, **valid)
    (values,) = F.history(ranker).values()
    score = ranker.score(DATA.X[:n], DATA.y[:n], qid=DATA.qid[:n], labels=half, metric=METRIC.name)
    assert values[-1] == pytest.approx(score, abs=F.digits)


@pytest.mark.parametrize(
    ("value", "cause"),
    [(np.nan, "no row is labelled"), (0.0, "none of the 40 queries holds two documents of different grades")],
)
def test_a_label_that_teaches_nothing_is_named_as_the_cause(value, cause):
    """The same in both frameworks: LightGBM's zeros in place of missing labels are in `y` only."""
    loss = bp.RankNet().on("view")
    for F in FRAMEWORKS.values():
        with pytest.warns(UserWarning, match="nothing to learn") as caught:
            F.fit(loss, DATA.X, DATA.y, qid=DATA.qid, labels={"view": np.full(DATA.n_rows, value)})
        assert str(caught[0].message).startswith(f"{loss!r} has nothing to learn from: {cause}")


# Data sets and comparisons


def test_ranking_data_hold_them():
    data = bp.RankingData(DATA.X, DATA.y, qid=DATA.qid, labels=LABELS)
    assert METRIC(SCORES, data.queries) == METRIC(SCORES, QUERIES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data)).labels["sale"], SALE)


def test_compare_takes_label_columns_of_a_frame():
    frame = pd.DataFrame(DATA.X, columns=[f"f{i}" for i in range(DATA.X.shape[1])])
    frame = frame.assign(y=DATA.y, query=DATA.qid, **LABELS)
    result = bp.compare(
        frame, label="y", qid="query", labels=["click", "sale"], losses=[LOSS], baselines="lambdarank", rounds=3,
        seeds=1, frameworks="lightgbm", metrics=["NDCG@5", METRIC, "NDCG@5.on(click)"], metric=METRIC,
    )  # fmt: skip
    assert not result.failed
    assert result.document["data"]["features"] == DATA.X.shape[1]
    assert {"NDCG@5", "NDCG@5.on(sale)", "NDCG@5.on(click)"} <= set(result.to_frame().columns)


def test_compare_leaves_out_a_loss_that_does_not_take_the_label_that_it_reads():
    labels = {"click": (DATA.y > 1).astype(float), "change": DATA.y - 2.0}
    parts = [bp.RankingData(DATA.X, DATA.y, qid=DATA.qid, labels=labels)] * 3
    assert DATA.y.max() > 1.0
    taken = [bp.RankNet().on("change"), bp.RankNet() + bp.CalibratedSoftmax(max_grade=1.0).on("click")]
    refused = [bp.NDCGBoost().on("change"), bp.RankNet() + bp.NDCGBoost().on("change")]
    given = {"baselines": "lambdarank", "rounds": 1, "seeds": 1, "frameworks": "lightgbm"}
    result = bp.compare(*parts, losses=["all", *taken, *refused], **given)
    names = {method["method"] for method in result.document["methods"]}
    assert taken[1].name in names
    notes = " ".join(result.document["notes"])
    assert f"{taken[0].name} in lightgbm has the scores of RankNet in lightgbm in every run" in notes  # by its pairs
    assert not {loss.name for loss in refused} & names
    assert "do not take labels from" in notes

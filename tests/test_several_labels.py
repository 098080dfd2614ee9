"""Several labels at once: `Queries.labels_by_name`, ``fit(labels=)``, ``.on`` of losses and metrics."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

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
    for one, other in zip(
        (bound.value(SCORES, QUERIES), *bound.gradient_hessian(SCORES, QUERIES)),
        (loss.value(SCORES, ON_SALE), *loss.gradient_hessian(SCORES, ON_SALE)),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    assert bound.scale(QUERIES) == loss.scale(ON_SALE)
    assert replace(bound.traits, pairs=loss.traits.pairs) == loss.traits


def test_a_sum_of_bound_losses_has_the_sum_of_their_derivatives():
    for found, a, b in zip(
        LOSS.gradient_hessian(SCORES, QUERIES),
        bp.QBRank().gradient_hessian(SCORES, ON_CLICK),
        bp.RankNet().gradient_hessian(SCORES, ON_SALE),
        strict=True,
    ):
        np.testing.assert_allclose(found, a + 2.0 * b, rtol=1e-12, atol=1e-12)


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
    with pytest.raises(ValueError, match="pairs= or labels_by_name="):
        bp.Queries(None, group=DATA.group)


# Frameworks


def test_lightgbm_trains_on_both():
    lgb = pytest.importorskip("lightgbm")
    params = {"objective": LOSS, "verbose": -1, "num_leaves": 7, "min_data_in_leaf": 5}

    def dataset():
        data = lgb.Dataset(DATA.X, DATA.y, group=DATA.group, free_raw_data=False)
        bp.set_labels(data, click=CLICK)
        bp.set_labels(data, {"sale": SALE})  # the other one stays
        return data

    ranker = bp.LGBMRanker(objective=LOSS, n_estimators=5, num_leaves=7, min_child_samples=5, verbose=-1)
    ranker.fit(DATA.X, DATA.y, qid=DATA.qid, labels=LABELS)
    booster = lgb.train(params, dataset(), 5)
    np.testing.assert_allclose(booster.predict(DATA.X), ranker.predict(DATA.X), rtol=1e-9)


@pytest.mark.parametrize("name", ["LGBMRanker", "XGBRanker"])
def test_rankers_take_labels_of_validation_sets_and_score_by_them(name):
    pytest.importorskip({"LGBMRanker": "lightgbm", "XGBRanker": "xgboost"}[name])
    n = int(DATA.group[:20].sum())
    own, fitting = ({"eval_metric": METRIC}, {}) if name == "XGBRanker" else ({"verbose": -1}, {"eval_metric": METRIC})
    ranker = getattr(bp, name)(objective=LOSS, n_estimators=4, **own)
    ranker.fit(
        DATA.X, DATA.y, qid=DATA.qid, labels=LABELS, eval_set=[(DATA.X[:n], DATA.y[:n])], eval_qid=[DATA.qid[:n]],
        eval_labels=[{label: values[:n] for label, values in LABELS.items()}], **fitting,
    )  # fmt: skip
    results = ranker.evals_result_ if name == "LGBMRanker" else ranker.evals_result()
    told = next(iter(next(iter(results.values())).values()))
    half = {label: values[:n] for label, values in LABELS.items()}
    score = ranker.score(DATA.X[:n], DATA.y[:n], qid=DATA.qid[:n], labels=half, metric=METRIC.name)
    assert told[-1] == pytest.approx(score)


@pytest.mark.parametrize(
    ("value", "cause"),
    [(np.nan, "no row is labelled"), (0.0, "none of the 40 queries holds two documents of different grades")],
)
def test_a_label_that_teaches_nothing_is_named_as_the_cause(value, cause):
    """The same in both frameworks: LightGBM's zeros in place of missing labels are in `y` only."""
    loss = bp.RankNet().on("view")
    for kind in (bp.LGBMRanker, bp.XGBRanker):
        ranker = kind(objective=loss, n_estimators=2)
        with pytest.warns(UserWarning, match="nothing to learn") as caught:
            ranker.fit(DATA.X, DATA.y, qid=DATA.qid, labels={"view": np.full(DATA.n_rows, value)})
        assert str(caught[0].message).startswith(f"{loss!r} has nothing to learn from: {cause}")


# Data sets and comparisons


def test_ranking_data_hold_them():
    data = bp.RankingData(DATA.X, DATA.y, qid=DATA.qid, labels=LABELS)
    assert METRIC(SCORES, data.queries) == METRIC(SCORES, QUERIES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data)).labels["sale"], SALE)


def test_compare_takes_label_columns_of_a_frame():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("lightgbm")
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
    pytest.importorskip("lightgbm")
    labels = {"click": (DATA.y > 1).astype(float), "change": DATA.y - 2.0}
    parts = [bp.RankingData(DATA.X, DATA.y, qid=DATA.qid, labels=labels)] * 3
    assert DATA.y.max() > 1.0
    taken = [bp.RankNet().on("change"), bp.RankNet() + bp.CalibratedSoftmax(max_grade=1.0).on("click")]
    refused = [bp.NDCGBoost().on("change"), bp.RankNet() + bp.NDCGBoost().on("change")]
    result = bp.compare(
        *parts, losses=["all", *taken, *refused], baselines="lambdarank", rounds=1, seeds=1, frameworks="lightgbm"
    )
    names = {method["method"] for method in result.document["methods"]}
    assert taken[1].name in names
    notes = " ".join(result.document["notes"])  # its pairs are those of RankNet
    assert (
        f"{taken[0].name} in lightgbm has the scores of RankNet in lightgbm in every run, so both are one row" in notes
    )
    assert not {loss.name for loss in refused} & names
    assert any("do not take labels from" in note for note in result.document["notes"])

"""Sums of losses, and CRR, a sum with a name of its own: values, derivatives, names, parameters, expressions."""

import itertools
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

import boostplug as bp
from boostplug.losses import LOSSES

SQUARES = bp.QBRank(preference_weight=0.0)
BOTH = 0.7 * bp.NDCGBoost() + 0.3 * SQUARES
BOUND, GLOBAL = bp.QBRank(), bp.QBRank(hessian="global")
EXACT, MODEL = bp.MPBoost(), bp.NDCGBoost()


def problem(seed=0, spread=1.0, **more):
    rng = np.random.default_rng(seed)
    group = rng.integers(1, 12, 8)
    n = int(group.sum())
    return spread * rng.normal(size=n), bp.Queries(rng.integers(0, 5, n), group=group, **more)


# What it is


def test_operators_make_the_same_sum():
    expected = bp.LossSum(parts=(bp.NDCGBoost(), SQUARES), weights=(0.7, 0.3))
    for same in (
        BOTH,
        bp.NDCGBoost() * 0.7 + SQUARES * 0.3,
        np.float64(0.7) * bp.NDCGBoost() + SQUARES * np.float64(0.3),
        Fraction(7, 10) * bp.NDCGBoost() + Fraction(3, 10) * SQUARES,
        sum([0.7 * bp.NDCGBoost(), 0.3 * SQUARES]),
        0.5 * (1.4 * bp.NDCGBoost() + 0.6 * SQUARES),
        bp.LossSum(parts=[bp.NDCGBoost() + 0.3 / 0.7 * SQUARES], weights=[0.7]),
        pickle.loads(pickle.dumps(BOTH)),
    ):
        assert same.parts == expected.parts
        np.testing.assert_allclose(same.weights, expected.weights, rtol=1e-15)
        assert all(type(weight) is float for weight in same.weights)
    assert expected == BOTH
    assert hash(BOTH) == hash(expected)
    assert repr(BOTH) == repr(expected)
    assert SQUARES + bp.NDCGBoost() != bp.NDCGBoost() + SQUARES  # it is read from left to right
    assert 2 * EXACT != EXACT + EXACT  # nor are equal parts put together
    assert sum([EXACT]) is EXACT


def test_a_sum_within_a_sum_is_its_parts():
    nested = 2 * (BOTH + 0.5 * (EXACT + BOUND)) + bp.RankNet()
    assert nested.parts == (bp.NDCGBoost(), SQUARES, EXACT, BOUND, bp.RankNet())
    assert nested.weights == (1.4, 0.6, 1.0, 1.0, 1.0)
    assert (bp.AdaRank(base=BOTH) + EXACT).parts == (bp.AdaRank(base=BOTH), EXACT)


# Numbers

SUMS = [
    BOTH,
    2.5 * bp.RankNet(),
    EXACT + bp.MPBoost(distance=bp.LinearDistance()) + 0.5 * MODEL,
    3 * BOUND + 1e-3 * bp.RankNet(normalization="query") + 0.5 * EXACT,
    0.25 * bp.AdaRank(base=EXACT) + bp.AdaRank() + SQUARES,
    BOUND + 2 * GLOBAL,
    0.5 * bp.ListNet() + bp.SquaredError(centred=True),
]


@pytest.mark.parametrize("loss", SUMS, ids=lambda loss: loss.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_added_each_at_its_scale(loss, weighted):
    scores, queries = problem()
    if weighted:
        queries = queries.replaced(weight=50 * np.random.default_rng(1).random(len(scores)))
    terms = list(zip(loss.parts, loss.weights, strict=True))
    outputs = sum(a * np.array(part.gradient_hessian(scores, queries)) for part, a in terms)
    value = sum(a * part.scale(queries) * part.value(scores, queries) for part, a in terms)
    np.testing.assert_allclose(loss.gradient_hessian(scores, queries), outputs, rtol=1e-12)
    np.testing.assert_allclose(loss.value(scores, queries), value, rtol=1e-12)
    assert loss.scale(queries) == 1.0
    numerators, denominators = loss.scale_terms(queries)
    of_parts = [part.scale(queries) for part in loss.parts]
    np.testing.assert_allclose(numerators / denominators, of_parts, rtol=1e-14)


@pytest.mark.parametrize("weight", [np.nan, True, 1e101, "1"])
def test_weights_are_at_least_0_and_at_most_1e100(weight):
    message = r"LossSum: the weight of .* number of at least 0 and of at most 1e\+100; got"
    for make in (lambda: bp.LossSum(parts=[EXACT], weights=[weight]), lambda: 1e60 * (1e60 * BOTH)):
        with pytest.raises(ValueError, match=message):
            make()


def test_a_part_of_weight_0_changes_nothing():
    scores, queries = problem()
    for loss in (1.0 * EXACT + 0.0 * BOUND, 0 * BOUND + EXACT):
        np.testing.assert_array_equal(loss.gradient_hessian(scores, queries), EXACT.gradient_hessian(scores, queries))
        assert not [name for name in loss.search_space if name.startswith("weight") and loss.parameters()[name] == 0]


@pytest.mark.parametrize("spread", [1.0, 300.0])
@pytest.mark.parametrize("weight", [1e-100, 5e-324, 1e100])
def test_weights_of_any_size_keep_the_hessian_beside_the_gradient(weight, spread):
    scores, queries = problem(spread=spread)
    for other in (bp.NDCGBoost(), EXACT, bp.RankNet()):
        for loss in (weight * other, weight * other + 1e-12 * EXACT, SQUARES + weight * (other + bp.RankNet())):
            g, h = loss.gradient_hessian(scores, queries)
            assert np.isfinite([g, h]).all()
            assert (h[g != 0] > 0).all()
            assert np.isfinite(loss.value(scores, queries)).all()


# Parameters


def test_parameters_stand_under_the_parts_names():
    assert BOTH.parameters(deep=False) == {"parts": BOTH.parts, "weights": BOTH.weights}
    listed = BOTH.parameters()
    assert {name: listed[name] for name in ("part_1", "weight_1", "part_2", "part_2__margin")} == {
        "part_1": bp.NDCGBoost(),
        "weight_1": 0.7,
        "part_2": SQUARES,
        "part_2__margin": "grade",
    }
    assert BOTH.with_params(**listed) == BOTH
    changed = BOTH.with_params(weight_2=0.5, part_2__preference_weight=0.2, part_1=bp.NDCGBoost(gain="linear"))
    assert changed == 0.7 * bp.NDCGBoost(gain="linear") + 0.5 * bp.QBRank(preference_weight=0.2)
    assert BOTH.with_params(part_1=bp.RankNet(), part_1__sigmoid=2.0) == 0.7 * bp.RankNet(sigmoid=2.0) + 0.3 * SQUARES
    assert BOTH.with_params(weights=(1, 2)) == bp.NDCGBoost() + 2 * SQUARES
    assert BOTH.with_params(part_2=EXACT + bp.RankNet()).weights == (0.7, 0.3, 0.3)
    deep = bp.AdaRank(base=BOTH).with_params(base__weight_2=0.1, base__part_1__sigmoid=2.0)
    assert deep.base == 0.7 * bp.NDCGBoost(sigmoid=2.0) + 0.1 * SQUARES


def test_a_search_draws_parts_and_the_balance():
    drawn = {}

    class Trial:
        def suggest_float(self, name, low, high, *, log):
            drawn[name] = (low, high)
            return low

        def suggest_categorical(self, name, choices):
            drawn[name] = choices
            return choices[-1]

    found = bp.suggest(Trial(), BOTH)
    own = {name: values for name, values in drawn.items() if "weight" in name}
    assert own == {"objective__weight_2": (0.3 / 8, 0.3 * 8), "objective__part_2__preference_weight": (0.0, 1.0)}
    assert found.weights == (0.7, 0.3 / 8)
    assert found.parts[0] == bp.NDCGBoost(sigmoid=0.25, hessian="global", normalization="query")
    assert drawn.keys() == {f"objective__{name}" for name in BOTH.search_space}


# Expressions


def test_every_registered_loss_is_read_back():
    nested = bp.AdaRank(metric=bp.NDCG(5), base=bp.MPBoost(distance=bp.LogDistance(lam=2.0)))
    for loss in (*itertools.chain(*LOSSES.values()), nested, bp.AdaRank(metric=bp.MAP(), base=BOTH), nested + BOTH):
        assert bp.Loss.parse(repr(loss)) == (loss,)
        spelt = re.sub(r"[A-Z]\w+(?=\()", lambda found: f"bp.{found[0].lower()}", repr(loss))
        assert bp.Loss.parse(spelt) == (loss,)
        names = {name: getattr(bp, name) for name in re.findall(r"[A-Z]\w+(?=\()", repr(loss))}
        assert eval(repr(loss), names) == loss  # noqa: S307 (our own text)
    assert bp.Loss.parse(repr(2 * BOTH)) == (2 * BOTH,)
    assert bp.Loss.parse(repr(1e-17 / 3 * EXACT)) == (1e-17 / 3 * EXACT,)


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        (".7*NDCGBoost()+.3*qbrank", 0.7 * bp.NDCGBoost() + 0.3 * bp.QBRank()),
        ("2*(mpboost + .25*RankNet(sigmoid=2))", 2 * EXACT + 0.5 * bp.RankNet(sigmoid=2)),
        (" crr + mpboost ", bp.CRR() + bp.MPBoost()),
        ("boostplug.AdaRank(metric=MRR(), base=qbrank)", bp.AdaRank(metric=bp.MRR(), base=bp.QBRank())),
        ("LossSum(parts=(RankNet(), MPBoost()), weights=[1, 2])", bp.RankNet() + 2 * EXACT),
        ("0.5*listnet + SquaredError", 0.5 * bp.ListNet() + bp.SquaredError()),
        ("RankNet(sigmoid=np.float64(0.5))", bp.RankNet(sigmoid=0.5)),  # as NumPy 2 shows a parameter of a grid
        ("LambdaRank(metric=MAP(k=np.int64(3)))", bp.LambdaRank(metric=bp.MAP(3))),
    ],
)
def test_expressions(text, loss):
    assert bp.Loss.parse(text) == (loss,)


@pytest.mark.parametrize(
    "text",
    ["ndcg - boost", "QBRank(0.3)", "QBRank(margin=0", "-1*qbrank", "LogDistance()", "0.7*ndcg + qbrank", "'a'*qbrank",
     "qbrank/2", "[1]*9*qbrank", "__import__('os').getcwd()", "RankNet(**{})", None, b"qbrank"],
)  # fmt: skip
def test_texts_that_are_no_loss(text):
    with pytest.raises(ValueError, match=r"there is no|is not a loss"):
        bp.Loss.parse(text)


# CRR


@pytest.mark.parametrize("w", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("pair_loss", "label_loss"),
    [
        (bp.RankNet(normalization="rows"), bp.SquaredError()),
        (0.5 * bp.RankNet() + 0.5 * bp.NDCGBoost(), bp.LogisticError(max_grade=4.0)),
    ],
)
def test_crr_is_the_sum_of_its_losses(w, pair_loss, label_loss):
    scores, queries = problem()
    one = bp.CRR(preference_weight=w, pair_loss=pair_loss, label_loss=label_loss)
    other = sum(weight * loss for weight, loss in ((w, pair_loss), (1.0 - w, label_loss)) if weight > 0.0)
    for method in ("value", "gradient_hessian", "totals"):
        np.testing.assert_array_equal(*(getattr(loss, method)(scores, queries) for loss in (one, other)))
    assert one.traits == other.traits


def test_crrs_parameters_are_its_own():
    loss = bp.CRR(preference_weight=0.3, pair_loss=bp.RankNet(sigmoid=2.0))
    params = loss.parameters()
    assert params["preference_weight"] == 0.3
    assert params["pair_loss__sigmoid"] == 2.0
    assert loss.with_params(pair_loss__sigmoid=3.0, preference_weight=0.1).name == "CRR(.1, RankNet(3))"
    assert "parts" not in params

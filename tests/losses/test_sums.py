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
every_sum = pytest.mark.parametrize("loss", SUMS, ids=lambda loss: loss.name)


@every_sum
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_added_each_at_its_scale(loss, weighted):
    rng = np.random.default_rng(1)
    scores, queries = problem()
    if weighted:
        queries = bp.Queries(queries.labels, group=np.diff(queries.boundaries), weight=50 * rng.random(len(scores)))
    terms = list(zip(loss.parts, loss.weights, strict=True))
    gradient = sum(a * part.gradient_hessian(scores, queries)[0] for part, a in terms)
    hessian = sum(a * part.gradient_hessian(scores, queries)[1] for part, a in terms)
    value = sum(a * part.scale(queries) * part.value(scores, queries) for part, a in terms)
    np.testing.assert_allclose(loss.gradient_hessian(scores, queries), (gradient, hessian), rtol=1e-12)
    np.testing.assert_allclose(loss.value(scores, queries), value, rtol=1e-12)
    assert loss.scale(queries) == 1.0
    numerators, denominators = loss.scale_terms(queries)
    of_parts = [part.scale(queries) for part in loss.parts]
    np.testing.assert_allclose(numerators / denominators, of_parts, rtol=1e-14)


@pytest.mark.parametrize(
    "make",
    [
        lambda: -1.0 * EXACT,
        lambda: np.nan * EXACT,
        lambda: True * EXACT,
        lambda: 1e101 * EXACT,
        lambda: 1e60 * (1e60 * BOTH),
        lambda: bp.LossSum(parts=[EXACT], weights=["1"]),
    ],
)
def test_weights_are_at_least_0_and_at_most_1e100(make):
    with pytest.raises(ValueError, match=r"LossSum: the weight of .* number of at least 0 and of at most 1e\+100; got"):
        make()


def test_a_part_of_weight_0_changes_nothing():
    scores, queries = problem()
    for loss in (1.0 * EXACT + 0.0 * BOUND, 0 * BOUND + EXACT):
        for ours, alone in zip(
            loss.gradient_hessian(scores, queries), EXACT.gradient_hessian(scores, queries), strict=True
        ):
            np.testing.assert_array_equal(ours, alone)
        assert not [name for name in loss.search_space if name.startswith("weight") and loss.parameters()[name] == 0]


# What holds of it


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ((EXACT, bp.RankNet()), "exact"),
        ((BOUND, bp.MPBoost(hessian="bound")), "bound"),
        ((GLOBAL, bp.NDCGBoost(hessian="global")), "global"),
        ((GLOBAL, BOUND), "bound"),
        ((EXACT, BOUND), "model"),
        ((EXACT, GLOBAL), "model"),
        ((MODEL, GLOBAL), "model"),
    ],
)
def test_the_hessian_is_of_the_weakest_kind_that_holds(parts, kind):
    for order in itertools.permutations(parts):
        loss = sum(0.5 * part for part in order)
        assert loss.hessian_kind == kind


def test_what_holds_for_all_parts_holds_for_the_sum():
    linear = bp.MPBoost(distance=bp.LinearDistance())
    for loss, expected in (
        (BOTH, (False, False, False, False, True)),
        (EXACT + bp.RankNet(), (True, True, True, False, True)),
        (bp.RankNet() + bp.MPBoost(distance=bp.BinaryDistance()), (True, True, True, False, True)),
        (SQUARES + BOUND, (False, True, True, False, True)),
        (linear + 2 * linear, (True, True, True, False, True)),
        (linear + SQUARES, (False, True, True, False, True)),
        (EXACT + bp.AdaRank(), (True, False, False, True, False)),
    ):
        found = (loss.traits.shift_invariant, loss.traits.pairs, loss.traits.labels.least < 0.0, loss.couples_queries)
        assert (*found, loss.traits.gradient_of_value) == expected, loss


@pytest.mark.parametrize("loss", [SUMS[3], SUMS[-1]])
def test_properties_hold(loss):
    bp.testing.check_loss(loss)


# Sizes of numbers


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


class Trial:
    def __init__(self):
        self.drawn = {}

    def suggest_float(self, name, low, high, *, log):
        self.drawn[name] = (low, high)
        return low

    def suggest_categorical(self, name, choices):
        self.drawn[name] = choices
        return choices[-1]


def test_a_search_draws_parts_and_the_balance():
    trial = Trial()
    found = bp.suggest(trial, BOTH)
    own = {name: drawn for name, drawn in trial.drawn.items() if "weight" in name}
    assert own == {"objective__weight_2": (0.3 / 8, 0.3 * 8), "objective__part_2__preference_weight": (0.0, 1.0)}
    assert found.weights == (0.7, 0.3 / 8)
    assert found.parts[0] == bp.NDCGBoost(sigmoid=0.25, hessian="global", normalization="query")
    assert trial.drawn.keys() == {f"objective__{name}" for name in BOTH.search_space}


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


def problem_of_crr(rng, n=40):
    return rng.normal(size=n), bp.Queries(rng.integers(0, 5, n), group=[n - 15, 15], weight=0.5 + rng.random(n))


@pytest.mark.parametrize("w", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("pair_loss", "label_loss"),
    [
        (bp.RankNet(normalization="rows"), bp.SquaredError()),
        (bp.MPBoost(), bp.LogisticError(max_grade=4.0)),
        (0.5 * bp.RankNet() + 0.5 * bp.NDCGBoost(), bp.SquaredError(centred=True)),
    ],
)
def test_it_is_the_sum_of_its_losses(w, pair_loss, label_loss):
    scores, queries = problem_of_crr(np.random.default_rng(0))
    one = bp.CRR(preference_weight=w, pair_loss=pair_loss, label_loss=label_loss)
    parts = [weight * loss for weight, loss in ((w, pair_loss), (1.0 - w, label_loss)) if weight > 0.0]
    other = sum(parts)
    np.testing.assert_array_equal(one.value(scores, queries), other.value(scores, queries))
    for x, y in zip(one.gradient_hessian(scores, queries), other.gradient_hessian(scores, queries), strict=True):
        np.testing.assert_array_equal(x, y)
    assert one.hessian_kind == other.hessian_kind
    assert one.traits.labels == other.traits.labels


def test_its_repr_and_parameters_are_its_own():
    loss = bp.CRR(preference_weight=0.3, pair_loss=bp.RankNet(sigmoid=2.0))
    assert bp.Loss.parse(repr(loss)) == (loss,)
    assert bp.Loss.parse("crr") == (bp.CRR(),)
    assert pickle.loads(pickle.dumps(loss)) == loss
    params = loss.parameters()
    assert params["preference_weight"] == 0.3
    assert params["pair_loss__sigmoid"] == 2.0
    assert loss.with_params(pair_loss__sigmoid=3.0, preference_weight=0.1).name == "CRR(.1, RankNet(3))"
    assert "parts" not in params

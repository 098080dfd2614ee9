"""Hostile values wherever a user may pass one: an error of ours that shows the value, shortened, or none at all."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import boostplug as bp
from boostplug.core.checks import check_integer, check_number, numbers


class Wordy:
    def __repr__(self):
        return "wordy\n" * 1000


class Unwritable:
    def __repr__(self):
        raise RuntimeError("no repr")


HOSTILE = {
    "10^400": 10**400,
    "-10^400": -(10**400),
    "an int of 5,000 digits": 10**5000,
    "2^62": 2**62,
    "2^64": 2**64,
    "-1": -1,
    "NaN": np.nan,
    "inf": np.inf,
    "1e308": 1e308,
    "5e-324": 5e-324,
    "text": "1",
    "long text": "a" * 100_000,
    "bytes": b"x",
    "None": None,
    "True": True,
    "complex": 1j,
    "wordy": Wordy(),
    "unwritable": Unwritable(),
    "list": [1, 2],
    "empty": [],
    "dict": {},
    "fraction": Fraction(1, 3),
    "huge fraction": Fraction(10**400),
    "decimal": Decimal("1e400"),
    "decimal NaN": Decimal("nan"),
    "no time": np.datetime64("NaT", "s"),
    "a second": np.timedelta64(1, "s"),
    "half": np.float16(3),
    "beyond float64": np.longdouble(2) ** 2000,
    "range": range(3),
    "class": float,
}


def objects(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


PAIR = bp.Pairs([0], [1])
QUERIES = bp.Queries([1, 0], group=[2])
TAKERS = {
    "labels": lambda v: bp.Queries(v, group=[2]),
    "a label": lambda v: bp.Queries([v, 0], group=[2]),
    "an object label": lambda v: bp.Queries(objects(v, 0), group=[2]),
    "group": lambda v: bp.Queries([1, 0], group=v),
    "a size": lambda v: bp.Queries([1, 0], group=[v, 2]),
    "a size without labels": lambda v: bp.Queries(None, group=[v, 2], pairs=PAIR),
    "group without labels": lambda v: bp.Queries(None, group=v, pairs=PAIR),
    "qid": lambda v: bp.Queries([1, 0], qid=v),
    "an id": lambda v: bp.Queries([1, 0, 1], qid=[v, 2, v]),
    "an object id": lambda v: bp.Queries([1, 0, 1], qid=objects(v, 2, v)),
    "weight": lambda v: bp.Queries([1, 0], group=[2], weight=v),
    "a weight": lambda v: bp.Queries([1, 0], group=[2], weight=[v, 1]),
    "labelled": lambda v: bp.Queries([1, 0], group=[2], labelled=v),
    "a labelled": lambda v: bp.Queries([1, 0], group=[2], labelled=[v, True]),
    "labelled without labels": lambda v: bp.Queries(None, group=[2], labelled=v, pairs=PAIR),
    "pairs": lambda v: bp.Queries([1, 0], group=[2], pairs=v),
    "winner": lambda v: bp.Pairs(v, [1]),
    "a winner": lambda v: bp.Pairs([v, 5], [3, 4]),
    "a loser": lambda v: bp.Pairs([3, 4], objects(v, 5)),
    "weight of pairs": lambda v: bp.Pairs([0, 1], [1, 0], weight=v),
    "a pair's weight": lambda v: bp.Pairs([0, 1], [1, 0], weight=[v, 1]),
    "a pair's margin": lambda v: bp.Pairs([0, 1], [1, 0], margin=objects(v, 1)),
    "scores": lambda v: bp.RankNet().value(v, QUERIES),
    "a score": lambda v: bp.RankNet().gradient_hessian([v, 1], QUERIES),
    "a metric's score": lambda v: bp.MAP()([v, 1], QUERIES),
    "distance": lambda v: bp.MPBoost(distance=v),
    "hessian": lambda v: bp.MPBoost(hessian=v),
    "margin": lambda v: bp.QBRank(margin=v),
    "preference_weight": lambda v: bp.QBRank(preference_weight=v),
    "NDCGBoost's sigmoid": lambda v: bp.NDCGBoost(sigmoid=v),
    "RankNet's sigmoid": lambda v: bp.RankNet(sigmoid=v),
    "gain": lambda v: bp.NDCG(gain=v),
    "metric": lambda v: bp.AdaRank(metric=v),
    "base": lambda v: bp.AdaRank(base=v),
    "lam": lambda v: bp.LogDistance(lam=v),
    "k": lambda v: bp.NDCG(v)([1, 0], QUERIES),
    "MAP's k": lambda v: bp.MAP(v)([1, 0], QUERIES),
    "ERR's k": lambda v: bp.ERR(v)([1, 0], QUERIES),
    "Precision's k": lambda v: bp.Precision(v)([1, 0], QUERIES),
    "relevant": lambda v: bp.MAP(relevant=v)([1, 0], QUERIES),
    "max_grade": lambda v: bp.ERR(max_grade=v)([1, 0], QUERIES),
    "empty": lambda v: bp.MAP(empty=v),
    "ties": lambda v: bp.MAP(ties=v),
    "pooled": lambda v: bp.PairError(pooled=v),
    "p": bp.PrecisionAtPercent,
    "a loss by its name": bp.Loss.parse,
    "a metric by its name": bp.Metric.parse,
    "n_splits": lambda v: bp.group_folds([1, 1, 2, 2], v),
    "random_state": lambda v: bp.group_folds([1, 1, 2, 2], 2, shuffle=True, random_state=v),
}


@pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")  # NumPy's, of a second beside a number
@pytest.mark.parametrize("taker", TAKERS)
def test_hostile_values_are_taken_or_refused_in_words(taker):
    for what, value in HOSTILE.items():
        try:
            TAKERS[taker](value)
        except ValueError as error:
            text = str(error)
            assert len(text) < 400, f"{what}: {len(text)} characters"
            for foreign in ("Exceeds the limit", "inhomogeneous", "could not convert", "ambiguous", "entropy"):
                assert foreign not in text, f"{what}: {text}"
        except TypeError as error:
            assert "hashable" in str(error), f"{what}: {error}"  # noqa: PT017 (most values raise ValueError)


@pytest.mark.parametrize("weight", [1e-100, 1e100, 1.401298464324817e-45, 3.4028234663852886e38])
def test_every_weight_of_single_precision_and_more_is_one(weight):
    assert bp.Queries([1, 0], group=[2], weight=[weight, 0.0]).row_weight.tolist() == [weight, 0.0]
    assert bp.Pairs([0], [1], weight=[weight], margin=[weight]).margin[0] == weight


def test_integers_and_numbers_have_their_limits():
    assert check_integer("k", 2**63 - 1, 1) == 2**63 - 1
    assert check_integer("k", np.int8(3), 1) == 3
    with pytest.raises(ValueError, match=rf"^k must be an integer of at most {2**63 - 1}; got {2**63}$"):
        check_integer("k", 2**63, 1)
    with pytest.raises(ValueError, match=r"^k must be an integer of at least 1; got 3\.0$"):
        check_integer("k", np.float16(3), 1)
    with pytest.raises(ValueError, match=r"^x must be a finite number; got 1000"):
        check_number("x", 10**400)
    with pytest.raises(ValueError, match=r"^y\[1\] = wordy wordy .* is not a real number within ±1\.8e308"):
        numbers("y", objects(1, Wordy()))
    with pytest.raises(ValueError, match=r"at least 1; got 3\.0; try 2$"):
        check_integer("k", 3.0, 1, remedy="try 2", most=2)


def test_numpy_does_not_warn_within_a_users_function():
    """What it returns is judged; the numbers that make NumPy warn are refused in words."""
    with pytest.raises(ValueError, match=r"gain must return values from 0 .* it returned nan for the grade -1\.0"):
        bp.NDCG(gain=np.sqrt)(np.zeros(2), bp.Queries([-1, 1], group=[2]))
    with pytest.raises(ValueError, match="condition 3"):
        bp.MPBoost(distance=lambda gap: 1e300 * gap * 1e300).value(np.zeros(2), bp.Queries([0, 1], group=[2]))

"""Losses and metrics as source text; parameters are read from the registries and the annotations."""

from functools import cache
from inspect import signature
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

from fuzz.source import HOSTILE, arguments, chosen

import boostplug as bp
from boostplug.losses import LOSSES
from boostplug.metrics import METRICS

__all__ = [
    "DISTANCES",
    "FAR",
    "LOSS_NAMES",
    "METRIC_NAMES",
    "POSITIVE",
    "constructed",
    "loss",
    "metric",
    "plain_loss",
    "pools",
]

POSITIVE = ("1.0", "0.5", "2", "3", "0.01", "20.0")
FAR = ("1e-8", "1e3", "1e-160", "1e160", "5e-324", "1e308", "np.float32(0.1)", "True", "Fraction(1, 3)")
DISTANCES = (
    *("bp.BinaryDistance()", "bp.LogDistance()", "bp.LinearDistance()", "bp.LogisticDistance()"),
    *("bp.LogDistance(lam=1e-3)", "bp.LinearDistance(alpha=5.0)", "bp.LogisticDistance(beta=1e-4)"),
    *("bp.LinearDistance(alpha=1e-9)", "bp.LogDistance(lam=1e9)", "bp.LogisticDistance(beta=100.0)"),
    *("np.sqrt", "np.square", "np.log1p", "tiny", "shifted"),
)
_BAD_FUNCTIONS = (  # of one array: distances and gains
    *("np.ones_like", "np.negative", "np.sum", "len", "nothing", "refusing", "too_long", "(lambda x: x * np.nan)"),
    *("(lambda x: x.tolist())", "(lambda x: x.astype(str))", "(lambda x: 1j * x)", "(lambda x: 1.0)", "np.cos"),
    *("(lambda x: x * np.inf)", "(lambda x: 0.0 * x)", "(lambda x: x[:, None])", "(lambda: 1)", "(lambda x: -x - 1)"),
    *("(lambda x: x.astype(object))", "(lambda x: np.exp(-x))", "(lambda x: 1e200 * x)", "(lambda x: 1e300 + x)"),
)
_VALID = {  # by the name of the parameter, beside what its annotation lists
    "sigmoid": POSITIVE,
    "distance": DISTANCES,
    "gain": ("halved", "np.sqrt", "np.log1p"),
    "k": ("10", "1", "2", "3", "5", "100", "1000000"),
    "relevant": ("1", "2", "0.5", "1.5", "0", "-1", "1e-5"),
    "max_grade": ("4", "1", "2.5", "10", "1000"),
    "p": ("0.8", "0.5", "0.95", "1e-9", "1 - 1e-16", "100", "50", "33.3", "1"),
    "margin": ("0.0", "1.0", "0.25", "1e-3", "100"),
    "preference_weight": ("0.5", "0.0", "1.0", "0.9", "1e-9"),
    "truncation": ("1", "2", "30"),
    "random_state": ("None", "0", "7", "np.random.RandomState(0)"),
    "metric": (
        *("bp.NDCG()", "bp.NDCG(None)", "bp.NDCG(2, gain='linear')", "bp.NDCG(3, convention='letor')", "bp.MAP()"),
        *("bp.NDCG(gain=halved)", "bp.MAP(2)", "bp.MAP(relevant=2)", "bp.DCG(3)", "bp.ERR()", "bp.WTA(empty=0)"),
    ),
    "loss": ("bp.QBRank()", "bp.RankNet()", "bp.MPBoost()", "bp.NDCGBoost()", "bp.AdaRank()", "bp.QBRank(margin=1.0)"),
    "regressor": ("None", "DecisionTreeRegressor(max_leaf_nodes=3)", "DummyRegressor()"),
    "classifier": ("None", "DecisionTreeClassifier(max_depth=1)"),
    "n_estimators": ("2",),
    "learning_rate": ("0.05", "1.0", "1e-9"),
    "patience": ("10", "1"),
    "max_thresholds": ("255", "2"),
    "max_leaf_nodes": ("20", "2"),
    "weight": ("lambda a, b: a - b", "lambda a, b: np.ones_like(a)", "lambda a, b: 1.0", "np.subtract"),
}
_EXTREME = {  # valid or not, but seldom what a user means
    "sigmoid": FAR,
    "distance": (*_BAD_FUNCTIONS, "bp.LogDistance(lam=1e-300)", "bp.LinearDistance(alpha=1e300)"),
    "gain": _BAD_FUNCTIONS,
    "margin": ("1e150", "1e-300", "5e-324", "1e308", "np.float32(1)"),
    "preference_weight": ("5e-324", "1e-300", "1 - 1e-16", "np.float16(0.5)", "True"),
    "metric": ("bp.MRR()", "bp.NDCG", "'NDCG@10'", "bp.NDCG(gain=np.negative)", "bp.MAP(relevant=1e300)"),
    "truncation": ("0", "-1", "2.5", "2**62", "True", "np.int8(3)"),
    "random_state": ("-1", "2**63", "1.5", "True", "np.int8(3)", "'0'", "np.random.default_rng(0)"),
    "max_grade": ("1e300", "5e-324"),
    "weight": (
        *("lambda a, b: b - a", "lambda a, b: (a - b) * np.nan", "lambda a, b: (a - b)[:1]", "lambda a: a", "nothing"),
        *("refusing", "lambda a, b: (a - b) * 1e300", "lambda a, b: (a - b).astype(str)", "lambda a, b: 0.0 * a"),
    ),
}
_FUNCTIONS = ("*LOGISTIC", "*SQUARED", "*HYPERBOLIC")  # value, first and second derivative by the score difference
_BAD_TRIPLES = (
    *("np.exp, np.exp, np.exp", "nothing, nothing, nothing", "refusing, refusing, refusing", "len, len, len"),
    *("np.sin, np.cos, lambda d: -np.sin(d)", "np.abs, np.sign, np.zeros_like", "np.square, np.square, np.square"),
    *("too_long, too_long, too_long", "1.0, 2.0, 3.0", "np.square, lambda d: 2.0 * d, lambda d: d * np.nan"),
    *("np.zeros_like, np.zeros_like, np.zeros_like", "lambda d: -d, lambda d: -np.ones_like(d), np.zeros_like"),
    *("np.square, lambda d: (2.0 * d).tolist(), lambda d: 2.0", "lambda d: d[:, None], np.ones_like, np.zeros_like"),
)
_COMPOSED = (bp.AdaRank, bp.LossSum, bp.PairwiseLoss, bp.Unbiased)
_SIMPLE = sorted(
    {type(one) for variants in LOSSES.values() for one in variants} - {*_COMPOSED}, key=lambda k: k.__name__
)
LOSS_NAMES = tuple(kind.__name__ for kind in (*_COMPOSED, *_SIMPLE))
METRIC_NAMES = tuple(sorted(kind.__name__ for kind in METRICS.values()))


def _listed(hint):
    """Return the texts of the values that an annotation lists."""
    if hint is bool:
        return ("False", "True")
    if hint is NoneType:
        return ("None",)
    if get_origin(hint) is Literal:
        return tuple(map(repr, get_args(hint)))
    return tuple(text for part in get_args(hint) for text in _listed(part)) if "Callable" not in repr(hint)[:30] else ()


@cache
def pools(kind):
    """Return texts of valid values for each parameter of a constructor."""
    hints = get_type_hints(kind.__init__)
    found = {name: _listed(hints.get(name)) + _VALID.get(name, ()) for name in signature(kind).parameters}
    return {name: texts for name, texts in found.items() if texts}


def constructed(dice, kind):
    """Return the text of an object, at times with an extreme or a hostile parameter."""
    given = chosen(dice, pools(kind))
    far = [name for name in pools(kind) if name in _EXTREME]
    if far and dice.spoils():
        name = dice.one(far)
        given[name] = dice.one(_EXTREME[name])
    return f"bp.{kind.__name__}({', '.join(f'{name}={text}' for name, text in given.items())})"


def plain_loss(dice, *, without=()):
    """Return the text of a loss that is composed of no other; `without`: names of parameters that stay as they are."""
    kind = dice.one(_SIMPLE)
    options = {name: texts for name, texts in pools(kind).items() if name not in without}
    return f"bp.{kind.__name__}({arguments(dice, options)})"


def loss(dice, *, nested=True):
    which = dice.below(17)
    if nested and which == 16:
        return f"({_weighted(dice)} + {_weighted(dice)})"
    if nested and which == 14:
        return f"bp.AdaRank(metric={metric(dice)}, base={loss(dice, nested=False)})"
    if which == 15:
        functions = dice.one(_BAD_TRIPLES if dice.spoils() else _FUNCTIONS)
        given = chosen(dice, pools(bp.PairwiseLoss))
        if dice.spoils():
            given["weight"] = dice.one(_EXTREME["weight"])
        return f"bp.PairwiseLoss({', '.join([functions, *(f'{name}={text}' for name, text in given.items())])})"
    return constructed(dice, _SIMPLE[which % len(_SIMPLE)])


def _weighted(dice):
    weight = dice.one(HOSTILE if dice.spoils() else ("0.7", "2", "0", "1e-3", "np.float64(0.3)", "1e100", "5e-324"))
    return dice.one(("{0} * {1}", "{1} * {0}", "{1} / {0}")).format(f"({weight})", loss(dice, nested=False))


def metric(dice):
    return constructed(dice, getattr(bp, dice.one(METRIC_NAMES)))

"""Losses, metrics and distances as frozen values: their parameters, new values of them, clones."""

import copy
from dataclasses import FrozenInstanceError, dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import boostplug as bp
from boostplug.core.values import Range, is_value, parameters_of, replaced
from boostplug.losses import LOSSES
from boostplug.metrics import METRICS


def double(gap):
    return 2.0 * gap


@dataclass(frozen=True)
class Power:
    """A distance of a user's own that derives from nothing of ours."""

    exponent: float = 0.5

    def __call__(self, gap):
        return gap**self.exponent


class OwnConstructor(bp.RankNet):
    """A loss whose constructor takes something else than its base's."""

    def __init__(self, *, steepness=1.0):
        super().__init__(sigmoid=2.0 * steepness)
        object.__setattr__(self, "steepness", steepness)


FUNCTIONS = (np.square, lambda d: 2.0 * d, lambda d: np.full_like(d, 2.0))
LOSS_VALUES = [loss for variants in LOSSES.values() for loss in variants]
VALUES = [
    *LOSS_VALUES,
    *(kind() for kind in METRICS.values()),
    bp.PairwiseLoss(*FUNCTIONS),
    bp.LogDistance(lam=2.0),
    bp.MPBoost(distance=double),
    bp.NDCG(5, gain=double),
    OwnConstructor(steepness=3.0),
]
every_value = pytest.mark.parametrize("value", VALUES)


def test_parameters_are_listed_by_name():
    loss = bp.AdaRank(metric=bp.MRR(), base=bp.MPBoost(distance=bp.LogDistance(lam=2.0)))
    assert loss.parameters(deep=False) == {"metric": loss.metric, "base": loss.base}
    assert loss.parameters()["base__distance__lam"] == 2.0
    assert loss.parameters().keys() == {
        *("metric", *(f"metric__{name}" for name in bp.MRR().parameters())),
        *("base", "base__hessian", "base__normalization", "base__distance", "base__distance__lam"),
    }
    assert bp.BinaryDistance().parameters() == {}
    assert bp.MPBoost(distance=double).parameters()["distance"] is double
    assert bp.MPBoost(distance=Power()).parameters()["distance__exponent"] == 0.5
    named = {"convention": "standard", "gain": "exp2", "ties": "average", "empty": None}
    assert bp.NDCG(5).parameters() == {"k": 5, **named}


@every_value
def test_every_value_is_rebuilt_cloned_and_copied(value):
    before = repr(value), hash(value)
    assert type(value)(**value.parameters(deep=False)) == value
    assert value.with_params() == value == value.with_params(**value.parameters())
    assert clone(value) is value
    assert clone([value], safe=False) == [value]
    assert copy.deepcopy(value) == copy.copy(value) == value
    assert (repr(value), hash(value)) == before


def test_new_values():
    loss = bp.AdaRank(base=bp.MPBoost())
    assert loss.with_params(base__distance__lam=1.0) == bp.AdaRank(base=bp.MPBoost(distance=bp.LogDistance(lam=1.0)))
    assert loss == bp.AdaRank(base=bp.MPBoost())
    both = loss.with_params(base__sigmoid=2.0, base=bp.RankNet(), metric__k=3)
    assert both == bp.AdaRank(metric=bp.NDCG(3), base=bp.RankNet(sigmoid=2.0))
    assert bp.MPBoost(distance=Power()).with_params(distance__exponent=2.0).distance == Power(2.0)
    assert OwnConstructor().with_params(steepness=3.0).sigmoid == 6.0
    assert parameters_of(Power()) == {"exponent": 0.5}
    assert replaced(Power(), {"exponent": 1.0}) == Power(1.0)
    assert [is_value(thing) for thing in (Power(), Power, bp.NDCG(), bp.NDCG, double, None, "grade")] == [
        *(True, False, True, False, False, False, False)
    ]


class Hidden(bp.RankNet):
    def __init__(self, *, share=1.0, sigmoid=1.0):
        super().__init__(sigmoid=sigmoid)
        object.__setattr__(self, "_share", share)


def test_no_new_value_forgets_what_a_constructor_keeps_otherwise():
    loss = Hidden()
    remedy = "its constructor must take its parameters by name and keep them as attributes of the same names"
    refused = f"cannot be rebuilt with other parameters; {remedy}|Invalid parameter 'sigmoid' for Passing"
    with pytest.raises(ValueError, match=refused):
        loss.with_params(sigmoid=3.0)
    with pytest.raises(ValueError, match=r"cannot be rebuilt|Invalid parameter"):
        bp.LGBMRanker(objective=loss).set_params(objective__sigmoid=3.0)


def test_values_are_never_changed_in_place():
    class Own(BaseEstimator):
        def __init__(self, loss=None):
            self.loss = loss

    own = Own(bp.QBRank())
    assert own.get_params() == {"loss": own.loss}
    with pytest.raises(TypeError, match=r"frozen value.*set a new value, value\.with_params\(margin=…\)"):
        own.set_params(loss__margin=1.0)
    assert own.set_params(loss=bp.QBRank(margin=1.0)).loss.margin == 1.0
    assert bp.QBRank().set_params() == bp.QBRank()
    with pytest.raises(FrozenInstanceError):
        bp.QBRank().margin = 1.0


@dataclass(frozen=True, kw_only=True)
class Own(bp.RankNet):
    scale_of: float = 2.0
    mode: Literal["a", "b"] = "a"
    flag: bool = True
    count: int = 3
    whole: float = 4
    maybe: float | None = None
    gain: Literal["exp2"] | object = "exp2"
    part: bp.Loss = field(default_factory=bp.RankNet)
    distance: object = Power()


def test_the_search_space_that_parameters_have_by_default():
    inner = dict(bp.RankNet().search_space)
    assert dict(Own().search_space) == {
        "sigmoid": Range(0.25, 4.0, log=True),
        "normalization": ("none", "rows", "query"),
        "scale_of": Range(0.25, 16.0, log=True),
        "mode": ("a", "b"),
        "flag": (False, True),
        "whole": Range(0.5, 32.0, log=True),
        **{f"part__{name}": space for name, space in inner.items()},
        "distance__exponent": Range(0.0625, 4.0, log=True),
    }


def test_the_search_ranges_of_classes():
    @dataclass(frozen=True, kw_only=True)
    class Sharp(bp.RankNet):
        sharpness: float = 0.5
        base: bp.Loss = bp.RankNet()  # noqa: RUF009 (an immutable value)
        search_ranges: ClassVar = {"sharpness": Range(0.1, 0.9), "base__sigmoid": Range(1.0, 2.0)}

    space = Sharp().search_space
    assert space["sharpness"] == Range(0.1, 0.9)
    assert space["base__sigmoid"] == Range(1.0, 2.0)
    assert space["sigmoid"] == Range(0.25, 4.0, log=True)  # its base's

    class Typo(bp.RankNet):
        search_ranges: ClassVar = {"sigmiod": Range(0.1, 0.9)}

    with pytest.raises(ValueError, match=r"search_ranges of Typo .* got Range.* for 'sigmiod'"):
        _ = Typo().search_space

    class NoChoice(bp.RankNet):
        search_ranges: ClassVar = {"sigmoid": ()}

    with pytest.raises(ValueError, match=r"search_ranges of NoChoice .*got \(\) for 'sigmoid'"):
        _ = NoChoice().search_space

"""Names of losses and of any frozen dataclass; those of metrics are in tests/metrics/test_properties.py."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import boostplug as bp
from boostplug.core.values import distinct_names, label, name_in_logs
from boostplug.losses import LOSSES


def test_names_of_the_registry_are_read_in_any_case():
    for name, variants in LOSSES.items():
        assert bp.Loss.parse(name) == bp.Loss.parse(name.upper()) == variants


@dataclass(frozen=True)
class Many:
    number: float
    k: int | None = None
    parts: object = field(default_factory=lambda: (1, 2))
    flag: bool = False
    word: str = "a"
    none: object = 0


def double(gap):
    return 2 * gap


def test_labels_and_names_in_logs():
    assert label(Many(0.5)) == "Many(.5)"
    assert name_in_logs(Many(0.5)) == "Many(number=0.5)"
    changed = Many(-0.25, k=3, parts=double, flag=True, word="b c:d", none=None)
    assert label(changed) == "Many(-.25, 3, double, flag=True, b c:d, none=None)"
    assert name_in_logs(changed) == f"Many@3(number=-0.25,parts={__name__}.double,flag=True,bc_d,none=None)"
    assert name_in_logs(Many(1, parts=lambda: 0)).startswith("Many(number=1,parts=lambda-")
    assert name_in_logs(Many(1, parts=lambda: 0)) != name_in_logs(Many(1, parts=lambda: 0))
    assert label(Many(1, parts=np.arange(2))) == "Many(1, [0 1])"
    assert label(Many(1, parts=(1, 0.5, 3, 4))) == "Many(1, (1, .5, 3, …))"
    assert [label(number) for number in (0.3, -0.25, 10.5, 1e-9, 2)] == [".3", "-.25", "10.5", "1e-09", "2"]


def test_names_of_several_are_distinct():
    halves = [bp.QBRank(margin=0.5), bp.QBRank(preference_weight=0.25), bp.QBRank(preference_weight=0.3)]
    assert distinct_names(halves) == ["QBRank(.5)", "QBRank(.25)", "QBRank(.3)"]
    alike = [bp.QBRank(margin=0.9), bp.QBRank(preference_weight=0.9)]
    assert distinct_names([*alike, bp.QBRank()]) == [*map(repr, alike), "QBRank"]
    assert distinct_names([bp.MAP()] * 3) == [repr(bp.MAP()), f"{bp.MAP()!r} #2", f"{bp.MAP()!r} #3"]


def test_no_cutoff_is_told_from_the_default_one():
    """DCG(k=None) is not DCG(), whose name has the default cut-off."""
    for metric in (bp.DCG(k=None), bp.DCG(), bp.NDCG(k=None, empty=0), bp.MAP(), bp.MAP(3)):
        assert bp.Metric.parse(metric.name if "(" not in metric.name else repr(metric)) == metric
    assert (bp.NDCG(k=None).name, bp.NDCG().name, bp.MAP().name) == ("NDCG@None", "NDCG@10", "MAP")


def test_expressions_hold_cut_offs():
    adarank = bp.AdaRank(metric=bp.NDCG(5, convention="letor"))
    for text in ("NDCG@5", "ndcg(convention='letor')@5", "NDCG(5, convention='letor')"):
        assert bp.Metric.parse(text) == (bp.NDCG(5) if text == "NDCG@5" else adarank.metric)
    assert bp.Loss.parse("AdaRank(metric=ndcg(convention='letor')@5)") == (adarank,)
    assert bp.Loss.parse("QBRank.on('a@b-c')") == (bp.QBRank().on("a@b-c"),)
    for text in ("NDCG@5(letor)", "NDCG(rough)", "NDCG(order='rough')", "MPBoost(hessian=gentle)", "ndcg-boost"):
        with pytest.raises(ValueError, match=r"there is no metric .*; there are: "):
            bp.Metric.parse(text)

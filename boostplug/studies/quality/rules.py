"""The rules of docs/results/protocol.md: which candidate becomes `QBRank`'s default, which variants of others do.

They look at nothing but the finished cells, so whoever has these gets the same answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from boostplug.comparison.significance import holm
from boostplug.losses import Loss, QBRank
from boostplug.studies.quality.protocol import BEFORE, PARTS, QBRANKS
from boostplug.studies.quality.summary import (
    Arm,
    Cells,
    Overall,
    against_peers,
    arms,
    averaged,
    peers_of,
)

__all__ = ["Candidate", "Variant", "candidates", "chosen", "variants"]

_SETTINGS = tuple((part, framework) for part in ("24 leaves", "8 leaves") for framework in ("lightgbm", "xgboost"))


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A candidate, and how it does beside its frameworks' LambdaMART in the mean of the settings.

    Attributes
    ----------
    loss : Loss
    behind : tuple of str
        The places where it is significantly behind a peer: ``"xgboost, 24 leaves, nfcorpus: rank:ndcg"``.
    overall : Overall
    """

    loss: Loss
    behind: tuple[str, ...]
    overall: Overall


def candidates(cells: Cells, losses: Sequence[Loss] = QBRANKS) -> list[Candidate]:
    """Return the candidates whose cells are whole, in the order of the protocol."""
    found = []
    for loss in losses:
        pairs, behind = [], []
        for name, framework in _SETTINGS:
            part = PARTS[name]
            ours = next(arm for arm in arms(part, framework) if arm.method.objective == loss)
            peers = peers_of(part, framework)
            pairs.append((ours, peers[0]))
            behind += [
                f"{framework}, {name}, {data}: {peer}"
                for (peer, data), difference in against_peers(cells, ours, peers).items()
                if difference.is_behind
            ]
        overall = averaged(cells, pairs)
        if overall is not None:
            found.append(Candidate(loss=loss, behind=tuple(behind), overall=overall))
    return found


def chosen(found: Sequence[Candidate]) -> Candidate:
    """Return the one that the rule picks."""
    least = min(len(candidate.behind) for candidate in found)
    left = [candidate for candidate in found if len(candidate.behind) == least]
    best = max(left, key=lambda candidate: candidate.overall.difference)
    close = [
        candidate
        for candidate in left
        if best.overall.difference - candidate.overall.difference < candidate.overall.standard_error
    ]
    return min(close, key=_distance_from_the_middle)


def _distance_from_the_middle(candidate: Candidate) -> tuple[float, bool, float]:
    loss = candidate.loss
    assert isinstance(loss, QBRank)
    return round(abs(loss.preference_weight - 0.5), 9), loss.normalization != "none", -candidate.overall.difference


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A variant of a loss beside today's default, in the mean of the settings that have both.

    Attributes
    ----------
    overall : Overall
    p_holm : float
        Over the variants of its loss.
    of_settings : tuple of float
        The pooled difference in each.
    """

    loss: Loss
    default: Loss
    overall: Overall
    p_holm: float
    of_settings: tuple[float, ...]

    @property
    def takes_over(self) -> bool:
        """Whether the rule makes it the default."""
        return min(self.of_settings) > 0 and self.p_holm < 0.01


def variants(cells: Cells) -> list[Variant]:
    """Return the variants of the losses that had a default before, where their cells are whole."""
    found: dict[type[Loss], list[Variant]] = {}
    for default in BEFORE:
        for loss in PARTS["24 leaves"].losses:
            if type(loss) is not type(default) or loss == default:
                continue
            frameworks = ("lightgbm", "xgboost")
            pairs = [(_arm(framework, loss), _arm(framework, default)) for framework in frameworks]
            overall, each = averaged(cells, pairs), [cells.overall(*pair) for pair in pairs]
            if overall is not None:
                of_settings = tuple(one.difference for one in each if one is not None)
                variant = Variant(loss=loss, default=default, overall=overall, p_holm=np.nan, of_settings=of_settings)
                found.setdefault(type(loss), []).append(variant)
    return [
        replace(variant, p_holm=float(p))
        for of_loss in found.values()
        for variant, p in zip(of_loss, holm([variant.overall.p for variant in of_loss]), strict=True)
    ]


def _arm(framework: str, loss: Loss) -> Arm:
    return next(arm for arm in arms(PARTS["24 leaves"], framework) if arm.method.objective == loss)

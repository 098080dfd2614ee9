"""Weak rankers: what the reference rankers add up, apart from how they choose it."""

from boostplug.weak_rankers.feature import Feature
from boostplug.weak_rankers.fitted import Fitted
from boostplug.weak_rankers.stump import Cuts, Stump
from boostplug.weak_rankers.tree import Tree

__all__ = ["Cuts", "Feature", "Fitted", "Stump", "Tree", "WeakRanker"]

WeakRanker = Stump | Feature | Tree | Fitted

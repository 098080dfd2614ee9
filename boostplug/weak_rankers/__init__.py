"""Weak rankers: the functions whose weighted sum is a reference ranker's model. Rankers choose them."""

from boostplug.weak_rankers.cuts import Cuts
from boostplug.weak_rankers.feature import Feature
from boostplug.weak_rankers.stump import Stump
from boostplug.weak_rankers.tree import Tree

__all__ = ["Cuts", "Feature", "Stump", "Tree", "WeakRanker"]

WeakRanker = Stump | Feature | Tree

"""The rows of a finished comparison: named by what was trained, and one for methods that trained the same."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from boostplug.comparison.training.runs import Method, Run
from boostplug.core.naming import label
from boostplug.losses import Loss

Rows = tuple[list[Method], list[Run]]


def named_by_tuning(methods: Sequence[Method], runs: Sequence[Run]) -> Rows:
    """Return methods and runs with the names of what tuning drew, such as "QBRank(.466), tuned"."""
    named: dict[tuple[str, str], Method] = {}
    for method in methods:
        settings = [run.tuned for run in runs if (run.framework, run.method) == method.key and run.tuned]
        drawn = {setting.objective for setting in settings}
        new = method
        if any(setting.parameters for setting in settings):
            objective = drawn.pop() if len(drawn) == 1 else method.objective
            of_loss = label(objective) if isinstance(objective, Loss) and objective != method.objective else method.name
            new = replace(method, name=f"{of_loss}, tuned", objective=objective)
        if any(new.key == other.key for other in named.values()):
            new = replace(new, name=f"{new.name} (from {method.name})")
        named[method.key] = new
    return [*named.values()], [replace(run, method=named[run.framework, run.method].name) for run in runs]


def without_equal(methods: Sequence[Method], runs: Sequence[Run]) -> tuple[list[Method], list[Run], list[str]]:
    """Return methods and runs without those that gave the scores of another method in every run, and notes on them."""
    scores = {
        method: {(run.fold, run.seed): run.scores for run in runs if (run.framework, run.method) == method.key}
        for method in methods
    }
    left, notes = list(methods), []
    for one, other in combinations(methods, 2):
        a, b = scores[one], scores[other]
        if one.framework != other.framework or not a or a.keys() != b.keys() or not {one, other} <= {*left}:
            continue
        if all(len(a[run]) and np.array_equal(a[run], b[run]) for run in a):
            kept, gone = (other, one) if other.is_reference else (one, other)
            left.remove(gone)
            notes.append(f"{gone.title} has the scores of {kept.title} in every run, so both are one row.")
    names = {method.key for method in left}
    return left, [run for run in runs if (run.framework, run.method) in names], notes

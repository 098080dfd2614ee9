"""What the models of a comparison have learnt: the features that order most, and why documents change places."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostplug.comparison.comparison import Comparison, MethodPairs
from boostplug.comparison.examples import Swap
from boostplug.comparison.training.runs import Method
from boostplug.core.extras import imported
from boostplug.data.inputs import CheckedInputs
from boostplug.explanation.explain import importance, why
from boostplug.model.boosters import as_booster
from boostplug.model.mean import mean_model
from boostplug.model.trees import names_of

_MOST = 5  # features
_NO_CONTRIBUTIONS = (b"\n[linear_tree: 1]\n", b"\naverage_output\n", b'"gblinear"')  # in boosters as text
_ROWS = 5000  # of the test part of a fold, in complete queries


def most_important(comparison: Comparison, method: Method) -> list[dict[str, Any]]:
    """Return the features that order most in a method's models, each with its share; none of what is no booster."""
    shares = []
    for fold, part in enumerate(comparison.data.tests):
        if (model := _mean_of_fold(comparison, method, fold)) is not None:
            some = part.take_queries(np.arange(0, part.queries.n_queries, -(-part.queries.n_rows // _ROWS)))
            found = _named(importance(model, some.X, group=some.group), part, model).set_index("feature")["importance"]
            shares.append(found / (found.sum() or 1.0))
    if not shares:
        return []
    means = imported("pandas", "features of a comparison need").concat(shares, axis=1).mean(axis=1).nlargest(_MOST)
    return [{"feature": name, "share": share} for name, share in means.items() if share > 0.0]


def reasons(comparison: Comparison, pairs: MethodPairs, swaps: Sequence[Swap]) -> list[dict[str, Any] | None]:
    """Return why the new order has the first document of each swap above the second; None of what is no booster."""
    models = {fold: _mean_of_fold(comparison, new, fold) for fold, (new, _) in pairs.items()}

    def reason(fold: int, rows: tuple[int, int], places: tuple[int, int, int]) -> dict[str, Any] | None:
        if (model := models[fold]) is None:
            return None
        part = comparison.data.tests[fold]
        frame = _named(why(model, part.X, *rows), part, model)
        of_pair = {"places": places, "difference": frame["contribution"].sum()}
        return {**of_pair, "columns": frame.head(_MOST).to_dict("records")}

    return [reason(*swap) for swap in swaps]


def _mean_of_fold(comparison: Comparison, method: Method, fold: int) -> Any:
    """Return the mean of a method's models of a fold as a booster; None if they are none, or have no contributions."""
    models = [run.model.encode() for run in comparison.runs_of(method) if run.fold == fold and run.model]
    if not models or any(mark in models[0] for mark in _NO_CONTRIBUTIONS):
        return None
    boosters = [as_booster(model) for model in models]
    return mean_model(boosters) if len(boosters) > 1 else boosters[0]


def _named(frame: Any, part: CheckedInputs, model: Any) -> Any:
    """Return a table with the names that a comparison has for features, where the model had to name them itself."""
    known = names_of(model)
    names = dict(zip(known, part.schema.names or [f"number {j + 1}" for j in range(len(known))], strict=True))
    return frame.assign(feature=[names.get(name, name) for name in frame["feature"]])

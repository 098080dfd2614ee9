"""What the models of a comparison have learnt: the features that order most, and why documents change places."""

from typing import Any

import numpy as np

from boostplug.comparison.comparison import Comparison, MethodPairs
from boostplug.comparison.examples import swapped
from boostplug.comparison.training.runs import Method
from boostplug.core.extras import imported
from boostplug.data.inputs import CheckedInputs
from boostplug.explanation.importance import importance
from boostplug.explanation.why import why
from boostplug.model.boosters import as_booster
from boostplug.model.mean import mean_model
from boostplug.model.trees import names_of

_MOST = 5  # features
_ROWS = 5000  # of the test part of a fold, in complete queries


def most_important(comparison: Comparison, method: Method) -> list[dict[str, Any]]:
    """Return the features that order most in a method's models, each with its share; none of what is no booster."""
    shares = []
    for fold, part in enumerate(comparison.data.tests):
        every = -(-part.queries.n_rows // _ROWS)
        some = part.take_queries(np.arange(0, part.queries.n_queries, every))
        if (model := _mean_of_fold(comparison, method, fold)) is not None:
            frame = importance(model, some.X, group=some.group)
            names = _names(part, model, frame["feature"])
            shares.append(frame["importance"].set_axis(names) / (frame["importance"].sum() or 1.0))
    if not shares:
        return []
    means = imported("pandas", "features of a comparison need").concat(shares, axis=1).mean(axis=1).nlargest(_MOST)
    return [{"feature": name, "share": share} for name, share in means.items() if share > 0.0]


def reasons(comparison: Comparison, pairs: MethodPairs, n: int) -> list[dict[str, Any] | None]:
    """Return for each of `n` examples why the new order changes it first where it does; None of what is no booster."""
    found, models = list[dict[str, Any] | None](), {f: _mean_of_fold(comparison, pairs[f][0], f) for f in pairs}
    for fold, rows, (new, old) in swapped(comparison, pairs, n):
        part, model = comparison.data.tests[fold], models[fold]
        if model is None:
            found.append(None)
            continue
        frame = why(model, part.X, *rows)
        frame["feature"] = _names(part, model, frame["feature"])
        total, most = frame["contribution"].sum(), frame.head(_MOST).to_dict("records")
        found.append({"new": new, "old": old, "difference": total, "rows": most})
    return found


def _mean_of_fold(comparison: Comparison, method: Method, fold: int) -> Any:
    """Return the mean of a method's models of a fold as a booster; None if they are none, or have no contributions."""
    models = [run.model.encode() for run in comparison.runs_of(method) if run.fold == fold and run.model]
    if not models or any(b"\n[linear_tree: 1]\n" in model for model in models):
        return None
    boosters = [as_booster(model) for model in models]
    return mean_model(boosters) if len(boosters) > 1 else boosters[0]


def _names(part: CheckedInputs, model: Any, names: Any) -> list[str]:
    """Return the names of features as a comparison has them, for those that the model gave itself."""
    known = names_of(model)
    own = dict(zip(known, part.schema.names or [f"number {j + 1}" for j in range(len(known))], strict=True))
    return [own.get(name, name) for name in names]

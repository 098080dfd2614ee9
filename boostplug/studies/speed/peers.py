"""What the frameworks' own objectives cost without their trees, to set ours beside."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.data.queries import Queries
from boostplug.studies.speed.clock import in_turns
from boostplug.studies.speed.frameworks import lightgbm, xgboost

__all__ = ["Own", "lightgbm_own", "xgboost_own"]

_LEAST = 0.02  # of a round of squared errors: less is noise


class Own:
    """A built-in's own gradient: its round less one of squared errors, on one trivial feature, with trees of 2 leaves.

    Parameters
    ----------
    ranks, regresses : callable
        One round each.

    Attributes
    ----------
    calls : dict of str to callable
        Both, to be measured in turns with others.
    """

    def __init__(self, ranks: Callable[[], object], regresses: Callable[[], object]) -> None:
        self._ranks, self._regresses = f"{id(self)} ranks", f"{id(self)} regresses"
        self.calls = {self._ranks: ranks, self._regresses: regresses}

    def seconds(self, number: int) -> float | None:
        """Return it by the medians of `number` rounds; None where they differ by no more than chance."""
        return self.taken_from(in_turns(self.calls, number))

    def taken_from(self, seconds: dict[str, float]) -> float | None:
        """Return it by what its calls took in turns with others, which are left in `seconds`."""
        ranks, regresses = seconds.pop(self._ranks), seconds.pop(self._regresses)
        own = ranks - regresses
        return own if own > _LEAST * regresses else None


def lightgbm_own(queries: Queries, threads: int, scores: Any = None) -> Own:
    """Return that of LightGBM's lambdarank; with scores, which its rounds then leave as they are.

    Raises
    ------
    ImportError
        If LightGBM is not installed.
    """
    rate = 0.1 if scores is None else 1e-6
    params = {"num_leaves": 2, "num_threads": threads, "learning_rate": rate}
    rounds = lightgbm(_trivial(queries), queries, params, scores).rounds
    return Own(rounds("lambdarank"), rounds("regression"))


def xgboost_own(queries: Queries, threads: int, objective: str, scores: Any, **params: Any) -> Own:
    """Return that of an XGBoost objective with its parameters, on scores that its rounds leave as they are.

    Raises
    ------
    ImportError
        If XGBoost is not installed.
    """
    rounds = xgboost(_trivial(queries), queries, {"max_depth": 1, "nthread": threads, "eta": 1e-6}, scores).rounds
    return Own(rounds(objective, **params), rounds("reg:squarederror"))


def _trivial(queries: Queries) -> NDArray[np.float32]:
    """Return one feature of two values."""
    return np.random.default_rng(3).integers(0, 2, (queries.n_rows, 1)).astype(np.float32)

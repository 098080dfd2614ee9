"""`suggest`: a loss with parameters that a trial of optuna draws."""

from typing import Any, TypeVar

from boostplug.core.checks import check_instance, shown
from boostplug.core.values import Range
from boostplug.losses import Loss

_Loss = TypeVar("_Loss", bound=Loss)


def suggest(trial: Any, loss: _Loss, *, prefix: str = "objective__") -> _Loss:
    """Return a loss with parameters that an optuna trial draws from the loss's `search_space`.

    The names in the trial are those of a ranker's ``set_params``, so that
    ``LGBMRanker(objective=loss).set_params(**study.best_params)`` has the best loss.

    Parameters
    ----------
    trial : optuna.trial.Trial
        Or anything with its ``suggest_float``, ``suggest_int`` and ``suggest_categorical``.
    loss : Loss
        What is not drawn stays as it is here: the kind of distance, a gain, functions. A loss without anything to draw
        is returned as it is.
    prefix : str, default ``"objective__"``
        Begins every name in the trial.

    Returns
    -------
    Loss
        Of the same class.

    Raises
    ------
    ValueError
        If `loss` is no loss, or `trial` no trial; or if the loss cannot have what its `search_space` offers.

    Examples
    --------
    >>> import boostplug as bp
    >>> class Trial:  # stands for optuna's
    ...     def suggest_float(self, name, low, high, *, log):
    ...         print(f"{name}: {low} to {high}")
    ...         return low
    ...
    ...     def suggest_categorical(self, name, choices):
    ...         print(f"{name}: one of {choices}")
    ...         return choices[-1]
    >>> bp.suggest(Trial(), bp.RankNet())
    objective__sigmoid: 0.25 to 4.0
    objective__normalization: one of ('none', 'rows', 'query')
    RankNet(sigmoid=0.25, normalization='query')
    """
    if not hasattr(trial, "suggest_float"):
        raise ValueError(f"trial must be a trial of optuna's, as its study gives one; got {shown(trial)}")
    check_instance("loss", loss, Loss, "MPBoost()")
    check_instance("prefix", prefix, str, "'objective__'")
    found = {name: drawn(trial, prefix + name, space) for name, space in loss.search_space.items()}
    try:
        return loss.with_params(**found)
    except ValueError as error:
        raise ValueError(f"{error}; the search_space of {type(loss).__name__} is to offer what it takes") from None


def drawn(trial: Any, name: str, space: Range | tuple[Any, ...]) -> Any:
    """Return what a trial draws from a range or choices."""
    if not isinstance(space, Range):
        return trial.suggest_categorical(name, space)
    draw = trial.suggest_int if space.whole else trial.suggest_float
    return draw(name, space.low, space.high, log=space.log)

"""Warnings at the start of a training: nothing to learn, or numbers of a size that the framework cannot use."""

import warnings
from typing import Any

import numpy as np

from boostplug.adapters.adapter import Call, ObjectiveLike
from boostplug.adapters.record import Record
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.single_precision import TINY, first_step

_RESCALE = ": please rescale the labels (or the margins) so that their gaps are about 1"
_SMALL = 1e-2  # mean Hessian of a document; losses scale it to about 1, so a small sum may only mean few documents


def warn_at_first_step(
    loss: ObjectiveLike, call: Call, record: Record, gradient: Any, hessian: Any, *, has_step: bool, alone: bool
) -> None:
    """Warn if nothing is learnt, or, at the start of a training, if a part of the loss or sizes of numbers are bad.

    Trees are grown from the sums over all workers' rows, so derivatives are judged only if the worker is `alone`.
    """
    fault = None
    if not has_step and record.warned is not call.queries:
        record.warned = call.queries
        fault = _nothing_to_learn(loss, call)
    elif has_step and alone:
        booster = None if call.training is None else call.training.booster
        if record.begins(call.queries, loss, booster):
            fault = part_without_order(loss, call.queries) or _lost_digits(call.queries)
            fault = fault or _fault_of_derivatives(loss, call, gradient, hessian)
    if fault is not None:
        warnings.warn(fault, UserWarning, stacklevel=4)


def part_without_order(loss: ObjectiveLike, queries: Queries) -> str | None:
    """Return the warning for pairs or lists that teach nothing in a loss that learns from labels beside them."""
    cause = loss.why_no_order(queries)
    if cause is None:
        return None
    return f"a part of {loss!r} has nothing to learn from: {cause}; only the rest of it trains the model"


def _nothing_to_learn(loss: ObjectiveLike, call: Call) -> str:
    queries = loss.reads(call.queries)
    cause = why_nothing_is_learnt(queries)
    of_dataset = queries is call.queries and queries.pairs is None  # not labels by name, which keep NaN
    makes_zeros = call.adapter is not None and call.adapter.makes_zeros_of_missing_labels
    if cause is None:
        cause = "its gradient has vanished at these scores"
    elif of_dataset and makes_zeros and not queries.labels.any():
        cause += "; all labels are 0, LightGBM's replacement for missing and NaN labels"
    return f"{loss!r} has nothing to learn from: {cause}; the model stays constant"


def _lost_digits(queries: Queries) -> str | None:
    """Return the warning for a label that has lost digits in the framework's float32, None if there is none."""
    labels = queries.labels
    lost = (labels != 0.0) & (np.abs(labels) < TINY)
    with np.errstate(over="ignore"):  # labels beyond float32 become infinite and differ
        if not lost.any() or (labels != labels.astype(np.float32)).any():
            return None
    row = int(np.argmax(lost))
    return f"label[{row}] = {labels[row]:.3g} is below {TINY:.2g}, where the framework's float32 loses digits{_RESCALE}"


def _fault_of_derivatives(loss: ObjectiveLike, call: Call, gradient: Any, hessian: Any) -> str | None:
    """Return the warning for an absolute threshold of the framework that spoils a training from scores of 0.

    At other scores gradients may be small because the scores fit, or large because of XGBoost's base_score.
    """
    if call.adapter is None:
        return None
    if np.any(call.scores):
        with call.threads():
            gradient, hessian = loss.gradient_hessian(np.zeros(call.queries.n_rows), call.queries)
        if not gradient.any():
            return None
    first = first_step(gradient, hessian)
    fault = call.adapter.fault_of_step(first.gain, first.step) if first.gain > 0.0 else None
    if fault is not None:
        return f"{loss!r} learns little or nothing from numbers of this size: {fault}{_RESCALE}"
    name, least = call.adapter.least_hessian(call.dataset, call.training)
    if first.hessian < 2.0 * least and first.mean_hessian < _SMALL:
        return (
            f"{loss!r} learns nothing while {name} is {least:g}: the Hessians of all rows sum to "
            f"{first.hessian:.2g}; lower {name}, or raise the loss's factor of scores (sigmoid), or multiply the "
            "derivatives of a loss of your own"
        )
    return None

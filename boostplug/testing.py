"""The laws that every loss keeps, for the project's own losses and for users'.

Each law is a function (loss, scores, queries, rng) that raises AssertionError; `LAWS` lists them all, and `check_loss`
runs them on data made for the purpose and names the one that fails.
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.losses.loss import Loss
from boostplug.queries import Queries
from boostplug.threads import set_num_threads

__all__ = ["LAWS", "check_loss", "example_data", "suited"]

Floats = NDArray[np.float64]
Law = Callable[[Loss, Floats, Queries, np.random.Generator], None]

_PRECISE = 1e-9  # of a query's largest output: what summation order and exp may cost


def check_loss(loss: Loss, *, random_state: int = 0) -> None:
    """Run every law of `LAWS` on a loss, over queries and scores made to be awkward.

    Parameters
    ----------
    loss : Loss
    random_state : int, default 0

    Raises
    ------
    AssertionError
        Naming the law that does not hold, the data, and what was found.

    Examples
    --------
    >>> import boostplug as bp
    >>> bp.testing.check_loss(bp.MPBoost())
    """
    rng = np.random.default_rng(random_state)
    for what, scores, queries in example_data(rng):
        queries = suited(loss, queries)  # noqa: PLW2901
        for law in LAWS:
            try:
                law(loss, scores, queries, rng)
            except Exception as error:
                raise AssertionError(f"{loss!r} breaks the law {law.__name__!r} on {what}: {error}") from error


def example_data(rng: np.random.Generator) -> Iterator[tuple[str, Floats, Queries]]:
    """Yield (description, scores, queries) of every awkward kind: ties, empty queries, huge scores, weights."""
    group = np.array([7, 1, 0, 12, 2, 5])
    n = int(group.sum())
    grades = rng.integers(0, 5, n).astype(np.float64)
    scores = rng.normal(size=n)
    yield "grades 0..4", scores, Queries(grades, group=group)
    yield "real-valued labels", scores, Queries(rng.normal(size=n), group=group)
    yield "negative and large labels", 0.1 * scores, Queries(50.0 * (grades - 2.0), group=group)
    yield "all scores equal", np.zeros(n), Queries(grades, group=group)
    yield "tied scores", np.round(scores), Queries(grades, group=group)
    yield "all grades equal", scores, Queries(np.ones(n), group=group)
    yield "scores of ±30", 30.0 * np.sign(scores), Queries(grades, group=group)
    yield "scores of ±1000", 1000.0 * np.sign(scores), Queries(grades, group=group)
    yield "row weights, some 0", scores, Queries(grades, group=group, weight=rng.integers(0, 4, n) / 2.0)
    yield "query weights", scores, Queries(grades, group=group, weight=rng.random(len(group)) + 0.1)
    yield "rows without label", scores, Queries(grades, group=group, labelled=rng.random(n) < 0.6)
    yield "no rows", np.zeros(0), Queries([], group=[])
    yield "one row", np.zeros(1), Queries([3], group=[1])


def suited(loss: Loss, queries: Queries) -> Queries:
    """Return the queries, with labels that start at 0 where the loss takes no negative ones."""
    if loss.takes_negative_labels or not len(queries.labels) or queries.labels.min() >= 0:
        return queries
    return Queries(
        queries.labels - queries.labels.min(),
        group=np.diff(queries.boundaries),
        weight=queries.row_weight,
        labelled=queries.labelled,
    )


def shapes_and_types(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check the outputs: value per query; gradient and Hessian per row; float64, new, finite."""
    value = loss.value(scores, queries)
    g, h = loss.gradient_hessian(scores, queries)
    _expect(value.shape == (queries.n_queries,), f"value has shape {value.shape}, not ({queries.n_queries},)")
    for name, array in (("gradient", g), ("Hessian", h)):
        _expect(array.shape == (queries.n_rows,), f"{name} has shape {array.shape}, not ({queries.n_rows},)")
    for name, array in (("value", value), ("gradient", g), ("Hessian", h)):
        _expect(array.dtype == np.float64, f"{name} has dtype {array.dtype}, not float64")
        _expect(bool(np.isfinite(array).all()), f"{name} is not finite")
    for name, array in (("gradient", g), ("Hessian", h)):
        _expect(float(np.abs(array).max(initial=0.0)) <= 1e37, f"{name} leaves no room for sums in float32")
    again, _ = loss.gradient_hessian(scores, queries)
    _expect(not np.shares_memory(g, again) and not np.shares_memory(g, h), "outputs share memory")


def hessian_is_positive(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the Hessian is ≥ 0, and > 0 where the gradient is not 0."""
    g, h = loss.gradient_hessian(scores, queries)
    _expect(bool((h >= 0).all()), f"smallest Hessian {h.min() if len(h) else 0}")
    _expect(bool((h[g != 0] > 0).all()), "Hessian 0 beside a gradient that is not 0")


def gradient_is_the_values(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check gradient = scale · finite difference of value.sum(), central and of 4th order, at moderate scores."""
    if not _moderate(scores) or not loss.has_gradient_of_value:
        return
    g, _ = loss.gradient_hessian(scores, queries)
    scale = loss.scale(queries)
    for i in _some_rows(queries, rng):

        def value(x: float, i: int = i) -> float:
            return float(loss.value(_moved(scores, i, x), queries).sum())

        slope = _derivative(value)
        # A difference loses what the rounding of the whole sum costs over a step of 1e-3, and more at a kink, where
        # the difference over half the step tells how much.
        slack = 4.0 * scale * abs(slope - _derivative(value, 5e-4))
        slack += 1e-6 * abs(g[i]) + 1e-10 * scale * (1.0 + float(loss.value(scores, queries).sum()))
        _expect(abs(g[i] - scale * slope) <= slack, f"row {i}: gradient {g[i]}, difference {scale * slope}")


def hessian_is_its_kind(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check "exact": h = ∂g_i/∂F_i; "bound": diag(h) − ∇² ⪰ 0 here; "global": the quadratic lies above."""
    if not _moderate(scores) or loss.hessian_kind == "model":
        return
    g, h = loss.gradient_hessian(scores, queries)
    if loss.hessian_kind == "exact":
        for i in _some_rows(queries, rng):

            def gradient(x: float, i: int = i) -> float:
                return float(loss.gradient_hessian(_moved(scores, i, x), queries)[0][i])

            slope = _derivative(gradient)
            slack = 1e-6 * h[i] + 1e-9 * float(h.max()) + 4.0 * abs(slope - _derivative(gradient, 5e-4))
            _expect(abs(h[i] - slope) <= slack, f"row {i}: Hessian {h[i]}, difference of gradients {slope}")
    elif loss.hessian_kind == "bound":
        for q in range(queries.n_queries):
            first, last = queries.boundaries[q], queries.boundaries[q + 1]
            if last > first:
                full = _full_hessian(loss, scores, queries, first, last, 1e-3)
                gap = np.diag(h[first:last]) - full
                kink = float(np.abs(full - _full_hessian(loss, scores, queries, first, last, 5e-4)).max())
                if kink > 1e-6 * max(1e-3, float(h[first:last].max())):
                    continue  # no second derivative within the step
                worst = float(np.linalg.eigvalsh((gap + gap.T) / 2.0).min())
                slack = 1e-9 * max(1.0, float(h[first:last].max()))
                _expect(worst >= -slack, f"query {q}: smallest eigenvalue of diag(h) - Hessian is {worst}")
    else:
        scale = loss.scale(queries)
        here = float(loss.value(scores, queries).sum())
        for size in (1e-2, 1.0, 30.0, 1e3):
            step = size * rng.normal(size=queries.n_rows)
            there = float(loss.value(scores + step, queries).sum())
            bound = here + float(g @ step + 0.5 * (h * step) @ step) / scale
            slack = 1e-9 * max(1.0, abs(bound), abs(there))
            _expect(there <= bound + slack, f"step of size {size}: value {there} above the quadratic {bound}")


def gradients_sum_to_zero(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check it in each query, where the loss depends on score differences alone."""
    if not loss.shift_invariant:
        return
    g, _ = loss.gradient_hessian(scores, queries)
    for q, (first, last) in enumerate(zip(queries.boundaries[:-1], queries.boundaries[1:], strict=True)):
        largest = float(np.abs(g[first:last]).max(initial=0.0))
        total = float(g[first:last].sum())
        _expect(abs(total) <= _PRECISE * largest, f"query {q}: sum {total}, largest {largest}")


def shifts_change_nothing(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that a constant added to a query's scores changes nothing, where the loss says so."""
    if not loss.shift_invariant or not _moderate(scores):
        return
    shift = rng.integers(-8, 9, queries.n_queries).astype(np.float64)  # exact in float64
    _same_outputs(
        queries,
        loss.gradient_hessian(scores, queries),
        loss.gradient_hessian(scores + shift[queries.query_of_row], queries),
    )


def permuting_permutes(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the order of the documents within a query does not matter."""
    order = np.lexsort((rng.random(queries.n_rows), queries.query_of_row))
    shuffled = Queries(
        queries.labels[order],
        group=np.diff(queries.boundaries),
        weight=None if queries.row_weight is None else queries.row_weight[order],
        labelled=None if queries.labelled is None else queries.labelled[order],
    )
    g, h = loss.gradient_hessian(scores, queries)
    _same_outputs(queries, (g[order], h[order]), loss.gradient_hessian(scores[order], shuffled))
    value, other = loss.value(scores, queries), loss.value(scores[order], shuffled)
    _expect(bool(np.allclose(value, other, rtol=_PRECISE, atol=0.0)), "value changed")


def queries_are_independent(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that a query's outputs need its own scores alone, unless the loss couples queries."""
    if loss.couples_queries or not _moderate(scores) or queries.n_queries < 2:
        return
    changed = queries.query_of_row == rng.integers(queries.n_queries)
    other = np.where(changed, scores + rng.normal(size=len(scores)), scores)
    before, after = loss.gradient_hessian(scores, queries), loss.gradient_hessian(other, queries)
    for name, x, y in zip(("gradient", "Hessian"), before, after, strict=True):
        _expect(np.array_equal(x[~changed], y[~changed]), f"{name} of other queries changed")


def weight_zero_removes(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that a row of weight 0 gets no step, and the others what they would get without it."""
    if queries.n_rows == 0:
        return
    weight = np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight
    weight = np.where(rng.random(queries.n_rows) < 0.3, 0.0, weight)
    kept = weight > 0
    group = np.bincount(queries.query_of_row[kept], minlength=queries.n_queries)
    labelled = np.ones(queries.n_rows, bool) if queries.labelled is None else queries.labelled
    whole = Queries(queries.labels, group=np.diff(queries.boundaries), weight=weight, labelled=labelled)
    rest = Queries(queries.labels[kept], group=group, weight=weight[kept], labelled=labelled[kept])
    g, h = loss.gradient_hessian(scores, whole)
    _expect(not g[~kept].any() and not h[~kept].any(), "rows of weight 0 get a step")
    _same_outputs(rest, (g[kept], h[kept]), loss.gradient_hessian(scores[kept], rest))


def equal_weights_scale(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that twice the weight everywhere is twice the value, gradient and Hessian."""
    if not _moderate(scores):
        return
    weight = np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight
    double = Queries(queries.labels, group=np.diff(queries.boundaries), weight=2.0 * weight, labelled=queries.labelled)
    g, h = loss.gradient_hessian(scores, queries)
    _same_outputs(queries, (2.0 * g, 2.0 * h), loss.gradient_hessian(scores, double))
    value, other = loss.value(scores, queries), loss.value(scores, double)
    _expect(bool(np.allclose(2.0 * value, other, rtol=_PRECISE, atol=0.0)), "value does not double")


def unlabelled_rows_are_apart(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the label of an unlabelled row is never read."""
    if queries.labelled is None:
        return
    labels = np.where(queries.labelled, queries.labels, np.abs(rng.normal(size=queries.n_rows)))
    other = Queries(labels, group=np.diff(queries.boundaries), weight=queries.row_weight, labelled=queries.labelled)
    for x, y in zip(loss.gradient_hessian(scores, queries), loss.gradient_hessian(scores, other), strict=True):
        _expect(np.array_equal(x, y), "outputs changed with labels that mean nothing")


def inputs_stay(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that scores may be read-only and float32, and are never changed."""
    single = scores.astype(np.float32)
    single.setflags(write=False)
    kept = single.copy()
    x = loss.gradient_hessian(single, queries)
    y = loss.gradient_hessian(kept.astype(np.float64), queries)
    loss.value(single, queries)
    _expect(np.array_equal(single, kept), "scores changed")
    _expect(all(np.array_equal(a, b) for a, b in zip(x, y, strict=True)), "float32 scores give other outputs")
    writable = scores.copy()
    loss.gradient_hessian(writable, queries)
    loss.value(writable, queries)
    _expect(np.array_equal(writable, scores), "scores changed")


def threads_do_not_matter(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that outputs are bit-equal for any number of threads."""
    repeats = 1 + 60_000 // max(1, queries.n_rows)
    many = Queries(
        np.tile(queries.labels, repeats),
        group=np.tile(np.diff(queries.boundaries), repeats),
        weight=None if queries.row_weight is None else np.tile(queries.row_weight, repeats),
        labelled=None if queries.labelled is None else np.tile(queries.labelled, repeats),
    )
    outputs = []
    for threads in (1, 3):
        set_num_threads(threads)
        try:
            outputs.append(loss.gradient_hessian(np.tile(scores, repeats), many))
        finally:
            set_num_threads(None)
    _expect(all(np.array_equal(a, b) for a, b in zip(*outputs, strict=True)), "threads change the outputs")


def is_a_value(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the loss is hashable, equal to its copies, picklable, immutable."""
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):  # noqa: S301 (our own bytes)
        _expect(other == loss and hash(other) == hash(loss), f"a copy is not equal: {other!r}")
    name = next(iter(getattr(loss, "__dataclass_fields__", {})), None)
    if name is not None:
        try:
            setattr(loss, name, None)
        except AttributeError:
            return
        raise AssertionError(f"{name} can be changed")


LAWS: tuple[Law, ...] = (
    shapes_and_types,
    hessian_is_positive,
    gradient_is_the_values,
    hessian_is_its_kind,
    gradients_sum_to_zero,
    shifts_change_nothing,
    permuting_permutes,
    queries_are_independent,
    weight_zero_removes,
    equal_weights_scale,
    unlabelled_rows_are_apart,
    inputs_stay,
    threads_do_not_matter,
    is_a_value,
)


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _moderate(scores: Floats) -> bool:
    """Whether outputs stay in the range in which no common factor is applied."""
    return float(np.abs(scores).max(initial=0.0)) <= 10.0


def _some_rows(queries: Queries, rng: np.random.Generator) -> list[int]:
    return [int(i) for i in rng.permutation(queries.n_rows)[:6]]


def _moved(scores: Floats, i: int, x: float) -> Floats:
    out = scores.copy()
    out[i] += x
    return out


def _derivative(f: Callable[[float], float], step: float = 1e-3) -> float:
    """Central difference of 4th order."""
    return (8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step)


def _full_hessian(loss: Loss, scores: Floats, queries: Queries, first: int, last: int, step: float) -> Floats:
    """Second derivatives of the scaled value within one query, as differences of gradients."""
    columns = []
    for i in range(first, last):

        def gradient(x: float, i: int = i) -> Any:
            return loss.gradient_hessian(_moved(scores, i, x), queries)[0][first:last]

        columns.append(
            (8.0 * (gradient(step) - gradient(-step)) - (gradient(2 * step) - gradient(-2 * step))) / (12.0 * step)
        )
    return np.array(columns)


def _same_outputs(queries: Queries, one: tuple[Floats, Floats], two: tuple[Floats, Floats]) -> None:
    """Compare gradients and Hessians, to `_PRECISE` of each query's largest."""
    for name, x, y in zip(("gradient", "Hessian"), one, two, strict=True):
        for q, (first, last) in enumerate(zip(queries.boundaries[:-1], queries.boundaries[1:], strict=True)):
            largest = float(np.abs(x[first:last]).max(initial=0.0))
            off = float(np.abs(x[first:last] - y[first:last]).max(initial=0.0))
            _expect(off <= _PRECISE * largest, f"{name} of query {q} differs by {off} beside {largest}")

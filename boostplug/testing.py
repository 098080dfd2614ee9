"""The properties that every loss keeps, for the project's own losses and for users', and a check of exported models.

Each property is a function (loss, scores, queries, rng) that raises AssertionError. `PROPERTIES` lists them all.
`check_loss` runs them on data made for the purpose, and names the one that fails. `check_export` scores an exported
model as a search engine does.
"""

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_instance
from boostplug.core.threads import forced_threads
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries, row_weights
from boostplug.losses.base.loss import Loss
from boostplug.model.export import check_export

__all__ = ["PROPERTIES", "check_export", "check_loss", "example_data", "suited", "suited_data"]

Property = Callable[[Loss, Floats, Queries, np.random.Generator], None]

_PRECISE = 1e-9  # of a query's largest output: what summation order and exp may cost
_STEP = 1e-3  # of differences
_BESIDE = 1e-6  # either side of a kink


def check_loss(loss: Loss, *, random_state: int = 0) -> None:
    """Run every property of `PROPERTIES` on a loss, over queries and scores made to be awkward.

    Parameters
    ----------
    loss : Loss
    random_state : int, default 0

    Raises
    ------
    AssertionError
        Naming the property that does not hold, the data, what was found, and what the class states in its traits
        if that is meant so. A warning of the loss breaks the property that is checked.
    ValueError
        If `loss` is no loss.

    Examples
    --------
    >>> import boostplug as bp
    >>> bp.testing.check_loss(bp.MPBoost())
    """
    check_instance("loss", loss, Loss, "MPBoost()")
    rng = np.random.default_rng(random_state)
    for what, scores, queries in suited_data(loss, rng):
        for prop in PROPERTIES:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    prop(loss, scores, queries, rng)
            except Exception as error:
                declared = f"; {_DECLARED[prop]}" if prop in _DECLARED else ""
                raise AssertionError(
                    f"{loss!r} breaks the property {prop.__name__!r} on {what}: {error}{declared}"
                ) from error


def example_data(rng: np.random.Generator) -> Iterator[tuple[str, Floats, Queries]]:
    """Yield (description, scores, queries) of every awkward kind: ties, empty queries, huge scores, weights, pairs."""
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

    within = _some_pairs(np.repeat(np.arange(len(group)), group), rng)
    yield "pairs alone", scores, Queries(None, group=group, pairs=Pairs(*within))
    weight, margin = rng.integers(0, 3, len(within[0])) / 2.0, rng.random(len(within[0])) + 0.1
    yield (
        "pairs with weights and margins beside labels",
        scores,
        Queries(grades, group=group, pairs=Pairs(*within, weight=weight, margin=margin), weight=rng.integers(0, 4, n)),
    )
    yield "pairs across queries", scores, Queries(None, group=group, pairs=Pairs(*_some_pairs(np.zeros(n), rng)))


def suited_data(loss: Loss, rng: np.random.Generator) -> Iterator[tuple[str, Floats, Queries]]:
    """Yield what of `example_data` a loss is made for: pairs only for losses that take them."""
    for what, scores, queries in example_data(rng):
        if queries.pairs is None or loss.traits.pairs:
            yield what, scores, suited(loss, queries)


def _some_pairs(group: NDArray[Any], rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return winners and losers of a third of the pairs within groups of rows, in random directions."""
    a, b = np.triu_indices(len(group), 1)
    kept = (group[a] == group[b]) & (rng.random(len(a)) < 1.0 / 3.0)
    turned = rng.random(len(a)) < 0.5
    return np.where(turned, b, a)[kept], np.where(turned, a, b)[kept]


def suited(loss: Loss, queries: Queries) -> Queries:
    """Return the queries, with labels moved and shrunk to where the loss takes them."""
    labels = queries.labels
    if loss.traits.positions and queries.position is None:
        from_below = queries.boundaries[queries.query_of_row + 1] - np.arange(queries.n_rows)  # not the rows' order
        known = [getattr(part, "propensity", None) for part in getattr(loss, "losses", (loss,))]
        last = min((len(theta) for theta in known if theta), default=queries.n_rows)
        queries = queries.with_positions(np.minimum(from_below, last))
    if not len(labels):
        return queries
    lowest, most, binary = loss.traits.labels
    if binary:
        labels = (np.floor(labels) % 3 == 1).astype(np.float64)  # by row, so that parts have those of the whole
    if labels.min() < lowest:
        labels = labels - labels.min() + lowest
    if labels.max() > most:
        labels = labels * (most / labels.max())
    return queries if labels is queries.labels else queries.replaced(labels=labels)


def shapes_and_types(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check the outputs: value per query; gradient and Hessian per row; float64, new, finite."""
    value = loss.value(scores, queries)
    g, h = loss.gradient_hessian(scores, queries)
    sizes = {"value": queries.n_queries, "gradient": queries.n_rows, "Hessian": queries.n_rows}
    for (name, size), array in zip(sizes.items(), (value, g, h), strict=True):
        _expect(array.shape == (size,), f"{name} has shape {array.shape}, not ({size},)")
        _expect(array.dtype == np.float64, f"{name} has dtype {array.dtype}, not float64")
        _expect(bool(np.isfinite(array).all()), f"{name} is not finite")
        in_range = name == "value" or float(np.abs(array).max(initial=0.0)) <= 1e37
        _expect(in_range, f"{name} leaves no room for sums in float32")
    again, _ = loss.gradient_hessian(scores, queries)
    _expect(not np.shares_memory(g, again) and not np.shares_memory(g, h), "outputs share memory")


def hessian_is_positive(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the Hessian is ≥ 0, > 0 where the gradient is not 0, and no trifle at equal scores."""
    g, h = loss.gradient_hessian(scores, queries)
    _expect(bool((h >= 0).all()), f"smallest Hessian {h.min() if len(h) else 0}")
    _expect(bool((h[g != 0] > 0).all()), "Hessian 0 beside a gradient that is not 0")
    g, h = (np.abs(output).max(initial=0.0) for output in loss.gradient_hessian(np.zeros(len(scores)), queries))
    _expect(h >= _PRECISE * g, f"at equal scores the largest Hessian is {h} beside a gradient of {g}: no tree is grown")


def gradient_is_the_values(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check gradient = scale · finite difference of value.sum(), central and of 4th order, at moderate scores.

    Then its integral along a step in which documents change places, where weights that follow ranks jump.
    """
    if not _moderate(scores) or not loss.traits.gradient_of_value:
        return
    g, _ = loss.gradient_hessian(scores, queries)
    scale, size = loss.scale(queries), float(np.abs(loss.value(scores, queries)).sum())
    for i in _some_rows(queries, rng):
        slope, halved = _slopes(lambda s: loss.value(s, queries).sum(), scores, i)
        # A difference loses what the rounding of the whole sum costs over a step, and more at a kink, where the
        # difference over half the step tells how much.
        slack = 1e-6 * abs(g[i]) + scale * (4.0 * abs(slope - halved) + 1e-10 * (1.0 + size))
        wrong_sign = " (the sign is wrong)" * bool(abs(g[i] + scale * slope) <= slack < abs(g[i]))
        _expect(abs(g[i] - scale * slope) <= slack, f"row {i}: gradient {g[i]}, difference {scale * slope}{wrong_sign}")
    step, places = rng.normal(size=len(scores)), np.linspace(0.0, 1.0, 65)
    slopes = np.array([loss.gradient_hessian(scores + x * step, queries)[0] @ step for x in places])
    whole, halved = (float(np.trapezoid(slopes[::k], places[::k])) for k in (1, 2))
    rise = scale * float((loss.value(scores + step, queries) - loss.value(scores, queries)).sum())
    slack = 1e-3 * float(np.abs(slopes).mean()) + 4.0 * abs(whole - halved) + 1e-10 * scale * (1.0 + size)
    _expect(
        abs(rise - whole) <= slack, f"along a step, the integral of the gradient is {whole}, the value rises by {rise}"
    )


def better_documents_rise(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that a step against the gradient takes better documents up, where all scores are equal."""
    if queries.pairs is not None or loss.traits.positions or not queries.n_rows:
        return
    read = loss.with_own_labels(queries)
    judged = read.judged.astype(np.float64)
    query, n = read.query_of_row, read.n_queries
    labels = np.where(read.judged, read.labels, 0.0)
    mean = np.bincount(query, labels, n) / np.maximum(np.bincount(query, judged, n), 1.0)
    better = judged * (labels - mean[query])
    g = loss.gradient_hessian(np.zeros(queries.n_rows), queries)[0]
    g = g - (np.bincount(query, judged * g, n) / np.maximum(np.bincount(query, judged, n), 1.0))[query]
    largest = float(np.abs(g).max() * np.abs(better).sum())
    together = float(g @ better)
    _expect(together <= 1e-9 * largest, f"at equal scores, gradient times labels is {together}: better documents sink")


def hessian_is_its_kind(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check "exact": h = ∂g_i/∂F_i; "bound": diag(h) − ∇² ⪰ 0 here; "global": the quadratic lies above."""
    if not _moderate(scores) or loss.hessian_kind == "model" or not queries.n_rows:
        return
    checks = {"exact": _is_second_derivative, "bound": _dominates_here, "global": _lies_above}
    checks[loss.hessian_kind](loss, scores, queries, rng)


def _is_second_derivative(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    _, h = loss.gradient_hessian(scores, queries)
    for i in _some_rows(queries, rng):

        def gradient(moved: Floats, i: int = i) -> float:
            return float(loss.gradient_hessian(moved, queries)[0][i])

        slope, halved = _slopes(gradient, scores, i)
        slack = 1e-6 * h[i] + 1e-9 * float(h.max()) + 4.0 * abs(slope - halved)
        _expect(abs(h[i] - slope) <= slack, f"row {i}: Hessian {h[i]}, difference of gradients {slope}")


def _dominates_here(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check the eigenvalues of each query that has a second derivative: at a kink, as of a squared hinge, is none."""
    g, h = loss.gradient_hessian(scores, queries)
    unit, n_units = _units(queries)
    sizes, largest = np.bincount(unit, minlength=n_units), np.maximum(_largest(h, unit, n_units), 1e-3)
    place = np.arange(queries.n_rows) - np.r_[0, np.cumsum(sizes)][unit]
    directions = [1.0 * (place == k) for k in range(sizes.max(initial=0))]  # in each query at once

    def gradient(direction: Floats) -> Callable[[float], Floats]:
        return lambda x: loss.gradient_hessian(scores + x * direction, queries)[0]

    second = np.array([[_derivative(gradient(one), x) for one in directions] for x in (_STEP, _STEP / 2.0)])
    bends = np.array([np.abs(gradient(one)(_BESIDE) + gradient(one)(-_BESIDE) - 2.0 * g) for one in directions])
    for q in np.flatnonzero(sizes).tolist():
        rows, n = unit == q, int(sizes[q])
        whole, halved = second[:, :n, rows]
        off = np.abs(whole - halved)
        if off.max() > 1e-6 * largest[q] or bends[:n, rows].max() > 1e-2 * _BESIDE * largest[q]:
            continue
        gap = np.diag(h[rows]) - whole
        worst = float(np.linalg.eigvalsh((gap + gap.T) / 2.0).min())
        slack = 1e-9 * max(1.0, largest[q]) + 4.0 * float(off.sum())
        _expect(worst >= -slack, f"query {q}: smallest eigenvalue of diag(h) - Hessian is {worst}")


def _lies_above(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    g, h = loss.gradient_hessian(scores, queries)
    scale = loss.scale(queries)
    here = float(loss.value(scores, queries).sum())
    for size in (1e-2, 1.0, 30.0, 1e3):
        step = size * rng.normal(size=queries.n_rows)
        there = float(loss.value(scores + step, queries).sum())
        bound = here + float(g @ step + 0.5 * (h * step) @ step) / scale
        slack = _PRECISE * max(1.0, abs(bound), abs(there), abs(here))
        _expect(there <= bound + slack, f"step of size {size}: value {there} above the quadratic {bound}")


def gradients_sum_to_zero(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check it in each query, where the loss depends on score differences alone."""
    if not loss.traits.shift_invariant:
        return
    g, _ = loss.gradient_hessian(scores, queries)
    unit, n_units = _units(queries)
    total = np.bincount(unit, g, n_units)
    slack = _PRECISE * _largest(g, unit, n_units)
    for q in np.flatnonzero(np.abs(total) > slack):
        raise AssertionError(f"query {q}: sum {total[q]}, which should be below {slack[q]}")


def shifts_change_nothing(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that a constant added to a query's scores changes nothing, where the loss says so."""
    if not loss.traits.shift_invariant or not _moderate(scores):
        return
    unit, n_units = _units(queries)
    shift = rng.integers(-8, 9, n_units).astype(np.float64)  # exact in float64
    shifted = loss.gradient_hessian(scores + shift[unit], queries)
    _same_outputs(queries, loss.gradient_hessian(scores, queries), shifted)


def permuting_permutes(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the order of a query's documents does not matter, or only that of ties (`ties_in_row_order`)."""
    rows, query = np.arange(queries.n_rows), queries.query_of_row
    order = np.lexsort((rng.random(queries.n_rows), query))
    if loss.traits.ties_in_row_order:  # tied documents share the places that they have drawn, in row order
        order[np.lexsort((rows, scores[order], query))] = np.lexsort((rows, scores, query))
    shuffled = _of_rows(queries, order)
    g, h = loss.gradient_hessian(scores, queries)
    _same_outputs(queries, (g[order], h[order]), loss.gradient_hessian(scores[order], shuffled))
    _same_values(loss.value(scores, queries), loss.value(scores[order], shuffled))


def queries_are_independent(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that a query's outputs need its own scores alone, unless the loss couples queries."""
    unit, n_units = _units(queries)
    if loss.couples_queries or not _moderate(scores) or n_units < 2:
        return
    changed = unit == rng.integers(n_units)
    other = np.where(changed, scores + rng.normal(size=len(scores)), scores)
    before, after = loss.gradient_hessian(scores, queries), loss.gradient_hessian(other, queries)
    for name, x, y in zip(("gradient", "Hessian"), before, after, strict=True):
        _expect(np.array_equal(x[~changed], y[~changed]), f"{name} of other queries changed")


def parts_are_as_the_whole(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that machines that share the queries get what one would: `scale_terms` are sums over the queries."""
    if _units(queries)[1] < 2:
        return
    cut = queries.boundaries[rng.integers(queries.n_queries + 1)]
    parts = [np.arange(cut), np.arange(cut, queries.n_rows)]
    shares = [(scores[rows], _of_rows(queries, rows)) for rows in parts]
    sums = np.sum([loss.totals(*share) for share in shares], axis=0)
    together = np.concatenate([loss.gradient_hessian(*share, totals=sums) for share in shares], axis=1)
    _same_outputs(queries, (together[0], together[1]), loss.gradient_hessian(scores, queries))


def weight_zero_removes(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that a row of weight 0 gets no step, and the others what they would get without it."""
    if queries.n_rows == 0:
        return
    weight = np.where(rng.random(queries.n_rows) < 0.3, 0.0, row_weights(queries))
    whole = queries.replaced(weight=weight)
    kept = np.flatnonzero(weight > 0)
    rest = _of_rows(whole, kept)
    g, h = loss.gradient_hessian(scores, whole)
    _expect(not g[weight == 0].any() and not h[weight == 0].any(), "rows of weight 0 get a step")
    _same_outputs(rest, (g[kept], h[kept]), loss.gradient_hessian(scores[kept], rest))


def weights_are_relative(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that all weights times c leave gradient and Hessian as they are, and multiply the value by c.

    The value of a sum, which holds the scales of its parts, stays as it is.

    The frameworks' absolute parameters would else decide whether data of small weights teach anything. `scale_terms`
    ensures it, the default too. To a tolerance, also where c is a power of 2; the project's own losses change no bit.
    """
    if not _moderate(scores):
        return
    outputs, value = loss.gradient_hessian(scores, queries), loss.value(scores, queries)
    for c in (1e-6, 2.0, 1e6):
        weighted = queries.replaced(weight=c * row_weights(queries))
        _same_outputs(queries, outputs, loss.gradient_hessian(scores, weighted))
        times = loss.scale(queries) / loss.scale(weighted)  # c, or 1 for a sum
        _same_values(times * value, loss.value(scores, weighted))


def unlabelled_rows_are_apart(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the label of an unlabelled row is never read."""
    if queries.labelled is None:
        return
    other = queries.replaced(labels=np.where(queries.labelled, queries.labels, np.abs(rng.normal(size=len(scores)))))
    for x, y in zip(loss.gradient_hessian(scores, queries), loss.gradient_hessian(scores, other), strict=True):
        _expect(np.array_equal(x, y), "outputs changed with labels that mean nothing")


def inputs_stay(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that scores may be read-only and float32, and are never changed."""
    single = scores.astype(np.float32)
    single.setflags(write=False)
    outputs = [loss.gradient_hessian(given, queries) for given in (single, single.astype(np.float64))]
    loss.value(single, queries)
    _expect(all(np.array_equal(a, b) for a, b in zip(*outputs, strict=True)), "float32 scores give other outputs")
    writable = scores.copy()
    loss.gradient_hessian(writable, queries)
    loss.value(writable, queries)
    _expect(np.array_equal(writable, scores), "scores changed")


def threads_do_not_matter(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that outputs are bit-equal for any number of threads."""
    outputs = []
    for n in (1, 3):
        with forced_threads(n):
            outputs.append(loss.gradient_hessian(scores, queries))
    _expect(all(np.array_equal(a, b) for a, b in zip(*outputs, strict=True)), "threads change the outputs")


def is_a_value(loss: Loss, scores: Floats, queries: Queries, rng: np.random.Generator) -> None:
    """Check that the loss is hashable, equal to its copies, picklable, immutable."""
    try:
        again = pickle.loads(pickle.dumps(loss))  # noqa: S301 (our own bytes)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise AssertionError(f"it cannot be pickled; define its functions at the top of a module: {error}") from error
    for other in (copy.deepcopy(loss), again):
        _expect(other == loss and hash(other) == hash(loss), f"a copy is not equal: {other!r}")
    name = next(iter(getattr(loss, "__dataclass_fields__", {})), None)
    if name is not None:
        try:
            setattr(loss, name, None)
        except AttributeError:
            return
        raise AssertionError(f"{name} can be changed")


PROPERTIES: tuple[Property, ...] = (
    shapes_and_types,
    hessian_is_positive,
    gradient_is_the_values,
    better_documents_rise,
    hessian_is_its_kind,
    gradients_sum_to_zero,
    shifts_change_nothing,
    permuting_permutes,
    queries_are_independent,
    parts_are_as_the_whole,
    weight_zero_removes,
    weights_are_relative,
    unlabelled_rows_are_apart,
    inputs_stay,
    threads_do_not_matter,
    is_a_value,
)


_DECLARED: dict[Property, str] = {
    shapes_and_types: "if it takes some labels only, state it in traits: labels=boostplug.LabelRange(0.0, 30.0)",
    gradient_is_the_values: (
        "if weights that depend on scores count as constants, state it in traits: gradient_of_value=False"
    ),
    better_documents_rise: "the gradient or the order of its pairs has the wrong sign",
    hessian_is_its_kind: 'if it is another formula, state it in traits: hessian="model"',
    gradients_sum_to_zero: "if scores have a zero of their own, state it in traits: shift_invariant=False",
    shifts_change_nothing: "if scores have a zero of their own, state it in traits: shift_invariant=False",
    permuting_permutes: "if documents of equal scores are ranked by row, state it in traits: ties_in_row_order=True",
    queries_are_independent: "if queries learn from each other, state it in traits: couples_queries=True",
    parts_are_as_the_whole: "scale_terms and totals must be sums over queries",
    weights_are_relative: "the denominator of scale_terms must grow with the weights as the value does",
}
"""What may be missing in a class that breaks a property."""


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _moderate(scores: Floats) -> bool:
    """Whether outputs stay in the range in which no common factor is applied."""
    return float(np.abs(scores).max(initial=0.0)) <= 10.0


def _some_rows(queries: Queries, rng: np.random.Generator) -> list[int]:
    return [int(i) for i in rng.permutation(queries.n_rows)[:6]]


def _slopes(f: Callable[[Floats], float], scores: Floats, i: int) -> tuple[float, float]:
    """Return the derivative of a function of the scores by one of them, over a step and over half of it."""
    direction = 1.0 * (np.arange(len(scores)) == i)
    whole, halved = (_derivative(lambda x: f(scores + x * direction), step) for step in (_STEP, _STEP / 2.0))
    return float(whole), float(halved)


def _derivative(f: Callable[[float], Any], step: float) -> Any:
    """Central difference of 4th order."""
    return (8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step)


def _units(queries: Queries) -> tuple[NDArray[np.int64], int]:
    """Return what of the rows knows nothing of the others, and how many such units: queries, or all in one."""
    if queries.pairs is not None and queries.listed_pairs.crosses:
        return np.zeros(queries.n_rows, np.int64), 1
    return queries.query_of_row, queries.n_queries


def _largest(values: Floats, unit: NDArray[np.int64], n_units: int) -> Floats:
    """Return the largest absolute value in each unit."""
    out = np.zeros(n_units)
    np.maximum.at(out, unit, np.abs(values))
    return out


def _same_outputs(queries: Queries, one: tuple[Floats, Floats], two: tuple[Floats, Floats]) -> None:
    """Compare gradients and Hessians beside each query's largest."""
    unit, n_units = _units(queries)
    for name, x, y in zip(("gradient", "Hessian"), one, two, strict=True):
        largest, off = _largest(x, unit, n_units), _largest(x - y, unit, n_units)
        for q in np.flatnonzero(off > _PRECISE * largest):
            raise AssertionError(f"{name} of query {q} differs by {off[q]} beside {largest[q]}")


def _same_values(one: Floats, two: Floats) -> None:
    _expect(bool((np.abs(one - two) <= _PRECISE * np.abs(one)).all()), f"value {one} became {two}")


def _of_rows(queries: Queries, rows: NDArray[np.int64]) -> Queries:
    """Return the chosen rows, by query, as new queries with what pairs are left."""
    pairs = None if queries.pairs is None else queries.pairs.of_rows(rows, queries.n_rows)[0]
    return queries.of_rows(rows).replaced(pairs=pairs)

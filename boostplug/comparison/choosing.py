"""Choose, then use: a method for each fold from the other folds' queries, and a test of all that is chosen so."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.significance import SIGNS_AT_ONCE
from boostplug.core.arrays import Floats, Ints

_REDRAWN = 2000  # sign patterns for the width of the interval


M = TypeVar("M")


class Choice(NamedTuple, Generic[M]):
    """What is chosen, and how sure it is; a method is one of `Comparison`, or its number.

    Attributes
    ----------
    best, incumbent : method
        What all folds choose together; the incumbent is the best of the references.
    pairs : mapping of int to (method, method)
        The same for each fold; with several folds each is chosen without its queries.
    p : float or None
        Two-sided, of the mean difference of the pairs, by draws that choose anew; None if validation chose.
    widening : float
        At least 1: what the choice adds to the standard deviation of this mean.
    """

    best: M
    incumbent: M
    pairs: Mapping[int, tuple[M, M]]
    p: float | None = None
    widening: float = 1.0


def choose_then_use(
    values: Sequence[Floats],
    weight: Sequence[Floats],
    codes: Sequence[Ints],
    references: Sequence[int],
    otherwise: Floats,
    *,
    flips: int = 5000,
    random_state: int = 0,
) -> Choice[int]:
    r"""Choose a method for each fold by the mean over the other folds, and test it on the fold's own queries.

    The choice makes the folds dependent: a query speaks in the choice of the other folds, and is tested in its own. So
    the randomisation test exchanges each method with the incumbent in a query, in all methods at once, and *chooses
    anew*: p is twice the smaller share of sign patterns whose mean is at least, or at most, the observed one. In the
    same way the spread of the mean around the truth is drawn (a wild bootstrap of the residuals, with the observed
    means as the truth), with the choices as they are, and with new ones: their ratio is `widening`.

    Parameters
    ----------
    values : sequence of ndarray of shape (n_methods, n_queries)
        For each fold, higher is better; NaN where the metric is undefined.
    weight : sequence of ndarray of shape (n_queries,)
    codes : sequence of ndarray of shape (n_queries,)
        Equal numbers are one query, which has no say in the choice of a fold that tests it.
    references : sequence of int
        The methods of which one is the incumbent.
    otherwise : ndarray of shape (n_methods,)
        Values by which a fold chooses that tests all queries of the others.
    flips, random_state : int
        As for `randomisation_test`.
    """
    code = np.unique(np.concatenate(codes), return_inverse=True)[1]
    fold = np.repeat(np.arange(len(values)), [v.shape[1] for v in values])
    x, v = np.hstack(values), np.concatenate(weight)
    v = np.where(np.isnan(x[0]), 0.0, v)
    shares = np.array([_shares(v * (fold == f), fold) for f in np.unique(fold)])
    others = np.array([_shares(v * (fold != f) * ~np.isin(code, code[fold == f]), fold) for f in np.unique(fold)])
    overall = np.nan_to_num(x) @ shares.mean(axis=0)
    best, incumbent = int(overall.argmax()), max(references, key=overall.__getitem__)
    d = np.nan_to_num(x - x[incumbent])
    is_blind = ~others.any(axis=1)

    def chosen(means: Floats) -> tuple[Ints, Ints]:
        """Return the best method and the incumbent of each fold, from means of shape (n_folds, n_methods, n_draws)."""
        means[is_blind] = otherwise[:, None]
        of_references = np.asarray(references)[means[:, references].argmax(axis=1)]
        return means.argmax(axis=1), of_references

    def used(means: Floats, pair: tuple[Ints, Ints]) -> Floats:
        ours, theirs = (np.take_along_axis(means, one[:, None], axis=1)[:, 0] for one in pair)
        return np.asarray((ours - theirs).mean(axis=0))

    def means_of(of_queries: Floats, by: Floats, signs: NDArray[np.floating[Any]]) -> Floats:
        return np.stack([(of_queries[:, share > 0] * share[share > 0]) @ signs[share > 0] for share in by])

    one = np.ones((len(v), 1))
    pair = chosen(means_of(d, others, one))
    observed, rng = float(used(means_of(d, shares, one), pair)[0]), np.random.default_rng(random_state)
    center = d @ shares.mean(axis=0)
    residuals = (d - center[:, None]) * (v > 0)
    above = below = done = 0
    redrawn: list[tuple[Floats, Floats]] = []  # differences of methods that are chosen anew, and of the chosen ones
    while done < flips:
        count = min(max(1, SIGNS_AT_ONCE // len(v)), flips - done)
        signs = (2.0 * rng.integers(0, 2, (code.max() + 1, count)) - 1.0)[code]
        drawn = used(means_of(d, shares, signs), chosen(means_of(d, others, signs)))
        above, below = above + int((drawn >= observed - 1e-12).sum()), below + int((drawn <= observed + 1e-12).sum())
        if done < _REDRAWN:
            signs = signs[:, : _REDRAWN - done]
            noise, n_draws = means_of(residuals, shares, signs), signs.shape[1]
            again = used(noise, chosen(means_of(residuals, others, signs) + center[:, None]))
            kept = np.repeat(pair[0], n_draws, axis=1), np.repeat(pair[1], n_draws, axis=1)
            redrawn.append((again, used(noise, kept)))
        done += count
    again, fixed = (np.concatenate(parts) for parts in zip(*redrawn, strict=True))
    widening = float(again.std() / fixed.std()) if fixed.any() else 1.0
    pairs = dict(enumerate(zip(pair[0][:, 0].tolist(), pair[1][:, 0].tolist(), strict=True)))
    p = min(1.0, 2.0 * (1 + min(above, below)) / (1 + flips))
    return Choice(best, incumbent, pairs, p, max(1.0, widening))


def _shares(weight: Floats, fold: Ints) -> Floats:
    """Return weights that make a sum the mean over folds of the weighted means of each; zeros if all weights are 0."""
    total = np.bincount(fold, weight)
    shares = np.divide(weight, total[fold], out=np.zeros_like(weight), where=total[fold] > 0)
    return np.asarray(shares / max(1, (total > 0).sum()))

"""Whether the pages of a click log were shuffled."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from boostplug.clicks.shown import Shown, sums

Ints = NDArray[np.int64]

_FALSE_ALARMS = 1e-6


def refuse_fixed_order(rows: Shown, document: Ints) -> None:
    """Raise if documents of a query keep their positions from page to page more than chance allows."""
    if probability_if_shuffled(rows, document) < _FALSE_ALARMS:
        raise ValueError(
            'method="randomised" needs shuffled pages, and documents of this log keep their positions from page to '
            'page; pass method="harvesting" if documents were shown at several positions, "em" with X if not, or '
            "log.pages(…) of the shuffled pages only"
        )


def probability_if_shuffled(rows: Shown, document: Ints) -> float:
    r"""Return a bound of the probability that shuffled pages are as alike as those of a log.

    This is Friedman's test, with queries as strata. z is a position, standardised on its page of k positions such that
    its variance is 1 - 1/k. A document of a query, shown n times, has :math:`S = \sum z`. The sum of :math:`S^2/n` over
    the documents that were shown more than once has a known mean. It is compared with χ² of as many degrees of freedom,
    since on shuffled pages it is a sum of χ² of one degree with weights of at most 1. Pages may show different
    documents. The positions that a page has are taken as they are, so the cut by `max_position` does not matter.
    """
    page, place = rows.page, rows.place.astype(np.float64)
    n_pages = int(page.max()) + 1
    entry = np.sort(page * rows.n_positions + rows.place)  # np.unique without options hashes, which is slow on these
    size = np.bincount(entry[np.diff(entry, prepend=-1) > 0] // rows.n_positions, minlength=n_pages)
    shown = np.maximum(sums(page, rows.impressions, n_pages), 1.0)
    deviation = place - (sums(page, rows.impressions * place, n_pages) / shown)[page]
    variance = sums(page, rows.impressions * deviation**2, n_pages) / shown
    several = size[page] > 1
    share = 1.0 - 1.0 / size[page][several]
    z = deviation[several] * np.sqrt(share / variance[page][several])
    times = rows.impressions[several]
    _, item = np.unique((rows.query * (document.max(initial=0) + 1) + document)[several], return_inverse=True)
    n, S, mean = (sums(item, times * values, int(item.max(initial=-1)) + 1) for values in (np.ones(len(z)), z, share))
    again = n > 1
    freedom = (mean[again] / n[again]).sum()
    return float(chdtrc(freedom, (S[again] ** 2 / n[again]).sum())) if freedom > 0 else 1.0

"""Click logs for the tests of `boostplug.clicks`."""

import numpy as np

from boostplug.datasets import ClickLog


def aggregated(log):
    """Return one row per query, document and position, with the rows of a query as a page."""
    keys, at = np.unique([log.query, log.document, log.position], axis=1, return_inverse=True)
    ids = {"qid": keys[0], "query": keys[0], "document": keys[1], "position": keys[2]}
    return ClickLog(np.bincount(at.ravel(), log.clicked), impressions=np.bincount(at.ravel()), **ids)


def of_rows(log, kept=slice(None), *names):
    """Return a log of some rows, with those ids that are named."""
    ids = {name: getattr(log, name)[kept] for name in names}
    return ClickLog(log.clicked[kept], qid=log.page_of_row[kept], position=log.position[kept], **ids)

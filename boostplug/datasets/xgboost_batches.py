"""`BatchIter`: batches of whole queries as XGBoost's data iterator."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb

from boostplug.datasets.ranking_data import RankingData

__all__ = ["BatchIter"]


class BatchIter(xgb.DataIter):
    """Batches for ``xgb.QuantileDMatrix`` and its kin, which read them several times."""

    def __init__(
        self,
        batches: Iterable[RankingData],
        feature_names: tuple[str, ...] | None,
        cache_prefix: str | None,
        *,
        on_host: bool,
    ) -> None:
        self._batches, self._feature_names = batches, feature_names
        self._next: Iterator[RankingData] = iter(())
        self._n_queries = 0
        super().__init__(cache_prefix=cache_prefix, on_host=on_host)

    def reset(self) -> None:
        """Begin again."""
        self._next, self._n_queries = iter(self._batches), 0

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Hand over the next batch; return whether there was one."""
        batch = next(self._next, None)
        if batch is None:
            return False
        n = len(batch.group)
        # Numbers, since XGBoost takes ids modulo 2^32; they go on from batch to batch, since neighbours join.
        numbers = np.arange(self._n_queries, self._n_queries + n, dtype=np.uint32)
        self._n_queries += n
        firsts = np.cumsum(batch.group) - batch.group
        input_data(
            data=batch.X,
            label=batch.y,
            qid=np.repeat(numbers, batch.group),
            weight=None if batch.weight is None else batch.weight[firsts],
            feature_names=None if self._feature_names is None else list(self._feature_names),
        )
        return True

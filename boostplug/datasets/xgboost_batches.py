"""`BatchIter`: batches of whole queries as XGBoost's data iterator."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb

from boostplug.core.checks import shown
from boostplug.datasets.ranking_data import RankingData


class BatchIter(xgb.DataIter):
    """Batches for ``xgb.QuantileDMatrix`` and its kin, which read them several times."""

    def __init__(
        self,
        batches: Iterable[RankingData],
        feature_names: tuple[str, ...],
        cache_prefix: str | None,
        *,
        on_host: bool,
    ) -> None:
        self._batches, self._feature_names = batches, feature_names
        self._next: Iterator[RankingData] = iter(())
        super().__init__(cache_prefix=cache_prefix, on_host=on_host)

    def reset(self) -> None:
        """Begin again."""
        self._next = iter(self._batches)

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Hand over the next batch; return whether there was one."""
        batch = next(self._next, None)
        if batch is None:
            return False
        weight = None
        if batch.weight is not None:
            weight = batch.weight[np.cumsum(batch.group) - batch.group]
            differs = batch.weight != np.repeat(weight, batch.group)
            if differs.any():
                query = shown(batch.qid[np.argmax(differs)])
                raise ValueError(
                    f"the weights of query {query} differ, and a DMatrix has one weight per query; write one for all "
                    "rows of a query, or train by LightGBM (sequence()), which has weights per row"
                )
        input_data(
            data=batch.X,
            label=batch.y,
            group=batch.group,  # no ids, which XGBoost takes modulo 2^32
            weight=weight,
            feature_names=list(self._feature_names),
        )
        return True

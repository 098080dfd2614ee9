"""`BatchSequence`: the rows of batches as LightGBM's `Sequence`."""

from collections.abc import Iterable, Iterator
from operator import index
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from boostplug.datasets.ranking_data import RankingData

__all__ = ["BatchSequence"]


class BatchSequence(lgb.Sequence):
    """Rows of batches, of which one batch is held: rows in order are read in one pass, others begin another."""

    batch_size = 1 << 14  # rows that LightGBM asks for at once

    def __init__(self, batches: Iterable[RankingData], n_rows: int) -> None:
        self._batches, self._n_rows = batches, n_rows
        self._next: Iterator[RankingData] = iter(())
        self._X: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._start = self._stop = 0  # rows that are held

    def __len__(self) -> int:
        return self._n_rows

    def __getitem__(self, idx: Any) -> NDArray[Any]:
        """Return a row as float64, which LightGBM's choice of bins takes alone, or some rows as float32."""
        if isinstance(idx, slice):
            start, stop, step = idx.indices(self._n_rows)
            if step == 1:
                return self._range(start, max(start, stop))
            return self._rows(range(start, stop, step))
        if isinstance(idx, (list, np.ndarray)):
            return self._rows([index(i) for i in idx])
        return np.array(self._row(index(idx)), np.float64)

    def _rows(self, rows: Iterable[int]) -> NDArray[np.float32]:
        return np.array([self._row(row) for row in rows], np.float32)

    def _row(self, row: int) -> NDArray[np.float32]:
        at = row + self._n_rows if row < 0 else row
        if not 0 <= at < self._n_rows:
            raise IndexError(f"row {row} of {self._n_rows}")
        self._hold(at)
        found: NDArray[np.float32] = self._X[at - self._start]
        return found

    def _range(self, start: int, stop: int) -> NDArray[np.float32]:
        parts = []
        row = start
        while row < stop:
            self._hold(row)
            until = min(stop, self._stop)
            parts.append(self._X[row - self._start : until - self._start])
            row = until
        if not parts:
            return np.empty((0, self._X.shape[1]), np.float32)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _hold(self, row: int) -> None:
        """Read on until a row is there, from the first batch if it has passed."""
        if row < self._start or self._stop == 0:
            self._next, self._start, self._stop = iter(self._batches), 0, 0
        while row >= self._stop:
            self._X = np.empty((0, 0), np.float32)  # before the next batch is made
            batch = next(self._next)
            self._X, self._start, self._stop = batch.X, self._stop, self._stop + batch.n_rows

"""`BatchSequence`: the rows of batches as LightGBM's `Sequence`."""

from collections.abc import Iterable, Iterator
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from boostplug.datasets.ranking_data import RankingData


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
        rows = range(self._n_rows)
        if isinstance(idx, slice):
            rows = rows[idx]
            if rows.step == 1:
                return self._range(rows.start, rows.stop)
            idx = [*rows]
        if isinstance(idx, (list, np.ndarray)):
            return np.array([self[i] for i in idx], np.float32)
        try:
            row = rows[idx]
        except IndexError:
            raise IndexError(f"row {idx} of {self._n_rows}") from None
        return np.array(self._range(row, row + 1)[0], np.float64)

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

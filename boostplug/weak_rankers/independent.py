"""`IndependentSet`: weak rankers that are linearly independent on the pairs of a training set."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from boostplug.core.arrays import Floats, Ints

TOLERANCE = 1e-9  # share of a vector's length; the residual of a dependent vector is about 1e-15


def components_of_pairs(winner: Ints, loser: Ints, n: int) -> Ints:
    """Return the connected component of each of `n` documents in the graph of the pairs, shape (n,)."""
    rows, columns = winner.astype(np.int32), loser.astype(np.int32)  # the only index type of SciPy's graphs before 1.12
    graph = coo_array((np.ones(len(winner), np.int8), (rows, columns)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


class IndependentSet:
    """Linearly independent vectors with an orthonormal basis that grows, by Gram-Schmidt with re-orthogonalisation.

    A ranker orders pairs by differences of its scores. The differences of several rankers are linearly dependent
    exactly if their scores are, after centring in each connected component of the graph of pairs. So vectors have one
    entry per document, not per pair.

    Parameters
    ----------
    component : ndarray of shape (n_documents,)
        Component of each document, 0, 1, …
    """

    def __init__(self, component: Ints) -> None:
        self._component = component
        self._size = np.bincount(component).astype(np.float64)
        self.largest = len(component) - len(self._size)
        self._basis = np.empty((0, len(component)))  # rows from `size` on are unused
        self.size = 0

    @property
    def basis(self) -> Floats:
        """The orthonormal basis, of shape (size, n_documents)."""
        return self._basis[: self.size]

    def centred(self, vectors: ArrayLike) -> Floats:
        """Return vectors, of shape (…, n_documents), minus their mean in each component."""
        v = np.atleast_2d(np.asarray(vectors, np.float64))
        means = np.array([np.bincount(self._component, weights=row) for row in v]) / self._size
        out: Floats = v - means[:, self._component]
        return out.reshape(np.shape(vectors))

    def add(self, vector: ArrayLike) -> bool:
        """Add a vector if it is independent of the set. Return whether it was added."""
        return bool(self.add_each(np.asarray(vector)[np.newaxis]))

    def add_each(self, vectors: ArrayLike) -> list[int]:
        """Add each of `vectors`, (n, n_documents), that is independent of all before it; return their indices."""
        v = self.centred(vectors)
        rest = self._rest(v)  # for all vectors at once: this takes nearly all of the time
        outside = np.linalg.norm(rest, axis=1) > TOLERANCE * np.linalg.norm(v, axis=1)
        known, added = self.size, []
        for i in map(int, np.flatnonzero(outside)):
            if self.size == self.largest:
                break
            fresh = self._basis[known : self.size]
            left = rest[i] - (fresh @ rest[i]) @ fresh
            if np.linalg.norm(left) < 0.1 * np.linalg.norm(rest[i]):  # its rounding error has grown tenfold
                left = self._rest(left)
            length = np.linalg.norm(left)
            if length > TOLERANCE * np.linalg.norm(v[i]):
                self._append(left / length)
                added.append(i)
        return added

    def _append(self, direction: Floats) -> None:
        if self.size == len(self._basis):
            capacity = min(self.largest, max(16, 2 * self.size))
            basis = np.empty((capacity, len(direction)))
            basis[: self.size] = self.basis
            self._basis = basis
        self._basis[self.size] = direction
        self.size += 1

    def _rest(self, v: Floats) -> Floats:
        """Return the residuals of vectors after projection on the basis, twice."""
        for _ in range(2):
            v = v - _product(_product(v, self.basis.T), self.basis)
        return v


def _product(a: Floats, b: Floats) -> Floats:
    """Return ``a @ b``, of a single row in this thread: the threads of a BLAS spin for milliseconds after it."""
    product: Floats = a @ b if a.size > a.shape[-1] else np.einsum("...j,jk->...k", a, b)
    return product

"""The one decorator of all kernels."""

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["compiled"]


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile for the machine at the first call, without the GIL, and keep the result on disk for later processes.

    The cache stands beside the package, or in numba's own folder in the user's home, or where ``NUMBA_CACHE_DIR`` says.
    Where none of them can be written to, each process compiles anew: slower to start, never an error.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # no folder for the cache
            return numba.njit(nogil=True, **options)(function)

    return decorate

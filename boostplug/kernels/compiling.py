"""The one decorator of all kernels."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock

if sys.platform != "win32":
    import fcntl

__all__ = ["compiled", "inner"]


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile for the machine at the first call, without the GIL, and keep the result on disk for later processes.

    The cache stands beside the package, or in numba's own folder in the user's home, or where ``NUMBA_CACHE_DIR`` says.
    Where none of them can be written to, each process compiles anew: slower to start, never an error.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return _by_one_process_at_a_time(numba.njit(cache=True, nogil=True, **options)(function))
        except RuntimeError:  # no folder for the cache
            return numba.njit(nogil=True, **options)(function)

    return decorate


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that kernels alone call and that makes no array: without what Python needs to call it.

    References to arrays are not counted: with many named tuples that takes longer than the sums of a short list. The
    caller's code contains this one's, so that the cache keeps the caller's alone.
    """
    decorate: Callable[[Callable[..., Any]], Any] = numba.njit(
        nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False, **options
    )
    return decorate


def _by_one_process_at_a_time(kernel: Any) -> Any:
    """Let one process compile `kernel`, while others wait and then read what it has written.

    Numba numbers the files of a cache by an index that it reads and writes without a lock: of two processes that
    compile one function for different types, one can leave its code under the name of the other's. Kernels call each
    other in no circle, so processes wait for each other in none; within one, numba compiles in one thread at a time.
    """
    # Numba has no public way; NUMBA_DISABLE_JIT leaves the Python function, which has none of this.
    index = getattr(getattr(getattr(kernel, "_cache", None), "_cache_file", None), "_index_path", None)
    if index is None:
        return kernel
    compile_for = kernel.compile
    lock = Path(f"{index}.lock")
    inside = False

    def compile_alone(signature: Any) -> Any:
        nonlocal inside
        with global_compiler_lock:
            if inside:  # a function that calls itself
                return compile_for(signature)
            with _locked(lock):
                inside = True
                try:
                    return compile_for(signature)
                finally:
                    inside = False

    kernel.compile = compile_alone
    return kernel


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, or none where files cannot be locked: Windows, folders that cannot be written to."""
    with ExitStack() as stack:
        if sys.platform != "win32":
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(path.open("ab"))
                fcntl.flock(file, fcntl.LOCK_EX)
                stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # closed alone, a child forked meanwhile would hold it
        yield

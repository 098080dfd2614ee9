"""The one decorator of all kernels."""

import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

if sys.platform != "win32":
    import fcntl

__all__ = ["compiled", "inner"]


_complained = False


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile for the machine at the first call, without the GIL, and keep the result on disk for later processes.

    The cache stands beside the package, or in numba's own folder in the user's home, or where ``NUMBA_CACHE_DIR`` says.
    Where none of them can be written to, each process compiles anew: slower to start, never an error. So it is where
    the disk is full or a file is damaged; one warning per process then says what to delete.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(nogil=True, **options)(function)
        if kernel is function:  # NUMBA_DISABLE_JIT
            return function
        with suppress(RuntimeError, OSError):  # no folder for the cache
            kernel._cache = _Cache(function)  # noqa: SLF001 (numba has no public way)
            _by_one_process_at_a_time(kernel)
        return kernel

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


class _Sealed(CompileResultCacheImpl):  # type: ignore[misc]
    """Code with a digest: LLVM ends the process on damaged code, and what was compiled from another text runs."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Name the files otherwise than numba does, which could not read them, nor we what it has written."""
        return f"{super().get_filename_base(fullname, abiflags)}.sealed"

    def reduce(self, cres: Any) -> Any:
        content = dumps((self._origin, super().reduce(cres)))
        return sha256(content).digest(), content

    def rebuild(self, target_context: Any, reduced_data: Any) -> Any:
        digest, content = reduced_data
        if sha256(content).digest() != digest:
            raise ValueError("the compiled code is damaged")
        origin, payload = pickle.loads(content)  # noqa: S301 (as numba does; the digest is that of our own writing)
        return super().rebuild(target_context, payload) if origin == self._origin else None

    @property
    def _origin(self) -> tuple[Any, ...]:
        return self.filename_base, self.locator.get_source_stamp()


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, which is done without where it cannot be read or written."""

    _impl_class = _Sealed

    @property
    def lock(self) -> Path:
        return Path(self.cache_path, f"{self._impl.filename_base}.nbi.lock")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._checked(sig, super().load_overload(sig, target_context))
        except Exception as error:  # noqa: BLE001 (damaged bytes, unpickled, raise anything)
            self._complain(error)
            if not isinstance(error, OSError):
                with suppress(Exception):
                    self.flush()  # what was damaged is written anew
            return None

    @staticmethod
    def _checked(sig: Any, found: Any) -> Any:
        if found is not None and tuple(found.signature.args) != tuple(normalize_signature(sig)[0]):
            raise ValueError("its index names code for other types")
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # noqa: BLE001 (an index that is damaged; a disk that is full)
            self._complain(error)

    def _complain(self, error: Exception) -> None:
        """Warn once per process: what is wrong with one kernel's files is often wrong with those of all."""
        global _complained  # noqa: PLW0603
        if not _complained:
            _complained = True
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            warnings.warn(
                f"the cache of compiled code cannot be used ({reason}): this process compiles anew, which takes "
                f"seconds. If that comes again, delete the folder {self.cache_path} (it is made anew), free some disk "
                "space, or let NUMBA_CACHE_DIR name a folder that can be written to",
                UserWarning,
                stacklevel=2,
            )


def _by_one_process_at_a_time(kernel: Any) -> None:
    """Let one process compile `kernel`, while others wait and then read what it has written.

    Numba numbers the files of a cache by an index that it reads and writes without a lock: of two processes that
    compile one function for different types, one can leave its code under the name of the other's. Kernels call each
    other in no circle, so processes wait for each other in none; within one, numba compiles in one thread at a time.
    """
    lock = kernel._cache.lock  # noqa: SLF001
    compile_for = kernel.compile
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

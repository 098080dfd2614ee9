"""The two decorators of kernels, and the cache that keeps compiled code on disk."""

import gc
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numba

from boostplug.core.version import __version__

try:  # not part of numba's public interface
    from numba.core.caching import IndexDataCacheFile
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.types.misc import unliteral
except ImportError as error:
    raise ImportError(
        f"boostplug does not know the insides of numba {numba.__version__} ({error}); install an earlier one: "
        "pip install 'numba<0.69'"
    ) from error

if sys.platform != "win32":
    import fcntl

KERNELS = Path(__file__).parent.parent
_kernels: list[Any] = []


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for this processor at its first call, without the GIL, and keep the code on disk.

    Numba keeps the code in the folder that ``NUMBA_CACHE_DIR`` names, else in ``__pycache__`` beside the source, else
    in the user's cache folder. If it can write to none of them, every process compiles again and warns once.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
        if kernel is function:  # NUMBA_DISABLE_JIT
            return function
        _keep_on_disk(kernel)
        kernel.compile = partial(_compile, kernel, kernel.compile)
        _kernels.append(kernel)
        return kernel

    return decorate


def inlined(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that only kernels call; their code in the cache contains it.

    The function must neither make nor return arrays or views, because it counts no references. With ``_nrt=True`` it
    may make new arrays. It is always inlined: passing named tuples of arrays costs more than summing a short list.
    """
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False, "forceinline": True}

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(nogil=True, **without | options)(function)
        if kernel is not function:
            kernel.compile = partial(_compile, kernel, kernel.compile)
        return kernel

    return decorate


class Compiled(NamedTuple):
    """The kernels of this process.

    Attributes
    ----------
    n_compiled, n_found : int
        Kernels that this process compiled, and those that it found on disk; one for each combination of types.
    folders : list of Path
        Folders of the cache.
    in_memory : bool
        Whether some kernel is only in memory, because no folder could be written to.
    """

    n_compiled: int
    n_found: int
    folders: list[Path]
    in_memory: bool


def compiled_so_far() -> Compiled:
    """Return the kernels that this process has compiled or found on disk so far."""
    called = [kernel for kernel in _kernels if kernel.signatures]
    caches = [kernel._cache.cache_path for kernel in called]  # noqa: SLF001 (numba has no public way)
    return Compiled(
        sum(sum(kernel.stats.cache_misses.values()) for kernel in called),
        sum(sum(kernel.stats.cache_hits.values()) for kernel in called),
        sorted({Path(path) for path in caches if path is not None}),
        None in caches,
    )


def source_stamp(folder: Path) -> str:
    """Return the digest of all kernels' files, of the files in `folder`, and of the version of the package.

    Numba itself only looks at the time and size of the function's own file. A kernel also contains functions from
    other files.
    """
    return _digest(folder) + _digest(KERNELS) + __version__


@cache
def _digest(folder: Path) -> str:
    digest = sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _keep_on_disk(kernel: Any) -> None:
    try:
        kernel.enable_caching()
    except RuntimeError:  # no folder can be written to
        _warn_of_memory()
        return
    files = kernel._cache._cache_file  # noqa: SLF001 (numba has no public way)
    files.__class__ = _CacheFiles  # numba's cache has no other place for it
    folder = Path(kernel.py_func.__code__.co_filename).parent
    if folder.is_dir():  # not in an archive or a frozen program
        # Numba stops reading an index at another version, so it never unpickles types that no longer exist.
        files._version = numba.__version__, source_stamp(folder)  # noqa: SLF001
        files._source_stamp = ""  # noqa: SLF001 (a file's time, which layers of a container image round to seconds)


class _CacheFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's index of one kernel and its files of compiled code; a damaged file counts as missing.

    A loss of power can leave files cut short or filled with zeros. Damaged code could run and return wrong numbers, so
    each file also holds the digest of its code.
    """

    def _load_index(self) -> dict[Any, str]:
        try:
            index: dict[Any, str] = super()._load_index()
        except OSError:
            raise
        except Exception:  # noqa: BLE001 (unpickling damaged bytes can raise any exception)
            return {}
        return index

    def _save_data(self, name: str, data: Any) -> None:
        code = self._dump(data)
        super()._save_data(name, (sha256(code).digest(), code))

    def _load_data(self, name: str) -> Any:
        with suppress(Exception):  # as above
            digest, code = super()._load_data(name)
            if sha256(code).digest() == digest:
                return pickle.loads(code)  # noqa: S301 (as numba does with its cache)
        raise OSError(f"{name} is damaged")  # numba then compiles again and replaces the file


@cache
def _warn_of_memory() -> None:
    warnings.warn(
        "compiled code cannot be kept on disk, since no folder can be written to: every process compiles for seconds. "
        "Set NUMBA_CACHE_DIR to a folder that can be written to",
        UserWarning,
        stacklevel=2,
    )


def _compile(kernel: Any, compile_for: Callable[[Any], Any], signature: Any) -> Any:
    """Compile for the types of constants, not for their values, and in one process at a time.

    Numba reads and writes the index of its cache without a lock. So two processes that compile one function for
    different types at once could store one's code under the other's name.
    """
    if isinstance(signature, tuple):
        signature = tuple(unliteral(kind) for kind in signature)
    folder = kernel._cache.cache_path  # noqa: SLF001 (numba has no public way)
    path = None if folder is None else Path(folder, f"{kernel.__qualname__}.lock")
    with global_compiler_lock, _locked(path), _without_garbage_collection():
        return compile_for(signature)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: compiling makes millions of objects, and collecting takes 8 % of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _locked(path: Path | None) -> Iterator[None]:
    """Hold the lock of a file; does nothing without a path and on Windows."""
    if path is None or sys.platform == "win32" or path in _held:
        yield
        return
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _held.add(path)
        try:
            yield
        finally:
            _held.discard(path)
            fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough: a child forked meanwhile keeps the lock


_held: set[Path] = set()  # files whose lock this process holds

"""The two decorators of kernels. Numba keeps compiled code on disk. An edit of any kernel compiles it anew."""

import pickle
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.types.misc import unliteral

from boostplug.core.version import __version__

KERNELS = Path(__file__).parent.parent
_kernels: list[Any] = []


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for this processor at its first call, without the GIL, and keep the code on disk.

    Numba keeps the code in the folder that ``NUMBA_CACHE_DIR`` names. Else it is in ``__pycache__`` beside the source,
    else in the user's cache folder. If it can write to none of them, every process compiles again and warns once.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = _with_any_constants(numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function))
        if kernel is not function:  # else NUMBA_DISABLE_JIT is set
            _keep_on_disk(kernel)
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
        return _with_any_constants(numba.njit(nogil=True, **without | options)(function))

    return decorate


def _with_any_constants(kernel: Any) -> Any:
    """Compile for the types of constants, not anew for each value."""
    compile_for = getattr(kernel, "compile", None)  # None if NUMBA_DISABLE_JIT is set
    if compile_for is not None:
        kernel.compile = lambda signature: compile_for(tuple(map(unliteral, signature)))
    return kernel


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
    # Numba stops reading an index at another version, so it never unpickles types that no longer exist.
    files._version = numba.__version__, source_stamp(Path(kernel.py_func.__code__.co_filename).parent)  # noqa: SLF001
    files._source_stamp = ""  # noqa: SLF001 (a file's time, which layers of a container image round to seconds)


class _CacheFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's index of one kernel and its files of compiled code, which are made anew if one is damaged.

    A loss of power can leave zeros within a file. Such code could end the process, so each file holds its digest.
    """

    def load(self, key: Any) -> Any:
        with suppress(Exception):  # unpickling damaged bytes can raise any exception
            return super().load(key)
        Path(self._index_path).unlink(missing_ok=True)
        return None

    def _save_data(self, name: str, data: Any) -> None:
        code = self._dump(data)
        super()._save_data(name, (sha256(code).digest(), code))

    def _load_data(self, name: str) -> Any:
        digest, code = super()._load_data(name)
        if sha256(code).digest() != digest:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(code)  # noqa: S301 (as numba does with its cache)


@cache
def _warn_of_memory() -> None:
    warnings.warn(
        "compiled code cannot be kept on disk, since no folder can be written to: every process compiles for seconds. "
        "Set NUMBA_CACHE_DIR to a folder that can be written to",
        UserWarning,
        stacklevel=2,
    )

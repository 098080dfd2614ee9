"""The one decorator of all kernels."""

import gc
import inspect
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.types.misc import unliteral

from boostplug.version import __version__

if sys.platform != "win32":
    import fcntl

__all__ = ["Kept", "compiled", "inner", "kept", "stored"]


_complained = False
_kernels: list[Any] = []
_SELDOM = 50_000  # new objects between collections while compiling, which makes millions: 8% of the time (numba 0.68)


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile for the machine at the first call, without the GIL, and keep the result on disk for later processes.

    The cache stands where ``NUMBA_CACHE_DIR`` says, or beside the package, or in numba's own folder in the user's home:
    the first of them that can be written to. What one before it holds is read there, as in the image of a container.
    Where none can be written to, each process compiles anew: slower to start, never an error. So it is where the disk
    is full or a file is damaged; one warning per process then says what to delete.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function)  # C calls none of them
        if kernel is function:  # NUMBA_DISABLE_JIT
            return function
        lock = None
        cache = _cache_of(function)
        if cache is not None:
            kernel._cache = cache  # noqa: SLF001 (numba has no public way)
            lock = cache.lock
        _by_one_process_at_a_time(kernel, lock)
        _kernels.append(kernel)
        return kernel

    return decorate


class Kept(NamedTuple):
    """What this process has compiled, what it has found in the cache, and where the cache is.

    Attributes
    ----------
    n_compiled, n_found : int
        Kernels, one for each combination of types.
    folders : list of Path
        Of those kernels that were called.
    lost : str
        Why something could not be kept; empty where all is.
    """

    n_compiled: int
    n_found: int
    folders: list[Path]
    lost: str


def kept() -> Kept:
    """Return what has become of the kernels of this process so far."""
    called = [kernel for kernel in _kernels if kernel.signatures]
    caches = [kernel._cache for kernel in called]  # noqa: SLF001 (numba has no public way)
    shelves = [cache.shelf for cache in caches if isinstance(cache, _Cache)]
    lost = next((cache.lost for cache in caches if isinstance(cache, _Cache) and cache.lost), "")
    if not all(isinstance(cache, _Cache) for cache in caches):
        lost = "there is no folder that can be written to"
    return Kept(
        sum(sum(kernel.stats.cache_misses.values()) for kernel in called),
        sum(sum(kernel.stats.cache_hits.values()) for kernel in called),
        sorted({Path(cache.cache_path) for cache in (*caches, *shelves) if isinstance(cache, _Cache)}),
        lost,
    )


def stored() -> tuple[int, int]:
    """Return of how many kernels code for this processor is on disk, and how many there are in what is imported.

    Those that are always written into their callers have no code of their own.
    """
    own = [kernel for kernel in _kernels if kernel.targetoptions.get("inline", "never") == "never"]
    return sum(map(_is_stored, own)), len(own)


def _is_stored(kernel: Any) -> bool:
    cache = kernel._cache  # noqa: SLF001 (numba has no public way)
    if not isinstance(cache, _Cache):
        return False
    machine = kernel.targetctx.codegen().magic_tuple()
    return any(key[1] == machine for part in (cache, cache.shelf) if part is not None for key in part.index())


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that kernels alone call, as a part of each: without what Python needs to call it.

    It takes half the time that `compiled` does: LLVM optimises it and makes machine code of it in its callers alone,
    which contain it, so that the cache keeps them alone. Python cannot call it.

    References to arrays are not counted, which with many named tuples takes longer than the sums of a short list. So it
    makes no array, unless with ``_nrt=True``.
    """
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(nogil=True, pipeline_class=_AsPartOfCallers, **without | options)(function)
        if kernel is not function:  # NUMBA_DISABLE_JIT
            kernel.__class__ = _Inner
        return kernel

    return decorate


class _Inner(CPUDispatcher):  # type: ignore[misc]
    def __call__(self, *_arguments: Any, **_more: Any) -> Any:
        name = self.py_func.__name__
        raise TypeError(f"{name} is compiled into kernels alone; call it in one, or {name}.py_func from Python")

    def compile(self, signature: Any) -> Any:
        return super().compile(_without_literals(signature))


class _PartOfCallers(JITCodeLibrary):  # type: ignore[misc]
    """Code that waits for its callers': they link it into theirs before that is optimised."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        """Do all but hand the code to the engine, which would make machine code of it."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        return 0

    @property
    def codegen(self) -> "_NoEnvironment":
        return _NoEnvironment()


class _NoEnvironment:
    """What a function's environment is told to: only errors that format a message, and printing, look into it."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _AsPartOfCallers(CompilerBase):  # type: ignore[misc]
    """Numba's own steps, but for what becomes of the code."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = _PartOfCallers(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


@lru_cache
def _by_content(locator: Any) -> type[Any]:
    """Return a locator that knows a file by what it says; older numba takes its time, which images of containers cut.

    (A layer of an image keeps times in whole seconds, so that nothing in it would be found.)
    """

    class ByContent(locator):  # type: ignore[misc]
        def get_source_stamp(self) -> Any:
            path = Path(self._py_file)
            if not path.is_file():  # a notebook's cell, an archive, a frozen program
                return super().get_source_stamp()
            status = path.stat()
            return _digest(path, status.st_mtime_ns, status.st_size)

    return ByContent


@lru_cache
def _digest(path: Path, _time: int, _size: int) -> bytes:
    return sha256(path.read_bytes()).digest()


class _Sealed(CompileResultCacheImpl):  # type: ignore[misc]
    """Code with a digest: LLVM ends the process on damaged code, and what was compiled from another text runs."""

    @property
    def _locator_classes(self) -> list[type[Any]]:
        locators: list[Any] = super()._locator_classes
        return [_by_content(locator) for locator in locators]

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
    lost = ""  # why something could not be written
    shelf: "_Shelf | None" = None  # where else to look

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Numba reads an index no further than to the version. Another version's may name types that are gone.
        self._cache_file._version = numba.__version__, __version__, self._impl.locator.get_source_stamp()  # noqa: SLF001

    def index(self) -> dict[Any, str]:
        """Return the file of each signature, processor and function that is kept; empty where none can be read."""
        try:
            found: dict[Any, str] = self._cache_file._load_index()  # noqa: SLF001 (as above)
        except Exception:  # noqa: BLE001 (damaged bytes, unpickled, raise anything)
            return {}
        return found

    @property
    def lock(self) -> Path:
        return Path(self.cache_path, f"{self._impl.filename_base}.nbi.lock")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = self._checked(sig, super().load_overload(sig, target_context))
        except Exception as error:  # noqa: BLE001 (damaged bytes, unpickled, raise anything)
            self._complain(error)
            if not isinstance(error, OSError):
                with suppress(Exception):
                    self.flush()  # what was damaged is written anew
            found = None
        return self.shelf.load_overload(sig, target_context) if found is None and self.shelf else found

    @staticmethod
    def _checked(sig: Any, found: Any) -> Any:
        if found is not None and tuple(found.signature.args) != tuple(normalize_signature(sig)[0]):
            raise ValueError("its index names code for other types")
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # noqa: BLE001 (an index that is damaged; a disk that is full)
            self.lost = " ".join(f"{type(error).__name__}: {error}".split())
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


class _Writable(Exception):  # noqa: N818 (nothing is wrong)
    """A folder that numba takes by itself: those that come after it are not looked into."""


class _Shelved(_Sealed):
    """Code in the first of numba's folders that holds the function, of those that it passes by to write elsewhere."""

    @property
    def _locator_classes(self) -> list[type[Any]]:
        locators: list[Any] = super()._locator_classes
        return [_passed_by(locator) for locator in locators]


@lru_cache
def _passed_by(locator: Any) -> type[Any]:
    """Return a locator that takes a folder which holds the function and cannot be written to, and none after others."""

    class PassedBy(locator):  # type: ignore[misc]
        def ensure_cache_path(self) -> None:
            try:
                super().ensure_cache_path()
            except OSError:
                index = f"{Path(self._py_file).stem}.*-{self._lineno}.*.sealed.nbi"
                if next(Path(self.get_cache_path()).glob(index), None) is None:
                    raise
            else:
                raise _Writable

    return PassedBy


class _Shelf(_Cache):
    """A cache that is read alone, as the image of a container has it."""

    _impl_class = _Shelved

    def save_overload(self, _sig: Any, _data: Any) -> None:
        self.lost = f"{self.cache_path} cannot be written to"


def _cache_of(function: Callable[..., Any]) -> _Cache | None:
    """Return where a function's code is kept, which is a shelf where no folder can be written to; None without one."""
    cache: _Cache | None = None
    with suppress(RuntimeError, OSError):  # no folder can be written to
        cache = _Cache(function)
    first = numba.config.CACHE_DIR or str(Path(inspect.getfile(function)).with_name("__pycache__"))
    if cache is not None and str(cache.cache_path).startswith(first):
        return cache
    with suppress(RuntimeError, OSError, _Writable):  # no folder holds it
        shelf = _Shelf(function)
        if cache is None:
            return shelf
        cache.shelf = shelf
    return cache


def _by_one_process_at_a_time(kernel: Any, lock: Path | None) -> None:
    """Let one process compile `kernel`, while others wait and then read what it has written.

    Numba numbers the files of a cache by an index that it reads and writes without a lock: of two processes that
    compile one function for different types, one can leave its code under the name of the other's. Kernels call each
    other in no circle, so processes wait for each other in none; within one, numba compiles in one thread at a time.
    """
    compile_for = kernel.compile
    inside = False

    def compile_alone(signature: Any) -> Any:
        nonlocal inside
        signature = _without_literals(signature)
        with global_compiler_lock:
            if inside:  # a function that calls itself
                return compile_for(signature)
            with _locked(lock), _seldom_collecting():
                inside = True
                try:
                    return compile_for(signature)
                finally:
                    inside = False

    kernel.compile = compile_alone


def _without_literals(signature: Any) -> tuple[Any, ...]:
    """Return the types of arguments, those of constants as of variables.

    A kernel that calls a function with 0, or with what was 0 at first, would have it compiled for that number too.
    """
    return tuple(unliteral(kind) for kind in normalize_signature(signature)[0])


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Look for garbage less often than Python's default."""
    before = gc.get_threshold()
    if not 0 < before[0] < _SELDOM:
        yield
        return
    gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _locked(path: Path | None) -> Iterator[None]:
    """Hold the lock of a file, or none where files cannot be locked: Windows, folders that cannot be written to."""
    with ExitStack() as stack:
        if path is not None and sys.platform != "win32":
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(path.open("ab"))
                fcntl.flock(file, fcntl.LOCK_EX)
                stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # closed alone, a child forked meanwhile would hold it
        yield

"""Optional libraries: which extra brings each, and the error where one is missing or broken."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

__all__ = [
    "LIBRARIES",
    "Library",
    "failed_imports",
    "imported",
    "install",
    "is_installed",
    "is_missing",
    "needed_by",
    "remedy_of",
]

_OPENMP = (
    "install the OpenMP runtime that it is linked with: apt-get install libgomp1 (Debian, Ubuntu), brew install libomp "
    "(macOS)"
)


class Library(NamedTuple):
    """An optional library: how it writes its name, and the extra that brings it; empty where none does."""

    shown: str
    extra: str


LIBRARIES = {
    "lightgbm": Library("LightGBM", "lightgbm"),
    "xgboost": Library("XGBoost", "xgboost"),
    "dask": Library("Dask", "dask"),
    "distributed": Library("Dask's distributed", "dask"),
    "optuna": Library("optuna", "tune"),
    "matplotlib": Library("matplotlib", "report"),
    "pandas": Library("pandas", "report"),
    "pyarrow": Library("pyarrow", "parquet"),
    "polars": Library("polars", ""),
    "catboost": Library("CatBoost", ""),
}
"""By the module's name."""


@contextmanager
def needed_by(what: str, *libraries: str) -> Iterator[None]:
    """Let imports within the block fail in words: what needs which library, and what installs or mends it.

    Parameters
    ----------
    what : str
        What the user has asked for, up to the library's name: "figures need".
    *libraries : str
        Keys of `LIBRARIES`, the one that is imported first of all; their extras are named together.

    Raises
    ------
    ImportError
        For whatever an import raises: a library whose own parts are missing may end with any error.
    """
    try:
        yield
    except Exception as error:
        library = next((name for name in libraries if is_missing(name, error)), libraries[0])
        said = f"{what} {LIBRARIES[library].shown}"
        if is_missing(library, error):
            raise ImportError(f"{said}: {install(*libraries)}", name=library) from error
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ImportError(
            f"{said}, which cannot be imported ({reason}): {remedy_of(library, error)}", name=library
        ) from error


def imported(library: str, what: str, *others: str) -> Any:
    """Return an optional library's module; where there is none, raise as `needed_by` does."""
    with needed_by(what, library, *others):
        return import_module(library)


def failed_imports(libraries: Iterable[str]) -> dict[str, Exception]:
    """Return what the import of each library raises that cannot be imported; empty where all can."""
    errors = {}
    for library in libraries:
        try:
            import_module(library)
        except Exception as error:  # noqa: BLE001 (a library whose own parts are missing may end with any)
            errors[library] = error
    return errors


def install(*libraries: str) -> str:
    """Return the command that installs libraries, by their extras where they have one."""
    extras = dict.fromkeys(LIBRARIES[name].extra for name in libraries if LIBRARIES[name].extra)
    named = [name for name in libraries if not LIBRARIES[name].extra]
    return " ".join(["pip install", *([f"'boostplug[{','.join(extras)}]'"] if extras else []), *named])


def is_installed(library: str) -> bool:
    """Return whether a library is there, without importing it: it may be broken."""
    try:
        return find_spec(library) is not None
    except ValueError:  # imported, by a loader that leaves no trace
        return True


def is_missing(library: str, error: Exception) -> bool:
    """Return whether an import has failed because the library is not there, and not for what is wrong with it."""
    return isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == library


def remedy_of(library: str, error: Exception) -> str:
    """Return what to do about a library that is there and cannot be imported."""
    if any(name in str(error) for name in ("libgomp", "libomp", "vcomp140")):
        return _OPENMP
    if isinstance(error, ImportError) and library in LIBRARIES:  # a part of it is missing, which its extra brings
        return install(library)
    return f"pip install --force-reinstall {library}"

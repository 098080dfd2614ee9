"""Optional libraries: the extras that install them, and errors if one is missing or broken."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

_OPENMP = (
    "install the OpenMP runtime that it is linked with: apt-get install libgomp1 (Debian, Ubuntu), brew install libomp "
    "(macOS)"
)


class Library(NamedTuple):
    """Spelling of an optional library, and the extra that installs it; empty if none does."""

    shown: str
    extra: str


LIBRARIES = {
    "lightgbm": Library("LightGBM", "lightgbm"),
    "xgboost": Library("XGBoost", "xgboost"),
    "dask": Library("Dask", "dask"),
    "distributed": Library("Dask's distributed", "dask"),
    "optuna": Library("optuna", "tune"),
    "jinja2": Library("Jinja2", "report"),
    "matplotlib": Library("matplotlib", "report"),
    "pandas": Library("pandas", "report"),
    "pyarrow": Library("pyarrow", "parquet"),
    "polars": Library("polars", ""),
    "catboost": Library("CatBoost", ""),
}
"""By the module's name."""


@contextmanager
def needed_by(what: str, *libraries: str) -> Iterator[None]:
    """Give failing imports within the block a message with the purpose, the library and the remedy.

    Parameters
    ----------
    what : str
        Start of the message, up to the library's name: "figures need".
    *libraries : str
        Keys of `LIBRARIES`, the first import first. The message names all their extras.

    Raises
    ------
    ImportError
        For any error of an import, since a broken library may raise any.
    """
    try:
        yield
    except Exception as error:
        library = next((name for name in libraries if is_missing(name, error)), libraries[0])
        purpose = f"{what} {LIBRARIES[library].shown}"
        if is_missing(library, error):
            raise ImportError(f"{purpose}: {install(*libraries)}", name=library) from error
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ImportError(
            f"{purpose}, which cannot be imported ({reason}): {remedy_of(library, error)}", name=library
        ) from error


def imported(library: str, what: str, *others: str) -> Any:
    """Return the module of an optional library; raise as `needed_by` does if it cannot be imported."""
    with needed_by(what, library, *others):
        return import_module(library)


def failed_imports(libraries: Iterable[str]) -> dict[str, Exception]:
    """Return the import errors of the libraries that cannot be imported, by library."""
    errors = {}
    for library in libraries:
        try:
            import_module(library)
        except Exception as error:  # noqa: BLE001 (a broken library may raise any error)
            errors[library] = error
    return errors


def install(*libraries: str) -> str:
    """Return the command that installs libraries, by their extras if they have one."""
    extras = dict.fromkeys(LIBRARIES[name].extra for name in libraries if LIBRARIES[name].extra)
    named = [name for name in libraries if not LIBRARIES[name].extra]
    return " ".join(["pip install", *([f"'boostplug[{','.join(extras)}]'"] if extras else []), *named])


def is_installed(library: str) -> bool:
    """Return whether a library is installed, without importing it, since it may be broken."""
    try:
        return find_spec(library) is not None
    except ValueError:  # imported by a loader that sets no __spec__
        return True


def is_missing(library: str, error: Exception) -> bool:
    """Return whether an import has failed because the library is not installed, and not because it is broken."""
    return isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == library


def remedy_of(library: str, error: Exception) -> str:
    """Return the remedy for a library that is installed and cannot be imported."""
    if any(name in str(error) for name in ("libgomp", "libomp", "vcomp140")):
        return _OPENMP
    if isinstance(error, ImportError) and library in LIBRARIES:  # a dependency is missing, which the extra installs
        return install(library)
    return f"pip install --force-reinstall {library}"

"""Optional libraries: the extras that install them, and an error if one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple


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
    """Give imports within the block that fail for a missing library a message with the purpose and the remedy.

    Parameters
    ----------
    what : str
        Start of the message, up to the library's name: "figures need".
    *libraries : str
        Keys of `LIBRARIES`, the first import first. The message names all their extras.

    Raises
    ------
    ImportError
        If one of the libraries is not installed. Errors of broken ones pass as they are.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in libraries:
            raise  # an error of a library that is there
        raise ImportError(f"{what} {LIBRARIES[libraries[0]].shown}: {install(*libraries)}", name=error.name) from error


def imported(library: str, what: str, *others: str) -> Any:
    """Return the module of an optional library. Raise as `needed_by` does if it cannot be imported."""
    with needed_by(what, library, *others):
        return import_module(library)


def install(*libraries: str) -> str:
    """Return the command that installs libraries, by their extras if they have one."""
    extras = dict.fromkeys(LIBRARIES[name].extra for name in libraries if LIBRARIES[name].extra)
    named = [name for name in libraries if not LIBRARIES[name].extra]
    return " ".join(["pip install", *([f"'boostplug[{','.join(extras)}]'"] if extras else []), *named])


def is_installed(library: str) -> bool:
    """Return whether a library is installed, by importing it."""
    try:
        import_module(library)
    except ModuleNotFoundError:
        return False
    return True

"""Which versions of others the tests run with."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["version_of"]


def version_of(name):
    """Return the first two numbers of an installed distribution's version; (99, 0) where there is none."""
    try:
        return tuple(map(int, version(name).split(".")[:2]))
    except PackageNotFoundError:
        return 99, 0

"""Public names of a package that are imported when they are asked for (PEP 562)."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def names_in_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for the names that a package's ``__init__.pyi`` imports.

    Parameters
    ----------
    package, file : str
        ``__name__`` and ``__file__`` of the package.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [statement for statement in stub.body if isinstance(statement, ast.ImportFrom)]
    homes = {alias.name: statement.module for statement in imports for alias in statement.names}

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *homes}), sorted(homes)

"""Classes of the example scripts, without running the rest of them."""

import ast
from pathlib import Path
from typing import Any

__all__ = ["example_class"]

_EXAMPLES = Path(__file__).parents[4] / "examples"


def example_class(script: str, name: str) -> Any:
    """Return a class that an example defines."""
    tree = ast.parse((_EXAMPLES / script).read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ClassDef))]
    scope: dict[str, Any] = {"__name__": script}
    exec(compile(tree, script, "exec"), scope)  # noqa: S102 (our own example)
    return scope[name]

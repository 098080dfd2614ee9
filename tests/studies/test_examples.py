"""The examples in docstrings of the studies."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
WITH_EXAMPLES = [
    ".".join(path.relative_to(DOCS).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((DOCS / "studies").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_print_what_they_show(module):
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0

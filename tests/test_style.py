"""No test goes without an assertion of its own."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent


ASSERTING = {
    "law",
    "check_loss",
    "check",
}  # ours and scikit-learn's laws, where they are parameters or come from elsewhere


def functions_without_assertion(tree, helpers=()):
    """Return the names of a module's tests that assert nothing, and of all its functions that assert something.

    Assertions are the statement, pytest's raises, warns and fail, whatever is named assert_…, a process that must end
    well (check=True), and calls of functions that assert.
    """
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    asserting = {*helpers}

    def asserts(node):
        if isinstance(node, ast.Assert):
            return True
        if not isinstance(node, ast.Call):
            return False
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        checked = any(k.arg == "check" and getattr(k.value, "value", None) is True for k in node.keywords)
        return checked or name in asserting | ASSERTING | {"raises", "warns", "fail"} or name.startswith("assert_")

    grown = None
    while grown != asserting:
        grown = {*asserting}
        asserting |= {name for name, function in functions.items() if any(map(asserts, ast.walk(function)))}
    return {name for name in functions if name.startswith("test_")} - asserting, asserting


def test_every_test_asserts():
    trees = {path: ast.parse(path.read_text()) for path in sorted((ROOT / "tests").rglob("*.py"))}
    helpers = set()
    for path, tree in trees.items():
        if not path.name.startswith("test_"):
            helpers |= functions_without_assertion(tree)[1]
    idle = {
        f"{path.relative_to(ROOT)}::{name}"
        for path, tree in trees.items()
        if path.name.startswith("test_")
        for name in functions_without_assertion(tree, helpers)[0]
    }
    assert idle == set()


def test_a_test_without_assertion_is_found():
    source = """
def test_none():
    train()
def test_through_one_that_asserts_nothing():
    run()
def test_assert():
    assert train()
def test_numpy():
    np.testing.assert_allclose(1, 1)
def test_raises():
    with pytest.raises(ValueError):
        train()
def test_through_two():
    compare()
def test_process():
    subprocess.run([], check=True)
def test_law():
    law(1)
def compare():
    for x in ():
        equal(x)
def equal(x):
    assert x
def run():
    subprocess.run([], check=False)
"""
    assert functions_without_assertion(ast.parse(source))[0] == {"test_none", "test_through_one_that_asserts_nothing"}

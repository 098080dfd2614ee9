"""Each error and warning that a public docstring promises has a test: `promises.py` has the list."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest


@pytest.mark.ci
def test_each_promise_has_a_test_that_shows_it():
    pytest.importorskip("numpydoc")
    script = Path(__file__).with_name("promises.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


@pytest.fixture
def promises():
    for library in ("lightgbm", "xgboost", "distributed"):
        pytest.importorskip(library)
    import promises

    return promises


def test_each_clause_has_a_test(promises):
    pytest.importorskip("numpydoc")
    assert promises.faults(promises.promises(), promises.stored()) == []


def test_what_no_clause_covers_is_found(promises):
    sentences = {("f", "ValueError"): "If a is wrong, or b. The message names it."}
    tests = {"f": {"ValueError": {"a is wrong": "x", "c": "x"}, "TypeError": {"d": "x"}}}
    assert promises.faults(sentences, tests) == [
        "f: ValueError: the docstring does not have the clause 'c'",
        "f: ValueError: promises.json has no test for ', or b. The message names it.'",
        "f: TypeError is not in the docstring",
    ]


def test_a_promise_is_shown_by_what_leaves_its_name_in_a_test_that_passes(promises):
    recorder = promises.Recorder({"tests/a"})
    for recorder.test, passes in {"tests/a[1]": True, "tests/b": False}.items():
        with suppress(UnicodeError):
            recorder.recording("\udcc3".encode, lambda _: ["f"])()
        recorder.passed[recorder.test] = passes
    assert recorder.shows("tests/a", "f", "ValueError")
    assert recorder.shows("tests/a", "", "ValueError")
    for wrong in (("tests/a", "f", "TypeError"), ("tests/a", "g", "ValueError"), ("tests/b", "f", "ValueError")):
        assert not recorder.shows(*wrong)

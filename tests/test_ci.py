"""What the README promises about its two commands, as far as a test inside the second one can say."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def script_of_ci():
    return (ROOT / ".ci" / "run").read_text()


def bash_blocks():
    return re.findall(r"^```bash\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)


def test_readme_has_two_commands():
    compare, test = bash_blocks()
    assert "boostplug compare" in compare
    assert "pytest -n auto" in test


def test_extras_of_the_commands_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for block in bash_blocks():
        (listed,) = re.findall(r"\.\[([a-z,]+)\]", block)
        assert set(listed.split(",")) <= set(extras)


def test_ci_runs_the_readme_command_strictly():
    script = script_of_ci()
    for step in ("ruff check .", "ruff format --check .", "mypy", "pytest -n auto --dist worksteal -m ci"):
        assert f"\n{step}\n" in script
    assert "set -euo pipefail" in script
    assert "README.md" in script


def test_ci_runs_numerical_tests_without_the_processors_extensions():
    script = script_of_ci()
    first, second = script.split('bash -euo pipefail -c "$command"')
    assert "NUMBA_CPU_NAME" not in first
    for setting in ("NPY_DISABLE_CPU_FEATURES", "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME=generic"):
        assert re.search(rf"^export .*\b{setting}", second, re.MULTILINE), setting
    (listed,) = re.findall(r"^numerical=\((.*?)^\)", second, re.DOTALL | re.MULTILINE)
    files = listed.split()
    assert "tests/test_one_ulp.py" in files
    assert [name for name in files if not (ROOT / name).is_file()] == []
    assert second.rstrip().endswith('pytest -n auto --dist worksteal "${numerical[@]}"')


def test_numpys_extensions_can_be_switched_off():
    """The line of the script names those that NumPy dispatches to and the machine has; others would be a warning."""
    (line,) = re.findall(r'^NPY_DISABLE_CPU_FEATURES=\$\(python -c "(.*)"\)$', script_of_ci(), re.MULTILINE)
    plain = {name: value for name, value in os.environ.items() if name != "NPY_DISABLE_CPU_FEATURES"}
    found = subprocess.run(
        [sys.executable, "-c", line], env=plain, capture_output=True, text=True, check=True
    ).stdout.strip()
    left = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import numpy; assert numpy.exp(0.0) == 1.0; {line}"],
        env={**plain, "NPY_DISABLE_CPU_FEATURES": found},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (left.stdout.strip(), left.stderr) == ("", "")

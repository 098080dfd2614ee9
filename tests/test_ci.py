"""What the README promises about its two commands, as far as a test inside the second one can say."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


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
    script = (ROOT / ".ci" / "run").read_text()
    assert "set -euo pipefail" in script
    assert "README.md" in script

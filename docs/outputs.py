"""Run what pages show, and write its output below it: `python docs/outputs.py [PAGE …]`.

Without names: all tutorials, the guide that prints tables as they do, and the README. The tests run the same code and
compare. They allow no difference with the versions that the index of the tutorials names.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from os import environ
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TUTORIALS = ROOT / "docs" / "tutorials"
INDEX = TUTORIALS / "index.md"
PRINTING = (*sorted(TUTORIALS.glob("*.md")), ROOT / "docs" / "guides" / "what_has_it_learnt.md")  # below their code
WORDS = ROOT / "docs" / "pictures" / "report.txt"  # beside the picture, which docs/pictures.py takes
STEP = re.compile(r"^```python\n(?P<code>.*?)^```(?:\n+```text\n(?P<shown>.*?)^```)?", re.DOTALL | re.MULTILINE)
CLUSTER = "LocalCluster("  # in a script, which its workers import
_COMPARISON = re.compile(r"^```bash\n(boostplug compare --data .*?)^```\n+```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
_VERSION = re.compile(r"\b([A-Za-z-]+) (\d+\.\d+(?:\.\d+)?)\b")
_NUMBER = re.compile(r"[+-]?(?:\d*\.)?\d+")


def steps(page: Path) -> list[tuple[str, str]]:
    """Return a page's blocks of Python, each with the output that is shown right below it, or ""."""
    return [(step["code"], step["shown"] or "") for step in STEP.finditer(page.read_text(encoding="utf-8"))]


def run_tutorial(page: Path, folder: Path) -> Iterator[str]:
    """Run a tutorial's blocks in a folder, one after the other. Yield what each prints."""
    codes = [code for code, _ in steps(page)]
    if any(CLUSTER in code for code in codes):  # one script
        script = folder / "tutorial.py"
        script.write_text("".join(codes), encoding="utf-8")
        yield from [""] * (len(codes) - 1)
        yield run([sys.executable, script.name], folder)
        return
    module = sys.modules["tutorial"] = ModuleType("tutorial")  # what a page defines can be pickled
    for code in codes:
        with chdir(folder), redirect_stdout(StringIO()) as printed:
            exec(compile(code, page.name, "exec"), vars(module))  # noqa: S102 (our own pages)
        yield printed.getvalue()


def run(command: list[str], folder: Path) -> str:
    """Run a command in a folder. Return what it prints."""
    environment = {**environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(  # noqa: S603 (our own pages)
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def shop_comparison() -> tuple[str, str]:
    """Return the README's command on the table of a shop, and the output that stands below it."""
    command, shown = _COMPARISON.findall(README.read_text(encoding="utf-8"))[0]
    return command.replace("\\\n", ""), shown


def compare_shop(folder: Path) -> tuple[str, Path]:
    """Run the README's command in a folder. Return the recommendation as it is printed, and the path of the report."""
    next(run_tutorial(TUTORIALS / "shop.md", folder))  # the first block writes the table
    command = shlex.split(shop_comparison()[0])
    printed = run([sys.executable, "-m", "boostplug.cli", *command[1:]], folder)
    return printed.split("\n\n")[-1], folder / command[command.index("--report") + 1]


def beginning(printed: str, shown: str) -> str:
    """Return as many words of an output as are shown."""
    return " ".join(printed.split()[: len(shown.split())])


class _Section(HTMLParser):
    """The text of a report's recommendation, a line for each element that holds some."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.inside = ("id", "recommendation") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "section"

    def handle_data(self, data: str) -> None:
        if self.inside and data.strip():
            self.lines.append(" ".join(data.split()))


def words_of_report(path: Path) -> str:
    """Return the text in the picture of a report."""
    section = _Section()
    section.feed(path.read_text(encoding="utf-8"))
    return "\n".join(section.lines) + "\n"


def alike(printed: str, shown: str, tolerance: float = 0.0) -> bool:
    """Return whether words and integers are equal, and other numbers to a tolerance."""
    if _NUMBER.sub("#", printed).split() != _NUMBER.sub("#", shown).split():
        return False
    pairs = zip(_NUMBER.findall(printed), _NUMBER.findall(shown), strict=True)
    return all(a == b or ("." in b and abs(float(a) - float(b)) <= tolerance) for a, b in pairs)


def same_versions() -> bool:
    """Return whether the installed libraries are those that the index of the tutorials names."""
    named = _VERSION.findall(INDEX.read_text(encoding="utf-8"))
    try:
        return bool(named) and all(version(name) == made for name, made in named)
    except PackageNotFoundError:
        return False


def main(names: list[str]) -> None:
    """Run the pages, and write what has changed."""
    pages = [Path(name).resolve() for name in names] or [*PRINTING, README]
    for page in pages:
        with TemporaryDirectory() as folder:
            if page == README:
                write_readme(Path(folder))
            else:
                write_tutorial(page, Path(folder))
    if not names:
        text = INDEX.read_text(encoding="utf-8")
        INDEX.write_text(_VERSION.sub(lambda found: f"{found[1]} {version(found[1])}", text), encoding="utf-8")


def write_tutorial(page: Path, folder: Path) -> None:
    """Write a tutorial's outputs."""
    outputs = run_tutorial(page, folder)

    def step(found: re.Match[str]) -> str:
        printed = "".join(f"{line.rstrip()}\n" for line in next(outputs).rstrip().splitlines())
        return found[0] if alike(printed, found["shown"] or "") else with_output(found["code"], printed)

    page.write_text(STEP.sub(step, page.read_text(encoding="utf-8")), encoding="utf-8")


def with_output(code: str, printed: str) -> str:
    """Return a block of Python with its output below it, if it has one."""
    return f"```python\n{code}```" + (f"\n\n```text\n{printed}```" if printed else "")


def write_readme(folder: Path) -> None:
    """Write the beginning of the README's recommendation, as many lines as stand there."""
    printed, _ = compare_shop(folder)
    _, shown = shop_comparison()
    lines = printed.splitlines(keepends=True)[: len(shown.splitlines())]
    README.write_text(README.read_text(encoding="utf-8").replace(shown, "".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Pictures of the README and the home page: `python docs/pictures.py [gains] [report]`.

`gains` draws docs/pictures/gains.svg from the figures in docs/results. It also writes the README's table, and the words
for readers who do not see the picture. `report` takes a picture of the report that the README's command writes, in half
a minute. It needs playwright and a Chromium of the system.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import outputs

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
README = ROOT / "README.md"
SHOWN_ON = [README, ROOT / "docs" / "index.md", ROOT / "docs" / "results" / "what_moves_ndcg.md"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# Colours with enough contrast on white and on black: the background is transparent.
INK, FAINT, AHEAD, BEHIND = "#7b828c", "#7b828c55", "#2d84c4", "#d9661f"
WIDTH, LEFT, RIGHT, TOP, ROW = 520, 250, 24, 56, 42  # narrow, so that the text can be read in a window of 400 pixels
SHOWN = 620  # pixels, where there is room
FOOT = 84  # below the rows: the axis and the notes
LOWEST, HIGHEST = -0.005, 0.065  # of the axis
TICKS = (0.0, 0.02, 0.04, 0.06)


def with_z(difference: float, z: float) -> tuple[float, float, float]:
    """Return a difference and the ends of its 95 % interval."""
    half = 1.96 * difference / z
    return difference, difference - half, difference + half


class Row(NamedTuple):
    """A situation, what to do there, and the gain with the ends of its interval."""

    situation: str
    page: str  # about it, within docs; "" if the row before has the same
    what: str
    code: str  # "" likewise
    gain: tuple[float, float, float]


def rows_of_gains() -> list[Row]:
    """Return the rows of the picture, which are those of the README's table."""

    def stored(name: str) -> Any:
        return json.loads((ROOT / "docs" / "results" / f"{name}.json").read_text(encoding="utf-8"))

    trees, clicks, five = (stored(name) for name in ("fitting_trees", "clicks", "first_loss"))
    by_method = {(r["kind"], r["size"], r["method"], r["stopped by"]): r for r in trees["rows"] if r["half"] == "look"}
    (log,) = (r for r in clicks["logs"] if (r["set"], r["eta"], r["method"]) == ("yandex", 1.0, "lightgbm additive"))
    (grades,) = (row["overall"] for row in five["losses"] if row["loss"] == "CRR")

    def gain(kind: str, size: int, method: str, judge: str = "NDCG") -> tuple[float, float, float]:
        return with_z(*by_method[kind, size, method, judge]["NDCG@10"][:2])

    linear, choices, click = "tutorials/few_queries.md", "tutorials/bookings.md", "guides/clicks.md"
    return [
        Row(
            "30 judged queries",
            linear,
            "folds and a linear model",
            "`starting_params`, `fit_folds(linear=True)`",
            gain("graded", 30, "ours, folds and linear"),
        ),
        Row("100 judged queries", "", "the same", "", gain("graded", 100, "ours, folds and linear")),
        Row("400 judged queries", "", "folds", "`starting_params`, `fit_folds`", gain("graded", 400, "ours, folds")),
        Row("2,000 judged queries", "", "the same", "", gain("graded", 2000, "ours, folds")),
        Row(
            "Thousands of judged queries",
            "guides/which_loss.md",
            "another loss only",
            "`CRR`, `QBRank`",
            (grades["difference"], *grades["interval"]),
        ),
        Row(
            "300 lists of one choice",
            choices,
            "ListNet, small trees",
            "`starting_params`",
            gain("choice", 300, "ours", "log loss"),
        ),
        Row("1,500 lists of one choice", "", "the same", "", gain("choice", 1500, "ours", "log loss")),
        Row("Clicks with positions", click, "Unbiased, beside raw clicks", "`Unbiased`", tuple(log["beside clicks"])),
    ]


def figure(gain: float) -> str:
    """Return a gain as it is written."""
    return f"{gain:+.3f}".replace("0.", ".", 1)


def table_of_gains() -> str:
    """Return the README's table."""
    lines = ["| you have | do this | in code | gain in NDCG@10 |", "|---|---|---|---:|"]
    for row in rows_of_gains():
        situation = f"[{row.situation}](docs/{row.page})" if row.page else row.situation
        lines.append(f"| {situation} | {row.what} | {row.code} | {figure(row.gain[0])} |")
    return "\n".join(lines)


def words_of_gains() -> str:
    """Return the words for readers who do not see the picture."""
    rows = ", ".join(
        f"{figure(row.gain[0])} for {row.situation[0].lower()}{row.situation[1:]}" for row in rows_of_gains()
    )
    return f"Gain in NDCG@10 over LambdaMART as it comes: {rows}"


def with_gains(page: Path) -> str:
    """Return a page that shows the picture, with its words and the README's table as the figures have them."""
    text = page.read_text(encoding="utf-8")
    if page != README:  # whose table says it
        text = re.sub(r"!\[[^\]]*\](?=\([\w./]*gains\.svg\))", f"![{words_of_gains()}]", text)
    table = f"<!-- table: gains -->\n\n{table_of_gains()}\n\n<!-- end -->"
    return re.sub(r"<!-- table: gains -->.*?<!-- end -->", table, text, flags=re.DOTALL)


def gains() -> str:
    """Return a drawing of what moves NDCG@10, by situation."""
    rows = rows_of_gains()
    height = TOP + ROW * len(rows) + FOOT
    head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{SHOWN}" role="img"'
    font = f'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" font-size="16" fill="{INK}"'
    title = "Gain in test NDCG@10 over LambdaMART as it comes, by situation, with 95 % intervals"
    width = WIDTH - LEFT - RIGHT
    lines = [f"<svg {head} {font}>", f"<title>{title}</title>", *axis(LEFT, width, height)]
    for i, (situation, _, what, _, (gain, *interval)) in enumerate(rows):
        y = TOP + ROW * (i + 0.5)
        lines += [text(0, y - 3, situation, weight="bold"), text(0, y + 15, what)]
        lines += point({"difference": gain, "interval": interval}, LEFT, width, y, filled=True)
    lines.append(text(0, height - 28, "Test NDCG@10 beside LambdaMART as it comes, 95 % intervals."))
    lines += [text(0, height - 7, "Clicks: simulated, Yandex, beside clicks as labels."), "</svg>"]
    return "\n".join(lines) + "\n"


def text(x: float, y: float, content: str, *, anchor: str = "start", weight: str = "normal") -> str:
    """Return a line of text."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}">{content}</text>'


def place(value: float, left: float, width: float) -> float:
    """Return where a value stands across a panel; beyond the axis, its end."""
    share = (min(max(value, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
    return left + share * width


def axis(left: float, width: float, height: float) -> Iterator[str]:
    """Yield the ticks of a panel, and which side is better."""
    for tick in TICKS:
        x = place(tick, left, width)
        stroke = INK if tick == 0 else FAINT
        yield f'<path d="M{x:.1f} {TOP - 10}V{height - FOOT + 4}" stroke="{stroke}" stroke-width="1.2"/>'
        yield text(
            x, height - FOOT + 22, f"{tick:+.2f}".replace("0.", ".").replace("-", "−") if tick else "0", anchor="middle"
        )
    zero = place(0, left, width)
    yield text(zero + 7, 30, "ahead")


def point(one: Mapping[str, Any], left: float, width: float, y: float, *, filled: bool) -> Iterator[str]:
    """Yield a difference with its interval."""
    colour = AHEAD if one["difference"] >= 0 else BEHIND
    low, high = (place(end, left, width) for end in one["interval"])
    x = place(one["difference"], left, width)
    fill = colour if filled else "none"
    radius = 4.5
    line = f"M{low:.1f} {y:.1f}H{x - radius:.1f}M{x + radius:.1f} {y:.1f}H{high:.1f}"
    yield f'<path d="{line}" stroke="{colour}" stroke-width="2"/>'
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{colour}" stroke-width="1.8"/>'


def report() -> bytes:
    """Return a picture of what a report says first, and write its words."""
    from playwright.sync_api import sync_playwright

    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        sys.exit(f"a picture of the report needs one of {', '.join(BROWSERS)} on the path")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        _, page_path = outputs.compare_shop(Path(folder))
        outputs.WORDS.write_text(outputs.words_of_report(page_path), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=browser_path)
        page = browser.new_page(viewport={"width": 1100, "height": 400}, color_scheme="light")
        page.goto(page_path.as_uri())
        picture = page.locator("#recommendation").screenshot()
        browser.close()
    return picture


if __name__ == "__main__":
    for name in sys.argv[1:] or ["gains", "report"]:
        if name == "gains":
            (PICTURES / "gains.svg").write_text(gains(), encoding="utf-8")
            for shown_on in SHOWN_ON:
                shown_on.write_text(with_gains(shown_on), encoding="utf-8")
        else:
            (PICTURES / "report.png").write_bytes(report())

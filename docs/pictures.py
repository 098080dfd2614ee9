"""Pictures of the README and the home page: `python docs/pictures.py [quality] [report]`.

`quality` draws docs/pictures/quality.svg from docs/results/first_loss.json. `report` runs `bp.compare` on the bundled
data set (about 15 s) and takes a picture of its report; it needs playwright and a Chromium of the system.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# Colours with enough contrast on white and on black: the background is transparent.
INK, FAINT, AHEAD, BEHIND = "#7b828c", "#7b828c55", "#2d84c4", "#d9661f"
WIDTH, LEFT, RIGHT, TOP, ROW = 520, 116, 24, 88, 36  # narrow, so that the text can be read in a window of 400 pixels
GAP = 54  # between the two panels
SHOWN = 560  # pixels, where there is room
FOOT = 76  # below the rows: the axis and the notes
LOWEST, HIGHEST = -0.02, 0.04  # of the axes
TICKS = (-0.02, 0.0, 0.02, 0.04)
PANELS = {"lightgbm": ("LightGBM", "beside lambdarank"), "xgboost": ("XGBoost", "beside rank:ndcg")}
LOSSES = {"CRR": -5, "QBRank": 7}  # and how far below the middle of a row each stands
PART = "five seeds, 31 leaves"
SETS = {
    "mslr": "MSLR sample",
    "mq2008": "MQ2008",
    "ohsumed": "OHSUMED",
    "yandex": "Yandex",
    "nfcorpus": "NFCorpus",
    "jester": "Jester",
    "movielens": "MovieLens",
}


def differences(document: Mapping[str, Any], framework: str, loss: str) -> dict[str, Mapping[str, Any]]:
    """Return the difference of a loss to its framework's LambdaMART on each set."""
    (row,) = (row for row in document["losses"] if row["loss"] == loss)
    return {place["set"]: place for place in row["places"] if (place["framework"], place["part"]) == (framework, PART)}


def quality() -> str:
    """Return a drawing of where the first two losses are ahead of LambdaMART, and where they are behind."""
    document = json.loads((ROOT / "docs" / "results" / "first_loss.json").read_text(encoding="utf-8"))
    found = {(f, loss): differences(document, f, loss) for f in PANELS for loss in LOSSES}
    height = TOP + ROW * len(SETS) + FOOT
    head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{SHOWN}" role="img"'
    font = f'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" font-size="16" fill="{INK}"'
    title = "Difference in test NDCG@10 of CRR and QBRank to LambdaMART on each data set, with 95 % intervals"
    lines = [f"<svg {head} {font}>", f"<title>{title}</title>"]
    for row, set_title in enumerate(SETS.values()):
        lines.append(text(0, TOP + ROW * (row + 0.5) + 5, set_title))
    width = (WIDTH - LEFT - RIGHT - GAP) / 2
    for number, (framework, (name, reference)) in enumerate(PANELS.items()):
        left = LEFT + number * (width + GAP)
        lines += [text(left, 18, name, weight="bold"), text(left, 40, reference)]
        lines += axis(left, width, height)
        for loss, shift in LOSSES.items():
            for row, key in enumerate(SETS):
                one = found[framework, loss][key]
                lines += point(one, left, width, TOP + ROW * (row + 0.5) + shift, filled=loss == "CRR")
    lines.append(text(0, height - 28, "Test NDCG@10, five seeds, 31 leaves, 95 % intervals."))
    lines += [text(0, height - 7, "Filled: CRR. Hollow: QBRank."), "</svg>"]
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
    yield text(zero - 7, 70, "behind", anchor="end")
    yield text(zero + 7, 70, "ahead")


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
    """Return a picture of a report's first screen."""
    from playwright.sync_api import sync_playwright

    import boostplug as bp

    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        sys.exit(f"a picture of the report needs one of {', '.join(BROWSERS)} on the path")
    losses = [bp.CRR(), bp.QBRank(), bp.MPBoost()]
    result = bp.compare(*bp.datasets.load_bundled(), losses=losses, rounds=1000, num_threads=1)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_path = Path(folder) / "report.html"
        result.to_html(page_path)
        browser = playwright.chromium.launch(executable_path=browser_path)
        page = browser.new_page(viewport={"width": 1100, "height": 960}, color_scheme="light")
        page.goto(page_path.as_uri())
        picture = page.screenshot()
        browser.close()
    return picture


if __name__ == "__main__":
    for name in sys.argv[1:] or ["quality", "report"]:
        if name == "quality":
            (PICTURES / "quality.svg").write_text(quality(), encoding="utf-8")
        else:
            (PICTURES / "report.png").write_bytes(report())

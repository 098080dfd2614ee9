"""Figures as files: they are legible on light and dark pages."""

import pytest

from boostplug.comparison.report.drawing import COLOURS, INK, drawn

pytest.importorskip("matplotlib")


def contrast(colour, other):
    """Return the contrast of two colours by WCAG 2."""

    def luminance(hexadecimal):
        parts = [int(hexadecimal[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(colour), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_figures_have_a_transparent_background_and_no_black(tmp_path):
    from matplotlib import rcParams
    from matplotlib.image import imread

    before = dict(rcParams)
    png, svg = drawn(lambda axes: axes.plot([0, 1], [0, 1], label="a line"), "a title", tmp_path / "figure")
    assert dict(rcParams) == before
    assert imread(png)[0, 0, 3] == 0
    written = svg.read_text()
    assert INK in written
    assert not any(colour in written for colour in ("#ffffff", "#000000"))
    drawn(lambda axes: axes.plot([0, 1], [0, 1], label="a line"), "a title", tmp_path / "again", suffixes=["svg"])
    assert (tmp_path / "again.svg").read_text() == written


def test_text_stands_out_on_light_and_dark():
    assert min(contrast(INK, "#ffffff"), contrast(INK, "#14181e")) > 3.8
    assert all(contrast(colour, "#14181e") > 3.5 for colour in COLOURS)

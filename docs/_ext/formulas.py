"""Formulas as drawings in the page: no script, no other server; in the colour of the text, as large as it is."""

from typing import Any
from xml.etree import ElementTree as ET

import ziamath
from docutils import nodes
from sphinx.application import Sphinx

ziamath.config.svg2 = False  # each drawing whole: no two of a page share names
_SIZE = 20.0  # units of a drawing in an em of a formula
_EM = 1.1  # of the text around it: its letters are the smaller ones


def drawing(latex: str, *, inline: bool) -> str:
    """Return a formula as SVG that stands on the line of the text; what cannot be read as LaTeX ends the build."""
    svg = ziamath.Latex(latex, size=_SIZE, color="currentColor", inline=inline).svgxml()
    _, top, width, height = map(float, svg.get("viewBox").split())
    svg.set("width", _ems(width))
    svg.set("height", _ems(height))
    svg.set("style", f"vertical-align: {_ems(-(top + height))}")  # the line of the text is at 0
    svg.set("role", "img")
    svg.set("aria-label", latex)
    return ET.tostring(svg, encoding="unicode")


def _ems(length: float) -> str:
    return f"{_EM * length / _SIZE:.3f}em"


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="formula"))
    self.body.append(drawing(node.astext(), inline=True) + "</span>")
    raise nodes.SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", "", CLASS="formula"))
    self.body.append(drawing(node.astext(), inline=False) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Take the place of MathJax."""
    app.add_html_math_renderer("drawn", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

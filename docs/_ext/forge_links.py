"""Links as a forge follows them, from file to file: to pages, to examples, to sources as downloads."""

import re
from os.path import normpath, relpath
from pathlib import Path
from typing import Any

import api
import generate
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

# What lies outside the sources of the site and has a page in it.
PAGES = {
    "README.md": "index",
    "CONTRIBUTING.md": "project/contribute",
    "CODE_OF_CONDUCT.md": "project/conduct",
    "SECURITY.md": "project/security",
    "CHANGELOG.md": "project/changes",
    "examples": "gallery/index",
    "examples/first_hour.ipynb": "tutorials/first_hour",
}
_ANCHOR = re.compile(r'<a id="([^"]+)">')


class Links(SphinxTransform):
    """Leads each link to a file of the repository to where the site has it; what is included keeps its own folder."""

    default_priority = 490  # before `api.Link`

    def apply(self, **_kwargs: Any) -> None:
        """Look at all links of a page."""
        links = [node for node in self.document.findall(nodes.Element) if node.get("reftype") == "myst"]
        for node in links:
            link = self._link(node, self._path(node))
            if link is not None:
                link.extend(node.children)
                node.replace_self(link)

    def _path(self, node: nodes.Element) -> Path:
        """Return the path that a link names; MyST took it as relative to the page, though it may be an included one."""
        page = Path(self.env.doc2path(self.env.docname))
        named = str(node["reftarget"])
        if node.get("refdomain") == "doc":
            named = relpath(self.env.doc2path(named), page.parent)
        return Path(normpath(Path(node.source or page).parent / named.partition("#")[0]))

    def _link(self, node: nodes.Element, path: Path) -> nodes.Element | None:
        """Return what leads there; None where MyST's own link does, or nothing."""
        if not path.is_relative_to(generate.ROOT):
            return None
        name = path.relative_to(generate.ROOT).as_posix()
        docname = PAGES.get(name, PAGES.get(Path(name).with_suffix(".ipynb").as_posix()))  # MyST drops the ending
        if docname is None and re.fullmatch(r"examples/\w+\.py", name):
            docname = f"gallery/{path.stem}"
        if docname is None:
            docname = self.env.path2doc(path)
        if docname in self.env.found_docs:
            return self._to_page(docname, node)
        public = api.public_name(node.astext())
        if public is not None:
            return api.reference(public, self.env.docname)
        if path.is_file():
            target = relpath(path, Path(self.env.doc2path(self.env.docname)).parent)
            return addnodes.download_reference("", reftarget=target, refdoc=self.env.docname, refexplicit=True)
        return None

    def _to_page(self, docname: str, node: nodes.Element) -> nodes.Element:
        anchor = node.get("reftargetid")
        if anchor is None and "#" in node["reftarget"]:
            anchor = node["reftarget"].partition("#")[2]
        return addnodes.pending_xref(
            "",
            refdomain="doc",
            reftype="myst",
            reftarget=docname,
            reftargetid=anchor,
            refdoc=self.env.docname,
            refexplicit=True,
        )


class Anchors(SphinxTransform):
    """Lets links lead to `<a id="…">`, which a forge and a browser know, but MyST does not."""

    default_priority = 480

    def apply(self, **_kwargs: Any) -> None:
        """Enter them beside the headings."""
        found = [name for node in self.document.findall(nodes.raw) for name in _ANCHOR.findall(node.astext())]
        if found:
            slugs = self.document.myst_slugs
            slugs.update({name: (0, name, "") for name in found})
            self.env.metadata[self.env.docname]["myst_slugs"] = slugs


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect both."""
    app.add_transform(Anchors)
    app.add_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

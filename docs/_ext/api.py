"""A page for each public name of `generate.PAGES`, and links to it from wherever Markdown names it in code."""

import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import generate
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

from boostplug.losses import Loss
from boostplug.metrics import Metric

FOLDER = "reference/api"
NAMES = frozenset(generate.names())
THEIRS = {"LGBMRanker", "XGBRanker"}  # without `bp.`, the frameworks' own may be meant
BASES = (Loss, Metric)  # what is inherited from them is documented there
_CALL = re.compile(r"(bp\.|boostplug\.)?([\w.]+)(\((?:[^()]|\([^()]*\))*\))?")


def write_pages(app: Sphinx) -> None:
    """Write what makes autodoc put one name on one page."""
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.rst": page(name) for name in generate.names()}
    for old in set(folder.glob("*.rst")) - {folder / name for name in pages}:
        old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # untouched, it is not read again
            path.write_text(text, encoding="utf-8")


def page(name: str) -> str:
    """Return the page of a name: its heading, and the directive for what it is."""
    thing = generate.found(name)
    title = heading(name)
    lines = [title, "=" * len(title), ""]
    lines += trainings(name)
    target = f"{generate.PACKAGE}.{name}"
    if isinstance(thing, ModuleType):
        lines += [f".. automodule:: {target}"]
    elif inspect.isclass(thing):
        lines += [f".. autoclass:: {target}", "   :members:"]
        base = next((base for base in BASES if issubclass(thing, base) and thing is not base), None)
        if base is None:
            lines += ["   :inherited-members:", "   :special-members: __call__"]
        else:
            lines += ["", f"   Methods that all of its kind have stand at :class:`boostplug.{base.__name__}`."]
    elif callable(thing):
        lines += [f".. autofunction:: {target}"]
    else:
        lines += [f".. autodata:: {target}", "   :no-value:"]
    return "\n".join(lines) + "\n"


def trainings(name: str) -> list[str]:
    """Return a tab for each framework with a training by a loss."""
    calls = generate.training_calls(name)
    lines = [".. tab-set::", ""] if calls else []
    for framework, code in calls.items():
        lines += [f"   .. tab-item:: {framework}", "", "      .. code-block:: python", ""]
        lines += [f"         {line}".rstrip() for line in code.splitlines()]
        lines += [""]
    return lines


def heading(name: str) -> str:
    """Return the heading of a name's page: as users write it, but without a long way to it, which is right below."""
    shown = generate.shown(name)
    return shown if shown.startswith("bp.") else name.rpartition(".")[2]


def list_pages(_app: Sphinx, docname: str, content: list[str]) -> None:
    """Append to a page of the reference the names on it, for the navigation: on a forge it would be a block of code."""
    folder, _, name = docname.rpartition("/")
    if folder != "reference" or f"{name}.md" not in generate.PAGES:
        return
    sections = generate.PAGES[f"{name}.md"].sections
    entries = [f"{heading(entry)} <api/{entry}>" for section in sections for entry in section.names]
    if entries:
        content[0] += "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"


def skip(_app: Sphinx, _what: str, _name: str, thing: Any, skipped: bool, _options: Any) -> bool | None:
    """Leave out what a class inherits from elsewhere: scikit-learn and the frameworks document their own."""
    function = getattr(thing, "fget", None) or getattr(thing, "__func__", thing)
    module = getattr(function, "__module__", None) or generate.PACKAGE
    return skipped or not module.startswith(generate.PACKAGE) or None


class Link(SphinxTransform):
    """Makes a link of each name in code: `bp.QBRank()`, and `QBRank` alone where nobody else's can be meant."""

    default_priority = 500

    def apply(self, **_kwargs: Any) -> None:
        """Look at all code within paragraphs and tables."""
        if self.env.doc2path(self.env.docname).suffix != ".md":
            return
        for node in list(self.document.findall(nodes.literal)):
            name = public_name(node.astext())
            inside = (nodes.reference, nodes.title, addnodes.pending_xref, addnodes.download_reference)
            if name is not None and not any(isinstance(parent, inside) for parent in parents(node)):
                link = reference(name, self.env.docname)
                node.replace_self(link)
                link += node


def parents(node: nodes.Node) -> list[nodes.Node]:
    """Return what a node stands in."""
    found = []
    while (node := node.parent) is not None:
        found.append(node)
    return found


def public_name(code: str) -> str | None:
    """Return the public name that code is about, below the package."""
    match = _CALL.fullmatch(code)
    if match is None:
        return None
    prefix, name, call = match.groups()
    anybodys = name.islower() or name in THEIRS or (name.isupper() and call is None)  # `load`, `XGBRanker`, `MAP`
    return name if name in NAMES and (prefix is not None or not anybodys) else None


def reference(name: str, docname: str) -> addnodes.pending_xref:
    """Return a link to the page of a name, for what is to be put into it."""
    target = f"{generate.PACKAGE}.{name}"
    return addnodes.pending_xref(
        "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refdoc=docname, refwarn=True
    )


def resolve(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element) -> Any:
    """Lead a name in a docstring, as users write it, to its page from whichever module it is named in."""
    name = node["reftarget"].removeprefix("bp.")
    if node.get("refdomain") != "py" or name not in NAMES:
        return None
    target = f"{generate.PACKAGE}.{name}"
    return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect all of it."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", list_pages)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", resolve)
    app.add_transform(Link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

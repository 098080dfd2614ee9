"""How Sphinx builds the site: `sphinx-build -W --keep-going -b html docs site`."""

import os
import sys
import tomllib
from pathlib import Path

from boostplug import __version__

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "_ext")]  # generate.py, and the extensions of our own

# The notebook lies among the examples, its page among the tutorials.
NOTEBOOK = (ROOT / "examples" / "first_hour.ipynb").read_text(encoding="utf-8").replace("](../docs/", "](../")
(ROOT / "docs" / "tutorials" / "first_hour.ipynb").write_text(NOTEBOOK, encoding="utf-8")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Set to 1, the notebook is run and its outputs are on its page; examples are run unless `-D plot_gallery=0` says no.
RUN_NOTEBOOK = os.environ.get("BOOSTPLUG_DOCS_RUN") == "1"

project = PROJECT["name"]
author = PROJECT["authors"][0]["name"]
copyright = author  # noqa: A001 (Sphinx's name)
release = version = __version__
repository = PROJECT["urls"]["Repository"]
# None while the address is a placeholder (CONTRIBUTING.md lists them).
ICONS = [{"name": "Repository", "url": repository, "icon": "fa-solid fa-code-branch"}] * (".invalid" not in repository)

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "formulas",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "api",
    "forge_links",
]
default_role = "py:obj"  # single backticks of docstrings
exclude_patterns = ["_ext", "_templates", "gallery/*.ipynb", "**/.ipynb_checkpoints"]
nitpicky = False
highlight_language = "none"
smartquotes = False  # --resume and "rows" are to be read, and copied, as they are typed

# Pages are Markdown that a forge shows too: plain links, headings as anchors, $formulas$.
myst_enable_extensions = ["colon_fence", "dollarmath", "amsmath"]
myst_heading_anchors = 4
nb_execution_mode = "force" if RUN_NOTEBOOK else "off"
nb_execution_in_temp = True  # it writes files
nb_execution_raise_on_error = True
nb_execution_timeout = 600

autosummary_generate = False
autodoc_typehints = "none"  # numpydoc says them in words
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"clusters[/\\]",
    "nested_sections": False,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_math_renderer = "drawn"
html_theme = "pydata_sphinx_theme"
html_title = f"{project} {release}"
html_static_path = ["_static"]
html_css_files = ["boostplug.css"]
html_copy_source = False
html_domain_indices = False  # the index has all that one of modules would
html_context = {"default_mode": "auto"}  # light or dark as the reader's system
html_theme_options = {
    "logo": {"text": project},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "icon_links": ICONS,
}

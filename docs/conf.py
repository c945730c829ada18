"""The site: Markdown pages, and a reference that is read from the docstrings.

Built against an installed fixedstep, as the tests are run, with every warning an error:

    python -m pip install '.[docs]'
    python -m sphinx -W --keep-going -b html docs build/site

The pages are documents first. They read as they are in a text editor and on a code host, so what
only Sphinx understands stays in docs/reference and in docs/index.md. Their examples are run by
tests/test_docs.py and not from here: a reader without Sphinx should be able to run them as well.

It fetches nothing: no inventory, no font, no script from elsewhere. A site that builds
only while somebody else's server answers is a gate that fails for no reason.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

# The reference core is the one whose functions have annotations; the C types have the same
# docstrings, and signatures without types. Both answer to the public names, so the choice is made
# where every program makes it.
os.environ["FIXEDSTEP_BACKEND"] = "reference"

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

import fixedstep
from fixedstep.cli import main

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LOGGER = getLogger(__name__)

project = "fixedstep"
version = release = fixedstep.__version__
project_copyright = "the fixedstep authors; MIT licence"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
# A name in single backticks in a docstring has to be one that the reference documents.
default_role = "any"
toc_object_entries = False

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "furo"
html_title = f"fixedstep {release}"
html_show_sphinx = False


class HelpOf(SphinxDirective):
    """What a command answers to ``--help``, asked while the page is built."""

    optional_arguments = 1
    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """The text as a literal block, eighty columns wide and without colours."""
        os.environ.update(COLUMNS="80", NO_COLOR="1")
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            main([*self.arguments, "--help"])
        if not said.getvalue().startswith("usage: fixedstep"):
            raise self.error(f"{' '.join(self.arguments)} --help printed {said.getvalue()!r}")
        return [nodes.literal_block(said.getvalue(), said.getvalue(), language="text")]


# Defaults are shown as they are written, since a clock's own repr is an address; these names say
# less to a reader than their values.
DEFAULTS = {
    "_NOTHING": "0",
    "ORIGIN": "0",
    "LONGEST_FRAME": "250_000_000",
    "FNV_OFFSET": "0xCBF29CE484222325",
}


def signature_with_values(*event: object) -> tuple[str, object] | None:
    """A signature with the values in the places of ``DEFAULTS``."""
    *_, signature, returned = event
    if not isinstance(signature, str):
        return None
    for name, value in DEFAULTS.items():
        signature = re.sub(rf"= {name}\b", f"= {value}", signature)
    return signature, returned


def refuse_borrowed(*event: object) -> None:
    """Warn of a constant or a field that would be explained by the docstring of its type."""
    _, what, name, value, _, lines = event
    first = lines[0] if isinstance(lines, list) and lines else ""
    borrowed = (inspect.getdoc(type(value)) or "Alias for field number").partition("\n")[0]
    if what in ("data", "attribute") and first.startswith(borrowed):
        LOGGER.warning("%s has no docstring of its own: %r is that of its type", name, first)


def folder_of_the_checkout(
    app: Sphinx, _: object, node: nodes.Element, shown: nodes.Node
) -> nodes.Node | None:
    """A link to a folder leads somewhere on a code host and nowhere on the site: its text alone."""
    page = app.env.doc2path(node.get("refdoc", app.config.root_doc))
    target = node.get("reftarget", "")
    return shown if "/" in target and Path(page).parent.joinpath(target).is_dir() else None


def setup(app: Sphinx) -> None:
    """What Sphinx calls: the one directive of this site, and what it does to links and autodoc."""
    app.connect("missing-reference", folder_of_the_checkout)
    app.connect("autodoc-process-docstring", refuse_borrowed)
    app.add_directive("help-of", HelpOf)
    app.connect("autodoc-process-signature", signature_with_values)

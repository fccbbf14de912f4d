"""Pages of the documentation site beside docs/: those of the root, and the reference.

A hook of mkdocs (mkdocs.yml). The reference walks the public names, so that a new one is in it.
"""

from __future__ import annotations

import posixpath
import re
import types
from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import writeamp

ROOT = Path(__file__).resolve().parent.parent
# Page of the site, and the file that it is.
FROM_ROOT = {
    "index.md": "README.md",
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "captured-trace.md": "examples/README.md",
    "reproduce.md": "papers/docs/reproduce.md",
}
# What stands at the end of each page.
GLOSSARY = "\n\n*Words, their units and their options: [glossary]({}).*\n"
PAGE_OF = {source: page for page, source in FROM_ROOT.items()}
LINK = re.compile(r"\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)")


DOCTEST = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


class Doctests(griffe.Extension):
    """Shows the examples of docstrings as code."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Fence them."""
        if obj.docstring:
            obj.docstring.value = DOCTEST.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that docs/ does not have."""
    for page, source in FROM_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for page, content in reference().items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    here = page.file.src_uri
    folder = posixpath.dirname(FROM_ROOT.get(here, f"docs/{here}"))

    def of_site(link: re.Match[str]) -> str:
        words, path, anchor = link.groups("")
        target = posixpath.normpath(posixpath.join(folder, path))
        if target in PAGE_OF:
            return f"[{words}]({PAGE_OF[target]}{anchor})"
        if target.startswith("docs/"):
            return f"[{words}]({target.removeprefix('docs/')}{anchor})"
        if (ROOT / target).exists():
            return words  # a file that is no page
        return link.group()

    words = (
        ""
        if here == "glossary.md"
        else GLOSSARY.format(posixpath.relpath("glossary.md", posixpath.dirname(here) or "."))
    )
    return LINK.sub(of_site, markdown) + words


def reference() -> dict[str, str]:
    """Return the page of the library's own names, and one of each public module."""
    pages, own = {}, []
    for name in writeamp.__all__:
        thing = getattr(writeamp, name)
        if isinstance(thing, types.ModuleType):
            names = [f"{thing.__name__}.{inner}" for inner in public(thing)]
            pages[f"api/{name}.md"] = _page(f"wa.{name}", thing.__doc__, names)
        elif callable(thing):
            own.append(f"writeamp.{name}")
    pages["api/writeamp.md"] = _page("writeamp", "What `import writeamp as wa` gives.", own)
    return pages


def public(module: types.ModuleType) -> list[str]:
    """Return the names that a module says are public, or else those that it defines."""
    own = [
        name
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    return getattr(module, "__all__", own)


def _page(title: str, summary: str | None, names: list[str]) -> str:
    entries = "\n".join(f"::: {name}\n" for name in names)
    return f"# {title}\n\n{summary or ''}\n\n{entries}"

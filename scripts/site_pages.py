"""Additional pages of the documentation site: pages outside docs/, and the reference.

This is a hook of mkdocs (mkdocs.yml). The reference contains all public names.
"""

from __future__ import annotations

import posixpath
import re
import types
from pathlib import Path

import griffe
import repository_links
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import writeamp

ROOT = Path(__file__).resolve().parent.parent
# Source file of each additional page.
FROM_ROOT = {
    "index.md": "README.md",
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "captured-trace.md": "examples/README.md",
    **{page.name: f"papers/docs/{page.name}" for page in (ROOT / "papers/docs").glob("*.md")},
}
# Text at the end of each page.
GLOSSARY = "\n\n*Words, their units and their options: [glossary]({}).*\n"
PAGE_OF = {source: page for page, source in FROM_ROOT.items()}
LINK = re.compile(r"\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)")


# What README.md's links begin with, which package indexes show.
ADDRESS = re.compile(rf"\]\({repository_links.ADDRESS.pattern}")
DOCTEST = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


class Doctests(griffe.Extension):
    """Formats doctest examples in docstrings as code blocks."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Put fences around the examples of an object."""
        if obj.docstring:
            obj.docstring.value = DOCTEST.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/ and the reference."""
    for page, source in FROM_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for page, content in reference().items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Convert links between files of the repository to links between pages of the site."""
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
            return words  # a file without a page
        return link.group()

    words = (
        ""
        if here == "glossary.md"
        else GLOSSARY.format(posixpath.relpath("glossary.md", posixpath.dirname(here) or "."))
    )
    return LINK.sub(of_site, ADDRESS.sub("](", markdown)) + words


def reference() -> dict[str, str]:
    """Return a page of the names in `writeamp`, and a page for each public module."""
    pages, own = {}, []
    for name in writeamp.__all__:
        thing = getattr(writeamp, name)
        if isinstance(thing, types.ModuleType):
            names = [f"{thing.__name__}.{inner}" for inner in public(thing)]
            pages[f"api/{name}.md"] = _page(f"wa.{name}", thing.__doc__, names)
        elif callable(thing):
            own.append(f"writeamp.{name}")
    pages["api/writeamp.md"] = _page("writeamp", "Names of `import writeamp as wa`.", own)
    return pages


def public(module: types.ModuleType) -> list[str]:
    """Return the names in `__all__` of a module, or else the public names that it defines."""
    own = [
        name
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    return getattr(module, "__all__", own)


def _page(title: str, summary: str | None, names: list[str]) -> str:
    entries = "\n".join(f"::: {name}\n" for name in names)
    return f"# {title}\n\n{summary or ''}\n\n{entries}"

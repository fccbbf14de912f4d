"""Address of the repository: pyproject.toml has it, and `make generate` writes it elsewhere.

Links of README.md are absolute, because package indexes show this page. Write new ones as paths of
the repository; `make generate` adds the address.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Account in the address until the repository's owner fills in `Repository` of `[project.urls]`.
PLACEHOLDER = "OWNER"
BRANCH = "main"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
ADDRESS = re.compile(rf"https://[^)\s]+?/(?:blob|tree|raw)/{BRANCH}/")
# Ends of the other addresses in `[project.urls]`.
URLS = {
    "Repository": "",
    "Documentation": f"/tree/{BRANCH}/docs",
    "Changelog": f"/blob/{BRANCH}/CHANGELOG.md",
    "Issues": "/issues",
}
# Files that use this repository's action.yml or .pre-commit-hooks.yaml, and how.
USES = ("examples/github-actions.yml", "docs/virtual-ssd.md", "docs/doctor.md")
HOST = "https://github.com/"
ACTION = re.compile(rf"(uses: )[^/\s]+/writeamp@{BRANCH}")
HOOKS = re.compile(r"(- repo: )https://\S+/writeamp")
URL = re.compile(rf'^({"|".join(URLS)}) = ".*"$', re.MULTILINE)


def repository() -> str:
    """Return the address of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address


def generated() -> dict[Path, str]:
    """Return the files that have the address of the repository."""
    address = repository()
    texts = {
        path: URL.sub(lambda url: f'{url[1]} = "{address}{URLS[url[1]]}"', path.read_text("utf-8"))
        for path in (ROOT / "pyproject.toml", ROOT / "papers/pyproject.toml")
    }
    for name in USES:
        text = ACTION.sub(
            rf"\1{address.removeprefix(HOST)}@{BRANCH}", (ROOT / name).read_text("utf-8")
        )
        texts[ROOT / name] = HOOKS.sub(rf"\1{address}", text)
    page = ROOT / "README.md"
    return texts | {page: with_address(page.read_text("utf-8"), address)}


def with_address(page: str, address: str) -> str:
    """Return a page whose links to files of the repository begin with its address."""

    def linked(link: re.Match[str]) -> str:
        image, words, target = link.groups()
        path = ADDRESS.sub("", target)
        if path.startswith(("#", "https://", "http://")):
            return link[0]
        is_folder = (ROOT / path.partition("#")[0]).is_dir()
        kind = "raw" if image else "tree" if is_folder else "blob"
        return f"{image}[{words}]({address}/{kind}/{BRANCH}/{path})"

    return LINK.sub(linked, page)

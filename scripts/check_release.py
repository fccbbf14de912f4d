"""Check before a release that the address of the repository is filled in, in every file.

The argument, if given, is the release's tag, which must name the version. Prints a sentence and
exits with status 2 if something is wrong. Needs only Python.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence

import repository_links
from repository_links import PLACEHOLDER, ROOT

VALID = re.compile(r"https://[\w.-]+(?:/[\w.-]+){2,}")


def fault(address: str) -> str | None:
    """Return a sentence on the address of the repository, or None if it can be released."""
    where = "Repository of [project.urls] in pyproject.toml"
    if PLACEHOLDER in address.split("/"):
        return (
            f"{where} is the placeholder {address}; write the repository's address there, and run "
            "`make generate`"
        )
    if not VALID.fullmatch(address):
        return f"{where} is {address!r}; write an address such as https://github.com/me/writeamp"
    texts = repository_links.generated()
    old = [
        str(path.relative_to(ROOT))
        for path, text in texts.items()
        if path.read_text("utf-8") != text
    ]
    if f'"{address}"' not in (ROOT / "CITATION.cff").read_text("utf-8"):
        old.append("CITATION.cff")
    if old:
        return f"{', '.join(old)} lack the address {address}; run `make generate`"
    return None


def tag_fault(tag: str) -> str | None:
    """Return a sentence on a tag that does not name the version, or None."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))
    version = cargo["workspace"]["package"]["version"]
    if tag == f"v{version}":
        return None
    return f"the tag is {tag}, but Cargo.toml has version {version}; tag v{version}, or change it"


def main(tags: Sequence[str]) -> int:
    """Check the address and the tag; return the exit status."""
    faults = (fault(repository_links.repository()), *map(tag_fault, tags))
    if (sentence := next(filter(None, faults), None)) is None:
        return 0
    print(f"check_release: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:2]))

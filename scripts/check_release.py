"""Check before a release that the address of the repository is filled in, in every file.

Prints a sentence and exits with status 2 if it is not. Needs only Python.
"""

from __future__ import annotations

import re
import sys

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


def main() -> int:
    if (sentence := fault(repository_links.repository())) is None:
        return 0
    print(f"check_release: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

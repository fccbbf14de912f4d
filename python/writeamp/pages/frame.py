"""Frame of pages: head, style, scripts and data in one self-contained file.

The content security policy of a page forbids network access and all scripts except its own. So text
that is not escaped by mistake cannot run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from writeamp.pages.embedded import data_element
from writeamp.text import html_text


def page(
    title: str,
    body: str,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
    has_images_beside: bool = False,
) -> bytes:
    """Return an HTML page.

    Args:
        title: title of the page, not yet escaped.
        body: HTML of the page, with all text escaped.
        styles: CSS in addition to the common `style.css`, which has variables for the colours of
            light, dark and print.
        scripts: trusted JavaScript, which runs when the page is loaded.
        data: values of JSON types by id, for scripts and `data_in`.
        has_images_beside: True to allow image files in the folder of the page.

    Raises:
        ValueError: a value contains NaN or infinity.
    """
    allowed = " ".join(map(_hash, scripts)) or "'none'"
    beside = " 'self' file:" if has_images_beside else ""
    policy = (
        f"default-src 'none'; img-src data:{beside}; style-src 'unsafe-inline'; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{html_text(title)}</title>",
        *(
            f"<style>\n{style}</style>"
            for style in (source("writeamp.pages", "style.css"), *styles)
        ),
        f"</head>\n<body>\n{body}",
        *(data_element(name, value) for name, value in (data or {}).items()),
        *(f"<script>{script}</script>" for script in scripts),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts).encode()


@cache
def source(package: str, name: str) -> str:
    """Return the text of a CSS or JavaScript file in a package."""
    return resources.files(package).joinpath(name).read_text("utf-8")


def _hash(script: str) -> str:
    assert "</script" not in script, "the script element would end there"
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"

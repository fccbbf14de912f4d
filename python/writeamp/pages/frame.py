"""Frame of every page: head, style, scripts and data, in one file that needs no network.

A page forbids itself the network and every script but those that it was made with: text that got
past the escaping would be shown wrongly, and still not run.
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
    """Return a page of HTML.

    Args:
        title: in the browser's tab, as it is: it is escaped here.
        body: HTML of the page, all text in it escaped.
        styles: CSS beside that of every page (`style.css`, whose variables have the colours of
            light, dark and print).
        scripts: JavaScript of ours that runs when the page is there.
        data: values of JSON types by the ids under which scripts and `data_in` find them.
        has_images_beside: pictures stand in files beside the page, which may show them.

    Raises:
        ValueError: a value holds a number that JSON has no word for.
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
        *(f"<style>\n{one}</style>" for one in (source("writeamp.pages", "style.css"), *styles)),
        f"</head>\n<body>\n{body}",
        *(data_element(name, value) for name, value in (data or {}).items()),
        *(f"<script>{one}</script>" for one in scripts),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts).encode()


@cache
def source(package: str, name: str) -> str:
    """Return the CSS or JavaScript of a file that stands in a package beside its modules."""
    return resources.files(package).joinpath(name).read_text("utf-8")


def _hash(script: str) -> str:
    assert "</script" not in script, "it would end there"
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"

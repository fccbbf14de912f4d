"""Data inside a page: JSON in a script element that no browser runs, written and read back."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from typing import Any

from writeamp.fields.domains import shown
from writeamp.files.inputs import check_json
from writeamp.text import html_text

_DATA = "application/json"
# In a script nothing is escaped, so nothing may look like its end or like a comment.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def data_element(name: str, value: Any) -> str:
    """Return the element that holds a value of JSON types; `name` is its id in the page.

    Raises:
        ValueError: the value holds a number that JSON has no word for.
    """
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = written.translate(_UNSAFE)
    return f'<script type="{_DATA}" id="{html_text(name)}">{safe}</script>'


def data_in(page: str, name: str) -> Any:
    """Return the value that a page holds under a name. Nothing in the page is run.

    Raises:
        KeyError: the page holds no such value.
        ValueError: what it holds is no JSON.
    """
    reader = _DataElementReader(name)
    reader.feed(page)
    reader.close()
    if reader.found is None:
        raise KeyError(name)
    return strict_json(reader.found)


def strict_json(text: str | bytes) -> Any:
    """Return the value of JSON text, whose numbers are all finite as floats.

    Raises:
        ValueError: it is no JSON, too large, or holds another number.
    """
    check_json(text)
    return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_number)


class _DataElementReader(HTMLParser):
    """A reader of the content of the first data element with an id."""

    def __init__(self, name: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: str | None = None
        self._name = name
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notice the element."""
        of = dict(attrs)
        is_it = tag == "script" and of.get("type") == _DATA and of.get("id") == self._name
        if is_it and self.found is None:
            self._is_inside, self.found = True, ""

    def handle_endtag(self, tag: str) -> None:
        """Notice its end."""
        self._is_inside = False

    def handle_data(self, data: str) -> None:
        """Take its content."""
        if self._is_inside:
            self.found = (self.found or "") + data


def _number(text: str) -> int | float:
    number = int(text) if text.lstrip("-").isdecimal() else float(text)
    if not -sys.float_info.max <= number <= sys.float_info.max:
        raise ValueError(f"{shown(text)} is no number of a result")
    return number

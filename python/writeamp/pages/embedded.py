"""Write and read back data in a page: JSON in a script element that browsers do not run."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from typing import Any

from writeamp.fields.domains import shown
from writeamp.files.inputs import check_json
from writeamp.text import html_text

_DATA = "application/json"
# Script elements have no HTML escapes, so these characters are escaped in JSON.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def data_element(name: str, value: Any) -> str:
    """Return an element with a value of JSON types; `name` is its id in the page.

    Raises:
        ValueError: the value contains NaN or infinity.
    """
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = written.translate(_UNSAFE)
    return f'<script type="{_DATA}" id="{html_text(name)}">{safe}</script>'


def data_in(page: str, name: str) -> Any:
    """Return the value of a data element by its id. Scripts of the page are not run.

    Raises:
        KeyError: the page has no such element.
        ValueError: the content is not valid JSON.
    """
    reader = _DataElementReader(name)
    reader.feed(page)
    reader.close()
    if reader.content is None:
        raise KeyError(name)
    return strict_json(reader.content)


def strict_json(text: str | bytes) -> Any:
    """Return the value of JSON text, in which all numbers must be finite floats.

    Raises:
        ValueError: invalid JSON, too large, or a number that is not finite.
    """
    check_json(text)
    return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_number)


class _DataElementReader(HTMLParser):
    """Reader of the content of the first data element with an id."""

    def __init__(self, name: str) -> None:
        super().__init__(convert_charrefs=False)
        self.content: str | None = None
        self._name = name
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Detect the start tag of the data element."""
        of = dict(attrs)
        is_it = tag == "script" and of.get("type") == _DATA and of.get("id") == self._name
        if is_it and self.content is None:
            self._is_inside, self.content = True, ""

    def handle_endtag(self, tag: str) -> None:
        """Detect the end tag of the data element."""
        self._is_inside = False

    def handle_data(self, data: str) -> None:
        """Collect the content of the data element."""
        if self._is_inside:
            self.content = (self.content or "") + data


def _number(text: str) -> int | float:
    number = int(text) if text.lstrip("-").isdecimal() else float(text)
    if not -sys.float_info.max <= number <= sys.float_info.max:
        raise ValueError(f"{shown(text)} is not a finite number")
    return number

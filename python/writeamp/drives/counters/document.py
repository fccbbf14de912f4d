"""Documents: content of a file as text and JSON, of any encoding, with limits."""

from __future__ import annotations

import codecs
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from json import JSONDecoder
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from writeamp.drives.counters.families import NOTHING_STATED, Stated
from writeamp.errors import WriteampError
from writeamp.files import inputs

MOST_BYTES = 64 << 20
# Backblaze's table of a day has a row for each of their drives: more than 100 MB.
_MOST_TABLE_BYTES = 256 << 20
_TABLE_START = b"date,serial_number,"
WHAT = "counter document"
# Counters have at most 128 bits.
MOST = (1 << 128) - 1
_MOST_DIGITS = 400
# A line that begins an object, or a list of objects or strings; "{{" is of a template.
JSON_START = re.compile(r"[ \t]*(?:\{(?!\{)|\[[ \t]*(?:[{\]\"]|$))")
# Encodings by their byte order marks, of which the first begins with the second.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD_BYTES = 4096
# Of text in UTF-16 that is mostly ASCII, every other byte is zero.
_MANY, _FEW = 0.7, 0.05
# Characters of the Windows code pages that stand in numbers and tables. All other bytes that are
# no UTF-8 become U+FFFD, as the code page is not known.
_BYTES = {
    0xDC91: "'",
    0xDC92: "'",
    0xDC93: '"',
    0xDC94: '"',
    0xDC96: "-",
    0xDC97: "-",
    0xDCA0: " ",
}
_UNKNOWN = re.compile("[\udc80-\udcff]+")


class KeyTwiceError(ValueError):
    """An object of JSON names a key twice, with two values."""


class JsonSpan(NamedTuple):
    """A JSON document in a text, and where it begins and ends."""

    value: Any
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """Content of a file, its name for errors, and what the user states of its drives."""

    name: str
    content: bytes
    stated: Stated = NOTHING_STATED

    def with_text(self, text: str) -> Document:
        """Return the document with another text."""
        return replace(self, content=text.encode("utf-8", "replace"))

    @cached_property
    def text(self) -> str:
        """The text, of which bytes of an unknown encoding are replaced."""
        return _decoded(self.content)

    @cached_property
    def json(self) -> Any:
        """The JSON document; None if it is none. Lines of text before it are left out.

        Raises:
            WriteampError: it begins as JSON does and is cut short, or names a key twice.
        """
        span = self.json_span
        return None if span is None else span.value

    @cached_property
    def json_span(self) -> JsonSpan | None:
        """The JSON document and its place in the text; None if there is none.

        Raises:
            WriteampError: it begins as JSON does and is cut short, or names a key twice.
        """
        start = _start_of_json(self.text)
        return None if start is None else self.json_from(start)

    def json_from(self, start: int) -> JsonSpan:
        """Return the JSON document that begins at a place of the text.

        Raises:
            WriteampError: it is cut short, names a key twice, or has too many values.
        """
        decoder = self._decoder
        try:
            found, end = decoder.raw_decode(self.text, start)
        except RecursionError:
            raise WriteampError(f"{self.name}: its JSON is nested too deep") from None
        except KeyTwiceError as error:
            raise WriteampError(f"{self.name}: its JSON names {error} twice") from None
        except ValueError as error:
            raise WriteampError(f"{self.name}: its JSON is broken or cut short: {error}") from None
        return JsonSpan(found, start, end)

    @cached_property
    def _decoder(self) -> JSONDecoder:
        try:
            inputs.check_json(self.text)
        except ValueError as error:
            raise WriteampError(f"{self.name}: its JSON has {error}") from None
        return JSONDecoder(
            object_pairs_hook=_pairs, parse_int=_integer, parse_constant=lambda _text: math.nan
        )


def _start_of_json(text: str) -> int | None:
    """Return where a JSON object or list begins: at the start of a line, before any other text."""
    at = 0
    for line in text.split("\n", 64)[:64]:
        if JSON_START.match(line):
            return at + len(line) - len(line.lstrip())
        at += len(line) + 1
    return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise KeyTwiceError(repr(key[:80]))
        found[key] = value
    return found


def _integer(text: str) -> int | float:
    # Python refuses to read very long numbers, which no counter has.
    return int(text) if len(text) <= _MOST_DIGITS else math.inf


def is_standard_input(path: Path) -> bool:
    """Return whether a path stands for standard input, as it does for many programs."""
    return str(path) == "-"


def name_of(path: Path) -> str:
    """Return the name of a file for messages."""
    return "standard input" if is_standard_input(path) else str(path)


def load(path: Path) -> Document:
    """Return the content of a file, or of standard input by the name "-".

    Raises:
        WriteampError: it cannot be read, is empty standard input, or is too large.
    """
    name = name_of(path)
    try:
        if is_standard_input(path):
            content, most_bytes = _read(sys.stdin.buffer)
        else:
            with inputs.opened(path, _MOST_TABLE_BYTES + 1) as file:
                content, most_bytes = _read(file)
    except OSError as error:
        raise WriteampError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except ValueError as error:  # a null character in the path
        raise WriteampError(f"cannot read {str(path)!r}: {error}") from None
    if len(content) > most_bytes:
        raise WriteampError(f"{name} is larger than {most_bytes >> 20} MiB, the limit per {WHAT}")
    if not content and is_standard_input(path):
        raise WriteampError("standard input is empty, or was read already; give it once")
    return Document(name, content)


def _read(file: BinaryIO) -> tuple[bytes, int]:
    """Return the content and its limit in bytes, of which one more is read at most."""
    content = file.read(MOST_BYTES + 1)
    if not content.startswith(_TABLE_START):
        return content, MOST_BYTES
    return content + file.read(_MOST_TABLE_BYTES - MOST_BYTES), _MOST_TABLE_BYTES


def whole(value: Any) -> int | None:
    """Return a count as JSON or text has it: whole, at least 0 and below 2**128; None of others.

    Text may have separators of thousands. A float is taken if it is whole.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        digits = value.strip().replace(",", "").replace("_", "")
        try:
            value = int(digits, 16 if digits.lower().startswith("0x") else 10)
        except ValueError:
            return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    return value if isinstance(value, int) and 0 <= value <= MOST else None


def wide(value: Any) -> int | None:
    """Return a count of 128 bits that is printed as {hi, lo} or as one number."""
    if isinstance(value, dict):
        high, low = whole(value.get("hi")), whole(value.get("lo"))
        return None if high is None or low is None or low >> 64 else (high << 64) + low
    return whole(value)


def number(value: Any) -> float | None:
    """Return a finite number at least 0; None of others."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    found = float(value) if abs(value) <= MOST else math.nan
    return found if math.isfinite(found) and found >= 0 else None


def text_of(value: Any) -> str | None:
    """Return a text that is not empty and can be printed; None of others."""
    if not isinstance(value, str):
        return None
    shown = "".join(one for one in value if one.isprintable()).strip()
    return shown[:200] or None


def within(value: Any, *path: str) -> Any:
    """Return what stands at a path of keys; None if there is nothing."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def objects(value: Any) -> Iterable[dict[str, Any]]:
    """Return the objects of a list; none if it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _decoded(content: bytes) -> str:
    """Return the text of a file; bytes of an unknown encoding are U+FFFD."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    if encoding := _utf16_without_mark(content[:_HEAD_BYTES]):
        return content.decode(encoding, errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("utf-8-sig", errors="surrogateescape")
    return _UNKNOWN.sub("\ufffd", text.translate(_BYTES))


def _utf16_without_mark(head: bytes) -> str:
    pairs = len(head) // 2
    if pairs < 2 or b"\0" not in head:
        return ""
    zeros = [head[first::2].count(0) / pairs for first in (0, 1)]
    if zeros[1] > _MANY and zeros[0] < _FEW:
        return "utf-16-le"
    return "utf-16-be" if zeros[0] > _MANY and zeros[1] < _FEW else ""

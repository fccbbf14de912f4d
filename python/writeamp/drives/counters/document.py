"""Documents: the content of a file as text and JSON in any encoding, with size limits."""

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
# Backblaze's table of one day has a row for each of their drives and more than 100 MB, so its limit
# is higher.
_MOST_TABLE_BYTES = 256 << 20
_TABLE_START = b"date,serial_number,"
WHAT = "counter document"
# Counters have at most 128 bits.
MOST = (1 << 128) - 1
_MOST_DIGITS = 400
# Start of an object, or of a list of objects or strings, at the start of a line. "{{" is a
# template.
JSON_START = re.compile(r"[ \t]*(?:\{(?!\{)|\[[ \t]*(?:[{\]\"]|$))")
# Byte order marks with their encodings. The longer mark is first, as the shorter is its prefix.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD_BYTES = 4096
# In UTF-16 text that is mostly ASCII, every other byte is zero.
_MANY, _FEW = 0.7, 0.05
# Bytes of quotes, dashes and spaces in Windows code pages, which numbers and tables have. All other
# bytes that are not valid UTF-8 become U+FFFD, as the code page is unknown.
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
    """A JSON object has a key twice, with different values."""


class JsonSpan(NamedTuple):
    """JSON document in a text, with its start and end."""

    value: Any
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """Content of a file, its name for errors, and the drive model and families set by the user."""

    name: str
    content: bytes
    stated: Stated = NOTHING_STATED

    def with_text(self, text: str) -> Document:
        """Return the document with another text."""
        return replace(self, content=text.encode("utf-8", "replace"))

    @cached_property
    def text(self) -> str:
        """Decoded text; bytes of an unknown encoding are replaced."""
        return _decoded(self.content)

    @cached_property
    def json(self) -> Any:
        """JSON document, or None. Lines of text before it are skipped.

        Raises:
            WriteampError: the JSON is truncated, or has a key twice.
        """
        span = self.json_span
        return None if span is None else span.value

    @cached_property
    def json_span(self) -> JsonSpan | None:
        """JSON document and its position in the text, or None.

        Raises:
            WriteampError: the JSON is truncated, or has a key twice.
        """
        start = _start_of_json(self.text)
        return None if start is None else self.json_from(start)

    def json_from(self, start: int) -> JsonSpan:
        """Return the JSON document that begins at a position of the text.

        Raises:
            WriteampError: the JSON is truncated, has a key twice, or has too many values.
        """
        decoder = self._decoder
        try:
            value, end = decoder.raw_decode(self.text, start)
        except RecursionError:
            raise WriteampError(f"{self.name}: its JSON is nested too deeply") from None
        except KeyTwiceError as error:
            raise WriteampError(f"{self.name}: its JSON has the key {error} twice") from None
        except ValueError as error:
            raise WriteampError(f"{self.name}: its JSON is broken or truncated: {error}") from None
        return JsonSpan(value, start, end)

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
    """Return the position of the first JSON object or list that begins a line, or None.

    Only the first 64 lines are searched.
    """
    at = 0
    for line in text.split("\n", 64)[:64]:
        if JSON_START.match(line):
            return at + len(line) - len(line.lstrip())
        at += len(line) + 1
    return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members and members[key] != value:
            raise KeyTwiceError(repr(key[:80]))
        members[key] = value
    return members


def _integer(text: str) -> int | float:
    # Python refuses very long numbers; no counter is so long.
    return int(text) if len(text) <= _MOST_DIGITS else math.inf


def is_standard_input(path: Path) -> bool:
    """Return whether a path means standard input ("-")."""
    return str(path) == "-"


def name_of(path: Path) -> str:
    """Return the name of a file for messages."""
    return "standard input" if is_standard_input(path) else str(path)


def load(path: Path) -> Document:
    """Return the content of a file, or of standard input by the name "-".

    Raises:
        WriteampError: the file cannot be read or is too large, or standard input is empty.
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
        raise WriteampError("standard input is empty, or was already read; name it only once")
    return Document(name, content)


def _read(file: BinaryIO) -> tuple[bytes, int]:
    """Return the content, and the size limit in bytes; longer content is cut one byte after it."""
    content = file.read(MOST_BYTES + 1)
    if not content.startswith(_TABLE_START):
        return content, MOST_BYTES
    return content + file.read(_MOST_TABLE_BYTES - MOST_BYTES), _MOST_TABLE_BYTES


def whole(value: Any) -> int | None:
    """Return a value of JSON or text as a whole number below 2**128; None if it is not one.

    Text may have thousands separators. A float must be whole.
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
    """Return a 128-bit count that is printed as {hi, lo} or as one number; otherwise None."""
    if isinstance(value, dict):
        high, low = whole(value.get("hi")), whole(value.get("lo"))
        return None if high is None or low is None or low >> 64 else (high << 64) + low
    return whole(value)


def number(value: Any) -> float | None:
    """Return a finite number of at least 0; otherwise None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    result = float(value) if abs(value) <= MOST else math.nan
    return result if math.isfinite(result) and result >= 0 else None


def text_of(value: Any) -> str | None:
    """Return the printable characters of a text; None if it has none or is not a text."""
    if not isinstance(value, str):
        return None
    shown = "".join(character for character in value if character.isprintable()).strip()
    return shown[:200] or None


def within(value: Any, *path: str) -> Any:
    """Return the value at a path of keys, or None."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def objects(value: Any) -> Iterable[dict[str, Any]]:
    """Return the objects of a list; empty if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _decoded(content: bytes) -> str:
    """Return the text of a file; bytes of an unknown encoding become U+FFFD."""
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

"""Encodings of text: by its byte order mark, by its zero bytes, else UTF-8."""

from __future__ import annotations

import codecs
import re

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


def decoded(content: bytes) -> str:
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

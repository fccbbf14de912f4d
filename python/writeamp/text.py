"""Escape and shorten external text for display.

External text includes file names, names of hosts and devices, metadata, errors and arguments.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_SPACE = "Zs"
_SHOWN_CHARACTERS = 80
_QUOTED_CHARACTERS = 48
_SHOWN_NAMES = 16
# Characters that hide a serial number in the outputs of tools.
_HIDING = "*xX#?.-_0 "
# Kind of the hash of a serial number, and the digits of a short hash: unique among thousands of
# drives.
_HASH, _SHORT_DIGITS = "sha256:", 8


class Detail(str):
    """Text of a note that is the same for many runs; commands print it only with `--verbose`."""

    __slots__ = ()


class Caution(str):
    """Text of a note that is a reason to doubt the result; commands print it as a warning."""

    __slots__ = ()


def shown(value: object) -> str:
    """Return a value as text for an error: one line cut to 80 characters, or only its type."""
    kind = type(value)
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits or of brackets
        return f"{kind.__name__} that is too long to print"
    except Exception:  # a `repr` of any class may fail
        return f"of the type {kind.__name__}"
    if "\n" in text:  # a table or an array
        return f"of the type {kind.__name__}"
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def printable(text: str, *, keep: str = "") -> str:
    r"""Return text with escapes in place of characters that a terminal does not display.

    These are control characters, line breaks, marks of writing direction, invisible characters,
    and lone surrogates, which Python uses for bytes that are not UTF-8.

    Args:
        text: text to display.
        keep: characters that are not escaped, such as intended line breaks.

    >>> print(printable("\x1b[31mred\nline"), printable("µ-disk 1"), printable("\udcff"))
    \x1b[31mred\nline µ-disk 1 \udcff
    """
    if text.isprintable():
        return text
    return "".join(
        character if character in keep or _is_visible(character) else _escaped(character)
        for character in text
    )


def html_text(value: object) -> str:
    """Return a value as escaped text for HTML, also inside an attribute.

    >>> html_text('</script><img onerror="x">')
    '&lt;/script&gt;&lt;img onerror=&quot;x&quot;&gt;'
    """
    from html import escape  # noqa: PLC0415 (takes longer than the rest of this module)

    return escape(printable(str(value), keep="\n"))


def _is_visible(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == _SPACE


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def fault_of_text(text: str) -> str | None:
    """Return why a text cannot be stored in a file (NUL, not UTF-8), or None if it can."""
    if "\0" in text:
        return "contains a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "is not UTF-8 text"
    return None


def hashed_serial(serial: str | None) -> str | None:
    """Return a stable, irreversible hash of a serial number, or None if it is hidden or empty.

    A hash that this function returned is returned unchanged.
    """
    text = (serial or "").strip()
    if text.upper() in {"REDACTED", "N/A"} or not text.strip(_HIDING):
        return None
    if text.startswith(_HASH):
        return text
    import hashlib  # noqa: PLC0415 (takes longer than the rest of this module)

    return _HASH + hashlib.sha256(b"writeamp drive " + text.encode()).hexdigest()[:16]


def short_hash(serial: str | None) -> str:
    """Return the first eight digits of the hash of a serial number, or "" without one.

    >>> short_hash("sha256:9f0a25cd2ec738dd"), short_hash(None)
    ('9f0a25cd', '')
    """
    return (serial or "").removeprefix(_HASH)[:_SHORT_DIGITS]


def quoted(text: object) -> str:
    """Return the text in quotes on one line, escaped and cut to 48 characters."""
    written = str(text)
    if len(written) > _QUOTED_CHARACTERS:
        written = written[:_QUOTED_CHARACTERS] + "…"
    return repr(written)


def shortened(names: Sequence[str]) -> str:
    """Return at most 16 names with commas between them, and the number of further names."""
    hidden = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {hidden} more" if hidden > 0 else "")


def one_line(error: BaseException) -> str:
    """Return the first line of an error message of another library."""
    return next(iter(str(error).splitlines()), type(error).__name__)

"""Escaping of text from outside, so that it can be shown.

Such are file names, names of hosts and devices, metadata and errors.
"""

from __future__ import annotations

import unicodedata

_SPACE = "Zs"


def printable(text: str, *, keep: str = "") -> str:
    r"""Return text with visible escapes in place of what a screen would obey rather than show.

    Those are control characters, line breaks, marks that turn the direction of writing, characters
    without any shape, and the halves of surrogate pairs that stand for bytes that are not UTF-8.

    Args:
        text: what to show.
        keep: characters that are left alone all the same, such as our own line breaks.

    >>> print(printable("\x1b[31mred\nline"), printable("µ-disk 1"), printable("\udcff"))
    \x1b[31mred\nline µ-disk 1 \udcff
    """
    if text.isprintable():
        return text
    return "".join(one if one in keep or _is_visible(one) else _escaped(one) for one in text)


def _is_visible(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == _SPACE


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")

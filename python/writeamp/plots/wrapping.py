"""Wrapping of long texts in figures, and shortening if they still do not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# A line may break after a space or a separator of specs and paths.
_PIECES = re.compile(r"[^ ,:;/·]*[ ,:;/·]+|[^ ,:;/·]+")


def wrapped(text: str, characters: int, lines: int) -> str:
    """Return a text wrapped to `lines` lines at most; the middle of a longer text is cut out.

    Existing line breaks are kept.

    >>> wrapped("wolf:detector=bloom,groups=4,allocation=size", 30, 2)
    'wolf:detector=bloom,groups=4,\\nallocation=size'
    >>> wrapped("wolf:detector=bloom,groups=4,allocation=effective-size", 14, 2)
    'wolf:\\ndete…tive-size'
    """
    most = max(2, characters)
    wrapped_lines = _lines(text, most)
    rest = text
    while len(wrapped_lines) > lines and len(rest) > 2:
        # Remove a few characters and wrap again, so that lines still break at separators.
        rest = shortened(text, len(rest) - max(1, len(rest) - lines * most))
        wrapped_lines = _lines(rest, most)
    return "\n".join(wrapped_lines)


def shortened(text: str, characters: int) -> str:
    """Return a text of at most `characters`, with an ellipsis in place of its middle.

    The middle is cut because specs and paths usually differ at their ends.

    >>> shortened("traces/2024/monday.csv", 12)
    'traces…y.csv'
    """
    if len(text) <= characters:
        return text
    visible = max(0, characters - 1)
    head = (visible + 1) // 2
    return f"{text[:head]}…{text[len(text) - (visible - head) :]}"


def fitting(text: str, lines: int, fits: Callable[[str], bool]) -> str:
    """Return a text wrapped to the widest lines that fit, shortened above `lines` lines.

    Args:
        text: to display.
        lines: highest number of lines.
        fits: returns True if a text is narrow enough; must be monotonic in its width.
    """
    if fits(text):
        return text
    low, high = 2, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(wrapped(text, middle, lines)):
            low = middle
        else:
            high = middle - 1
    return wrapped(text, low, lines)


def most_columns(labels: Sequence[str], room: int, most: int) -> int:
    """Return the number of columns of a legend that is `room` characters wide."""
    longest = max((len(line) for label in labels for line in label.splitlines()), default=0)
    # The line sample and the space of each entry are 8 characters wide.
    return max(1, min(most, len(labels), room // (longest + 8)))


def _lines(text: str, characters: int) -> list[str]:
    wrapped_lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for piece in _pieces(paragraph, characters):
            if line and len(line) + len(piece.rstrip()) > characters:
                wrapped_lines.append(line.rstrip())
                line = ""
            line += piece
        wrapped_lines.append(line.rstrip())
    return wrapped_lines


def _pieces(text: str, characters: int) -> list[str]:
    return [
        piece[at : at + characters]
        for piece in _PIECES.findall(text)
        for at in range(0, len(piece), characters)
    ]

"""Wrapping of long texts in figures; only what still does not fit is shortened."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# What ends a line well: spaces, and what separates the parts of specs and paths.
_PIECES = re.compile(r"[^ ,:;/·]*[ ,:;/·]+|[^ ,:;/·]+")


def wrapped(text: str, characters: int, lines: int) -> str:
    """Return a text in lines of so many characters; where it has more lines, without its middle.

    Line breaks that the text has stay.

    >>> wrapped("wolf:detector=bloom,groups=4,allocation=size", 30, 2)
    'wolf:detector=bloom,groups=4,\\nallocation=size'
    >>> wrapped("wolf:detector=bloom,groups=4,allocation=effective-size", 14, 2)
    'wolf:\\ndete…tive-size'
    """
    most = max(2, characters)
    found = _lines(text, most)
    kept = text
    while len(found) > lines and len(kept) > 2:
        # Each turn takes a few characters out; what is left still breaks where it may.
        kept = shortened(text, len(kept) - max(1, len(kept) - lines * most))
        found = _lines(kept, most)
    return "\n".join(found)


def shortened(text: str, characters: int) -> str:
    """Return a text of so many characters at most, with an ellipsis where its middle was.

    The ends of specs and paths tell them apart.

    >>> shortened("traces/2024/monday.csv", 12)
    'traces…y.csv'
    """
    if len(text) <= characters:
        return text
    kept = max(0, characters - 1)
    head = (kept + 1) // 2
    return f"{text[:head]}…{text[len(text) - (kept - head) :]}"


def fitting(text: str, lines: int, fits: Callable[[str], bool]) -> str:
    """Return a text in the fewest lines that fit, shortened if these are too many.

    Args:
        text: what to show.
        lines: the most lines.
        fits: whether what it is given is narrow enough; what is narrower is, too.
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
    """Return how many labels stand beside each other in a legend of so many characters."""
    longest = max((len(line) for label in labels for line in label.splitlines()), default=0)
    # A sample of the line and the space beside it are as wide as so many characters.
    return max(1, min(most, len(labels), room // (longest + 8)))


def _lines(text: str, characters: int) -> list[str]:
    found: list[str] = []
    for given in text.split("\n"):
        line = ""
        for piece in _pieces(given, characters):
            if line and len(line) + len(piece.rstrip()) > characters:
                found.append(line.rstrip())
                line = ""
            line += piece
        found.append(line.rstrip())
    return found


def _pieces(text: str, characters: int) -> list[str]:
    return [
        piece[at : at + characters]
        for piece in _PIECES.findall(text)
        for at in range(0, len(piece), characters)
    ]

"""One normaliser in front of every reader: the text of a tool out of what was pasted."""

from __future__ import annotations

from collections.abc import Callable

from writeamp.measure.counters.pasted.characters import with_plain_characters
from writeamp.measure.counters.pasted.markup import (
    without_html,
    without_line_ends,
    without_markdown,
    without_quoted_printable,
    without_string_quotes,
    without_tables,
)
from writeamp.measure.counters.pasted.prefixes import (
    without_diff,
    without_indentation,
    without_labels,
    without_line_numbers,
    without_log_prefixes,
    without_quotes,
)
from writeamp.measure.counters.pasted.web_tables import without_web_tables
from writeamp.measure.counters.pasted.wrapped import with_joined_lines

# What is larger is no paste, and is read as it is.
MOST_CHARACTERS = 2 << 20
# One after the other, as the one may be inside the other: a quoted mail of a log.
_LAYERS: tuple[Callable[[str], str], ...] = (
    without_quoted_printable,
    without_html,
    without_string_quotes,
    without_diff,
    without_quotes,
    without_tables,
    without_line_ends,
    without_markdown,
    without_log_prefixes,
    without_line_numbers,
    without_labels,
    without_indentation,
)
_MOST_LAYERS = 6


def plain_text(text: str) -> str:
    """Return a pasted text as the tool printed it; a text that is longer than 2 MiB as it is."""
    if len(text) > MOST_CHARACTERS:
        return text
    text = with_plain_characters(text)
    for _ in range(_MOST_LAYERS):
        before = text
        for without in _LAYERS:
            text = without(text)
        if text == before:
            break
    return with_joined_lines(without_web_tables(text))

"""Pasted text without all that surrounds and changes the text of a tool."""

from __future__ import annotations

from collections.abc import Callable

from writeamp.drives.counters.pasted.markup import (
    with_plain_characters,
    without_html,
    without_line_ends,
    without_markdown,
    without_quoted_printable,
    without_string_quotes,
    without_tables,
    without_web_tables,
)
from writeamp.drives.counters.pasted.prefixes import (
    without_diff,
    without_indentation,
    without_labels,
    without_line_numbers,
    without_log_prefixes,
    without_quotes,
)
from writeamp.drives.counters.pasted.wrapped import with_joined_lines

# Longer texts were not pasted, and are read unchanged.
MOST_CHARACTERS = 2 << 20
# In this order, and repeated, as one may be inside another: a log in a quoted mail.
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

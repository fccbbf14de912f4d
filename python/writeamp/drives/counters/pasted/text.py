"""Removal of everything from a pasted text that the original tool did not print."""

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

# Longer texts are not pasted and stay unchanged.
MOST_CHARACTERS = 2 << 20
# Steps in their order. All steps are repeated, as layers may be nested: a log in a quoted mail.
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
    """Return a pasted text as the tool printed it; texts longer than 2 MiB stay unchanged."""
    if len(text) > MOST_CHARACTERS:
        return text
    text = with_plain_characters(text)
    for _ in range(_MOST_LAYERS):
        previous = text
        for without in _LAYERS:
            text = without(text)
        if text == previous:
            break
    return with_joined_lines(without_web_tables(text))

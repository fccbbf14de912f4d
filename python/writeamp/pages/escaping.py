"""Escaping of text from outside, such as names of files and models, for HTML pages."""

from __future__ import annotations

from html import escape

from writeamp.text import printable


def text(value: object) -> str:
    """Return a value as text that HTML shows and never obeys, also inside an attribute.

    >>> text('</script><img onerror="x">')
    '&lt;/script&gt;&lt;img onerror=&quot;x&quot;&gt;'
    """
    return escape(printable(str(value), keep="\n"))

"""Patterns of a drive's log lines, which decide whether a change of a text is right."""

from __future__ import annotations

import re

# Start of a row of attributes, up to its flags.
ROW_START = re.compile(
    r"[ \t]*(?:0x[0-9a-f]{2}|\d{1,3})[ \t]+[A-Za-z][^\s|]*[ \t]+(?:0x[0-9a-f]{4}|[POSRCK+-]{6,8})"
    r"(?:[ \t]|$)"
)
KEY = re.compile(r"[ \t]*[A-Za-z][A-Za-z0-9 _()/.,#-]{1,80}?[ \t]*[:=][ \t]*(?=\S)")
# A sample of a metric of Prometheus.
SAMPLE_START = re.compile(r"[A-Za-z_]\w{2,80}\{")
SAMPLE = re.compile(rf"{SAMPLE_START.pattern}[^{{}}\n]{{0,800}}\}}[ \t]+\S")
# A name, and values in columns.
_COLUMNS = r"[ \t]*[A-Za-z][\w ()-]{2,60}?[ \t]{2,}\d"
_KNOWN = re.compile(
    rf"^[\"']?(?:{ROW_START.pattern}|{KEY.pattern}|{SAMPLE_START.pattern}|{_COLUMNS}"
    r"|[ \t]*(?:smartctl \d|=== START OF|[{}\"]))",
    re.MULTILINE,
)


def filled_lines(text: str) -> int:
    """Return how many lines of a text are not blank."""
    return sum(1 for line in text.split("\n") if line.strip())


def known_lines(text: str) -> int:
    """Return how many lines of a text look like those of a drive's log."""
    return sum(1 for _ in _KNOWN.finditer(text))

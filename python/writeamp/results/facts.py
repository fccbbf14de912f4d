"""Facts of traces and volumes: names and values in words, from keys and values of documents."""

from __future__ import annotations

import math

from writeamp.results.numbers import four_digits
from writeamp.units.byte_sizes import shown_bytes

# Shares from this limit on would round to 1 with four digits, so more digits are shown.
_NEARLY_ONE = 0.9995
# Names of facts, if not the key with spaces.
_NAMES = {
    "unique_bytes_written": "unique data written",
    "drive_writes_of": "one drive write is",
    "hottest_1pct_share": "writes to the hottest 1% of pages",
    "hottest_10pct_share": "writes to the hottest 10% of pages",
    "sequential_share": "sequential writes",
    "elapsed_s": "took",
    "bytes": "size of the file",
    "bytes_in": "read",
}


def fact_in_words(key: str, value: object) -> tuple[str, str]:
    """Return a fact's name and its value with a unit."""
    name = _NAMES.get(key, key.replace("_", " "))
    if "bytes" in key and isinstance(value, int | float):
        return " ".join(name.replace("bytes", "").split()), shown_bytes(round(value))
    if key.endswith("_share") and isinstance(value, float):
        return name, f"{value:.1%}"
    if key.endswith("_s") and not key.endswith("_per_s") and isinstance(value, float):
        return name.removesuffix(" s"), f"{shown_fact(value)} s"
    if key == "days" and isinstance(value, float):
        return name, four_digits(value)
    return name, _NAMES.get(str(value), shown_fact(value))


def shown_fact(value: object) -> str:
    """Return the value of a fact of a trace as text."""
    if isinstance(value, bool) or value is None:
        return "–" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _nearly_one(value) if _NEARLY_ONE <= value < 1 else four_digits(value)
    if isinstance(value, list):
        return f"{len(value)}: {', '.join(str(item) for item in value)}"
    return str(value)


def _nearly_one(value: float) -> str:
    """Return a share just below 1 with as many digits as it takes to distinguish it from 1."""
    return f"{value:.{1 - math.floor(math.log10(1 - value))}f}"

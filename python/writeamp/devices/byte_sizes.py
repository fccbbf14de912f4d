"""Sizes with a unit, as people write them: 100GB is 100·10⁹ bytes, 100GiB is 100·2³⁰."""

from __future__ import annotations

import math
import re

from writeamp.domains import shown
from writeamp.errors import WriteampError

_LETTERS = "KMGTPE"
_UNITS = (
    {"B": 1, "kB": 1000}
    | {f"{letter}B": 1000 ** (power + 1) for power, letter in enumerate(_LETTERS)}
    | {f"{letter}iB": 1024 ** (power + 1) for power, letter in enumerate(_LETTERS)}
)


def parse_bytes(name: str, text: str) -> float:
    """Return the bytes that a number with a unit means.

    Args:
        name: what the size is of, for the error.
        text: such as "100GB", "1.5 TiB" or "5e11 B"; the unit must be spelled out.

    Raises:
        WriteampError: there is no number, or no unit, or the size is not above 0.
    """
    found = re.fullmatch(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*", text)
    unit = _UNITS.get(found.group(2)) if found else None
    try:
        size = float(found.group(1)) * unit if found and unit else math.nan
    except ValueError:
        size = math.nan
    if not 0 < size < math.inf:
        raise WriteampError(
            f"{name} is {shown(text)}; it must be a number above 0 with a unit: B, kB, MB, GB, TB, "
            "PB or EB (powers of 1000), KiB, MiB, GiB, TiB, PiB or EiB (powers of 1024)"
        )
    return size

"""Settings of a division of over-provisioned space, which options are made from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar

from writeamp.errors import WriteampError
from writeamp.fields.domains import ratio_of
from writeamp.fields.setting import Settings, setting
from writeamp.units.ratios import fill_setting, op_setting, spare_factor_setting

_GROUPS = {"panel": "groups"}
_COLDEST = {"number": "ratio", "panel": "coldest"}


class _Shares:
    """Domain of texts of numbers, one for each group."""

    def check(self, name: str, value: Any) -> list[float]:
        """Return the numbers, whose sum and signs whoever divides checks."""
        if not isinstance(value, str):
            return [ratio_of(one) for one in value]
        parts = [part.strip() for part in re.split("[,/]", value)]
        found = list(map(ratio_of, parts))
        # What is a number and not finite is refused by whoever divides.
        if not all(_is_float(part) for part, one in zip(parts, found, strict=True) if isnan(one)):
            raise WriteampError(
                f"{name} are {value!r}; they must be numbers separated by , or /, such as 0.7,0.3 "
                "or 70%,30%"
            )
        return found


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii()


@dataclass(frozen=True)
class DivisionSettings(Settings):
    """Groups of pages, the space that is divided between them, and what the coldest one gets."""

    title: ClassVar[str] = "division"

    sizes: list[float] | None = setting(
        None,
        _Shares(),
        "share of the logical pages in each group, separated by , or /; they sum to 1",
        metavar="S1,S2,…",
        **_GROUPS,
    )
    frequencies: list[float] | None = setting(
        None,
        _Shares(),
        "share of the host's writes to each group; they sum to 1",
        metavar="P1,P2,…",
        **_GROUPS,
    )
    op: float | None = op_setting()
    fill: float | None = fill_setting()
    spare_factor: float | None = spare_factor_setting()
    coldest_op: float | None = setting(
        None,
        None,
        "least space of the coldest group, as a ratio to its own size (paper 3: 0.05)",
        **_COLDEST,
    )
    coldest_below: float | None = setting(
        None,
        None,
        "give it exactly that if its hit rate is below this share of the next one's, and else "
        "leave it alone (paper 3: 0.05)",
        metavar="SHARE",
        **_COLDEST,
    )
    explore: int | None = setting(
        None,
        None,
        "instead compare the closed form with the optimum in every workload of 2 to 9 groups made "
        "of so many equal chunks of pages and of writes (paper 3: 10 and 20)",
        number="count",
        metavar="CHUNKS",
    )

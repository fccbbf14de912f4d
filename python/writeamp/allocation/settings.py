"""Settings of a division of over-provisioned space, from which options are generated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar

from writeamp.errors import WriteampError
from writeamp.fields.domains import ratio_of
from writeamp.fields.setting import Settings, setting
from writeamp.units.ratios import fill_setting, op_setting, spare_factor_setting

_SPACE = "spare space"
_GROUPS = {"panel": "groups"}
_COLDEST = {"number": "ratio", "panel": "coldest"}


class _Shares:
    """Domain of lists with one number for each group; a list may be written as text."""

    def check(self, name: str, value: Any) -> list[float]:
        """Return the numbers; their signs and sum are checked when the space is divided."""
        if not isinstance(value, str):
            return [ratio_of(share) for share in value]
        words = [word.strip() for word in re.split("[,/]", value)]
        shares = list(map(ratio_of, words))
        # Texts such as "nan" and "inf" are valid numbers here. They are rejected when the space is
        # divided.
        if not all(
            _is_float(word) for word, share in zip(words, shares, strict=True) if isnan(share)
        ):
            raise WriteampError(
                f"{name} is {value!r}; it must be numbers separated by , or /, such as 0.7,0.3 "
                "or 70%,30%"
            )
        return shares


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii()


@dataclass(frozen=True)
class DivisionSettings(Settings):
    """Groups of pages, the space divided between them, and the rule for the coldest group."""

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
    op: float | None = op_setting(_SPACE)
    fill: float | None = fill_setting(_SPACE)
    spare_factor: float | None = spare_factor_setting(_SPACE)
    coldest_op: float | None = setting(
        None,
        None,
        "minimum spare space of the coldest group (fewest writes per page), as a ratio to its own "
        "size (paper 3: 0.05)",
        **_COLDEST,
    )
    coldest_below: float | None = setting(
        None,
        None,
        "give the coldest group exactly --coldest-op, and only if its writes per page are below "
        "this share of those of the next coldest group (paper 3: 0.05)",
        metavar="SHARE",
        **_COLDEST,
    )
    explore: int | None = setting(
        None,
        None,
        "instead of dividing space, compare the closed-form division with the optimal one in every "
        "workload of 2 to 9 groups made of this many equal chunks of pages and of writes (paper 3: "
        "10 and 20)",
        number="count",
        metavar="CHUNKS",
    )

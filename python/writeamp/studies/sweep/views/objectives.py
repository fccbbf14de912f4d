"""Objectives: names of columns, and whether less or more of each is better."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.errors import WriteampError

_SIGNS = {"min:": False, "max:": True, "-": False, "+": True}
_SHORT = {"endurance": "endurance_full_drive_writes", "fairness": "pe_fairness"}
_MORE = ("endurance", "pe_fairness", "fill", "iops", "bandwidth", "host_pages_per_s")
_LESS = ("wa", "op", "spare_factor", "latency_us", "erases", "spare_blocks", "flash_pages")


@dataclass(frozen=True)
class Objective:
    """A column, and whether more of it is better."""

    column: str
    maximizes: bool

    @staticmethod
    def of(text: str) -> Objective:
        """Read the name of a column, perhaps with "min:" or "max:" before it, "-" or "+".

        Raises:
            WriteampError: the name alone does not say which is better.

        >>> Objective.of("endurance")
        Objective(column='endurance_full_drive_writes', maximizes=True)
        >>> Objective.of("max:virtual_time_s").maximizes
        True
        """
        sign = next((one for one in _SIGNS if text.startswith(one)), "")
        name = text.removeprefix(sign).strip()
        column = _SHORT.get(name, name)
        if sign:
            return Objective(column, _SIGNS[sign])
        if _begins(column, _MORE):
            return Objective(column, True)
        if _begins(column, _LESS) or column.endswith("_programs"):
            return Objective(column, False)
        raise WriteampError(
            f"is less of {name} better, or more? Say min:{name} or max:{name}; known without are "
            f"{', '.join((*_LESS, *_MORE))}"
        )


def _begins(column: str, names: tuple[str, ...]) -> bool:
    return any(column == name or column.startswith((f"{name}.", f"{name}_")) for name in names)

"""Verdicts on budgets of writes (`serve`, `trace record`), each with its sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from writeamp.results.numbers import four_digits, json_number
from writeamp.settings.budgets import HostBudgetSettings
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.write_rates import tb_a_year


@dataclass(frozen=True)
class BudgetVerdict:
    """A budget, the value that was compared with it, and whether the run met it.

    Attributes:
        option: option of the budget.
        limit: the budget in bytes, TB a year, or years.
        value: the run's value in the same unit; infinite years without writes.
        holds: whether the run met the budget.
        sentence: the comparison in words.
    """

    option: str
    limit: float
    value: float
    holds: bool
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON types."""
        return asdict(self) | {"value": json_number(self.value)}


def verdicts_of(
    budgets: HostBudgetSettings,
    host_bytes: int,
    flash_bytes: int | None = None,
    *,
    duration_s: float | None = None,
    rated_tbw: float | None = None,
) -> list[BudgetVerdict]:
    """Compare the writes of a run with its budgets.

    Args:
        budgets: the budgets.
        host_bytes: bytes that the host wrote.
        flash_bytes: bytes that the flash wrote, if they are known.
        duration_s: seconds in which they were written, if the writes continue at this rate. By
            default, the period is `repeat_every` of the budgets.
        rated_tbw: rated endurance of the drive's model; that of the budgets counts first.
    """
    return list(_verdicts(budgets, host_bytes, flash_bytes, duration_s, rated_tbw))


def _verdicts(
    budgets: HostBudgetSettings,
    host_bytes: int,
    flash_bytes: int | None,
    duration_s: float | None,
    rated_tbw: float | None,
) -> Iterator[BudgetVerdict]:
    if budgets.max_host_bytes is not None:
        yield _of_bytes("--max-host-bytes", "host", host_bytes, budgets.max_host_bytes)
    most_flash = getattr(budgets, "max_flash_bytes", None)
    if most_flash is not None and flash_bytes is not None:
        yield _of_bytes("--max-flash-bytes", "flash", flash_bytes, most_flash)
    period_s = budgets.repeat_every or duration_s
    if not period_s:
        return
    yearly_tb = tb_a_year(host_bytes, period_s)
    if (most_tb := budgets.max_tb_year) is not None:
        holds = yearly_tb <= most_tb
        side = "within" if holds else "above"
        sentence = f"the host writes {yearly_tb:.3g} TB a year, {side} --max-tb-year {most_tb:,.4g}"
        yield BudgetVerdict("--max-tb-year", most_tb, yearly_tb, holds, sentence)
    tbw = budgets.rated_tbw or rated_tbw
    if (fewest := budgets.min_years) is not None and tbw is not None:
        years = tbw / yearly_tb if yearly_tb else math.inf
        holds = years >= fewest
        lasting = f"{four_digits(years)} years" if math.isfinite(years) else "forever"
        side = "at least" if holds else "below"
        sentence = (
            f"at {yearly_tb:.3g} TB a year, the rated {tbw:,.6g} TB last {lasting}, {side} "
            f"--min-years {four_digits(fewest)}"
        )
        yield BudgetVerdict("--min-years", fewest, years, holds, sentence)


def _of_bytes(option: str, writer: str, count: int, most: int) -> BudgetVerdict:
    holds = count <= most
    side = "within" if holds else "above"
    sentence = f"the {writer} wrote {shown_bytes(count)}, {side} {option} {shown_bytes(most)}"
    return BudgetVerdict(option, most, count, holds, sentence)

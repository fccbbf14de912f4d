"""Tables of `writeamp answer`: its rows as they come, why they differ, and what to change."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from rich.table import Table
from rich.text import Text

from writeamp.answers.advice import Advice
from writeamp.answers.differences import RowDifference
from writeamp.answers.result import Answer
from writeamp.answers.way import WayRow
from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.results.numbers import four_digits, range_in_words
from writeamp.text import printable

# Columns of a row before its words; on a narrow terminal these stand below it.
_ROW = "{:<31} {:>7}  {:<16} {:>7}"
_LEAST_WORDS = 30
_BELOW: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "    "}
# A cause of a smaller share of WA is not shown; --json has it.
_SHOWN = 0.002


class RowPrinter:
    """Printer of rows one by one, in columns that fit all of them."""

    def __init__(self) -> None:
        """Print nothing yet."""
        self._is_first = True

    def row(self, row: WayRow) -> None:
        """Print a row, below the names of the columns if it is the first."""
        if self._is_first:
            stdout.print(Text(_ROW.format("way", "WA", "interval", "seconds"), style="bold"))
            self._is_first = False
        low, high = row.ci
        cells = _ROW.format(
            row.way,
            f"{row.wa:.4f}" if row.answers else "–",
            "" if math.isnan(low) else range_in_words(low, high),
            f"{row.seconds:.2f}",
        )
        words = row.reason or f"assumes {row.assumes}"
        beside = stdout.width - len(cells) - 2
        if beside >= _LEAST_WORDS:
            first, *rest = textwrap.wrap(words, beside)
            lines = [f"{cells}  {first}", *(" " * (len(cells) + 2) + one for one in rest)]
        else:
            lines = [cells, *textwrap.wrap(words, stdout.width, **_BELOW)]
        for line in lines:
            stdout.print(Text(printable(line)), soft_wrap=True)


def differences_table(found: Answer) -> Table | None:
    """Return how each row differs from the simulation and why; None if there is no other row."""
    simulated = found.simulated
    if simulated is None:
        return None
    rows = []
    for row in found.rows:
        one = found.between(row.way, simulated.way)
        if row is simulated or one is None:
            continue
        sign = 1 if one.between[1] == row.way else -1
        why = _why(one, sign, row.wa)
        if not (row.is_steady and simulated.is_steady):
            why += "; of this window only"
        rows.append((f"{row.way} minus simulate", f"{sign * one.wa_difference:+.4f}", why))
    return options.bare_table(("why rows differ", ">WA", "of it"), rows) if rows else None


def _why(one: RowDifference, sign: int, wa: float) -> str:
    if one.agree:
        return f"they agree: noise is ±{four_digits(one.noise)}"
    least = _SHOWN * wa
    shares = sorted(one.causes, key=lambda each: -abs(each.share))
    shown = [each for each in shares if abs(each.share) >= least]
    small = sum(each.share for each in shares if abs(each.share) < least)
    parts = [f"{sign * each.share:+.4f} {each.cause}" for each in shown]
    if abs(small) > 0:
        parts.append(f"{sign * small:+.4f} smaller ones")
    unexplained = sign * one.unexplained
    parts.append(f"{unexplained:+.4f} unexplained ({unexplained / wa:+.2%} of WA)")
    return "; ".join(parts)


def agreements(found: Answer) -> str | None:
    """Return which other rows agree with each other; None of none."""
    simulated = found.simulated
    pairs = [
        " and ".join(one.between)
        for one in found.differences
        if one.agree and (simulated is None or simulated.way not in one.between)
    ]
    return f"agree with each other too: {'; '.join(pairs)}" if pairs else None


def advice_table(advice: tuple[Advice, ...]) -> Table:
    """Return the changes that make it least."""
    rows = ((one.change, f"{one.wa:.4f}", f"{one.wa_now:.4f}", one.costs) for one in advice)
    return options.bare_table(("what would make it less", ">WA", ">now", "costs"), rows)

"""Results of real drives as they are printed, and warnings of their counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from writeamp.cli import options

if TYPE_CHECKING:
    from writeamp.drives.counters.result import DriveCounters


def print_result(
    found: Any, show: Callable[[], None] | None = None, *, json: bool, csv: bool
) -> None:
    """Print a result as JSON or CSV where that is asked for, else its card or by a function."""
    if options.printed_json(found.to_dict, json=json):
        return
    if csv:
        options.print_csv(found.to_frame())
    elif show is None:
        options.print_card(found.card())
    else:
        show()


def warn_of_doubts(found: DriveCounters, name: str = "") -> None:
    """Say on stderr what is in doubt of one answer, each with its name if there is one."""
    for sentence in found.warnings:
        options.warn(f"{name}: {sentence}" if name else sentence)

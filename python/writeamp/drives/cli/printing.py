"""Printing of results and warnings of real drives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from writeamp.cli import options

if TYPE_CHECKING:
    from writeamp.drives.counters.result import DriveCounters


def print_result(
    result: Any, show: Callable[[], None] | None = None, *, json: bool, csv: bool
) -> None:
    """Print a result as JSON, CSV or tables; `show` is called instead of printing the tables."""
    if options.printed_json(result.to_dict, json=json):
        return
    if csv:
        options.print_csv(result.to_frame())
    elif show is None:
        options.print_card(result.card())
    else:
        show()


def print_warnings(answer: DriveCounters, name: str = "") -> None:
    """Print the warnings of an answer on stderr, each after `name` if it is not empty."""
    for sentence in answer.warnings:
        options.warn(f"{name}: {sentence}" if name else sentence)

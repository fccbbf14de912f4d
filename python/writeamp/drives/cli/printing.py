"""Printing of results and warnings of real drives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from writeamp.cli import options

if TYPE_CHECKING:
    from writeamp.drives.counters.result import DriveCounters


def print_result(result: Any, *, json: bool, csv: bool) -> None:
    """Print a result as JSON, CSV or headline and tables."""
    options.show(
        result.to_dict,
        result.card,
        frame=result.to_frame,
        json=json,
        csv=csv,
        figure=getattr(result, "figure", None),
    )


def print_warnings(answer: DriveCounters, name: str = "") -> None:
    """Print the warnings of an answer on stderr, each after `name` if it is not empty."""
    for sentence in answer.warnings:
        options.warn(f"{name}: {sentence}" if name else sentence)

"""Comparison of a run with a baseline: the result of an earlier run of the same command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from writeamp.differences.budgets import BudgetVerdict
from writeamp.differences.difference import diff
from writeamp.differences.documents import result_document, verb_of
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.units.byte_sizes import shown_bytes

DEFAULT_TOLERANCE = 0.05

_WRITERS = {"host_bytes": "host", "flash_bytes": "flash"}
# The command itself may change between the runs; every other setting must be that of the baseline.
_MAY_DIFFER = {"run"}


def against_baseline(
    document: Mapping[str, Any], path: str, tolerance: float
) -> list[BudgetVerdict]:
    """Compare the bytes of host and flash with those of a baseline, by the rules of `diff`.

    Args:
        document: result of this run.
        path: file of the baseline.
        tolerance: excess that is accepted, as a share of the baseline. An excess within the noise
            of both runs is accepted, too.

    Raises:
        WriteampError: the file is not the result of a finished run with the same settings.
    """
    difference = diff(path, document)
    others = [setting.name for setting in difference.settings if setting.key not in _MAY_DIFFER]
    if others:
        raise WriteampError(
            f"{path} was measured with other settings ({', '.join(others)}); remove it to measure "
            "a new baseline"
        )
    for failure in difference.failures:
        if failure.side == "a":
            raise WriteampError(f"{path} cannot be a baseline: {failure.reason}; remove it")
    pairs = {pair.key: pair for pair in difference.numbers}
    verdicts = []
    for key, writer in _WRITERS.items():
        pair = pairs.get(key)
        first, last = (document[key],) * 2 if pair is None else (pair.a, pair.b)
        most = first * (1 + tolerance)
        holds = last <= most or (pair is not None and pair.verdict == "within noise")
        change = f"{last / first - 1:+.2%}" if first else "from nothing"
        side = "within" if holds else "more than"
        sentence = (
            f"the {writer} wrote {shown_bytes(int(last))}, {change} against {path}, {side} "
            f"--tolerance {100 * tolerance:.3g}%"
        )
        verdicts.append(BudgetVerdict("--baseline", most, last, holds, sentence))
    return verdicts


def check_baseline(path: str) -> None:
    """Check that a baseline can be compared, before anything runs; it need not exist.

    Raises:
        WriteampError: the file cannot be read, or is not a result.
    """
    if Path(path).exists():
        verb_of(result_document(path), path)


def write_baseline(document: Mapping[str, Any], path: str) -> None:
    """Write the result of a run as a baseline.

    Raises:
        WriteampError: the file cannot be written.
    """
    with output.replacing(Path(path), "baseline") as file:
        file.write(json.dumps(document, indent=1).encode())

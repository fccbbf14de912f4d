"""`writeamp serve --compare`: two commands on equal virtual drives, and their difference."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import typer

from writeamp.cli import boundary, findings, options

if TYPE_CHECKING:
    from collections.abc import Callable

    from writeamp.vssd.command_pairs import PairRun
    from writeamp.vssd.result import ServeResult
    from writeamp.vssd.specification import Specification

_STDERR = 2
_COMMAND_FAILED = 1


def compare_commands(
    runs: list[PairRun],
    ticking: Callable[[Specification, ExitStack], Callable[[], None]],
    *,
    json: bool,
) -> None:
    """Run pairs of commands, and print the difference of their results.

    The output of the commands goes to stderr.

    Args:
        runs: the runs, in order.
        ticking: returns a callback that shows the progress of preconditioning.
        json: whether to print the JSON document only.

    Raises:
        Exit: a command failed, with status 1.
    """
    from writeamp.vssd.command_pairs import SIDES, run_pairs  # noqa: PLC0415 (slow)

    for command in dict.fromkeys(run.command for run in runs):
        findings.of_command(command)
    results: dict[str, dict[int, ServeResult]] = {side: {} for side in SIDES}
    interrupted = None
    with ExitStack() as bars:

        def tick(run: PairRun) -> Callable[[], None]:
            number = runs.index(run) + 1
            boundary.say(f"run {number} of {len(runs)}: command {run.side}")
            is_aged = run.specification.is_aged
            return ticking(run.specification, bars) if is_aged else lambda: None

        for run, result in run_pairs(
            runs, stdout=_STDERR, started=lambda _run, _drive: bars.close(), tick=tick
        ):
            if result.interrupted_by is not None:
                interrupted = result.interrupted_by
                break
            if result.run_exit_status:
                boundary.say(
                    f"command {run.side} failed with status {result.run_exit_status} in replica "
                    f"{run.replica + 1}, so nothing is compared: {run.command}"
                )
                raise typer.Exit(_COMMAND_FAILED)
            results[run.side][run.replica] = result
    finished = [replica for replica in results["A"] if replica in results["B"]]
    if finished:
        _print([[results[side][replica] for replica in finished] for side in SIDES], json=json)
    if interrupted is not None:
        boundary.end_as_interrupted(
            interrupted, f"{len(finished)} of {len(runs) // 2} pairs of runs are finished"
        )


def _print(results: list[list[ServeResult]], *, json: bool) -> None:
    """Print the difference; each list has the replicas of one command."""
    from writeamp.differences.difference import difference_of  # noqa: PLC0415 (slow)

    firsts, lasts = ([result.to_dict() for result in side] for side in results)
    difference = difference_of("serve", firsts, lasts)

    def document() -> dict[str, Any]:
        return difference.to_dict() | {"results": {"a": firsts, "b": lasts}}

    options.show(document, difference.card, json=json)
    for note in difference.notes:
        options.note(note)

"""`writeamp simulate --target-wa` and `--sweep`: over-provisioning, asked for and swept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from writeamp.cli import boundary, options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.runners import Runner
from writeamp.settings.experiment import Experiment
from writeamp.studies.op.settings import OpSettings

if TYPE_CHECKING:
    from writeamp.studies.op.curve_result import OpCurve
    from writeamp.studies.op.required_op_result import RequiredOp


def simulate_over_op(
    experiment: Experiment,
    asked: OpSettings,
    *,
    plot: Path | None,
    keep: str | None,
    runner: Runner | None,
    json: bool,
    csv: bool,
) -> None:
    """Answer one of the two questions, print the answer and draw it."""
    target_wa, sweep = asked.target_wa, asked.sweep
    if target_wa is not None and sweep is not None:
        raise WriteampError("target_wa and sweep are two questions; give only one")
    from writeamp.studies.op.curve import run_op_curve  # noqa: PLC0415 (slow)
    from writeamp.studies.op.required_op import run_required_op  # noqa: PLC0415 (slow)

    found: RequiredOp | OpCurve
    if target_wa is not None:
        with (
            boundary.runs_kept_in(keep),
            Bar("searching", _drives, by_own_pace=True) as bar,
        ):
            found = run_required_op(experiment, target_wa, bar.update, runner, keep)
    else:
        assert sweep is not None
        with Bar("sweeping", lambda done, all_: f"{done} of {all_} drives") as bar:
            found = options.whole_or_part(
                lambda: run_op_curve(experiment, sweep, bar.update, runner, keep)
            )
    options.tell(
        found,
        lambda: _print(found),
        json=json,
        csv=csv,
        plot=None if found.unfinished else plot,
    )
    if found.unfinished:
        raise boundary.PartlyDone(f"{_finished(found)} were finished; no picture was drawn")


def _drives(done: int, _: int) -> str:
    return f"{done // 1000} drives tried"


def _finished(found: OpCurve | RequiredOp) -> str:
    return f"{len(found.points)} of {len(found.points) + len(found.unfinished)} points"


def _print(found: OpCurve | RequiredOp) -> None:
    card = found.card()
    if found.unfinished:
        card = replace(card, title=f"INTERRUPTED after {_finished(found)}: {card.title}")
    options.print_card(card)
    for sentence in found.legend:
        stdout.print(sentence)

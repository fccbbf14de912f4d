"""`writeamp simulate --target-wa` and `--sweep`: search and sweep of over-provisioning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from writeamp.cli import boundary, options
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.results.card import Card
from writeamp.runners import Runner
from writeamp.settings.experiment import Experiment
from writeamp.studies.op.settings import OpSettings

if TYPE_CHECKING:
    from writeamp.studies.op.curve_result import OpCurve
    from writeamp.studies.op.required_op_result import RequiredOp


def simulate_over_op(
    experiment: Experiment,
    settings: OpSettings,
    *,
    plot: Path | None,
    keep: str | None,
    runner: Runner | None,
    json: bool,
    csv: bool,
) -> None:
    """Run the search or the sweep, print the result and draw it."""
    target_wa, sweep = settings.target_wa, settings.sweep
    if target_wa is not None and sweep is not None:
        raise WriteampError("target_wa and sweep exclude each other; give only one")
    from writeamp.studies.op.curve import run_op_curve  # noqa: PLC0415 (slow)
    from writeamp.studies.op.required_op import run_required_op  # noqa: PLC0415 (slow)

    result: RequiredOp | OpCurve
    if target_wa is not None:
        with (
            boundary.runs_kept_in(keep),
            Bar("searching", _drives, has_slow_steps=True) as bar,
        ):
            result = run_required_op(experiment, target_wa, bar.update, runner, keep)
    else:
        assert sweep is not None
        with Bar("sweeping", lambda done, all_: f"{done} of {all_} drives") as bar:
            result = options.finished_part(
                lambda: run_op_curve(experiment, sweep, bar.update, runner, keep)
            )
    options.show_result(
        result,
        json=json,
        csv=csv,
        plot=None if result.unfinished else plot,
        card=lambda: _card(result),
    )
    if result.unfinished:
        raise boundary.PartlyDone(f"{_finished(result)} are finished; no picture was drawn")


def _drives(done: int, _: int) -> str:
    return f"{done // 1000} drives tried"


def _finished(result: OpCurve | RequiredOp) -> str:
    return f"{len(result.points)} of {len(result.points) + len(result.unfinished)} points"


def _card(result: OpCurve | RequiredOp) -> Card:
    card = result.card()
    if result.unfinished:
        card = replace(card, title=f"INTERRUPTED after {_finished(result)}: {card.title}")
    return card

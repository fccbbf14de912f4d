"""`writeamp simulate --target-wa` and `--sweep`: over-provisioning, asked for and swept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from writeamp.cli import boundary, options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.plots.style import with_error
from writeamp.results.numbers import interval_in_words
from writeamp.runners import Runner
from writeamp.runs.words import shape_in_words, wa_in_words
from writeamp.settings.experiment import Experiment
from writeamp.studies.op.settings import OpSettings
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    from writeamp.runs.simulation_result import Result
    from writeamp.studies.op.curve_result import OpCurve
    from writeamp.studies.op.required_op_result import RequiredOp

# What stands beside a WA that may still change, and beside theory outside its domain.
_MARK = "*"


def simulate_over_op(
    experiment: Experiment,
    asked: OpSettings,
    *,
    plot: Path | None,
    out: str | None,
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
    from writeamp.studies.op.required_op_result import RequiredOp  # noqa: PLC0415 (slow)

    found: RequiredOp | OpCurve
    if target_wa is not None:
        with Bar("searching", _drives, by_own_pace=True) as bar:
            found = run_required_op(experiment, target_wa, bar.update, runner, out)
    else:
        assert sweep is not None
        with Bar("sweeping", lambda done, all_: f"{done} of {all_} drives") as bar:
            found = options.whole_or_part(
                lambda: run_op_curve(experiment, sweep, bar.update, runner, out)
            )
    options.tell(
        found,
        lambda: _print_answer(found) if isinstance(found, RequiredOp) else _print_curve(found),
        json=json,
        csv=csv,
        plot=None if found.unfinished else plot,
    )
    if found.unfinished:
        raise boundary.PartlyDone(f"{_finished(found)} were finished; no picture was drawn")


def _drives(done: int, _: int) -> str:
    return f"{done // 1000} drives tried"


def _print_answer(found: RequiredOp) -> None:
    result, device = found.result, found.result.device
    rows = [
        ("workload", result.plan.load_name),
        ("manager, victims", str(result.plan.policy)),
        (
            "logical size, of all drives",
            f"{device.logical_pages:,} pages of {device.page_bytes:,} bytes{_stands_for(result)}",
        ),
        (
            "tried",
            f"{len(found.points)} drives, whose op differs by {found.step_op:.4g} or more",
        ),
        ("drive", shape_in_words(device)),
        (
            "steady",
            result.steady_state.reason if result.steady else f"NO: {result.steady_state.reason}",
        ),
        ("theory", str(found.theory)),
    ]
    if result.has_partial_pages:
        rows.append(("WA per host byte", f"{result.wa_bytes:.4f}  (what SMART shows)"))
    within = interval_in_words(*found.ci, ".4g") or "no interval"
    rows += [
        ("WA at that op", wa_in_words(result.wa, result.ci)),
        ("spare factor, fill", f"{device.spare_factor:.4g}, {device.fill:.4g}"),
        (f"op for WA {found.target_wa:.6g}", f"{found.op:.4g} = (T-U)/U  ({within})"),
    ]
    stdout.print(options.facts(rows))


def _stands_for(result: Result) -> str:
    if not result.scaling:
        return ""
    scale = result.scaling.scale
    return f", which stand for {shown_bytes(scale.capacity_bytes)} ({scale.factor:.4g}:1)"


def _finished(found: OpCurve | RequiredOp) -> str:
    return f"{len(found.points)} of {len(found.points) + len(found.unfinished)} points"


def _print_curve(found: OpCurve) -> None:
    first = found.points[0].result
    of_bytes = first.has_partial_pages
    beside = "spare_factor" if found.ratio == "op" else found.ratio
    rows = []
    for one in found.points:
        result, device, theory = one.result, one.result.device, one.result.theory
        rows.append(
            (
                f"{device.op:.4g}",
                f"{getattr(device, beside):.4g}",
                f"{device.geometry.blocks:,}",
                with_error(result.wa, *result.ci) + ("" if result.steady else _MARK),
                *((f"{result.wa_bytes:.3f}",) if of_bytes else ()),
                f"{theory.wa:.3f}" + (_MARK if theory.outside else ""),
            )
        )
    columns = [
        ">op",
        ">" + beside.replace("_", " "),
        ">blocks",
        ">WA",
        *([">WA/byte"] if of_bytes else []),
    ]
    part = f"INTERRUPTED after {_finished(found)}: " if found.unfinished else ""
    stdout.print(
        options.table(
            f"{part}{first.plan.load_name} under "
            f"{first.plan.policy}, {first.device.logical_pages:,} logical pages; op = (T-U)/U",
            (*columns, ">theory"),
            rows,
        )
    )
    for model in dict.fromkeys(result.theory.model for result in found.results):
        stdout.print(f"theory: {model}")
    if not all(result.steady for result in found.results):
        stdout.print(f"{_MARK} beside WA: not steady, so it may not last")
    if any(result.theory.outside for result in found.results):
        stdout.print(f"{_MARK} beside theory: outside the model's domain")

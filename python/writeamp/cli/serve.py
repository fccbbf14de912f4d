"""`writeamp serve`: virtual SSD for real programs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import boundary, findings, options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.serve_compare import compare_commands
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.fields.setting import flag_of
from writeamp.plots import check_target
from writeamp.settings.budgets import BudgetSettings
from writeamp.settings.device import DeviceSettings
from writeamp.vssd.settings import (
    BuiltInPolicySettings,
    DriveSettings,
    ServeSettings,
    served_examples,
)

if TYPE_CHECKING:
    from writeamp.differences.budgets import BudgetVerdict
    from writeamp.vssd.drive import Drive
    from writeamp.vssd.limit import LimitVerdict
    from writeamp.vssd.result import ServeResult
    from writeamp.vssd.specification import Specification

_STDERR = 2
_COMMAND_FAILED = 1
# WA is above --max-wa, or the run cannot show that it is not; or a budget is broken.
_LIMIT_NOT_MET = 3
# Minimum number of rounds of random writes before WA of the drive can count as steady.
_FEWEST_ROUNDS = 5


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("serve")(with_settings(serve, served_examples))


def serve(
    device: DeviceSettings,
    policy: BuiltInPolicySettings,
    drive: Annotated[dict[str, Any], DriveSettings],
    settings: ServeSettings,
    budgets: BudgetSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the bytes of each layer (with --mount), or WA over time (.png, .svg, "
            ".pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Serve a virtual SSD to real programs over NBD, and report its write amplification (WA).

    With --run, the drive lives as long as the command. Without it, the drive serves until Ctrl-C
    or SIGTERM.

    The exit status is 1 if the command failed, and 3 if WA is above --max-wa or cannot be compared
    with it, or if a budget of writes is broken. With --json, the output of the command goes to
    stderr.

    Without a size, the generic drive has 3.125 GiB. A profile has its own size, at most 64 GiB.

    Example: writeamp serve --device ssd-v --size 1G --run 'nbdcopy /bin/sh $uri'
    """
    run, max_wa = settings.run, settings.max_wa
    if run is not None and not run.strip():
        raise WriteampError("--run is empty; give a command, or leave it out to serve until Ctrl-C")
    if max_wa is not None or settings.compare is not None or budgets.needs_aged_drive:
        # WA of a new drive is 1 until it collects, so that any program would meet the limit.
        drive.setdefault("precondition", "random")
    drive_settings = DriveSettings(**drive)
    if plot is not None:
        check_target(plot)
        drive_settings.check_outputs([plot])
    if settings.compare is not None:
        from writeamp.vssd.command_pairs import runs_of_pairs  # noqa: PLC0415 (slow)

        _check_alone(
            {"--run": run, "--max-wa": max_wa, "--plot": plot}
            | {flag_of(each): getattr(budgets, each.name) for each in fields(budgets)}
        )
        runs = runs_of_pairs(device, policy, drive_settings, settings.compare, settings.replicas)
        compare_commands(runs, _ticking, json=json)
        return
    from writeamp.vssd.limit import verdict_of  # noqa: PLC0415 (slow)
    from writeamp.vssd.session import serve as serve_drive  # noqa: PLC0415 (slow)
    from writeamp.vssd.specification import specify  # noqa: PLC0415 (slow)

    specification = specify(device, policy, drive_settings)
    if budgets.baseline is not None:
        from writeamp.differences.baseline import check_baseline  # noqa: PLC0415 (slow)

        check_baseline(budgets.baseline)
    findings.of_command(run or "")
    with ExitStack() as bars:
        result = serve_drive(
            specification,
            run=run,
            # With --json, the output of the user's command goes to stderr, so that stdout has the
            # document only.
            stdout=_STDERR if json else None,
            started=lambda running: _started(running, bars, is_captive=run is not None, json=json),
            tick=_ticking(specification, bars) if specification.is_aged else lambda: None,
        )
    verdict = None if max_wa is None else verdict_of(result, max_wa)
    document = result.to_dict() | {"limit": None if verdict is None else verdict.to_dict()}
    document = findings.with_findings(document | {"budgets": []})
    try:
        of_budgets = _verdicts(budgets, result, document)
    except WriteampError:
        _print(result, document, plot, json=json)
        raise
    document["budgets"] = [each.to_dict() for each in of_budgets]
    _print(result, document, plot, json=json)
    _end(result, verdict, of_budgets, json=json)


def _check_alone(others: dict[str, object]) -> None:
    """Reject options of a single command beside --compare."""
    for option, value in others.items():
        if value is not None:
            raise WriteampError(
                f"--compare and {option} exclude each other; {option} is for a single command"
            )


def _ticking(specification: Specification, bars: ExitStack) -> Callable[[], None]:
    """Return a callback that shows the progress of preconditioning."""
    from writeamp.runs.preconditioning import CHUNK_PAGES  # noqa: PLC0415 (slow)

    precondition, size = specification.precondition, specification.device.logical_pages
    rounds = (precondition.drive_writes or _FEWEST_ROUNDS) if precondition.is_random else 0
    expected = round(size * (1 + rounds))
    if specification.plan.earlier is not None:
        expected += specification.plan.earlier.host_pages
    bar = bars.enter_context(Bar("preconditioning", lambda done, _: f"{done / 1e6:.1f} M pages"))
    written = 0

    def tick() -> None:
        nonlocal written
        written += CHUNK_PAGES
        bar.update(written, max(expected, written))

    return tick


def _started(drive: Drive, bars: ExitStack, *, is_captive: bool, json: bool) -> None:
    """Print the address of the metrics; without --run, also print the address of the drive."""
    bars.close()
    if drive.metrics_url is not None:
        boundary.say(f"metrics are at {drive.metrics_url}")
    if is_captive:
        return
    from writeamp.vssd.specification import summary  # noqa: PLC0415 (slow)

    where = [drive.server.uri]
    if drive.mounted is not None:
        where.append(f"mounted at {drive.mounted.point}")
    for sentence in (
        f"serving {summary(drive.specification.device)}: {', '.join(where)}",
        "Ctrl-C stops the server; watch the drive with "
        f"`writeamp top {shlex.quote(str(drive.server.socket))}`",
    ):
        if json:
            boundary.say(sentence)
        else:
            print(sentence, flush=True)


def _verdicts(
    budgets: BudgetSettings, result: ServeResult, document: dict[str, Any]
) -> list[BudgetVerdict]:
    """Compare a run with its budgets; the first finished run becomes the baseline."""
    from writeamp.differences.budgets import verdicts_of  # noqa: PLC0415 (slow)

    verdicts = verdicts_of(budgets, result.host_bytes, result.flash_bytes)
    if budgets.baseline is None or result.run_exit_status or result.interrupted_by is not None:
        return verdicts
    from writeamp.differences import baseline  # noqa: PLC0415 (slow)

    if not Path(budgets.baseline).exists():
        baseline.write_baseline(document, budgets.baseline)
        options.note(f"{budgets.baseline} is written; later runs are compared with it")
        return verdicts
    tolerance = budgets.tolerance
    if tolerance is None:
        tolerance = baseline.DEFAULT_TOLERANCE
    return verdicts + baseline.against_baseline(document, budgets.baseline, tolerance)


def _print(result: ServeResult, document: dict[str, Any], plot: Path | None, *, json: bool) -> None:
    for sentence in result.notes:
        # `_end` prints the failures, so they are left out here.
        if sentence not in result.failures:
            options.note(sentence)
    options.show(lambda: document, result.card, beside=result.beside, json=json)
    if plot is None:
        return
    if result.host_pages:
        result.plot(plot)
    else:
        options.warn(f"the host wrote nothing, so {plot} was not drawn")


def _end(
    result: ServeResult,
    verdict: LimitVerdict | None,
    budgets: Sequence[BudgetVerdict],
    *,
    json: bool,
) -> None:
    """End the command with the exit status of the run."""
    sys.stdout.flush()
    if result.interrupted_by is not None:
        boundary.end_as_interrupted(
            result.interrupted_by, "the figures include the writes until the interruption"
        )
    if result.run_exit_status:
        boundary.say(f"the command failed with status {result.run_exit_status}")
        raise typer.Exit(_COMMAND_FAILED)
    if result.failures:
        raise WriteampError(result.failures[0])
    failed = [] if verdict is None or verdict.holds else [verdict.sentence]
    failed += [budget.sentence for budget in budgets if not budget.holds]
    if failed:
        # Without --json, the headline on stdout states it.
        if json:
            boundary.say("; ".join(failed))
        raise typer.Exit(_LIMIT_NOT_MET)

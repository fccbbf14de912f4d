"""`writeamp sweep`: runs of an experiment at many points, and their results."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from writeamp.cli import boundary, options
from writeamp.cli.application import App
from writeamp.cli.progress_bar import Bar, points_in_words
from writeamp.cli.runner_options import with_runner
from writeamp.cli.setting_options import with_settings
from writeamp.cli.shard_options import with_shards
from writeamp.cli.sweep_show import MOST_ROWS, show
from writeamp.errors import Interrupted, WriteampError
from writeamp.files import output
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.studies.shards import Folders

if TYPE_CHECKING:
    from writeamp.studies.sweep.plan import SweepPlan
    from writeamp.studies.sweep.result import Sweep

_RUN = "run"


class _RunUnlessNamed(TyperGroup):
    """Group of commands that reads `writeamp sweep FILE` as `writeamp sweep run FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `run` if the first argument is not one of the group's commands."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_RUN, *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    verbs = App(
        cls=_RunUnlessNamed,
        help="`writeamp sweep run --help` lists the options of a run, such as --keep and --shard.",
        no_args_is_help=True,
    )
    verbs.command(_RUN)(with_runner(with_shards(run, needs_folder=True)))
    verbs.command("show")(with_settings(show))
    app.add_typer(verbs, name="sweep")


def run(
    file: Annotated[
        Path,
        typer.Argument(
            help=r"An experiment with a table \[sweep].", metavar="FILE.toml", show_default=False
        ),
    ],
    *,
    keep: Folders,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run points again that failed.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the results, as `sweep show --plot` does by default.",
            metavar="FILE",
        ),
    ] = None,
    runner: Runner,
    json: options.Json = False,
) -> None:
    """Run every point of a sweep that has no result yet. The word `run` may be left out.

    Example: writeamp sweep examples/op_by_manager.toml --keep results/
    """
    if plot is not None:
        check_target(plot)
        output.check_distinct([keep.first, plot])
    from writeamp.studies.sweep.functions import sweep  # noqa: PLC0415 (slow)
    from writeamp.studies.sweep.plan import plan_of  # noqa: PLC0415 (slow)

    plan = plan_of(file)
    if plot is not None:
        _check_picture(plan, file)
    try:
        with Bar("sweeping", points_in_words, has_slow_steps=True) as bar:
            done = sweep(
                plan, keep=keep, retry_failed=retry_failed, runner=runner, progress=bar.update
            )
    except Interrupted as stopped:
        raise boundary.PartlyDone(_progress(stopped.finished)) from None
    _warn(done)
    options.show(
        done.to_dict,
        done.card,
        json=json,
        figure=done.figure,
        print_tables=partial(options.print_card, most_rows=MOST_ROWS),
    )
    if plot is not None:
        done.plot(plot)
    if done.failed or done.failed_before:
        raise typer.Exit(boundary.SOME_FAILED)


def _check_picture(plan: SweepPlan, file: Path) -> None:
    """Reject a sweep that --plot cannot draw before it runs, since it may run for hours."""
    if plan.search is not None:
        return
    from writeamp.studies.sweep.results import SweepResults  # noqa: PLC0415 (slow)

    try:
        SweepResults.expected(plan).curves()
    except WriteampError as error:
        raise WriteampError(
            f"--plot cannot draw {file} ({error}); leave it out, and draw with "
            "`writeamp sweep show`"
        ) from None


def _progress(stopped: Sweep) -> str:
    have = stopped.done + stopped.failed + stopped.skipped
    return (
        f"{have} of {stopped.points} points are finished and stored in {stopped.out}; run the same "
        "command to continue"
    )


def _warn(done: Sweep) -> None:
    if done.plan.merged:
        options.note(f"{done.plan.merged} points are equal to others and are not run again")
    if done.failed_before:
        options.warn(
            f"{done.failed_before} of the skipped points failed in an earlier run; --retry-failed "
            "runs them again"
        )
    if not done.failed:
        return
    from writeamp.studies.sweep.points import failure_at  # noqa: PLC0415 (slow)

    frame = done.to_frame().drop_nulls("error")
    for row in frame.head(options.MOST_ERRORS).iter_rows(named=True):
        coordinates = {name: row[name] for name in (*done.plan.axes, "replica")}
        options.warn(failure_at(coordinates, row["error"]))

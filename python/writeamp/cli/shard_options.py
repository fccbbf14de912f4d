"""Options `--keep`, once for each folder of runs, and `--shard`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.setting_options import described
from writeamp.errors import WriteampError
from writeamp.results.card import Card
from writeamp.results.numbers import plural
from writeamp.studies.shards import SLURM, Folders, Shard, ShardCounts, ShardDone

_KEEP = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        help="Store each finished run in this folder. The same command with the same folder "
        "later runs only the missing runs. Repeat it for the folders of shards: their runs are "
        "copied to the first.",
        metavar="DIR",
        show_default=False,
    ),
]
_SHARD = Annotated[
    str | None,
    typer.Option(
        "--shard",
        help=f"Run only part I of N; {SLURM} takes both from the variables of a Slurm array. "
        "Afterwards, the command with the --keep folders of all shards shows the result.",
        metavar="I/N",
    ),
]


def with_shards(body: Callable[..., None], *, needs_folder: bool = False) -> Callable[..., None]:
    """Return a subcommand with `--shard` and several `--keep`; its function gets only `keep`.

    Args:
        body: the subcommand's function.
        needs_folder: whether the subcommand requires a folder without a shard, too.
    """

    @wraps(body)
    def verb(
        *positional: Any,
        keep: list[str] | None = None,
        shard: str | None = None,
        json: bool = False,
        **arguments: Any,
    ) -> None:
        folders = _folders(keep or [], shard, arguments)
        try:
            body(*positional, keep=folders, json=json, **arguments)
        except ShardDone as ended:
            _show(ended.counts, json=json)

    own = list(inspect.signature(body, eval_str=True).parameters.values())
    place = next(at for at, parameter in enumerate(own) if parameter.name == "keep")
    keyword = inspect.Parameter.KEYWORD_ONLY
    default = inspect.Parameter.empty if needs_folder else None
    own[place : place + 1] = [
        inspect.Parameter("keep", keyword, annotation=_KEEP, default=default),
        inspect.Parameter("shard", keyword, annotation=_SHARD, default=None),
    ]
    return described(verb, own, [])


def _folders(keep: list[str], text: str | None, arguments: dict[str, Any]) -> Folders | None:
    folders = Folders(keep[0], tuple(keep[1:])) if keep else None
    if text is None:
        return folders
    shard = Shard.of_slurm() if text == SLURM else Shard.parse(text)
    for name in ("plot", "csv"):
        if arguments.get(name):
            raise WriteampError(
                f"--{name} cannot be combined with --shard, because one shard has no result of "
                "its own; give it to the command without --shard when all shards are done"
            )
    if folders is None:
        raise WriteampError("--shard needs --keep DIR, the folder that stores the shard's runs")
    if text == SLURM:
        options.note(f"this task of the Slurm array runs shard {shard}")
    return replace(folders, shard=shard)


def _show(counts: ShardCounts, *, json: bool) -> None:
    """Print the outcome of a shard.

    Raises:
        PartlyDone: Ctrl-C ended the shard.
        Exit: some of its runs failed.
    """
    if counts.is_interrupted:
        raise boundary.PartlyDone(
            f"{counts.progress} are stored in {counts.out}; run the same command to continue"
        )
    for failure in counts.failures[: options.MOST_ERRORS]:
        options.warn(failure)
    if counts.failed_before:
        options.warn(
            f"{counts.failed_before} of the skipped runs failed in an earlier call; to run them "
            "again, use another folder, or --retry-failed of a sweep"
        )
    title = (
        f"Shard {counts.shard}: {counts.runs} of {plural(counts.runs_of_all, 'run')} "
        f"({counts.done} done, {counts.skipped} skipped, {counts.failed} failed)"
    )
    options.show(counts.to_dict, lambda: Card(title, []), json=json)
    if counts.failed or counts.failed_before:
        raise typer.Exit(boundary.SOME_FAILED)

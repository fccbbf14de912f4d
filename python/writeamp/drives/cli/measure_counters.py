"""`writeamp measure counters` and `diff`: WA by the counters of real drives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result, warn_of_doubts
from writeamp.drives.counters.settings import AnswerSettings


def counters(
    snapshots: Annotated[
        list[Path],
        typer.Argument(
            help="Files that nvme-cli or smartctl printed, or folders with the files of one drive "
            "at one moment, such as `measure save` and `serve --counters` write.",
            show_default=False,
            metavar="SNAP",
        ),
    ],
    asked: AnswerSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Tell the write amplification (WA) of a drive since it was new, by its counters.

    Example: writeamp measure counters smart.json
    """
    from writeamp.drives.counters.result import card_of_answers, frame_of_answers  # noqa: PLC0415
    from writeamp.drives.measure.by_counters import counters as counted  # noqa: PLC0415 (slow)

    with Bar("reading"):
        found = counted(snapshots, **vars(asked))

    for one in found:
        warn_of_doubts(one, one.name if len(found) > 1 else "")

    def document() -> dict[str, Any]:
        if len(found) == 1:
            return found[0].to_dict()
        return {"snapshots": [{"file": one.name, **one.to_dict()} for one in found]}

    if options.printed_json(document, json=json):
        return
    if csv:
        options.print_csv(frame_of_answers(found))
    else:
        options.print_card(found[0].card() if len(found) == 1 else card_of_answers(found))


def diff(
    before: Annotated[Path, typer.Argument(help="The earlier snapshot.", show_default=False)],
    after: Annotated[Path, typer.Argument(help="The later one.", show_default=False)],
    asked: AnswerSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compute the write amplification (WA) of one drive between two snapshots of its counters.

    `writeamp diff` compares two results of one verb instead.

    Example: writeamp measure diff monday.json friday.json
    """
    from writeamp.drives.measure.by_counters import diff as between  # noqa: PLC0415 (slow)

    found = between(before, after, **vars(asked))
    warn_of_doubts(found)
    print_result(found, json=json, csv=csv)

"""`writeamp measure counters` and `diff`: WA from the counters of real drives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result, print_warnings
from writeamp.drives.counters.settings import AnswerSettings


def counters(
    snapshots: Annotated[
        list[Path],
        typer.Argument(
            help="Output files of nvme-cli or smartctl, folders with the files of one drive at one "
            "time, as `measure save` and `serve --counters` write them, or drives to read now, "
            "such as /dev/nvme0. Each is evaluated separately.",
            show_default=False,
            metavar="SNAP",
        ),
    ],
    settings: AnswerSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compute the lifetime write amplification (WA) of a drive from its counters.

    Example: writeamp measure counters smart.json
    """
    from writeamp.drives.counters.result import card_of_answers, frame_of_answers  # noqa: PLC0415
    from writeamp.drives.measure.by_counters import counters as counted  # noqa: PLC0415 (slow)

    with Bar("reading"):
        answers = counted(snapshots, **vars(settings))

    for answer in answers:
        print_warnings(answer, answer.name if len(answers) > 1 else "")

    def document() -> dict[str, Any]:
        if len(answers) == 1:
            return answers[0].to_dict()
        return {"snapshots": [{"file": answer.name, **answer.to_dict()} for answer in answers]}

    options.show(
        document,
        lambda: answers[0].card() if len(answers) == 1 else card_of_answers(answers),
        frame=lambda: frame_of_answers(answers),
        json=json,
        csv=csv,
    )


def diff(
    earlier: Annotated[
        Path, typer.Argument(help="Earlier snapshot.", metavar="BEFORE", show_default=False)
    ],
    later: Annotated[
        Path, typer.Argument(help="Later snapshot.", metavar="AFTER", show_default=False)
    ],
    settings: AnswerSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compute the write amplification (WA) of a drive between two snapshots of its counters.

    To compare two results of writeamp, use `writeamp diff`.

    Example: writeamp measure diff monday.json friday.json
    """
    from writeamp.drives.measure.by_counters import diff as between  # noqa: PLC0415 (slow)

    interval = between(
        earlier,
        later,
        definition=settings.definition,
        model=settings.model,
        families=settings.families,
    )
    print_warnings(interval)
    print_result(interval, json=json, csv=csv)

"""`writeamp reproduce`: published values of a paper beside computed ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from writeamp.cli import boundary, options
from writeamp.cli.options import stderr, stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.cli.setting_options import with_settings
from writeamp.errors import Interrupted
from writeamp.results.card import Card
from writeamp.runners import Runner
from writeamp_papers import PAPERS, Findings, Item, Paper, Reproduction, Verdict
from writeamp_papers import reproduce as compute
from writeamp_papers.known import known_differences
from writeamp_papers.settings import ReproductionSettings

DIFFERS = 1
_STYLES: dict[Verdict, str] = {
    "match": "green",
    "match-if": "yellow",
    "erratum": "cyan",
    "differs": "bold red",
    "not-comparable": "dim",
    "fitted": "dim",
    "input": "dim",
    "checked": "green",
}


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("reproduce")(with_scheduler(with_settings(reproduce)))


def reproduce(
    *,
    paper: Annotated[
        str,
        typer.Argument(
            help="; ".join(f"{name}: {p.summary}" for name, p in PAPERS.items()) + ".",
            metavar="PAPER",
        ),
    ],
    plots: Annotated[
        Path | None,
        typer.Option(
            "--plots",
            help="Also compute the paper's figures, and save them as PNG files in this folder.",
            metavar="DIR",
        ),
    ] = None,
    settings: ReproductionSettings,
    runner: Runner | None,
    json: options.Json = False,
) -> None:
    """Compute and compare a paper's values; exit with status 1 on new or changed differences.

    Example: writeamp reproduce park2017 --plots build
    """
    started = time.perf_counter()
    with Bar(f"reproducing {paper}", _runs, has_slow_steps=True) as bar:
        try:
            reproduction = compute(
                paper,
                plots=plots,
                **vars(settings),
                step=bar.describe,
                progress=bar.update,
                runner=runner,
            )
        except Interrupted as stopped:
            reproduction = stopped.finished
            if not reproduction.items:
                raise
    options.show(
        reproduction.to_dict,
        lambda: _card(reproduction),
        json=json,
        print_tables=lambda _: _print(reproduction),
    )
    if not json:
        form = "" if reproduction.full else " (small drives, short runs; --full for larger ones)"
        seconds = time.perf_counter() - started
        stdout.print(f"{len(reproduction.items)} items in {seconds:.0f} s{form}", highlight=False)
        for sentence in reproduction.skipped:
            stderr.print(f"skipped: {sentence}", style="yellow", highlight=False)
        for sentence in reproduction.unexpected:
            stderr.print(f"unexpected: {sentence}", style="bold red", highlight=False)
    if reproduction.unfinished:
        raise boundary.PartlyDone(
            f"the {len(reproduction.items)} items above are complete; the other items were not "
            "computed because of the interruption"
        )
    if reproduction.unexpected:
        raise typer.Exit(DIFFERS)


def _runs(done: int, expected: int) -> str:
    return f"{done} of {expected} runs"


def _print(findings: Reproduction) -> None:
    paper = findings.paper
    card = _card(findings)
    verdicts = [Text(item.verdict, style=_STYLES[item.verdict]) for item in findings.items]
    rows: list[list[str | Text]] = [
        [*row[:-1], verdict] for row, verdict in zip(card.rows, verdicts, strict=True)
    ]
    stdout.print(options.table(card.title, card.columns, rows))
    pins = known_differences(paper.name, findings.form)
    for item in findings.items:
        if item.verdict not in ("match", "fitted", "input", "checked"):
            pin = pins.get(item.item)
            _print_note(item, pin.reason if pin else "")
    _print_counts(paper, findings)


def _card(findings: Reproduction) -> Card:
    rows = []
    for item in findings.items:
        sign = "< " if item.kind == "ordering" else "≤ " if item.bound else ""
        rows.append([item.item, sign + _shown(item.published), _shown(item.ours), item.verdict])
    return Card(findings.paper.citation, rows, ["item", ">published", ">computed", "verdict"])


def _print_note(item: Item, reason: str) -> None:
    verdict = Text(item.verdict, style=_STYLES[item.verdict])
    stdout.print(verdict.append(f": {item.item}", style="default"), highlight=False)
    explanation = "; ".join(
        sentence.rstrip(".") for sentence in (reason, item.full_note()) if sentence
    )
    stdout.print(f"    {explanation or 'no explanation is known'}", highlight=False)


def _print_counts(paper: Paper, findings: Findings) -> None:
    comparable = len(findings.comparable())
    matches = {reading.name: findings.matches(reading.name) for reading in paper.readings}
    default, best = paper.readings[0].name, max(matches, key=lambda name: matches[name])
    stdout.print(findings.count_text(), highlight=False)
    stdout.print(
        f"{matches[default]} of {comparable} comparable values match under the default reading "
        f'"{default}" (interpretation of the paper); most match under "{best}": {matches[best]}',
        highlight=False,
    )


def _shown(value: float) -> str:
    return f"{value:.6g}"

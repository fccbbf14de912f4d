"""`writeamp reproduce`: a paper's published values beside ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from writeamp.cli import boundary, options
from writeamp.cli.options import stderr, stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.cli.setting_options import with_settings
from writeamp.errors import Interrupted, WriteampError
from writeamp.plots import check_target, save
from writeamp.runners import Runner
from writeamp_papers import PAPERS, Bench, Findings, Item, Paper, Verdict, find_paper, surprises
from writeamp_papers.known import known_differences
from writeamp_papers.settings import ReproductionSettings

DIFFERS = 1
_PLOT_SUFFIX = ".png"
_STYLES: dict[Verdict, str] = {
    "match": "green",
    "match-if": "yellow",
    "erratum": "cyan",
    "differs": "bold red",
    "not-comparable": "dim",
    "input": "dim",
    "checked": "green",
}


def register(app: typer.Typer) -> None:
    """Add the verb."""
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
        typer.Option("--plots", help="Draw the paper's figures into this folder.", metavar="DIR"),
    ] = None,
    asked: ReproductionSettings,
    runner: Runner | None,
    json: options.Json = False,
) -> None:
    """Compute a paper's published values anew; the status is 1 if one differs unexplained.

    Example: writeamp reproduce park2017 --plots build
    """
    found_paper = find_paper(paper)
    full = asked.full
    _check_folders(found_paper, resume=asked.resume, traces=asked.traces)
    if plots is not None:
        _prepare(plots)
    started = time.perf_counter()
    with Bar(f"reproducing {found_paper.name}") as bar:
        bench = Bench(
            **vars(asked),
            figures=plots is not None,
            step=bar.describe,
            runner=runner,
        )
        try:
            findings = found_paper.run(bench)
        except Interrupted as stopped:
            findings = stopped.finished
            if not findings.items:
                raise
        if plots is not None and not findings.unfinished:
            for name, spec in findings.figures.items():
                bar.describe(f"drawing {name}")
                save(spec, plots / f"{name}{_PLOT_SUFFIX}")
    whole = not findings.unfinished and not findings.skipped
    unexpected = surprises(found_paper.name, findings.items, full=full, whole=whole)
    mark = {"interrupted": True} if findings.unfinished else {}
    document = document_of(found_paper, findings, unexpected) | mark
    if not options.printed_json(lambda: document, json=json):
        _print(found_paper, findings, full=full)
        stdout.print(
            f"{len(findings.items)} items in {time.perf_counter() - started:.0f} s", highlight=False
        )
        if not full:
            stdout.print("drives and runs are short; --full has the paper's", highlight=False)
        for sentence in findings.skipped:
            stderr.print(f"left out: {sentence}", style="yellow", highlight=False)
        for sentence in unexpected:
            stderr.print(f"unexpected: {sentence}", style="bold red", highlight=False)
    if findings.unfinished:
        raise boundary.PartlyDone(
            f"the {len(findings.items)} items above were finished, others were not; no picture was "
            "drawn"
        )
    if unexpected:
        raise typer.Exit(DIFFERS)


def document_of(paper: Paper, findings: Findings, unexpected: list[str]) -> dict[str, Any]:
    """Return what `--json` prints of a paper."""
    comparable = len(findings.comparable())
    readings = [
        {
            "name": reading.name,
            "choices": dict(reading.choices),
            "default": reading is paper.readings[0],
            "matches": findings.matches(reading.name),
            "comparable": comparable,
        }
        for reading in paper.readings
    ]
    items = [item.to_dict() for item in findings.items]
    return {
        "paper": paper.name,
        "readings": readings,
        "items": items,
        "unexpected": unexpected,
        "skipped": findings.skipped,
    }


def _check_folders(paper: Paper, **folders: Path | None) -> None:
    """Refuse folders that a paper has no use for, or that cannot be used."""
    for name, folder in folders.items():
        if folder is not None and name not in paper.options:
            users = ", ".join(one.name for one in PAPERS.values() if name in one.options)
            raise WriteampError(f"{paper.name} takes no --{name}; valid with {users}")
    resume, traces = folders["resume"], folders["traces"]
    if resume is not None:
        _make(resume)
    if traces is not None and not traces.is_dir():
        raise WriteampError(f"there is no folder {str(traces)!r} of traces")


def _prepare(folder: Path) -> None:
    _make(folder)
    check_target(folder / f"figure{_PLOT_SUFFIX}")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteampError(f"cannot make folder {str(folder)!r}: {error.strerror}") from None


def _print(paper: Paper, findings: Findings, *, full: bool) -> None:
    made = Table(title=paper.citation, title_justify="left", title_style="bold")
    made.add_column("item", overflow="fold")
    made.add_column("published", justify="right", no_wrap=True)
    made.add_column("ours", justify="right", no_wrap=True)
    made.add_column("verdict", no_wrap=True)
    for item in findings.items:
        verdict = Text(item.verdict, style=_STYLES[item.verdict])
        sign = "< " if item.kind == "ordering" else "≤ " if item.bound else ""
        made.add_row(item.item, sign + _shown(item.published), _shown(item.ours), verdict)
    stdout.print(made)
    pins = known_differences(paper.name, full=full)
    for item in findings.items:
        if item.verdict not in ("match", "input", "checked"):
            pin = pins.get(item.item)
            _print_note(item, pin.reason if pin else "")
    _print_counts(paper, findings)


def _print_note(item: Item, reason: str) -> None:
    verdict = Text(item.verdict, style=_STYLES[item.verdict])
    stdout.print(verdict.append(f": {item.item}", style="default"), highlight=False)
    said = "; ".join(one.rstrip(".") for one in (reason, item.full_note()) if one)
    stdout.print(f"    {said or 'no explanation is known'}", highlight=False)


def _print_counts(paper: Paper, findings: Findings) -> None:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in findings.count().items() if count)
    comparable = len(findings.comparable())
    matches = {reading.name: findings.matches(reading.name) for reading in paper.readings}
    default, best = paper.readings[0].name, max(matches, key=lambda name: matches[name])
    stdout.print(counts, highlight=False)
    stdout.print(
        f"{matches[default]} of {comparable} comparable values match under the default reading "
        f'"{default}"; best joint reading "{best}": {matches[best]}',
        highlight=False,
    )


def _shown(value: float) -> str:
    return f"{value:.6g}"

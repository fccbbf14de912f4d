"""Write the man pages of all commands to a folder, from the commands' own help.

`make man` writes them to build/man. `make wheel` writes them to packaging/data/share/man, since pip
installs the files of packaging/data in the environment.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from typer import Context
from typer.core import TyperArgument
from typer.main import get_command

from writeamp._engine import __version__
from writeamp.cli.root import app
from writeamp.cli.verbs import load, verbs
from writeamp.extensions import extensions

EXAMPLE = re.compile(r"^Example: (.*)", re.MULTILINE)
# Exit statuses of all commands, for the page of the program.
STATUSES = {
    "0": "Success; also Ctrl-C in `top`, and a signal to `serve` without --run.",
    "1": "Some runs of a sweep, a fleet, a shard or a collection failed; the command of `serve` or "
    "`trace record` failed; `reproduce` found differences, or `doctor --fail-on` mistakes; or the "
    "program that reads the output has ended.",
    "2": "An argument or input is invalid, a run failed, or a file, a drive or the memory cannot "
    "be used. One sentence on stderr states why.",
    "3": "A limit or budget of writes is exceeded, or `trace record` lost too many events.",
    "70": "A fault of writeamp. The sentence on stderr states how to report it.",
    "129, 130, 143": "A signal ended the command: SIGHUP, SIGINT (Ctrl-C) or SIGTERM. Finished "
    "results are printed.",
    "other": "`measure run` has the status of the command that it ran.",
}


def commands() -> Iterator[tuple[Context, Any]]:
    """Yield the program and each of its commands and groups, without those of other packages."""
    root = get_command(app)
    top = Context(root, info_name="writeamp")
    yield top, root
    entries = extensions("writeamp.verbs")
    for name in verbs():
        if name not in entries or entries[name].is_ours:
            yield from _with_parts(Context(load(name), info_name=name, parent=top))


def _with_parts(context: Context) -> Iterator[tuple[Context, Any]]:
    yield context, context.command
    for name, inner in getattr(context.command, "commands", {}).items():
        yield from _with_parts(Context(inner, info_name=name, parent=context))


def page(context: Context, command: Any) -> str:
    """Return the man page of a command."""
    name = context.command_path.replace(" ", "-")
    paragraphs = [text for text in (command.help or "").split("\n\n") if text]
    summary = paragraphs[0].rstrip(".")
    parts = getattr(command, "commands", {})
    lines = [
        f'.TH {name.upper()} 1 "" "writeamp {__version__}" "writeamp"',
        ".SH NAME",
        rf"{roff(name)} \- {roff(summary)}",
        ".SH SYNOPSIS",
        rf".B {roff(context.command_path)}",
        roff(" ".join(command.collect_usage_pieces(context))),
    ]
    more = [text for text in paragraphs[1:] if not EXAMPLE.match(text)]
    lines += [".SH DESCRIPTION", *_paragraphs(more or paragraphs[:1])]
    if parts:
        lines.append(".SH COMMANDS")
        for word, inner in parts.items():
            lines += _item(rf"\fB{roff(f'{name}-{word}')}\fR(1)", _summary(inner))
    lines += _options(command.get_params(context))
    if context.parent is None:
        lines.append(".SH EXIT STATUS")
        for status, meaning in STATUSES.items():
            lines += _item(status, meaning)
    examples = EXAMPLE.findall(command.help or "")
    if parts and not examples:
        examples = [line for inner in parts.values() for line in EXAMPLE.findall(inner.help)[:1]]
    lines += [".SH EXAMPLES"]
    for example in examples:
        lines += [".nf", rf"\fB{roff(example)}\fR", ".fi", ".PP"]
    lines.pop()
    lines += [".SH SEE ALSO", *_see_also(context)]
    return "\n".join(lines) + "\n"


def _summary(command: Any) -> str:
    return str(command.help).split("\n\n", maxsplit=1)[0]


def _options(parameters: Iterable[Any]) -> list[str]:
    """Return the arguments and options, those of a panel of the help under its title."""
    panels: dict[str, list[Any]] = defaultdict(list)
    for parameter in parameters:
        if not getattr(parameter, "hidden", False):
            panels[getattr(parameter, "rich_help_panel", None) or ""].append(parameter)
    lines = [".SH OPTIONS"]
    for panel in sorted(panels, key=bool):
        lines += [f".SS {roff(panel)}"] if panel else []
        for parameter in panels[panel]:
            lines += _item(_names(parameter), getattr(parameter, "help", None) or "")
    return lines


def _names(parameter: Any) -> str:
    if isinstance(parameter, TyperArgument):
        return rf"\fI{roff(parameter.metavar or parameter.name.upper())}\fR"
    names = [rf"\fB{roff(flag)}\fR" for flag in (*parameter.opts, *parameter.secondary_opts)]
    value = parameter.metavar or ("" if parameter.is_flag or parameter.count else "TEXT")
    return " ".join(filter(None, (", ".join(names), value and rf"\fI{roff(value)}\fR")))


def _see_also(context: Context) -> list[str]:
    if context.parent is None:
        return [r"\fBwriteamp \fICOMMAND\fB \-\-help\fR"]
    return [rf"\fB{roff(context.parent.command_path.replace(' ', '-'))}\fR(1)"]


def _paragraphs(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in (roff(text), ".PP")][:-1]


def _item(head: str, text: str) -> list[str]:
    return [".TP", head, roff(text) or r"\&"]


def roff(text: str) -> str:
    """Return text for troff, in one line; help escapes brackets, which Rich would interpret."""
    text = " ".join(text.replace("\\[", "[").split())
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return rf"\&{text}" if text.startswith(".") else text


def write_pages(folder: Path) -> None:
    """Write the man pages to a folder, in place of older ones."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for context, command in commands():
        name = context.command_path.replace(" ", "-")
        (folder / f"{name}.1").write_text(page(context, command), "utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))

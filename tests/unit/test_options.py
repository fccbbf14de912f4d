"""Options of every verb, held to the settings that they are made from."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import Field, fields
from typing import Any

import pytest
import typer
from typer.core import TyperGroup, TyperOption

import in_process
import writeamp as wa
from writeamp.cli.application import App
from writeamp.cli.setting_options import declared, with_settings
from writeamp.cli.verbs import load, verbs
from writeamp.drives.pins.settings import PinSettings
from writeamp.fields.setting import Settings, flag_of, words_of
from writeamp.learn.blackbox.settings import BoundSettings, TrainingSettings
from writeamp.recorder.settings import RecordSettings
from writeamp.theory.settings import PredictionSettings
from writeamp.units.durations import DurationIn

# Options that say what becomes of a result or of work that is done, and decide no number of it.
OF_OUTPUT = {
    "cite", "csv", "curve", "force", "help", "json", "keep", "once", "out", "plot", "plot_erases",
    "plots", "report", "retry_failed", "save_config", "series", "shard", "verbose",
}  # fmt: skip
# What typer is told of an option of each reading.
TYPES: dict[str, Any] = {
    "count": int,
    "number": float,
    "ratio": float,
    "bytes": str,
    "path": str,
    "paths": list[str],
    "text": str,
    "texts": list[str],
    "pair": tuple[str, str],
    "flag": bool,
    "switch": bool,
}


def commands(name: str) -> Iterator[tuple[str, Any]]:
    """Yield a verb, or those of its group, with their full names."""
    command = load(name)
    if isinstance(command, TyperGroup):
        for part, one in command.commands.items():
            yield f"{name} {part}", one
    else:
        yield name, command


COMMANDS = dict(one for name in verbs() for one in commands(name))


def undeclared(command: Any) -> set[str]:
    """Return the options of a command that no setting stands behind."""
    named = {one.name for one in command.params if isinstance(one, TyperOption)}
    return named - OF_OUTPUT - set(declared(command.callback))


def stated_default(field: Field[Any]) -> str:
    """Return what the help says of a default."""
    if field.default is None or words_of(field).number == "switch":
        return ""
    shown: Any = field.default
    if words_of(field).number == "flag":
        shown = "yes" if shown else "no"
    # Durations are said with a unit.
    return f"(default {'' if isinstance(field.metadata['domain'], DurationIn) else shown}"


def option_faults(command: Any) -> list[str]:
    """Return what is otherwise in a command's options than in their declarations."""
    options = {one.name: one for one in command.params if isinstance(one, TyperOption)}
    faults = []
    for name, field in declared(command.callback).items():
        words = words_of(field)
        if words.flag is None:
            continue
        option = options[name]
        said = option.help or ""
        checks = {
            "flag": option.opts == [flag_of(field).split("/")[0], *filter(None, [words.alias])],
            "default": option.default is None,
            "stated default": stated_default(field) in said,
            "help": words.help[1:] in said,
            "type": option.type_descriptor.annotation == TYPES[words.number],
            "opposite": bool(option.secondary_opts) == (words.number == "flag"),
        }
        faults += [f"{name}: {what}" for what, holds in checks.items() if not holds]
    return faults


@pytest.mark.parametrize("name", COMMANDS)
def test_every_input_option_is_made_from_a_setting(name: str) -> None:
    assert undeclared(COMMANDS[name]) == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_says_what_its_setting_says(name: str) -> None:
    assert option_faults(COMMANDS[name]) == []


def test_an_option_that_a_verb_declares_by_hand_is_found() -> None:
    def verb(asked: PinSettings, *, seed: int = typer.Option(1, "--seed")) -> None:
        """Do nothing."""

    app = App(add_completion=False)
    app.command("verb")(with_settings(verb))
    made = typer.main.get_command(app)
    assert undeclared(made) == {"seed"}
    method = next(one for one in made.params if one.name == "method")
    method.help = method.default = "fixed"
    assert option_faults(made) == ["method: default", "method: stated default", "method: help"]


# Verbs whose `--keep` is the folder of finished runs, or of the snapshots of one.
KEEPING = {
    "compare", "endurance", "measure run", "simulate", "sweep run", "volumes need", "volumes run",
}  # fmt: skip


def folder_faults(name: str, command: Any) -> list[str]:
    """Return the options of a verb that write a file or a folder by another name than all do."""
    folders = {
        option.opts[0]
        for option in command.params
        if isinstance(option, TyperOption) and option.metavar in ("DIR", "FOLDER")
    }
    # The folder that `split` writes is its product, and no store of runs.
    faults = ["--out is a folder"] if "--out" in folders and name != "volumes split" else []
    return faults + (["--keep is no folder"] if name in KEEPING and "--keep" not in folders else [])


@pytest.mark.parametrize("name", COMMANDS)
def test_out_is_a_file_and_keep_a_folder_of_runs(name: str) -> None:
    assert folder_faults(name, COMMANDS[name]) == []
    assert (name in KEEPING) == any("--keep" in one.opts for one in COMMANDS[name].params)


def test_a_folder_by_another_name_is_found() -> None:
    def verb(out: str = typer.Option("", "--out", metavar="DIR")) -> None:
        """Do nothing."""

    app = App(add_completion=False)
    app.command("verb")(verb)
    made = typer.main.get_command(app)
    assert folder_faults("verb", made) == ["--out is a folder"]
    assert folder_faults("compare", made) == ["--out is a folder", "--keep is no folder"]


# Verbs that take the folders of several shards.
SHARDED = {"compare", "sweep run", "volumes run"}


@pytest.mark.parametrize("name", sorted(KEEPING - SHARDED))
def test_the_older_name_of_keep_is_the_same_option(name: str) -> None:
    sentence = f"--keep (or --out, its older name) is given twice; {name} takes it once"
    refused = in_process.run(name, "--out a --keep b")
    assert (refused.status, refused.out, refused.err) == (2, "", f"writeamp: {sentence}\n")
    assert "--out" not in in_process.run(name, "--help").out


# Verbs and options that are named alike, and how the help of one points to the other.
ALIKE = [
    ("diff", "`writeamp measure diff`"),
    ("measure diff", "`writeamp diff`"),
    ("report", "with --report"),
    ("simulate", "`writeamp report` reads it"),
    ("volumes", "`writeamp measure fleet`"),
    ("measure fleet", "`writeamp volumes`"),
]


@pytest.mark.parametrize(("name", "other"), ALIKE)
def test_help_tells_what_is_named_alike_apart(name: str, other: str) -> None:
    words = re.sub(r"[\s│]+", " ", in_process.run(name, "--help").out)
    assert other.replace("`", "") in words.replace("`", "")


@pytest.mark.parametrize("name", ["simulate", "compare", "explore", "serve", "volumes run"])
def test_specs_in_the_help_are_copied_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = in_process.run(name, "--help").out.splitlines()
    specs = {
        spec
        for option in COMMANDS[name].params
        for text in re.findall("for example ([^;]+)", getattr(option, "help", None) or "")
        for spec in re.split(r", | \(default|\.$", text)[:-1]
    }
    assert {"d-choices:d=10", "hcwf-swap:d_swap=100"} & specs
    assert [spec for spec in specs if not any(spec in line for line in lines)] == []


# Functions of the library, and the settings that are their arguments.
TAKERS: list[tuple[Callable[..., Any], type[Settings]]] = [
    (wa.predict, PredictionSettings),
    (wa.record, RecordSettings),
    (wa.measure.ready_busy, PinSettings),
    (wa.blackbox.train, TrainingSettings),
    (wa.blackbox.choose, BoundSettings),
]


@pytest.mark.parametrize(("function", "kind"), TAKERS, ids=lambda one: one.__name__)
def test_the_library_has_the_defaults_of_its_settings(
    function: Callable[..., Any], kind: type[Settings]
) -> None:
    arguments = inspect.signature(function).parameters
    shared = [one for one in fields(kind) if one.name in arguments]  # type: ignore[arg-type]
    assert shared
    for one in shared:
        assert arguments[one.name].default in (one.default, inspect.Parameter.empty), one.name

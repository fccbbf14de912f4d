"""The options of the verbs that do an experiment, made from its settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from writeamp import output
from writeamp.cli.options import CAPACITY, completer, count, policy_completer, ratio
from writeamp.devices.profile import profile_names
from writeamp.domains import WholeOr
from writeamp.registry.entries import EngineKind, engine_entries
from writeamp.settings.experiment import Experiment, setting_places
from writeamp.settings.setting import (
    Places,
    Settings,
    Words,
    made_settings,
    places_in,
    words_of,
)

# Gives the examples of one kind.
Examples: TypeAlias = Callable[[EngineKind], tuple[str, ...]]

_TIMED = "Virtual time (runs that have a latency)"
_PANELS = {
    "capacity": CAPACITY,
    "trace": "Trace",
    "run": "Run",
    "timed": _TIMED,
    "virtual": "Virtual drive",
    "counted": "What is counted and written down",
    "": None,
}

_File = Annotated[
    Path | None,
    typer.Argument(
        help="A file with an experiment; options change what it says.",
        metavar="EXPERIMENT.toml",
        show_default=False,
    ),
]
_SaveConfig = Annotated[
    Path | None,
    typer.Option(
        "--save-config", help="Write the complete experiment to a .toml file.", metavar="FILE"
    ),
]


def register_settings(
    app: typer.Typer,
    kinds: Sequence[type[Settings]],
    body: Callable[..., None],
    examples: Examples | None = None,
) -> None:
    """Add the verb that `body` is called, with an option for each setting of some groups.

    Args:
        app: the command line.
        kinds: the groups.
        body: takes the groups in this order, and by keyword the options of its own.
        examples: what the help offers of each kind that the engine has, if the verb does not take
            all of them.
    """
    verb = body.__name__
    places = places_in(kinds, verb)
    settings = _setting_parameters(places, examples)
    own = list(inspect.signature(body, eval_str=True).parameters.values())[len(kinds) :]

    def command(**given: Any) -> None:
        asked = _asked({one.name: given.pop(one.name) for one in settings})
        body(*made_settings(verb, kinds, places, asked), **given)

    _add(app, body, command, [*settings, *own])


def register_experiment(app: typer.Typer, body: Callable[..., None]) -> None:
    """Add the verb that `body` is called.

    Args:
        app: the command line.
        body: takes the experiment, and by keyword the options of its own.
    """
    verb = body.__name__
    settings = _setting_parameters(setting_places(verb))
    own = list(inspect.signature(body, eval_str=True).parameters.values())[1:]

    def command(experiment: Path | None, save_config: Path | None, **given: Any) -> None:
        changes = {one.name: given.pop(one.name) for one in settings}
        found = _experiment(verb, experiment, changes)
        _check_outputs(found, experiment, save_config, given)
        if save_config is not None:
            found.to_toml(save_config)
        body(found, **given)

    parameters = [
        _parameter("experiment", _File),
        *settings,
        *own,
        _parameter("save_config", _SaveConfig),
    ]
    _add(app, body, command, parameters)


def _add(
    app: typer.Typer,
    body: Callable[..., None],
    command: Callable[..., None],
    parameters: list[inspect.Parameter],
) -> None:
    """Add a command with these parameters, called and described as its body is."""
    command.__doc__ = body.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    app.command(body.__name__)(command)


def _experiment(verb: str, file: Path | None, options: dict[str, Any]) -> Experiment:
    """Return the file's experiment as the options that are given change it."""
    given = _asked(options)
    if file is None:
        return Experiment.of(verb, **given)
    return Experiment.from_toml(file, verb=verb, to_run=True).with_settings(**given)


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are given."""
    # An option that may be given several times and was not is an empty list.
    return {name: value for name, value in options.items() if value not in (None, [])}


def _check_outputs(
    found: Experiment, file: Path | None, save_config: Path | None, given: dict[str, Any]
) -> None:
    """Refuse an output that is an input or another output; what a verb takes as paths is drawn."""
    inputs = [*found.input_files, *([] if file is None else [str(file)])]
    outputs = {"plot": [path for path in given.values() if isinstance(path, Path)]}
    outputs["capture"] = list(map(Path, found.output_files))
    outputs["experiment"] = [] if save_config is None else [save_config]
    for what, paths in outputs.items():
        for path in paths:
            output.check_target(path, what, inputs=inputs)
    output.check_distinct(path for paths in outputs.values() for path in paths)


def _all_examples(kind: EngineKind) -> tuple[str, ...]:
    return tuple(entry.example for entry in engine_entries(kind))


def _setting_parameters(
    places: Places, examples: Examples | None = None
) -> list[inspect.Parameter]:
    """Return an option for each setting; none that is not given has a value."""
    found = []
    for name, (kind, field_name) in places.items():
        one = next(one for one in fields(kind) if one.name == field_name)  # type: ignore[arg-type]
        words = words_of(one)
        if words.flag is not None:
            annotation = _annotation(name, words, one.default, one.metadata["domain"], examples)
            found.append(_parameter(name, annotation))
    return found


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _annotation(
    name: str, words: Words, default: Any, domain: Any, examples: Examples | None
) -> Any:
    flag = words.flag or f"--{name.replace('_', '-')}"
    value_type: Any = {
        "count": int,
        "ratio": float,
        "bytes": str,
        "path": Path,
        "paths": list[Path],
        "flag": bool,
        "text": str,
        "texts": list[str],
    }[words.number]
    more: dict[str, Any] = {}
    if words.number == "count":
        more |= {"parser": count, "metavar": "N"}
    elif words.number == "ratio":
        more |= {"parser": ratio, "metavar": "RATIO"}
    elif words.number == "bytes":
        more["metavar"] = "SIZE"
    elif words.number == "flag":
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    elif isinstance(domain, WholeOr):
        more["parser"] = _count_or(domain.word)
    completions, completes = words.choices, completer
    help_text = f"{words.help[0].upper()}{words.help[1:]}"
    if words.kind is not None:
        completions = (examples or _all_examples)(words.kind)
        completes = partial(policy_completer, words.kind) if examples is None else completer
        help_text += f", for example {', '.join(completions)}"
        more["metavar"] = "SPEC"
    elif name == "device":
        completions = profile_names()
    if default is not None:
        help_text += f" (default {_shown(default, words)})"
    if words.metavar is not None:
        more["metavar"] = words.metavar
    if completions:
        more["autocompletion"] = completes(completions)
    option = typer.Option(
        flag,
        help=f"{help_text}.",
        rich_help_panel=_PANELS[words.panel],
        show_default=False,
        **more,
    )
    return Annotated[value_type | None, option]


def _shown(default: Any, words: Words) -> str:
    if words.number == "flag":
        return "yes" if default else "no"
    return str(default)


def _count_or(word: str) -> Callable[[str], int | str]:
    def parse(text: str) -> int | str:
        if text == word:
            return text
        try:
            return count(text)
        except typer.BadParameter:
            raise typer.BadParameter(f"{text!r} is neither {word} nor a whole number") from None

    return parse

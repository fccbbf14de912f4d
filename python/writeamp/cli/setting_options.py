"""Command-line options made from the fields of settings: name, default, help and parser."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import Field, fields
from functools import partial, wraps
from typing import Annotated, Any, NamedTuple, TypeAlias, cast, get_args, get_origin

import typer

from writeamp.cli.options import CAPACITY, completer, count, file, number, policy_completer, ratio
from writeamp.errors import WriteampError
from writeamp.fields.domains import WholeOr
from writeamp.fields.setting import (
    Places,
    Settings,
    Words,
    flag_of,
    made_settings,
    places_in,
    words_of,
)
from writeamp.registry.entries import EngineKind, engine_entries

# Function that returns example specs for a kind of settings.
Examples: TypeAlias = Callable[[EngineKind], tuple[str, ...]]

_PANELS = {
    "": None,
    "capacity": CAPACITY,
    "small drive": "Drive",
    "space": "Drive (give one of op, fill and spare factor, or --target-wa)",
    "doctor": "Simulated drive (by default 256 logical blocks of 64 pages, op 0.15)",
    "trace": "Trace",
    "run": "Run",
    "timed": "Virtual time (timed runs, which have latencies)",
    "answer": "Rows of the table",
    "blame": "Division of the requests",
    "virtual": "Virtual drive",
    "counted": "Counters and recording",
    "budgets": "Budgets of writes (exit status 3 if one is broken)",
    "op": "Search for or sweep over-provisioning (at constant logical size)",
    "partly full": "Partly full drive",
    "models": "Models",
    "groups": "Groups of pages (one size and one frequency each)",
    "coldest": "Coldest group",
    "spare space": "Drive (give one ratio of spare space)",
    "hot and cold": "Drive (give one ratio of spare space) and data",
    "pins": "Measured drive (--device; the other options override its profile)",
    "runner": "Runner",
    "results": "Selection of results",
    "axes": "Lines and heat maps",
    "other views": "Trade-offs and sensitivity",
    "simulated": "Simulated targets",
    "real": "Real targets",
    "fleet": "Fleet (its size, and distributions over its volumes)",
    "which volumes": "Selection of volumes",
    "drive use": "State of the drive (for the feature set modern)",
    "bounds": "Bounds",
}
_TYPES: dict[str, Any] = {
    "count": int,
    "number": float,
    "ratio": float,
    "bytes": str,
    "path": str,
    "paths": list[str],
    "flag": bool,
    "switch": bool,
    "text": str,
    "texts": list[str],
    "pair": tuple[str, str],
}
_READINGS: dict[str, dict[str, Any]] = {
    "count": {"parser": count, "metavar": "N"},
    "number": {"parser": number, "metavar": "NUMBER"},
    "ratio": {"parser": ratio, "metavar": "RATIO"},
    "bytes": {"metavar": "SIZE"},
    "path": {"parser": file, "metavar": "FILE"},
    "paths": {"parser": file, "metavar": "FILE"},
    "texts": {"metavar": "TEXT"},
}
# Longest spec that the help names: at 80 columns it is printed on one line, so it can be copied.
_LONGEST_EXAMPLE = 21
_DECLARED = "__declared__"
# A name with an underscore that is neither quoted nor a part of a longer name.
_IS_NO_WORD = re.compile(r"""(?<![\w.:'"-])[a-z]+(?:_[a-z]+)+(?![\w.:=])""")
_LIST_OF_SETTINGS = re.compile(
    r"(?<=\bone of )[a-z_]+(?:, [a-z_ -]+)+$|(?<=\bgive either )[a-z]+|(?<= or )[a-z]+$"
)
# A name in an error that is a setting and no ordinary word, unless the setting is not given.
_NAMES_A_SETTING = re.compile(
    r"""^\w+(?=\ )
    | (?<=\ and\ )\w+(?=\ (?:exclude|each\ set)\b)
    | """
    + _IS_NO_WORD.pattern,
    re.VERBOSE,
)


class _Taken(NamedTuple):
    """Settings that one parameter of a subcommand takes: their groups, and where each field is.

    `is_made` is True if the parameter gets a checked group, and False if it gets a dictionary.
    """

    kinds: tuple[type[Settings], ...]
    places: Places
    is_made: bool


def with_settings(
    body: Callable[..., None], examples: Examples | None = None
) -> Callable[..., None]:
    """Return a subcommand with command-line options instead of parameters that are settings.

    If a parameter of `body` is annotated with a group of settings, it gets the checked group. If it
    is annotated `Annotated[dict[str, Any], Group, …]`, it gets a dictionary of the given values;
    the library adds defaults.

    Args:
        body: function that runs the subcommand and has its name. Settings that are not for this
            subcommand are left out.
        examples: returns, for a kind such as "workloads", the specs that the help names as
            examples. By default it names an example of every entry, so a subcommand that accepts
            only some entries needs this function.
    """
    verb = body.__name__
    parameters: list[inspect.Parameter] = []
    taken: dict[str, _Taken] = {}
    for parameter in inspect.signature(body, eval_str=True).parameters.values():
        kinds = _kinds_in(parameter.annotation)
        if kinds:
            places = places_in(kinds, verb)
            parameters += setting_parameters(places, examples, is_whole=True)
            taken[parameter.name] = _Taken(kinds, places, get_origin(parameter.annotation) is None)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(body)
    def command(*positional: Any, **arguments: Any) -> None:
        with ExitStack() as names:
            for name, groups in taken.items():
                values = given_values({each: arguments.pop(each, None) for each in groups.places})
                names.enter_context(naming_options(groups.places, values))
                if groups.is_made:
                    [arguments[name]] = made_settings(verb, groups.kinds, groups.places, values)
                else:
                    arguments[name] = values
            body(*positional, **arguments)

    return described(command, parameters, [groups.places for groups in taken.values()])


def _kinds_in(annotation: Any) -> tuple[type[Settings], ...]:
    """Return the groups of settings that an annotation contains."""
    kinds = [annotation]
    if get_origin(annotation) is Annotated:
        kinds = list(get_args(annotation)[1:])
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Settings))


def described(
    command: Callable[..., None], parameters: list[inspect.Parameter], places: Iterable[Places]
) -> Callable[..., None]:
    """Return a command with these parameters; store the settings' fields in the command."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    settings = dict(declared(command))
    for each in places:
        settings |= {name: _field(*place) for name, place in each.items()}
    setattr(command, _DECLARED, settings)
    return command


@contextmanager
def naming_options(places: Places, values: Mapping[str, Any]) -> Iterator[None]:
    """In an error, replace the names of given settings by their options.

    A setting with an underscore in its name, such as `target_wa`, is replaced anywhere. Others may
    be ordinary words, so they are replaced only where an error names settings: at its beginning,
    after "and" in front of what both do, and in a list of settings of which one must be given.
    """
    try:
        yield
    except WriteampError as error:
        error.args = (_naming_options(str(error), places, values),)
        raise


def _naming_options(sentence: str, places: Places, values: Mapping[str, Any]) -> str:
    def option(name: str) -> str:
        return flag_of(_field(*places[name])) if name in places else name

    def of_given(match: re.Match[str]) -> str:
        return option(match[0]) if values.get(match[0]) is not None else match[0]

    named = re.sub(_NAMES_A_SETTING, of_given, sentence)
    if named != sentence:  # otherwise the settings may be those of a file
        named = re.sub(_IS_NO_WORD, lambda match: option(match[0]), named)
    return re.sub(
        _LIST_OF_SETTINGS,
        lambda names: re.sub(r"(?<!-)\b\w+\b(?!-)", lambda name: option(name[0]), names[0]),
        named,
    )


def declared(command: Callable[..., None]) -> dict[str, Field[Any]]:
    """Return the settings field of each option of a command, by name of the parameter."""
    settings: dict[str, Field[Any]] = getattr(command, _DECLARED, {})
    return settings


def given_values(options: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the options that the user gave."""
    # If an option that accepts several values is not given, its value is an empty list.
    return {name: value for name, value in options.items() if value not in (None, [])}


def setting_parameters(
    places: Places, examples: Examples | None = None, *, is_whole: bool = False
) -> list[inspect.Parameter]:
    """Return an option for each setting, with None as default.

    Args:
        places: group and field of each setting.
        examples: see `with_settings`.
        is_whole: whether the options are the only source of the settings, so that required settings
            need their option.
    """
    parameters = []
    for name, place in places.items():
        field = _field(*place)
        if words_of(field).flag is not None:
            is_required = is_whole and words_of(field).required
            parameters.append(_parameter(name, field, examples, is_required=is_required))
    return parameters


def _field(kind: type[Settings], name: str) -> Field[Any]:
    return next(field for field in fields(kind) if field.name == name)  # type: ignore[arg-type]


def _all_examples(kind: EngineKind) -> tuple[str, ...]:
    return tuple(entry.example for entry in engine_entries(kind))


def _parameter(
    name: str, field: Field[Any], examples: Examples | None, *, is_required: bool
) -> inspect.Parameter:
    words = words_of(field)
    flag = flag_of(field)
    more = dict(_READINGS.get(words.number, {}))
    if words.number == "flag" and "/" not in flag:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    elif isinstance(field.metadata["domain"], WholeOr):
        more["parser"] = _count_or(field.metadata["domain"].word)
    completions, completes = words.choices, completer
    help_text = _capitalized(words)
    if words.kind is not None:
        kind = cast(EngineKind, words.kind)
        completions = (examples or _all_examples)(kind)
        completes = partial(policy_completer, kind) if examples is None else completer
        short = [spec for spec in completions if len(spec) <= _LONGEST_EXAMPLE]
        help_text += f", for example {', '.join(short)}"
        if len(short) < len(completions):
            help_text += f"; all: `writeamp list {kind}`"
        more["metavar"] = "SPEC"
    if field.default is not None and words.number != "switch":
        help_text += f" (default {_shown(field)})"
    if words.metavar is not None:
        more["metavar"] = words.metavar
    if completions:
        more["autocompletion"] = completes(completions)
    option = typer.Option(
        *filter(None, (flag, words.alias)),
        help=help_text if help_text.endswith("…") else f"{help_text}.",
        rich_help_panel=_PANELS[words.panel],
        show_default=False,
        **more,
    )
    value_type = _TYPES[words.number]
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if is_required else None,
        annotation=Annotated[value_type if is_required else value_type | None, option],
    )


def _capitalized(words: Words) -> str:
    """Return the help with a capital first letter, unless it begins with `name:` or a choice."""
    first = words.help.split()[0]
    if first.endswith(":") or first.rstrip(",") in words.choices:
        return words.help
    return f"{words.help[0].upper()}{words.help[1:]}"


def _shown(field: Field[Any]) -> str:
    """Return the default of a setting as the user would write it."""
    default: Any = field.default
    if words_of(field).number == "flag":
        return "yes" if default else "no"
    shown: Callable[[Any], str] = getattr(field.metadata["domain"], "shown", str)
    return shown(default)


def _count_or(word: str) -> Callable[[str], int | str]:
    def parse(text: str) -> int | str:
        if text == word:
            return text
        try:
            return count(text)
        except typer.BadParameter:
            raise typer.BadParameter(f"{text!r} must be {word} or a whole number") from None

    return parse

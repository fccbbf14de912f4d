"""Options made from settings: word, default, help and reading of each from its field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import Field, fields
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, cast, get_args, get_origin

import typer

from writeamp.cli.options import CAPACITY, completer, count, number, policy_completer, ratio
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

# Gives the examples of one kind.
Examples: TypeAlias = Callable[[EngineKind], tuple[str, ...]]

_PANELS = {
    "": None,
    "capacity": CAPACITY,
    "doctor": "Simulated drive (by default 256 logical blocks of 64 pages, op 0.15)",
    "trace": "Trace",
    "run": "Run",
    "timed": "Virtual time (runs that have a latency)",
    "answer": "Ways to answer",
    "virtual": "Virtual drive",
    "counted": "What is counted and written down",
    "op": "Search for, or sweep over, over-provisioning (the logical size stays)",
    "partly full": "Drive that is partly full",
    "models": "Models",
    "groups": "Groups of pages (as many sizes as frequencies)",
    "coldest": "Coldest group",
    "hot and cold": "Drive (one ratio of spare space) and data",
    "pins": "Drive (its profile, or what it would say)",
    "runner": "Runner",
    "results": "Which results",
    "axes": "Lines and heat maps",
    "other views": "Trade-offs and sensitivity",
    "simulated": "Simulated targets",
    "real": "Real targets",
    "fleet": "Fleet (its size, and distributions over its volumes)",
    "which volumes": "Which volumes",
    "drive use": "State of the drive (features modern)",
    "bounds": "What is asked",
}
_TYPES: dict[str, Any] = {
    "count": int,
    "number": float,
    "ratio": float,
    "bytes": str,
    "path": Path,
    "paths": list[Path],
    "flag": bool,
    "switch": bool,
    "text": str,
    "texts": list[str],
}
_READINGS: dict[str, dict[str, Any]] = {
    "count": {"parser": count, "metavar": "N"},
    "number": {"parser": number, "metavar": "NUMBER"},
    "ratio": {"parser": ratio, "metavar": "RATIO"},
    "bytes": {"metavar": "SIZE"},
}
_DECLARED = "__declared__"


class _Taken(NamedTuple):
    """Groups of settings that one parameter of a verb takes, made or as they are given."""

    kinds: tuple[type[Settings], ...]
    places: Places
    is_made: bool


def with_settings(
    body: Callable[..., None], examples: Examples | None = None
) -> Callable[..., None]:
    """Return a verb that has options in place of the parameters of its body that are settings.

    A parameter annotated with a group of settings gets that group, made and checked. One annotated
    `Annotated[dict[str, Any], Group, …]` gets the values that are given, by name, where what is
    left out is for the library to decide.

    Args:
        body: the verb; settings that are not for what it is called are left out.
        examples: what the help offers of each kind that the engine has, if the verb does not take
            all of them.
    """
    verb = body.__name__
    parameters: list[inspect.Parameter] = []
    taken: dict[str, _Taken] = {}
    for one in inspect.signature(body, eval_str=True).parameters.values():
        kinds = _kinds_in(one.annotation)
        if kinds:
            places = places_in(kinds, verb)
            parameters += setting_parameters(places, examples, is_whole=True)
            taken[one.name] = _Taken(kinds, places, get_origin(one.annotation) is None)
        else:
            parameters.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(body)
    def command(*positional: Any, **given: Any) -> None:
        with ExitStack() as names:
            for name, one in taken.items():
                values = asked({each: given.pop(each, None) for each in one.places})
                names.enter_context(naming_options(one.places, values))
                if one.is_made:
                    [given[name]] = made_settings(verb, one.kinds, one.places, values)
                else:
                    given[name] = values
            body(*positional, **given)

    return described(command, parameters, [one.places for one in taken.values()])


def _kinds_in(annotation: Any) -> tuple[type[Settings], ...]:
    """Return the groups of settings that an annotation names."""
    found = [annotation]
    if get_origin(annotation) is Annotated:
        found = list(get_args(annotation)[1:])
    return tuple(one for one in found if isinstance(one, type) and issubclass(one, Settings))


def described(
    command: Callable[..., None], parameters: list[inspect.Parameter], places: Iterable[Places]
) -> Callable[..., None]:
    """Return a command with these parameters, of which those in `places` are declared."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    known = dict(declared(command))
    for each in places:
        known |= {name: _field(*place) for name, place in each.items()}
    setattr(command, _DECLARED, known)
    return command


@contextmanager
def naming_options(places: Places, given: Mapping[str, Any]) -> Iterator[None]:
    """Have an error that begins with the name of a setting begin with the option that gave it.

    A name of several words, such as `target_wa`, is told from the words of a sentence as it is.
    """
    try:
        yield
    except WriteampError as error:
        name, _, rest = str(error).partition(" ")
        if "_" not in name and given.get(name) is not None:
            error.args = (f"{flag_of(_field(*places[name]))} {rest}",)
        raise


def declared(command: Callable[..., None]) -> dict[str, Field[Any]]:
    """Return the fields that options of a command were made from, by name of the parameter."""
    found: dict[str, Field[Any]] = getattr(command, _DECLARED, {})
    return found


def asked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are given."""
    # An option that may be given several times and was not is an empty list.
    return {name: value for name, value in options.items() if value not in (None, [])}


def setting_parameters(
    places: Places, examples: Examples | None = None, *, is_whole: bool = False
) -> list[inspect.Parameter]:
    """Return an option for each setting; none that is not given has a value.

    Args:
        places: where each setting stands.
        examples: see `with_settings`.
        is_whole: the options are all that is said, so that a required one must be among them.
    """
    found = []
    for name, place in places.items():
        one = _field(*place)
        if words_of(one).flag is not None:
            is_required = is_whole and words_of(one).required
            found.append(_parameter(name, one, examples, is_required=is_required))
    return found


def _field(kind: type[Settings], name: str) -> Field[Any]:
    return next(one for one in fields(kind) if one.name == name)  # type: ignore[arg-type]


def _all_examples(kind: EngineKind) -> tuple[str, ...]:
    return tuple(entry.example for entry in engine_entries(kind))


def _parameter(
    name: str, one: Field[Any], examples: Examples | None, *, is_required: bool
) -> inspect.Parameter:
    words = words_of(one)
    flag = flag_of(one)
    more = dict(_READINGS.get(words.number, {}))
    if words.number == "flag" and "/" not in flag:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    elif isinstance(one.metadata["domain"], WholeOr):
        more["parser"] = _count_or(one.metadata["domain"].word)
    completions, completes = words.choices, completer
    help_text = _capitalized(words)
    if words.kind is not None:
        kind = cast(EngineKind, words.kind)
        completions = (examples or _all_examples)(kind)
        completes = partial(policy_completer, kind) if examples is None else completer
        help_text += f", for example {', '.join(completions)}"
        more["metavar"] = "SPEC"
    if one.default is not None and words.number != "switch":
        help_text += f" (default {_shown(one)})"
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
    """Return the help as a sentence begins, but for a name or a value, which stays as it is."""
    first = words.help.split()[0]
    if first.endswith(":") or first.rstrip(",") in words.choices:
        return words.help
    return f"{words.help[0].upper()}{words.help[1:]}"


def _shown(one: Field[Any]) -> str:
    """Return the default of a setting as one would give it."""
    default: Any = one.default
    if words_of(one).number == "flag":
        return "yes" if default else "no"
    shown: Callable[[Any], str] = getattr(one.metadata["domain"], "shown", str)
    return shown(default)


def _count_or(word: str) -> Callable[[str], int | str]:
    def parse(text: str) -> int | str:
        if text == word:
            return text
        try:
            return count(text)
        except typer.BadParameter:
            raise typer.BadParameter(f"{text!r} is neither {word} nor a whole number") from None

    return parse

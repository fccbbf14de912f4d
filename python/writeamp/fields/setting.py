"""Settings: fields with default, domain, help and names; and groups of these fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

from writeamp.errors import WriteampError, unknown_argument
from writeamp.fields.domains import Domain

Reading: TypeAlias = Literal[
    "count", "number", "ratio", "bytes", "path", "paths", "text", "texts", "pair", "flag", "switch"
]

_OPTION = re.compile(r"--([a-z-]+)")


@dataclass(frozen=True)
class Words:
    """Help of a setting, and its names in Python and on the command line.

    Attributes:
        help: text for the help, without a capital and a full stop.
        name: keyword argument; by default the name of the field.
        flag: option on the command line; None for no option.
        alias: second name of the option.
        kind: registry whose names are valid values, such as "workloads".
        number: type of the option's value. A "flag" also has an option that switches it off; a
            "switch" has none.
        choices: valid words.
        metavar: placeholder of the value in the help.
        excludes: name of the quantity that the setting determines; settings of the same quantity
            exclude each other.
        required: whether the setting must be given.
        not_for: subcommands without this setting.
        is_speed: whether the setting affects only the duration of a run or additional outputs,
            never the result.
        is_new: whether the hash leaves out the default, so that hashes from before the setting
            existed stay valid.
        for_runner: whether functions have an argument `runner` instead of the setting.
        takes: type of the keyword argument, if neither the domain nor the field has it.
        panel: heading in the help under which the option is listed.
    """

    help: str
    name: str = ""
    flag: str | None = ""
    alias: str = ""
    kind: str | None = None
    number: Reading = "text"
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    excludes: str = ""
    required: bool = False
    not_for: tuple[str, ...] = ()
    is_speed: bool = False
    is_new: bool = False
    for_runner: bool = False
    takes: str = ""
    panel: str = ""


def setting(
    default: Any, domain: Domain | None, help_text: str, **words: Any
) -> Any:  # a field, as dataclasses have them
    """Return a field of settings.

    Args:
        default: the default.
        domain: domain of the values; None if they are checked elsewhere. If users write a value in
            another form than the stored one, the domain's method `shown` returns the users' form.
        help_text: text for the help.
        words: other attributes of `Words`.
    """
    made = Words(help_text, **words)
    metadata = {"domain": domain, "words": made}
    # Settings that affect only the speed do not count when results are compared.
    return field(default=default, metadata=metadata, compare=not made.is_speed)


def words_of(field_: Any) -> Words:
    """Return the help and names of a field."""
    words: Words = field_.metadata["words"]
    return words


def help_of(field_: Field[Any]) -> str:
    """Return the help of a keyword argument with its default; options become argument names."""
    words = words_of(field_)
    text = _OPTION.sub(lambda option: option[1].replace("-", "_"), words.help)
    if words.required:
        return f"{text} (required)"
    if field_.default is None or "default" in text:
        return text
    shown = getattr(field_.metadata["domain"], "shown", str)
    return f"{text} (default {shown(field_.default)})"


def flag_of(field_: Any) -> str:
    """Return the option of a field on the command line."""
    words = words_of(field_)
    return words.flag or f"--{(words.name or field_.name).replace('_', '-')}"


class Settings:
    """Group of settings, whose fields are checked against their domains when it is created.

    Errors name a field by its keyword argument. If a group is only for the command line,
    `names_options` is True, and errors name the option instead.
    """

    title: ClassVar[str]
    names_options: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check every field."""
        for field_ in fields(self):  # type: ignore[arg-type]
            value, words = getattr(self, field_.name), words_of(field_)
            domain: Domain | None = field_.metadata["domain"]
            if value is None and field_.default is None:
                if words.required:
                    raise WriteampError(
                        f"{field_.name} is missing ({flag_of(field_)}): {words.help}"
                    )
                continue
            if domain is not None:
                name = flag_of(field_) if self.names_options else words.name or field_.name
                object.__setattr__(self, field_.name, domain.check(name, value))


# For each setting, by keyword argument: its group, and the name of its field.
Places: TypeAlias = dict[str, tuple[type[Settings], str]]


def places_in(kinds: Sequence[type[Settings]], verb: str) -> Places:
    """Return group and field name of each setting, without settings that are not for `verb`."""
    return {
        words_of(field_).name or field_.name: (kind, field_.name)
        for kind in kinds
        for field_ in fields(kind)  # type: ignore[arg-type]
        if verb not in words_of(field_).not_for
    }


def argument_fields(places: Places) -> dict[str, Field[Any]]:
    """Return the field of each setting that is a keyword argument of functions.

    Settings for which functions have the argument `runner` are left out.
    """
    by_name = {
        name: next(field_ for field_ in fields(kind) if field_.name == field_name)  # type: ignore[arg-type]
        for name, (kind, field_name) in places.items()
    }
    return {name: field_ for name, field_ in by_name.items() if not words_of(field_).for_runner}


def by_group(
    verb: str, kinds: Sequence[type[Settings]], places: Places, arguments: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return keyword arguments by group: a dictionary of values for each group's title.

    Args:
        verb: subcommand or function of the arguments, for errors.
        kinds: the groups.
        places: group and field of each setting.
        arguments: values by name.

    Raises:
        TypeError: an argument is unknown.
    """
    values: dict[str, dict[str, Any]] = {kind.title: {} for kind in kinds}
    for name, value in arguments.items():
        if name not in places:
            raise unknown_argument(verb, name, places)
        kind, field_name = places[name]
        values[kind.title][field_name] = value
    return values


def made_settings(
    verb: str, kinds: Sequence[type[Settings]], places: Places, arguments: Mapping[str, Any]
) -> tuple[Settings, ...]:
    """Return groups of settings made from keyword arguments; missing settings get defaults.

    Raises:
        WriteampError: a value is outside its domain, or values contradict each other.
        TypeError: an argument is unknown.
    """
    values = by_group(verb, kinds, places, arguments)
    return tuple(kind(**values[kind.title]) for kind in kinds)

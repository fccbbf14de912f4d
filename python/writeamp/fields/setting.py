"""Setting: a field with its default, its domain and its words; and groups of settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

from writeamp.errors import WriteampError, unknown_argument
from writeamp.fields.domains import Domain

Reading: TypeAlias = Literal[
    "count", "number", "ratio", "bytes", "path", "paths", "text", "texts", "flag", "switch"
]

_OPTION = re.compile(r"--([a-z-]+)")


@dataclass(frozen=True)
class Words:
    """Words of a setting for readers, and its names in Python and on the command line.

    `name` is the keyword argument (the field's own by default), `flag` the option on the command
    line (None for none there), `alias` another option of the same, and `excludes` names what it
    decides, which only one may; `not_for` the verbs that have no use for it. `number` says how an
    option is read; a "flag" has an opposite on the command line, and a "switch" none. `kind` is the
    registry that has what it names, and `panel` the part of the help in which it stands. What
    `is_speed` changes how long a run takes, or what is written beside its result, and never what it
    finds. An experiment in which what `is_new` has its default means what it did before there was
    such a setting. Functions take a `runner` instead of settings `for_runner`. `takes` is the
    type of the keyword argument, where neither the domain nor the field has it.
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
    """Return a field of settings: its default, its domain (None: checked elsewhere), its words.

    A domain whose values are given otherwise than they are kept has `shown`, which says one so.
    """
    found = Words(help_text, **words)
    metadata = {"domain": domain, "words": found}
    # Results that took another time to come to are the same results.
    return field(default=default, metadata=metadata, compare=not found.is_speed)


def words_of(one: Any) -> Words:
    """Return the words of a field."""
    found: Words = one.metadata["words"]
    return found


def help_of(one: Field[Any]) -> str:
    """Return the help of an argument, with its default; other options by their arguments' names."""
    words = words_of(one)
    text = _OPTION.sub(lambda option: option[1].replace("-", "_"), words.help)
    if words.required:
        return f"{text} (required)"
    if one.default is None or "default" in text:
        return text
    shown = getattr(one.metadata["domain"], "shown", str)
    return f"{text} (default {shown(one.default)})"


def flag_of(one: Any) -> str:
    """Return the option of a field on the command line."""
    words = words_of(one)
    return words.flag or f"--{(words.name or one.name).replace('_', '-')}"


class Settings:
    """Group of settings, whose fields are checked against their domains when it is made.

    Errors name a field by its keyword argument, or if `names_options` by its option: in groups that
    are for the command line.
    """

    title: ClassVar[str]
    names_options: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check every field."""
        for one in fields(self):  # type: ignore[arg-type]
            value, words = getattr(self, one.name), words_of(one)
            domain: Domain | None = one.metadata["domain"]
            if value is None and one.default is None:
                if words.required:
                    raise WriteampError(f"{one.name} is missing ({flag_of(one)}): {words.help}")
                continue
            if domain is not None:
                name = flag_of(one) if self.names_options else words.name or one.name
                object.__setattr__(self, one.name, domain.check(name, value))


# Where a setting stands, by the name of its keyword argument.
Places: TypeAlias = dict[str, tuple[type[Settings], str]]


def places_in(kinds: Sequence[type[Settings]], verb: str) -> Places:
    """Return where each setting of several groups stands; a verb has no use for some."""
    return {
        words_of(one).name or one.name: (kind, one.name)
        for kind in kinds
        for one in fields(kind)  # type: ignore[arg-type]
        if verb not in words_of(one).not_for
    }


def argument_fields(places: Places) -> dict[str, Field[Any]]:
    """Return the field of each setting that functions take by keyword."""
    found = {
        name: next(one for one in fields(kind) if one.name == field_name)  # type: ignore[arg-type]
        for name, (kind, field_name) in places.items()
    }
    return {name: one for name, one in found.items() if not words_of(one).for_runner}


def by_group(
    verb: str, kinds: Sequence[type[Settings]], places: Places, given: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return keyword arguments by the title of the group that each belongs to.

    Args:
        verb: what takes the arguments, for errors.
        kinds: the groups.
        places: where each setting stands.
        given: values by name.

    Raises:
        TypeError: an argument that the verb has not.
    """
    values: dict[str, dict[str, Any]] = {kind.title: {} for kind in kinds}
    for name, value in given.items():
        if name not in places:
            raise unknown_argument(verb, name, places)
        kind, field_name = places[name]
        values[kind.title][field_name] = value
    return values


def made_settings(
    verb: str, kinds: Sequence[type[Settings]], places: Places, given: Mapping[str, Any]
) -> tuple[Settings, ...]:
    """Return the groups of settings made from keyword arguments; others have their defaults.

    Raises:
        WriteampError: a value outside its domain, or values that contradict each other.
        TypeError: an argument that the verb has not.
    """
    values = by_group(verb, kinds, places, given)
    return tuple(kind(**values[kind.title]) for kind in kinds)

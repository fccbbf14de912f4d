"""One setting: a field with its default, its domain and its words; and groups of them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from writeamp.domains import Domain
from writeamp.errors import WriteampError
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec


@dataclass(frozen=True)
class Words:
    """What readers are told of a setting, and how it is given.

    `name` is the keyword argument (the field's own by default), `flag` the option on the command
    line (None for none there), and `excludes` names what it decides, which only one may; `not_for`
    the verbs that have no use for it. What `is_speed` changes how long a run takes, or what is
    written beside its result, and never what it finds. An experiment in which what `is_new` has its
    default means what it did before there was such a setting.
    """

    help: str
    name: str = ""
    flag: str | None = ""
    kind: EngineKind | None = None
    number: Literal["count", "ratio", "path", "text", "texts", "flag"] = "text"
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    excludes: str = ""
    required: bool = False
    not_for: tuple[str, ...] = ()
    is_speed: bool = False
    is_new: bool = False
    panel: str = ""


def setting(
    default: Any, domain: Domain | None, help_text: str, **words: Any
) -> Any:  # a field, as dataclasses have them
    """Return a field of settings: its default, its domain (None: checked elsewhere), its words."""
    return field(default=default, metadata={"domain": domain, "words": Words(help_text, **words)})


def words_of(one: Any) -> Words:
    """Return the words of a field."""
    found: Words = one.metadata["words"]
    return found


class Settings:
    """A group of settings, whose fields are held to their domains when it is made."""

    title: ClassVar[str]

    def __post_init__(self) -> None:
        """Check every field."""
        for one in fields(self):  # type: ignore[arg-type]
            value, words = getattr(self, one.name), words_of(one)
            domain: Domain | None = one.metadata["domain"]
            if value is None and one.default is None:
                if words.required:
                    flag = words.flag or f"--{one.name.replace('_', '-')}"
                    raise WriteampError(f"{one.name} is missing; give {flag}: {words.help}")
                continue
            if words.kind is not None and not isinstance(value, tuple | list):
                value = Spec.of(words.kind, value)
            elif domain is not None:
                value = domain.check(words.name or one.name, value)
            object.__setattr__(self, one.name, value)

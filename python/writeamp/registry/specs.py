"""Specs: a registered entry and its parameters, as text and as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType
from typing import ClassVar, TypeAlias

from writeamp import custom
from writeamp._engine import parse as parse_spec
from writeamp._engine import split_specs as split_spec_texts
from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.fields.domains import shown
from writeamp.registry.entries import EngineKind
from writeamp.text import fault_of_text

_WORDS: dict[EngineKind, str] = {
    "workloads": "workload",
    "managers": "block manager",
    "victims": "victim policy",
    "wear_levelers": "wear leveller",
    "detectors": "detector",
}

_EXAMPLES: dict[EngineKind, str] = {
    "workloads": "zipf:s=0.99",
    "managers": "sepgc",
    "victims": "d-choices:d=10",
    "wear_levelers": "static",
    "detectors": "bloom",
}

# What a parameter may be given as: a list becomes items separated by "/".
Value: TypeAlias = "str | float | Spec | list[str | float | Spec] | tuple[str | float | Spec, ...]"


# Whether users' policies are left unread, which to read is to import them.
_leaves_unread: ContextVar[bool] = ContextVar("_leaves_unread", default=False)


@contextmanager
def unread_policies() -> Iterator[None]:
    """Let specs of users' policies be made meanwhile without importing what they name."""
    before = _leaves_unread.set(True)
    try:
        yield
    finally:
        _leaves_unread.reset(before)


@checked
@dataclass(frozen=True, eq=False)
class Spec:
    """A registered entry and its parameters, checked when made.

    `str` gives the text it stands for. Two specs are equal if they mean the same, however they are
    spelled. One that was made within `unread_policies`, of a user's policy, is checked when its
    values are first asked for.
    """

    kind: EngineKind
    name: str
    text: str = field(compare=False)
    checked: tuple[tuple[str, str], ...] | None = field(repr=False)

    @staticmethod
    def of(kind: EngineKind, given: SpecLike) -> Spec:
        """Return the spec that a text means, or the spec itself.

        Raises:
            WriteampError: the text is no spec of that kind, or the spec is one of another kind.
        """
        if isinstance(given, Spec):
            if given.kind != kind:
                raise WriteampError(
                    f"'{given}' is a {_WORDS[given.kind]}; a {_WORDS[kind]} is wanted here"
                )
            return given
        if isinstance(given, type):
            given = custom.reference_of(kind, given)
        if not isinstance(given, str):
            raise WriteampError(
                f"{_WORDS[kind]} is {shown(given)}; it must be a spec or the text of one, such as "
                f"{_EXAMPLES[kind]!r}"
            )
        if fault := fault_of_text(given):
            raise WriteampError(f"{_WORDS[kind]} is {shown(given)}, which {fault}")
        if _leaves_unread.get() and custom.is_users(kind, given):
            return Spec(kind, custom.as_written(given)[0], given, None)
        found = custom.find(kind, given)
        if found is not None:
            return Spec(kind, found.reference, given, found.values)
        parsed = parse_spec(kind, given)
        return Spec(kind, parsed["name"], given, tuple(parsed["params"].items()))

    @property
    def values(self) -> tuple[tuple[str, str], ...]:
        """Every parameter, in order of declaration, with defaults, and numbers in one form.

        Raises:
            WriteampError: nobody had looked at the user's policy, and it cannot be so.
        """
        if self.checked is not None:
            return self.checked
        if _leaves_unread.get():
            return tuple(custom.as_written(self.text)[1].items())
        found = custom.find(self.kind, self.text)
        assert found is not None
        return found.values

    def __eq__(self, other: object) -> bool:
        """Return whether both mean the same."""
        if not isinstance(other, Spec):
            return NotImplemented
        return (self.kind, self.name) == (other.kind, other.name) and self.values == other.values

    def __hash__(self) -> int:
        """Return a hash of the meaning, so that equal specs share it."""
        return hash((self.kind, self.name))

    @property
    def params(self) -> Mapping[str, str]:
        """Every parameter with its value as text."""
        return MappingProxyType(dict(self.values))

    @property
    def canonical(self) -> str:
        """The spec with every parameter; the same for all spellings that mean the same."""
        params = ",".join(f"{name}={value}" for name, value in self.values)
        return f"{self.name}({params})" if params else self.name

    @property
    def nested(self) -> str:
        """The text as a parameter of another spec, whose commas are then its own."""
        name, colon, params = self.text.partition(":")
        return f"{name}({params})" if colon and "(" not in name else self.text

    def __str__(self) -> str:
        """Return the text that the spec was given as, or that says it."""
        return self.text

    def __repr__(self) -> str:
        """Return the text in brackets."""
        return f"<{_WORDS[self.kind]} {self.text}>"


@dataclass(frozen=True)
class SpecOf:
    """Domain of the specs of one kind."""

    takes: ClassVar[str] = "SpecLike"

    kind: EngineKind

    def check(self, name: str, value: SpecLike) -> Spec:
        """Return the spec, whose own errors say what it is."""
        return Spec.of(self.kind, value)


# A class is one that a user has derived from `Placement` or `VictimPolicy`.
SpecLike: TypeAlias = str | Spec | type[custom.Placement] | type[custom.VictimPolicy]


def workload(name: str, **params: Value) -> Spec:
    """Return a workload, checked: what the host writes.

    Args:
        name: a registered name, or a whole spec such as "zipf:s=0.99".
        params: its parameters; a list for those that take several values, and specs where they
            take specs.

    Returns:
        `Spec`: `name`, `params` and `text`.

    Raises:
        WriteampError: an unknown name or parameter.

    >>> import writeamp as wa
    >>> print(wa.workload("zipf", s=0.99))
    zipf:s=0.99
    >>> print(wa.workload("mix", sizes=[0.1, 0.9], weights=[0.9, 0.1],
    ...                   of=[wa.workload("zipf", s=1.2), "uniform"]))
    mix:sizes=0.1/0.9,weights=0.9/0.1,of=zipf(s=1.2)/uniform
    >>> wa.workload("hot-cold:f=0.1,r=0.9") == wa.workload("hot-cold", r=0.9, f=1e-1)
    True
    """
    return _made("workloads", name, params)


def manager(name: str | type[custom.Placement], **params: Value) -> Spec:
    """Return a block manager, checked: where pages go and what is collected when.

    Args and errors are those of `workload`; a class of placements may stand for its name.

    Returns:
        `Spec`: `name`, `params` and `text`.

    >>> import writeamp as wa
    >>> print(wa.manager("hcwf-swap", d=5, d_swap=9))
    hcwf-swap:d=5,d_swap=9
    """
    return _made("managers", name, params)


def victims(name: str | type[custom.VictimPolicy], **params: Value) -> Spec:
    """Return a victim policy, checked: which block is collected.

    Args and errors are those of `workload`; a class of victim policies may stand for its name.

    Returns:
        `Spec`: `name`, `params` and `text`.

    >>> import writeamp as wa
    >>> print(wa.victims("d-choices", d=10))
    d-choices:d=10
    """
    return _made("victims", name, params)


def wear_leveling(name: str, **params: Value) -> Spec:
    """Return a wear leveller, checked: which blocks take the wear.

    Args and errors are those of `workload`.

    Returns:
        `Spec`: `name`, `params` and `text`.

    >>> import writeamp as wa
    >>> print(wa.wear_leveling("static", threshold=16))
    static:threshold=16
    """
    return _made("wear_levelers", name, params)


def split_specs(kind: EngineKind, text: str) -> list[str]:
    """Return the specs of a list separated by commas, each as its text.

    A comma in parentheses, or before a bare key=value, belongs to the spec before it.

    Raises:
        WriteampError: the list has an empty place, or parentheses that do not match.

    >>> split_specs("managers", "hcwf-swap(d=5,d_swap=9),single")
    ['hcwf-swap(d=5,d_swap=9)', 'single']
    """
    if fault := fault_of_text(text):
        raise WriteampError(f"{_WORDS[kind]} is {shown(text)}, which {fault}")
    return split_spec_texts(kind, text)


def _made(kind: EngineKind, name: str | type, params: Mapping[str, Value]) -> Spec:
    if isinstance(name, type):
        name = custom.reference_of(kind, name)
    if not isinstance(name, str):
        name = Spec.of(kind, name).text
    if kind in custom.KINDS and custom.find_class(kind, name):
        # Python's own words for yes and no, where the arguments are those of a class.
        params = {k: ("no", "yes")[v] if isinstance(v, bool) else v for k, v in params.items()}
    text = Spec.of(kind, name).text if not params else name
    if params:
        if (":" in name or "(" in name) and not custom.is_reference(kind, name):
            raise WriteampError(
                f"{_WORDS[kind]} {name!r} has parameters in its text; give them there or by "
                "keyword, not both"
            )
        given = ",".join(f"{key}={_value(kind, key, value)}" for key, value in params.items())
        text = f"{name}:{given}"
    return Spec.of(kind, text)


def _value(kind: EngineKind, key: str, value: Value) -> str:
    if isinstance(value, list | tuple):
        return "/".join(_value(kind, key, item) for item in value)
    if isinstance(value, Spec):
        return value.nested
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise WriteampError(
            f"{key} of {_WORDS[kind]} is {shown(value)}; it must be a number, a text, a spec, or "
            "a list"
        )
    if isinstance(value, str) and "," in value and "(" not in value:
        raise WriteampError(
            f"{key} of {_WORDS[kind]} is {shown(value)}, which holds more than one value"
        )
    return shown(value) if isinstance(value, int) else str(value)

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
from writeamp.registry.misplaced import misplaced
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

# Types of parameter values; a list becomes items separated by "/".
Value: TypeAlias = "str | float | Spec | list[str | float | Spec] | tuple[str | float | Spec, ...]"


# True if specs are made without importing the classes of users' policies.
_leaves_unread: ContextVar[bool] = ContextVar("_leaves_unread", default=False)


@contextmanager
def unread_policies() -> Iterator[None]:
    """Within this context, make specs of users' policies without importing their classes."""
    token = _leaves_unread.set(True)
    try:
        yield
    finally:
        _leaves_unread.reset(token)


@checked
@dataclass(frozen=True, eq=False)
class Spec:
    """A registered entry and its parameters, checked when made.

    `str` returns its text, in which defaults that are assumptions are stated. Specs are compared by
    meaning, not by spelling. A spec of a user's policy that was made within `unread_policies` is
    checked on first access to its values.
    """

    kind: EngineKind
    name: str
    text: str = field(compare=False)
    checked: tuple[tuple[str, str], ...] | None = field(repr=False)

    @staticmethod
    def of(kind: EngineKind, value: SpecLike) -> Spec:
        """Return the spec of a text or of a user's class; return a given spec unchanged.

        Raises:
            WriteampError: an invalid text, or a spec of another kind.
        """
        if isinstance(value, Spec):
            if value.kind != kind:
                raise WriteampError(f"'{value}' is a {_WORDS[value.kind]}; give a {_WORDS[kind]}")
            return value
        if isinstance(value, type):
            value = custom.reference_of(kind, value)
        if not isinstance(value, str):
            raise WriteampError(
                f"{_WORDS[kind]} is {shown(value)}; it must be a spec or its text, such as "
                f"{_EXAMPLES[kind]!r}"
            )
        if fault := fault_of_text(value):
            raise WriteampError(f"{_WORDS[kind]} is {shown(value)}, which {fault}")
        if _leaves_unread.get() and custom.is_users(kind, value):
            return Spec(kind, custom.as_written(value)[0], value, None)
        try:
            policy = custom.find(kind, value)
            if policy is not None:
                return Spec(kind, policy.reference, value, policy.values)
            parsed = parse_spec(kind, value)
        except WriteampError as error:
            if (better := misplaced(kind, value, str(error))) is None:
                raise
            raise better from None
        return Spec(kind, parsed["name"], parsed["stated"], tuple(parsed["params"].items()))

    @property
    def values(self) -> tuple[tuple[str, str], ...]:
        """All parameters in order of declaration, with defaults, and numbers in canonical form.

        Raises:
            WriteampError: the spec of a user's policy, which was not checked before, is invalid.
        """
        if self.checked is not None:
            return self.checked
        if _leaves_unread.get():
            return tuple(custom.as_written(self.text)[1].items())
        policy = custom.find(self.kind, self.text)
        assert policy is not None
        return policy.values

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same meaning."""
        if not isinstance(other, Spec):
            return NotImplemented
        return (self.kind, self.name) == (other.kind, other.name) and self.values == other.values

    def __hash__(self) -> int:
        """Return a hash that is the same for equal specs."""
        return hash((self.kind, self.name))

    @property
    def params(self) -> Mapping[str, str]:
        """All parameters with their values as text."""
        return MappingProxyType(dict(self.values))

    @property
    def canonical(self) -> str:
        """The spec with all parameters; the same text for all spellings."""
        params = ",".join(f"{name}={value}" for name, value in self.values)
        return f"{self.name}({params})" if params else self.name

    @property
    def nested(self) -> str:
        """The text in parentheses, for use as a parameter of another spec."""
        name, colon, params = self.text.partition(":")
        return f"{name}({params})" if colon and "(" not in name else self.text

    def __str__(self) -> str:
        """Return the text of the spec, as it was given."""
        return self.text

    def __repr__(self) -> str:
        """Return the text in brackets."""
        return f"<{_WORDS[self.kind]} {self.text}>"


@dataclass(frozen=True)
class SpecOf:
    """Valid values: specs of one kind, such as workloads."""

    takes: ClassVar[str] = "SpecLike"

    kind: EngineKind

    def check(self, name: str, value: SpecLike) -> Spec:
        """Return the spec; its own errors name the kind."""
        return Spec.of(self.kind, value)


# A spec, its text, or a user's class that is derived from `Placement` or `VictimPolicy`.
SpecLike: TypeAlias = str | Spec | type[custom.Placement] | type[custom.VictimPolicy]


def workload(name: str, **params: Value) -> Spec:
    """Return the checked spec of a workload.

    Args:
        name: a registered name, or a whole spec such as "zipf:s=0.99".
        params: its parameters; lists for parameters with several values, and specs for nested
            workloads.

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
    """Return the checked spec of a block manager.

    Args and errors are those of `workload`; `name` may also be a placement class.

    Returns:
        `Spec`: `name`, `params` and `text`.

    >>> import writeamp as wa
    >>> print(wa.manager("hcwf-swap", d=5, d_swap=9))
    hcwf-swap:d=5,d_swap=9
    """
    return _made("managers", name, params)


def victims(name: str | type[custom.VictimPolicy], **params: Value) -> Spec:
    """Return the checked spec of a victim policy.

    Args and errors are those of `workload`; `name` may also be a victim-policy class.

    Returns:
        `Spec`: `name`, `params` and `text`.

    >>> import writeamp as wa
    >>> print(wa.victims("d-choices", d=10))
    d-choices:d=10
    """
    return _made("victims", name, params)


def wear_leveling(name: str, **params: Value) -> Spec:
    """Return the checked spec of a wear leveller.

    Args and errors are those of `workload`.

    Returns:
        `Spec`: `name`, `params` and `text`.

    >>> import writeamp as wa
    >>> print(wa.wear_leveling("static", threshold=16))
    static:threshold=16
    """
    return _made("wear_levelers", name, params)


def split_specs(kind: EngineKind, text: str) -> list[str]:
    """Return the texts of the specs in a comma-separated list.

    A comma within parentheses, or before a key=value without a name, does not separate specs.

    Raises:
        WriteampError: an empty item, or unbalanced parentheses.

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
        # Arguments of a user's class may be Python booleans.
        params = {k: ("no", "yes")[v] if isinstance(v, bool) else v for k, v in params.items()}
    text = Spec.of(kind, name).text if not params else name
    if params:
        if (":" in name or "(" in name) and not custom.is_reference(kind, name):
            raise WriteampError(
                f"{_WORDS[kind]} {name!r} has parameters in its text and by keyword; use only one "
                "of these ways"
            )
        arguments = ",".join(f"{key}={_value(kind, key, value)}" for key, value in params.items())
        text = f"{name}:{arguments}"
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
            f"{key} of {_WORDS[kind]} is {shown(value)}, which has several values; give a list"
        )
    return shown(value) if isinstance(value, int) else str(value)

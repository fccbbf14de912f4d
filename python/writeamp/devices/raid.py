"""Arrays of devices as text: "raid0:x25-m,x25-m,stripe=64k"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from writeamp.devices.drive import SECTOR_BYTES
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import shown
from writeamp.units.byte_sizes import ByteSize

_PREFIX = "raid0:"
_STRIPE = "stripe"
_STRIPE_BYTES = 65536


@dataclass(frozen=True)
class ArraySpec:
    """Members by profile name or path, and the stripe size in bytes."""

    members: tuple[str, ...]
    stripe_bytes: int


def is_array(base: Any) -> bool:
    """Return whether `base` is the text of an array."""
    return isinstance(base, str) and base.startswith(_PREFIX)


def parse_array(text: str) -> ArraySpec:
    """Return the array of a text.

    Raises:
        WriteampError: fewer than two members, an unknown option, or a stripe that is not a multiple
            of the sector size.

    >>> parse_array("raid0:x25-m,x25-m,stripe=128k")
    ArraySpec(members=('x25-m', 'x25-m'), stripe_bytes=131072)
    """
    members, stripe_bytes = [], _STRIPE_BYTES
    for item in (item.strip() for item in text.removeprefix(_PREFIX).split(",")):
        key, equals, value = item.partition("=")
        if not equals or item.endswith(".toml"):
            members.append(item)
        elif key != _STRIPE:
            raise unknown(f"option of {shown(text)}", key, [_STRIPE])
        else:
            stripe_bytes = _stripe(value)
    if len(members) < 2 or not all(members) or any(map(is_array, members)):
        raise WriteampError(
            f"device is {shown(text)}; it must be raid0:A,B with two or more names or paths of "
            "profiles, and optionally stripe=64k after them"
        )
    return ArraySpec(tuple(members), stripe_bytes)


def files_of(base: str) -> tuple[str, ...]:
    """Return the paths of the .toml files among a device's profiles."""
    names = parse_array(base).members if is_array(base) else (base,)
    return tuple(name for name in names if name.endswith(".toml"))


def with_members(text: str, change: Callable[[str], str]) -> str:
    """Return the text of an array with a function applied to its members, such as to move paths."""
    spec = parse_array(text)
    return f"{_PREFIX}{','.join(map(change, spec.members))},{_STRIPE}={spec.stripe_bytes}"


def _stripe(value: str) -> int:
    size = ByteSize().check(_STRIPE, value)
    assert isinstance(size, int)
    if size % SECTOR_BYTES:
        raise WriteampError(
            f"{_STRIPE} is {shown(value)}; it must be a multiple of {SECTOR_BYTES} bytes"
        )
    return size

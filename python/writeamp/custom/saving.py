"""The state of a user's policy: its attributes, as bytes, without pickle."""

from __future__ import annotations

import array
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.custom.policies import DriveFacts
from writeamp.errors import WriteampError

# What a value is, beside those that JSON knows; a list of JSON begins with one of these.
_LIST, _TUPLE, _DICT, _DEQUE, _ARRAY, _TYPED, _SCALAR, _RANDOM = (
    "list",
    "tuple",
    "dict",
    "deque",
    "ndarray",
    "array",
    "scalar",
    "generator",
)
_PLAIN = (bool, int, float, str, type(None))
_LENGTH_BYTES = 8

# Attributes that, of these types, declare what the engine has asked for already, and are no state.
_DECLARED: dict[str, type] = {"migration_streams": object, "victims": str, "hears": str}


def packed(name: str, policy: Any) -> bytes:
    """Return all that a policy remembers: what its `save` returns, or else its attributes.

    The bytes are the length of a document of JSON, the document, and the arrays that it tells of.

    Raises:
        WriteampError: an attribute is nothing that can be saved.
    """
    if hasattr(policy, "save"):
        found: dict[str, Any] = {"what save() returned": policy.save()}
    else:
        found = attributes(policy)
    arrays: list[bytes] = []
    document = [[key, _plain(f"{key} of {name}", value, arrays)] for key, value in found.items()]
    text = json.dumps(document, separators=(",", ":")).encode()
    return b"".join([len(text).to_bytes(_LENGTH_BYTES, "little"), text, *arrays])


def unpacked(name: str, policy: Any, saved: bytes) -> None:
    """Have a policy, built as the one that was saved, remember what that did.

    Raises:
        WriteampError: the state is of another class.
    """
    split = _LENGTH_BYTES + int.from_bytes(saved[:_LENGTH_BYTES], "little")
    try:
        document = json.loads(saved[_LENGTH_BYTES:split])
        rest = _Rest(saved[split:])
        found = {key: _value(value, rest) for key, value in document}
    except (
        ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise WriteampError(f"the state of {name} is damaged: {error}") from None
    if hasattr(policy, "save"):
        policy.restore(*found.values())
        return
    known = attributes(policy)
    # What the state has comes first, so that one state is refused in the same words each time.
    for key in sorted(known.keys() ^ found.keys(), key=lambda key: (key in known, key)):
        which = "an attribute" if key in found else "no attribute"
        raise WriteampError(f"the state is of another {name}: it has {which} {key}")
    for key, value in found.items():
        setattr(policy, key, value)


def attributes(policy: Any) -> dict[str, Any]:
    """Return a policy's remembered attributes: all but what its constructor was given."""
    slots = (
        key
        for of in type(policy).__mro__
        for key in _names_of(vars(of).get("__slots__", ()))
        if not key.startswith("__") and hasattr(policy, key)
    )
    found = vars(policy) | {key: getattr(policy, key) for key in slots}
    return {
        key: value
        for key, value in found.items()
        if not isinstance(value, (DriveFacts, _DECLARED.get(key, DriveFacts)))
    }


def _names_of(slots: str | Iterable[str]) -> Iterable[str]:
    return [slots] if isinstance(slots, str) else slots


def size_bytes(policy: Any) -> int:
    """Return the memory of a policy's attributes; of lists, that of their items is left out."""
    return sum(
        value.nbytes if isinstance(value, np.ndarray) else sys.getsizeof(value)
        for value in attributes(policy).values()
    )


class _Rest:
    """The arrays of a state, one behind the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """Return so many bytes more."""
        if not 0 <= count <= len(self._data) - self._at:
            raise ValueError("it is cut off")
        self._at += count
        return self._data[self._at - count : self._at]


def _plain(what: str, value: Any, arrays: list[bytes]) -> Any:
    """Return a value as JSON has it; the content of arrays goes to `arrays`."""
    if type(value) in _PLAIN:
        return value
    for types, write in _WRITERS:
        if isinstance(value, types) and (found := write(what, value, arrays)) is not None:
            return found
    raise WriteampError(
        f"{what} is of type {type(value).__name__} and cannot be saved; numbers, texts, arrays, "
        "random generators of NumPy, and lists, tuples, deques and dictionaries of them can, or "
        "the class must define save() and restore(saved)"
    )


def _value(found: Any, rest: _Rest) -> Any:
    """Return the value that `_plain` wrote."""
    return _READERS[found[0]](found[1:], rest) if isinstance(found, list) else found


def _items(what: str, value: Any, arrays: list[bytes]) -> list[Any]:
    return [_plain(what, one, arrays) for one in value]


def _write_list(what: str, value: list[Any], arrays: list[bytes]) -> Any:
    return [_LIST, _items(what, value, arrays)] if type(value) is list else None


def _write_tuple(what: str, value: tuple[Any, ...], arrays: list[bytes]) -> Any:
    return [_TUPLE, _items(what, value, arrays)] if type(value) is tuple else None


def _write_deque(what: str, value: deque[Any], arrays: list[bytes]) -> Any:
    return [_DEQUE, _items(what, value, arrays), value.maxlen]


def _write_dict(what: str, value: dict[Any, Any], arrays: list[bytes]) -> Any:
    if type(value) is not dict:
        return None
    return [_DICT, [_items(what, pair, arrays) for pair in value.items()]]


def _write_typed(_what: str, value: array.array[Any], arrays: list[bytes]) -> Any:
    arrays.append(value.tobytes())
    return [_TYPED, value.typecode, len(arrays[-1])]


def _write_numbers(_what: str, value: Any, arrays: list[bytes]) -> Any:
    if value.dtype.kind not in "biufc":
        return None
    arrays.append(value.tobytes())
    kind = _ARRAY if isinstance(value, np.ndarray) else _SCALAR
    return [kind, value.dtype.str, list(value.shape), len(arrays[-1])]


def _write_random(what: str, value: np.random.Generator, arrays: list[bytes]) -> Any:
    return [_RANDOM, _plain(what, dict(value.bit_generator.state), arrays)]


_WRITERS: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (list, _write_list),
    (tuple, _write_tuple),
    (deque, _write_deque),
    (dict, _write_dict),
    (array.array, _write_typed),
    (np.ndarray | np.generic, _write_numbers),
    (np.random.Generator, _write_random),
)


def _read_list(parts: list[Any], rest: _Rest) -> list[Any]:
    return [_value(one, rest) for one in parts[0]]


def _read_numbers(parts: list[Any], rest: _Rest) -> npt.NDArray[Any]:
    dtype, shape, count = parts
    return np.frombuffer(rest.take(count), dtype).reshape(shape).copy()


def _read_random(parts: list[Any], rest: _Rest) -> np.random.Generator:
    state = _value(parts[0], rest)
    kind = {one.__name__: one for one in _BIT_GENERATORS}[state["bit_generator"]]
    generator = np.random.Generator(kind())
    generator.bit_generator.state = state
    # NumPy takes any position in its buffers, and reads there.
    positions = ((state["state"].get("pos", 0), 624), (state.get("buffer_pos", 0), 4))
    if not all(0 <= position <= end for position, end in positions):
        raise ValueError("a random generator stands at no place of its numbers")
    return generator


_BIT_GENERATORS: tuple[Callable[[], np.random.BitGenerator], ...] = (
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.Philox,
    np.random.SFC64,
)

_READERS: dict[str, Callable[[list[Any], _Rest], Any]] = {
    _LIST: _read_list,
    _TUPLE: lambda parts, rest: tuple(_read_list(parts, rest)),
    _DEQUE: lambda parts, rest: deque(_read_list(parts, rest), parts[1]),
    _DICT: lambda parts, rest: {_value(key, rest): _value(value, rest) for key, value in parts[0]},
    _TYPED: lambda parts, rest: array.array(parts[0], rest.take(parts[1])),
    _ARRAY: _read_numbers,
    _SCALAR: lambda parts, rest: _read_numbers(parts, rest)[()],
    _RANDOM: _read_random,
}

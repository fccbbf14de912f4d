"""Save and restore the state of a user's policy (its attributes) as bytes, without pickle."""

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

# Tags of values that JSON does not have, each saved as a JSON list that begins with its tag.
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

# Attributes that are declarations, not state, if their values have these types.
_DECLARED: dict[str, type] = {"migration_streams": object, "victims": str, "required_hints": str}


def packed(name: str, policy: Any) -> bytes:
    """Return the state of a policy: the result of its `save`, or else its attributes.

    The bytes are the length of a JSON document, the document, and the contents of arrays.

    Raises:
        WriteampError: an attribute cannot be saved.
    """
    if hasattr(policy, "save"):
        values: dict[str, Any] = {"the result of save()": policy.save()}
    else:
        values = attributes(policy)
    arrays: list[bytes] = []
    document = [[key, _plain(f"{key} of {name}", value, arrays)] for key, value in values.items()]
    text = json.dumps(document, separators=(",", ":")).encode()
    return b"".join([len(text).to_bytes(_LENGTH_BYTES, "little"), text, *arrays])


def unpacked(name: str, policy: Any, saved: bytes) -> None:
    """Restore the state of a policy that was constructed like the saved one.

    Raises:
        WriteampError: damaged state, or state of another class.
    """
    split = _LENGTH_BYTES + int.from_bytes(saved[:_LENGTH_BYTES], "little")
    try:
        document = json.loads(saved[_LENGTH_BYTES:split])
        rest = _Rest(saved[split:])
        values = {key: _value(value, rest) for key, value in document}
    except (
        ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise WriteampError(f"the state of {name} is damaged: {error}") from None
    if hasattr(policy, "save"):
        policy.restore(*values.values())
        return
    own = attributes(policy)
    # Names are sorted, so that the same invalid state always gives the same error.
    for key in sorted(own.keys() ^ values.keys(), key=lambda key: (key in own, key)):
        which = "an attribute" if key in values else "no attribute"
        raise WriteampError(f"the saved state is not of this {name}: it has {which} {key}")
    for key, value in values.items():
        setattr(policy, key, value)


def attributes(policy: Any) -> dict[str, Any]:
    """Return the attributes that are state: all except `DriveFacts` and declarations."""
    slots = (
        key
        for of in type(policy).__mro__
        for key in _names_of(vars(of).get("__slots__", ()))
        if not key.startswith("__") and hasattr(policy, key)
    )
    values = vars(policy) | {key: getattr(policy, key) for key in slots}
    return {
        key: value
        for key, value in values.items()
        if not isinstance(value, (DriveFacts, _DECLARED.get(key, DriveFacts)))
    }


def _names_of(slots: str | Iterable[str]) -> Iterable[str]:
    return [slots] if isinstance(slots, str) else slots


def size_bytes(policy: Any) -> int:
    """Return the memory of a policy's attributes in bytes, without items of lists."""
    return sum(
        value.nbytes if isinstance(value, np.ndarray) else sys.getsizeof(value)
        for value in attributes(policy).values()
    )


class _Rest:
    """Reader of the bytes after the JSON document: contents of arrays in a saved state."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        if not 0 <= count <= len(self._data) - self._at:
            raise ValueError("it is truncated")
        self._at += count
        return self._data[self._at - count : self._at]


def _plain(what: str, value: Any, arrays: list[bytes]) -> Any:
    """Return a value as JSON types; contents of arrays are appended to `arrays`."""
    if type(value) in _PLAIN:
        return value
    for types, write in _WRITERS:
        if isinstance(value, types) and (written := write(what, value, arrays)) is not None:
            return written
    raise WriteampError(
        f"{what} is of type {type(value).__name__}, which cannot be saved; use numbers, texts, "
        "arrays, NumPy's random generators, and lists, tuples, deques and dictionaries of them, or "
        "define save() and restore(saved)"
    )


def _value(document: Any, rest: _Rest) -> Any:
    """Return the value from the output of `_plain`."""
    return _READERS[document[0]](document[1:], rest) if isinstance(document, list) else document


def _items(what: str, value: Any, arrays: list[bytes]) -> list[Any]:
    return [_plain(what, item, arrays) for item in value]


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
    return [_value(item, rest) for item in parts[0]]


def _read_numbers(parts: list[Any], rest: _Rest) -> npt.NDArray[Any]:
    dtype, shape, count = parts
    return np.frombuffer(rest.take(count), dtype).reshape(shape).copy()


def _read_random(parts: list[Any], rest: _Rest) -> np.random.Generator:
    state = _value(parts[0], rest)
    kind = {bit_generator.__name__: bit_generator for bit_generator in _BIT_GENERATORS}[
        state["bit_generator"]
    ]
    generator = np.random.Generator(kind())
    generator.bit_generator.state = state
    # NumPy does not check positions in its buffers and would read outside of them, so they are
    # checked here.
    positions = ((state["state"].get("pos", 0), 624), (state.get("buffer_pos", 0), 4))
    if not all(0 <= position <= end for position, end in positions):
        raise ValueError("a random generator has an invalid position")
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

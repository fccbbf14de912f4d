"""Placements compiled by Numba, which the engine calls without Python.

The attributes of a placement become the fields of a NumPy record, and `self` in its methods is that
record. Reading and writing attributes works as in Python, so a class can be compiled or
interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from inspect import isfunction
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from writeamp.custom.names import has_numba
from writeamp.custom.policies import Placement, VictimPolicy
from writeamp.custom.saving import attributes
from writeamp.errors import WriteampError, how_to_install
from writeamp.fields.domains import shown

_T = TypeVar("_T", bound=Callable[..., Any])

# Return value of a compiled function that raised an exception (FAILED in
# crates/python/src/custom/compiled.rs).
_FAILED = -(2**63)
_HOOKS = ("on_write", "on_migrate", "on_collect", "on_trim")
_PLACING = ("on_write", "on_migrate")

_compiling = Lock()


def compiled(of: _T) -> _T:
    """Mark a placement class, or a function that its methods call, for compilation by Numba.

    Methods may use numbers, booleans, arrays, loops, compiled functions, and the NumPy functions
    that Numba supports, but no other Python objects. The constructor, which sets the attributes, is
    not compiled. If Numba is not installed, or with `Mine:compiled=no`, the class is interpreted,
    which is slower and gives the same results.

    Returns:
        The class or function itself, marked for compilation.

    Raises:
        WriteampError: a victim policy, which uses whole arrays and would not become faster.

    >>> import writeamp as wa
    >>> @wa.compiled
    ... class Odd(wa.Placement):
    ...     streams = 2
    ...     def on_write(self, page, now):
    ...         return page % 2
    ...     def on_migrate(self, page, victim):
    ...         return page % 2
    >>> wa.simulate(manager=Odd, blocks=200, writes=20_000, replicas=1).causes["host"] > 0
    True
    """
    if isinstance(of, type):
        if issubclass(of, VictimPolicy) or not issubclass(of, Placement):
            raise WriteampError(
                f"{of.__qualname__} is not a placement, so it cannot be compiled; derive it from "
                "writeamp.Placement"
            )
        of.is_compiled = True
        return of
    if not isfunction(of):
        raise WriteampError(f"{shown(of)} cannot be compiled; give a placement or a function")
    if not has_numba():
        return of
    import numba  # noqa: PLC0415 (an extra)

    function: _T = numba.njit(boundscheck=True)(of)
    return function


class CompiledInstance:
    """A placement of a drive with compiled hooks."""

    def __init__(
        self, name: str, made: Placement, migration: list[int], logical_pages: int
    ) -> None:
        """Copy the attributes into a record, and compile the hooks for its type.

        Raises:
            WriteampError: Numba is not installed, or cannot compile the hooks.
        """
        if not has_numba():
            raise WriteampError(
                f"{name} needs Numba, which is not installed; leave out compiled=yes, or run: "
                f"{how_to_install('numba')}"
            )
        self._name = name
        self._cls = type(made)
        self.streams = made.streams
        self.migration_streams = migration
        self._records = _record_of(name, made)
        self.memory = self._records.view(np.uint8).reshape(-1)
        with _compiling:  # one thread at a time, because Numba compiles under a global lock
            self._kept = _functions(name, self._cls, self._records.dtype)  # type: ignore[arg-type]
        self.functions = {hook: function.address for hook, function in self._kept.items()}
        self.page_tables = _tables(self._records.dtype, logical_pages)

    def again(self, hook: str, arguments: tuple[Any, ...]) -> Any:
        """Call a hook in plain Python on the same state, to get its exception with a traceback."""
        record = self._records.view(np.recarray)[0]
        return getattr(self._cls, hook)(record, *arguments)

    def save(self) -> bytes:
        """Return the state as bytes."""
        return self.memory.tobytes()

    def restore(self, saved: bytes) -> None:
        """Restore a saved state in place, because compiled functions use this memory."""
        if len(saved) != self.memory.nbytes:
            raise WriteampError(f"the saved state is not of this {self._name}: its size differs")
        self.memory[:] = np.frombuffer(saved, np.uint8)

    def bytes(self) -> int:
        """Return the size of the attributes in bytes."""
        return int(self.memory.nbytes)


def _tables(dtype: np.dtype[Any], logical_pages: int) -> list[tuple[int, int]]:
    """Return offset and row size, in bytes, of arrays with a row per logical page.

    Offsets are from the start of the record. The engine prefetches these rows.
    """
    return [
        (field[1], field[0].itemsize // logical_pages)
        for field in (dtype.fields or {}).values()
        if field[0].shape[:1] == (logical_pages,)
    ]


def _record_of(name: str, made: Placement) -> np.ndarray[Any, Any]:
    """Return an array of one record, with the attributes of a placement as fields."""
    fields: list[tuple[Any, ...]] = []
    values = _constants(type(made)) | attributes(made)
    for key, value in values.items():
        if isinstance(value, bool | np.bool_):
            fields.append((key, np.bool_))
        elif isinstance(value, int | np.integer):
            fields.append((key, np.int64))
        elif isinstance(value, float | np.floating):
            fields.append((key, np.float64))
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size:
            fields.append((key, value.dtype, value.shape))
        else:
            raise WriteampError(
                f"{key} of {name} is of type {type(value).__name__}; attributes of a compiled "
                "placement must be numbers, booleans, or non-empty arrays of these"
            )
    # A NumPy record needs at least one field, so a class without attributes gets a dummy.
    fields = sorted(fields, key=len) or [("nothing", np.int64)]
    try:
        records = np.zeros(1, np.dtype(fields, align=True))
        for key, value in values.items():
            records[0][key] = value
    except (ValueError, OverflowError, MemoryError) as error:
        raise WriteampError(f"{name} cannot be compiled: {error}") from error
    return records


def _constants(cls: type[Placement]) -> dict[str, Any]:
    """Return the class attributes that are numbers, which methods may read from `self`."""
    return {
        key: value
        for of in reversed(cls.__mro__[: cls.__mro__.index(Placement)])
        for key, value in vars(of).items()
        if isinstance(value, int | float) and not key.startswith("__") and key != "is_compiled"
    }


@lru_cache(maxsize=64)
def _functions(name: str, cls: type[Placement], dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the compiled hooks of a class for a record type, each a C function."""
    import numba  # noqa: PLC0415 (an extra)

    if hasattr(cls, "on_migrate_all"):
        raise WriteampError(
            f"{name} has on_migrate_all, which compiled placements do not support; use on_migrate"
        )
    record = numba.from_dtype(dtype)
    victim = numba.from_dtype(
        np.dtype([(name, np.int64) for name in ("stream", "opened", "now")], align=True)
    )
    functions = {}
    for hook in _HOOKS:
        method = getattr(cls, hook, None)
        if method is None:
            continue
        try:
            inner = numba.njit(boundscheck=True, error_model="python")(method)
            functions[hook] = _c_function(
                name, hook, inner, (record, victim), cls.required_hints != "nothing"
            )
        except WriteampError:
            raise
        except Exception as error:  # Numba raises exceptions of many classes
            raise WriteampError(
                f"{hook} of {name} cannot be compiled: {_first_words(error)}; "
                f"{name}:compiled=no runs it in plain Python"
            ) from error
    return functions


def _c_function(
    name: str, hook: str, inner: Any, types_of: tuple[Any, Any], has_hints: bool
) -> Any:
    """Return a hook as a C function that returns `_FAILED` if the hook raises."""
    from numba import carray, cfunc, types  # noqa: PLC0415 (an extra)

    record, victim = types_of
    number, state, of_victim = types.int64, types.CPointer(record), types.CPointer(victim)

    def check(*arguments: Any) -> None:
        inner.compile(arguments)
        overload = inner.overloads[arguments]
        _check_assigned(name, hook, overload.type_annotation, record)
        returned = overload.signature.return_type
        if hook in _PLACING and not isinstance(returned, types.Integer | types.Boolean):
            raise WriteampError(
                f"{hook} of {name} returns {returned} when compiled; it must return a stream, a "
                "whole number"
            )

    # Each hook has its own function, because compiled functions cannot have variable arguments.
    if hook == "on_write" and has_hints:
        check(record, number, number, number)

        @cfunc(number(state, number, number, number))
        def on_write_with_hint(self, page, now, hint):  # type: ignore[no-untyped-def]
            try:
                return number(inner(carray(self, 1)[0], page, now, hint))
            except Exception:
                return number(_FAILED)

        return on_write_with_hint
    if hook == "on_write":
        check(record, number, number)

        @cfunc(number(state, number, number, number))
        def on_write(self, page, now, _hint):  # type: ignore[no-untyped-def]
            try:
                return number(inner(carray(self, 1)[0], page, now))
            except Exception:
                return number(_FAILED)

        return on_write
    if hook == "on_migrate":
        check(record, number, victim)

        @cfunc(number(state, number, of_victim))
        def on_migrate(self, page, victim):  # type: ignore[no-untyped-def]
            try:
                return number(inner(carray(self, 1)[0], page, carray(victim, 1)[0]))
            except Exception:
                return number(_FAILED)

        return on_migrate
    if hook == "on_collect":
        check(record, victim)

        @cfunc(number(state, of_victim))
        def on_collect(self, victim):  # type: ignore[no-untyped-def]
            try:
                inner(carray(self, 1)[0], carray(victim, 1)[0])
            except Exception:
                return number(_FAILED)
            return number(0)

        return on_collect

    check(record, number)

    @cfunc(number(state, number))
    def on_trim(self, page):  # type: ignore[no-untyped-def]
        try:
            inner(carray(self, 1)[0], page)
        except Exception:
            return number(_FAILED)
        return number(0)

    return on_trim


def _check_assigned(name: str, hook: str, typed: Any, record: Any) -> None:
    """Check that no fraction is assigned to a field of whole numbers, which would truncate it.

    Raises:
        WriteampError: a hook assigns a fraction to an attribute that begins as a whole number.
    """
    from numba.core import ir, types  # noqa: PLC0415 (an extra)

    for block in typed.blocks.values():
        for assignment in block.find_insts(ir.SetAttr):
            if typed.typemap[assignment.target.name] != record:
                continue
            initial, assigned = record.typeof(assignment.attr), typed.typemap[assignment.value.name]
            if isinstance(assigned, types.Float) and not isinstance(initial, types.Float):
                raise WriteampError(
                    f"{hook} of {name} assigns a fraction to {assignment.attr}, which starts as a "
                    "whole number; compiled code would truncate it. Start with "
                    f"self.{assignment.attr} = 0.0, or assign int(...)"
                )


def _first_words(error: Exception) -> str:
    """Return the first lines of a Numba error as one line without colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    message_lines = [
        line for line in lines if not line.startswith(("File ", "def ", "<", "During", "---"))
    ]
    return " ".join(message_lines[:3])[:300].rstrip(".")

"""Placements that Numba compiles, which the engine calls without Python.

The attributes of a placement become the fields of one NumPy record, and `self` in its methods is
that record: what they read and write means the same as in Python, so one class runs both ways.
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
from writeamp.errors import WriteampError
from writeamp.fields.domains import shown

_T = TypeVar("_T", bound=Callable[..., Any])

# What a compiled function returns that raised (FAILED in crates/python/src/custom/compiled.rs).
_FAILED = -(2**63)
_HOOKS = ("on_write", "on_migrate", "on_collect", "on_trim")
_PLACING = ("on_write", "on_migrate")

_compiling = Lock()


def compiled(of: _T) -> _T:
    """Have Numba compile a class of placements, or a function that its methods call.

    The methods are those of Python without its objects: numbers, booleans and arrays, loops,
    functions that are compiled too, and NumPy as Numba knows it. Attributes are set by the
    constructor, which stays Python. Where Numba is not installed, and as `Mine:compiled=no`, the
    same class is interpreted, which is slower and does the same.

    Returns:
        The class or function itself, marked for compilation.

    Raises:
        WriteampError: it is a victim policy, which chooses by whole arrays and gains nothing.

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
                f"{of.__qualname__} is no placement, and nothing else is compiled; derive it from "
                "writeamp.Placement"
            )
        of.is_compiled = True
        return of
    if not isfunction(of):
        raise WriteampError(f"{shown(of)} cannot be compiled; give a placement or a function")
    if not has_numba():
        return of
    import numba  # noqa: PLC0415 (an extra)

    found: _T = numba.njit(boundscheck=True)(of)
    return found


class CompiledInstance:
    """A placement of a drive, whose hooks are machine code."""

    def __init__(
        self, name: str, made: Placement, migration: list[int], logical_pages: int
    ) -> None:
        """Put its attributes into a record, and compile its hooks for such records.

        Raises:
            WriteampError: Numba is not installed, or cannot compile it.
        """
        if not has_numba():
            raise WriteampError(
                f"{name} is to be compiled by Numba, which is not installed: pip install "
                "'writeamp[numba]', or leave compiled=yes out"
            )
        self._name = name
        self._cls = type(made)
        self.streams = made.streams
        self.migration_streams = migration
        self._records = _record_of(name, made)
        self.memory = self._records.view(np.uint8).reshape(-1)
        with _compiling:  # Numba compiles one thing at a time anyway
            self._kept = _functions(name, self._cls, self._records.dtype)  # type: ignore[arg-type]
        self.functions = {hook: one.address for hook, one in self._kept.items()}
        self.page_tables = _tables(self._records.dtype, logical_pages)

    def again(self, hook: str, arguments: tuple[Any, ...]) -> Any:
        """Call a hook in plain Python, on the same state: its exception says where it failed."""
        record = self._records.view(np.recarray)[0]
        return getattr(self._cls, hook)(record, *arguments)

    def save(self) -> bytes:
        """Return all that it remembers."""
        return self.memory.tobytes()

    def restore(self, saved: bytes) -> None:
        """Have it remember what was saved, where the compiled functions look for it."""
        if len(saved) != self.memory.nbytes:
            raise WriteampError(f"the state is of another {self._name}: it has another size")
        self.memory[:] = np.frombuffer(saved, np.uint8)

    def bytes(self) -> int:
        """Return the bytes of its attributes."""
        return int(self.memory.nbytes)


def _tables(dtype: np.dtype[Any], logical_pages: int) -> list[tuple[int, int]]:
    """Return offset in a record and row size of each table with a row per logical page.

    The engine fetches those rows ahead of time.
    """
    return [
        (field[1], field[0].itemsize // logical_pages)
        for field in (dtype.fields or {}).values()
        if field[0].shape[:1] == (logical_pages,)
    ]


def _record_of(name: str, made: Placement) -> np.ndarray[Any, Any]:
    """Return a record whose fields are the attributes of a placement."""
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
                f"{key} of {name} is of type {type(value).__name__}; a placement that is compiled "
                "has numbers, booleans and arrays of them that are not empty"
            )
    # Nothing to remember is no record.
    fields = sorted(fields, key=len) or [("nothing", np.int64)]
    try:
        records = np.zeros(1, np.dtype(fields, align=True))
        for key, value in values.items():
            records[0][key] = value
    except (ValueError, OverflowError, MemoryError) as error:
        raise WriteampError(f"{name} cannot be compiled: {error}") from error
    return records


def _constants(cls: type[Placement]) -> dict[str, Any]:
    """Return the numbers among the attributes of a class, which its methods may read of `self`."""
    return {
        key: value
        for of in reversed(cls.__mro__[: cls.__mro__.index(Placement)])
        for key, value in vars(of).items()
        if isinstance(value, int | float) and not key.startswith("__") and key != "is_compiled"
    }


@lru_cache(maxsize=64)
def _functions(name: str, cls: type[Placement], dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the hooks of a class for such records, each a C function of Numba's."""
    import numba  # noqa: PLC0415 (an extra)

    if hasattr(cls, "on_migrate_all"):
        raise WriteampError(f"{name} has on_migrate_all, which is not for what is compiled")
    record = numba.from_dtype(dtype)
    victim = numba.from_dtype(
        np.dtype([(one, np.int64) for one in ("stream", "opened", "now")], align=True)
    )
    found = {}
    for hook in _HOOKS:
        method = getattr(cls, hook, None)
        if method is None:
            continue
        try:
            inner = numba.njit(boundscheck=True, error_model="python")(method)
            found[hook] = _c_function(name, hook, inner, (record, victim), cls.hears != "nothing")
        except WriteampError:
            raise
        except Exception as error:  # Numba has errors of its own, and others for some code
            raise WriteampError(
                f"{hook} of {name} cannot be compiled: {_first_words(error)}; "
                f"{name}:compiled=no runs it in plain Python"
            ) from error
    return found


def _c_function(name: str, hook: str, inner: Any, types_of: tuple[Any, Any], hears: bool) -> Any:
    """Return a hook as a C function that returns `_FAILED` for what raises."""
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
                f"{hook} of {name} returns {returned} when it is compiled; a stream is a whole "
                "number"
            )

    # Each is written out: what Numba compiles has no arguments of any number.
    if hook == "on_write" and hears:
        check(record, number, number, number)

        @cfunc(number(state, number, number, number))
        def on_write_hearing(self, page, now, hint):  # type: ignore[no-untyped-def]
            try:
                return number(inner(carray(self, 1)[0], page, now, hint))
            except Exception:
                return number(_FAILED)

        return on_write_hearing
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
    """Refuse what a field would cut: in Python the attribute would become a fraction.

    Raises:
        WriteampError: a hook assigns a fraction to an attribute that begins as a whole number.
    """
    from numba.core import ir, types  # noqa: PLC0415 (an extra)

    for block in typed.blocks.values():
        for said in block.find_insts(ir.SetAttr):
            if typed.typemap[said.target.name] != record:
                continue
            begun, assigned = record.typeof(said.attr), typed.typemap[said.value.name]
            if isinstance(assigned, types.Float) and not isinstance(begun, types.Float):
                raise WriteampError(
                    f"{hook} of {name} assigns a fraction to {said.attr}, which begins as a whole "
                    f"number and would be cut when it is compiled; begin with a fraction, as in "
                    f"self.{said.attr} = 0.0, or assign int(...)"
                )


def _first_words(error: Exception) -> str:
    """Return the first of what Numba says, on one line and without colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("File ", "def ", "<", "During", "---"))]
    return " ".join(told[:3])[:300].rstrip(".")

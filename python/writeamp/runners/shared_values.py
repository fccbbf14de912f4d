"""Values that all jobs of a runner share.

They are large, or cannot leave their process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import uuid4

_T = TypeVar("_T")

# In a process that does jobs for another one: the last value made there, by its name.
_made: dict[str, Any] = {}
_one_at_a_time = Lock()


class Shared(Generic[_T]):
    """A value to be bound to the work of all jobs. Only what makes it anew is pickled with it.

    Another process makes it when the first of its jobs needs it, and keeps it for the others.

    >>> import pickle
    >>> from functools import partial
    >>> pickle.loads(pickle.dumps(Shared(sum([1, 2]), partial(sum, [1, 2])))).value
    3
    """

    def __init__(self, value: _T, make: Callable[[], _T]) -> None:
        """Share a value.

        Args:
            value: for the jobs of this process.
            make: what makes it elsewhere, a `functools.partial` of a function of a module with
                plain values.
        """
        self.value = value
        self._elsewhere = _Elsewhere(uuid4().hex, make)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the stand-in for the value in another process."""
        return _Elsewhere, (self._elsewhere.name, self._elsewhere.make)


@dataclass(frozen=True)
class _Elsewhere(Generic[_T]):
    """A shared value where it came to."""

    name: str
    make: Callable[[], _T]

    @property
    def value(self) -> _T:
        with _one_at_a_time:
            if self.name not in _made:
                _made.clear()
                _made[self.name] = self.make()
            found: _T = _made[self.name]
            return found

"""Values that all jobs of a runner share because they are large or cannot be pickled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import uuid4

_T = TypeVar("_T")

# The value that this process made last for jobs of another process, by the value's name. Older
# values are dropped, since they are large.
_made: dict[str, Any] = {}
_one_at_a_time = Lock()


class Shared(Generic[_T]):
    """Value shared by all jobs; only the function that makes the value is pickled.

    Another process makes the value for its first job, and reuses it for later jobs.

    >>> import pickle
    >>> from functools import partial
    >>> pickle.loads(pickle.dumps(Shared(sum([1, 2]), partial(sum, [1, 2])))).value
    3
    """

    def __init__(self, value: _T, make: Callable[[], _T]) -> None:
        """Share a value.

        Args:
            value: the value, for jobs of this process.
            make: makes the value in another process: a `functools.partial` of a module-level
                function with plain values.
        """
        self.value = value
        self._elsewhere = _Elsewhere(uuid4().hex, make)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return how another process makes a proxy of the value."""
        return _Elsewhere, (self._elsewhere.name, self._elsewhere.make)


@dataclass(frozen=True)
class _Elsewhere(Generic[_T]):
    """Proxy of a shared value in another process; the value is made at its first use."""

    name: str
    make: Callable[[], _T]

    @property
    def value(self) -> _T:
        with _one_at_a_time:
            if self.name not in _made:
                _made.clear()
                _made[self.name] = self.make()
            value: _T = _made[self.name]
            return value

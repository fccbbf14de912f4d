"""Sources of users' policies, by which the engine gets an instance for each drive."""

from __future__ import annotations

from typing import Any

from writeamp.custom.compiling import CompiledInstance
from writeamp.custom.policies import DriveFacts, Placement
from writeamp.custom.references import CustomPolicy
from writeamp.custom.saving import packed, size_bytes, unpacked
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import shown

HEARS = ("nothing", "groups", "invalidation_times")
HOOKS = ("on_write", "on_migrate", "on_migrate_all", "on_collect", "on_trim")


class PolicySource:
    """Source of a user's policy, as the bindings (`crates/python/src/custom`) ask for it."""

    def __init__(self, policy: CustomPolicy) -> None:
        """Check what the class says of itself; `victims` is empty for victim policies."""
        # Compiled or not, it does the same, but its state is another.
        self.name = f"{policy.name} (compiled)" if policy.is_compiled else policy.name
        self.is_compiled = policy.is_compiled
        self.victims = ""
        self.hears = "nothing"
        self._policy = policy
        cls = policy.cls
        if issubclass(cls, Placement):
            if not isinstance(cls.hears, str) or cls.hears not in HEARS:
                raise unknown(f"hears of {policy.reference}", cls.hears, HEARS)
            self.hears = cls.hears
            self.victims = "greedy"  # in a drive, the library says which it is

    def build(self, **facts: int) -> Any:
        """Return a policy for a drive, as the bindings ask for it."""
        drive = DriveFacts(**facts)
        made = self._policy.cls(drive, **self._policy.given)
        name = self._policy.reference
        if not isinstance(made, Placement):
            return ChooserInstance(name, made)
        made.streams = _whole(name, "streams", made.streams)
        migration = migration_streams(name, made)
        if self.is_compiled:
            return CompiledInstance(name, made, migration, drive.logical_pages)
        return PlainInstance(name, made, migration)


def migration_streams(name: str, made: Placement) -> list[int]:
    """Return the streams for migrated pages that a placement says it has.

    Raises:
        WriteampError: they are no whole numbers.
    """
    given = made.migration_streams
    if given is None:
        return list(range(made.streams))
    try:
        return sorted({_whole(name, "migration_streams", one) for one in given})
    except TypeError:
        raise WriteampError(
            f"migration_streams of {name} is {shown(given)}; it must be a collection of streams, "
            "such as range(2, 6)"
        ) from None


def _whole(name: str, what: str, value: Any) -> int:
    is_whole = not isinstance(value, bool) and hasattr(value, "__index__")
    if not is_whole or not 0 <= int(value) <= 256:
        raise WriteampError(
            f"{what} of {name} is {shown(value)}; there are 1 to 256 streams, numbered from 0"
        )
    return int(value)


class ChooserInstance:
    """A victim policy of a drive."""

    def __init__(self, name: str, made: Any) -> None:
        """Take its method."""
        self._name = name
        self._made = made
        self.choose = made.choose

    def save(self) -> bytes:
        """Return all that it remembers."""
        return packed(self._name, self._made)

    def restore(self, saved: bytes) -> None:
        """Have it remember what was saved."""
        unpacked(self._name, self._made, saved)


class PlainInstance(ChooserInstance):
    """A placement of a drive, which Python interprets."""

    functions: dict[str, int] | None = None

    def __init__(self, name: str, made: Placement, migration: list[int]) -> None:
        """Take its hooks; those that it has not are left out."""
        self._name = name
        self._made = made
        self.streams = made.streams
        self.migration_streams = migration
        self.hooks = {hook: getattr(made, hook) for hook in HOOKS if hasattr(made, hook)}

    def bytes(self) -> int:
        """Return the bytes of its tables."""
        return size_bytes(self._made)

"""Sources of users' policies, from which the engine makes an instance for each drive."""

from __future__ import annotations

from typing import Any

from writeamp.custom.compiling import CompiledInstance
from writeamp.custom.policies import DriveFacts, Placement
from writeamp.custom.references import CustomPolicy
from writeamp.custom.saving import packed, size_bytes, unpacked
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import shown

HINTS = ("nothing", "groups", "invalidation_times")
HOOKS = ("on_write", "on_migrate", "on_migrate_all", "on_collect", "on_trim")


class PolicySource:
    """Source of a user's policy, with the interface that `crates/python/src/custom` expects."""

    def __init__(self, policy: CustomPolicy) -> None:
        """Check the declarations of the class; `victims` is empty for victim policies."""
        # Results do not depend on compilation, but the format of the saved state does, so both
        # have different names.
        self.name = f"{policy.name} (compiled)" if policy.is_compiled else policy.name
        self.is_compiled = policy.is_compiled
        self.victims = ""
        self.required_hints = "nothing"
        self._policy = policy
        cls = policy.cls
        if issubclass(cls, Placement):
            if not isinstance(cls.required_hints, str) or cls.required_hints not in HINTS:
                raise unknown(f"required_hints of {policy.reference}", cls.required_hints, HINTS)
            self.required_hints = cls.required_hints
            self.victims = (
                "greedy"  # only a placeholder: a drive gets its victim policy from `Policy`
            )

    def build(self, **facts: int) -> Any:
        """Return a policy instance for a drive; called by the bindings."""
        drive = DriveFacts(**facts)
        made = self._policy.cls(drive, **self._policy.arguments)
        name = self._policy.reference
        if not isinstance(made, Placement):
            return ChooserInstance(name, made)
        made.streams = _whole(name, "streams", made.streams)
        migration = migration_streams(name, made)
        if self.is_compiled:
            return CompiledInstance(name, made, migration, drive.logical_pages)
        return PlainInstance(name, made, migration)


def migration_streams(name: str, made: Placement) -> list[int]:
    """Return the declared streams of migrated pages; all streams if none are declared.

    Raises:
        WriteampError: not whole numbers.
    """
    declared = made.migration_streams
    if declared is None:
        return list(range(made.streams))
    try:
        return sorted({_whole(name, "migration_streams", stream) for stream in declared})
    except TypeError:
        raise WriteampError(
            f"migration_streams of {name} is {shown(declared)}; it must be a collection of "
            "streams, such as range(2, 6)"
        ) from None


def _whole(name: str, what: str, value: Any) -> int:
    is_whole = not isinstance(value, bool) and hasattr(value, "__index__")
    if not is_whole or not 0 <= int(value) <= 256:
        raise WriteampError(
            f"{what} of {name} is {shown(value)}; use 1 to 256 streams, numbered from 0"
        )
    return int(value)


class ChooserInstance:
    """A user's victim policy for one drive."""

    def __init__(self, name: str, made: Any) -> None:
        """Store the policy and its method `choose`."""
        self._name = name
        self._made = made
        self.choose = made.choose

    def save(self) -> bytes:
        """Return the state as bytes."""
        return packed(self._name, self._made)

    def restore(self, saved: bytes) -> None:
        """Restore a saved state."""
        unpacked(self._name, self._made, saved)


class PlainInstance(ChooserInstance):
    """A user's placement for one drive, run by the Python interpreter."""

    functions: dict[str, int] | None = None

    def __init__(self, name: str, made: Placement, migration: list[int]) -> None:
        """Store the placement and the hooks that it defines."""
        self._name = name
        self._made = made
        self.streams = made.streams
        self.migration_streams = migration
        self.hooks = {hook: getattr(made, hook) for hook in HOOKS if hasattr(made, hook)}

    def bytes(self) -> int:
        """Return the size of the attributes in bytes."""
        return size_bytes(self._made)

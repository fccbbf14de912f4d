"""Policy settings of a virtual drive, whose policies are the engine's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp import custom
from writeamp.errors import WriteampError
from writeamp.registry.entries import EngineKind, engine_entries
from writeamp.settings.settings import PolicySettings

_FIELDS: dict[EngineKind, str] = {"managers": "manager", "victims": "victims"}


@dataclass(frozen=True)
class BuiltInPolicySettings(PolicySettings):
    """Policy of a virtual drive; its server runs no Python."""

    title: ClassVar[str] = "policy"

    def __post_init__(self) -> None:
        """Refuse what is written in Python before it is imported, and check every field."""
        for kind, name in _FIELDS.items():
            given = getattr(self, name)
            if given is None or not (isinstance(given, type) or custom.is_users(kind, str(given))):
                continue
            words = given.__name__ if isinstance(given, type) else given
            raise WriteampError(
                f"{words} is written in Python, which the server of a virtual drive does not run; "
                f"give one of {', '.join(entry.name for entry in engine_entries(kind))}"
            )
        super().__post_init__()

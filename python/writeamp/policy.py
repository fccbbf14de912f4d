"""What a drive works by: its block manager, its victim policy and its wear leveller."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp import _engine
from writeamp.device import Device


@dataclass(frozen=True)
class Policy:
    """Specs of registered entries; `asked_victims` is None for the manager's own policy."""

    manager: str
    asked_victims: str | None
    wear_leveling: str | None

    @property
    def victims(self) -> str:
        """The victim policy: the one asked for, or else the manager's own."""
        return self.asked_victims or _engine.default_victims(self.manager)

    def facts(self) -> dict[str, str | None]:
        """Return the specs with the keys of `--json`."""
        return {
            "manager": self.manager,
            "victims": self.victims,
            "wear_leveling": self.wear_leveling,
        }

    def drive(self, device: Device) -> _engine.Drive:
        """Return a drive for the engine to build."""
        return _engine.Drive(
            geometry=device.geometry,
            logical_pages=device.logical_pages,
            layout=device.layout,
            manager=self.manager,
            victims=self.asked_victims,
            wear_leveling=self.wear_leveling,
        )

    def __str__(self) -> str:
        """Return the specs in a few words."""
        return ", ".join(filter(None, (self.manager, self.victims, self.wear_leveling)))

"""Policy of a drive: its block manager, its victim policy and its wear leveller."""

from __future__ import annotations

from dataclasses import dataclass, field

from writeamp._engine import Drive as EngineDrive
from writeamp.devices.device import Device
from writeamp.registry.declarations import default_victims, is_custom, source_of
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec, SpecLike


@dataclass(frozen=True)
class Policy:
    """Specs of registered entries; `asked_victims` is None for the manager's own policy.

    Two are equal if they mean the same, however they were asked for.
    """

    manager: str = field(compare=False)
    asked_victims: str | None = field(default=None, compare=False)
    wear_leveling: str | None = field(default=None, compare=False)
    meaning: tuple[str | None, ...] = field(init=False, repr=False)
    """The three specs in their one form."""

    def __post_init__(self) -> None:
        """Say what the specs mean."""
        asked: tuple[tuple[EngineKind, str | None], ...] = (
            ("managers", self.manager),
            ("victims", self.victims),
            ("wear_levelers", self.wear_leveling),
        )
        meaning = tuple(text and Spec.of(kind, text).canonical for kind, text in asked)
        object.__setattr__(self, "meaning", meaning)

    @staticmethod
    def of(manager: SpecLike, victims: SpecLike | None, wear_leveling: SpecLike | None) -> Policy:
        """Return the policy that specs say, or their texts."""
        return Policy(
            str(manager),
            None if victims is None else str(victims),
            None if wear_leveling is None else str(wear_leveling),
        )

    @property
    def victims(self) -> str:
        """The victim policy: the one asked for, or else the manager's own."""
        return self.asked_victims or default_victims(self.manager)

    @property
    def is_custom(self) -> bool:
        """Whether a user wrote a part of it in Python."""
        asked: tuple[tuple[EngineKind, str | None], ...] = (
            ("managers", self.manager),
            ("victims", self.victims),
        )
        return any(text is not None and is_custom(kind, text) for kind, text in asked)

    def facts(self) -> dict[str, str | None]:
        """Return the specs with the keys of `--json`."""
        return {
            "manager": self.manager,
            "victims": self.victims,
            "wear_leveling": self.wear_leveling,
        }

    def drive(
        self,
        device: Device,
        *,
        logical_pages: int | None = None,
        table_pages: int = 0,
        observed: bool = False,
        recorded: bool = False,
    ) -> EngineDrive:
        """Return a drive for the engine to build.

        Args:
            device: its shape.
            logical_pages: its own number of them, unless it is the device's.
            table_pages: the last of them, where they hold a mapping table in blocks of its own.
            observed: whether what is done to the flash is recorded, to be given a time.
            recorded: whether everything that happens is recorded, to be shown.
        """
        # A user's placement may name another's victim policy, or one of the engine's of its own.
        asked = self.victims if is_custom("managers", self.manager) else self.asked_victims
        return EngineDrive(
            geometry=device.geometry,
            logical_pages=device.logical_pages if logical_pages is None else logical_pages,
            layout=device.layout,
            manager=self.manager,
            victims=asked,
            wear_leveling=self.wear_leveling,
            observed=observed,
            recorded=recorded,
            table_pages=table_pages,
            own_manager=source_of("managers", self.manager),
            own_victims=source_of("victims", asked),
        )

    def __str__(self) -> str:
        """Return the specs in a few words."""
        return ", ".join(filter(None, (self.manager, self.victims, self.wear_leveling)))

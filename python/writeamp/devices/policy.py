"""Policy of a drive: its block manager, victim policy and wear leveller."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writeamp._engine import Drive as EngineDrive
from writeamp.devices.device import Device
from writeamp.registry.declarations import default_victims, is_custom, source_of
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec, SpecLike

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Policy:
    """Specs of a block manager, a victim policy and a wear leveller.

    A spec is a name with parameters, as text. `asked_victims` None selects the manager's own victim
    policy.

    Policies are compared by `meaning`, so that different spellings of a spec are equal.
    """

    manager: str = field(compare=False)
    asked_victims: str | None = field(default=None, compare=False)
    wear_leveling: str | None = field(default=None, compare=False)
    meaning: tuple[str | None, ...] = field(init=False, repr=False)
    """The three specs in canonical form."""
    own_pages: npt.NDArray[np.bool_] | None = field(default=None, compare=False, repr=False)
    """Logical pages that the manager writes to a stream of their own, shape (logical_pages,)."""

    def __post_init__(self) -> None:
        """Compute the canonical specs."""
        specs: tuple[tuple[EngineKind, str | None], ...] = (
            ("managers", self.manager),
            ("victims", self.victims),
            ("wear_levelers", self.wear_leveling),
        )
        meaning = tuple(text and Spec.of(kind, text).canonical for kind, text in specs)
        object.__setattr__(self, "meaning", meaning)

    @staticmethod
    def of(manager: SpecLike, victims: SpecLike | None, wear_leveling: SpecLike | None) -> Policy:
        """Return the policy of specs, which may be texts."""
        return Policy(
            str(manager),
            None if victims is None else str(victims),
            None if wear_leveling is None else str(wear_leveling),
        )

    @property
    def victims(self) -> str:
        """The requested victim policy, or else the manager's default."""
        return self.asked_victims or default_victims(self.manager)

    @property
    def is_custom(self) -> bool:
        """Whether the block manager or the victim policy is a user's Python class."""
        specs: tuple[tuple[EngineKind, str | None], ...] = (
            ("managers", self.manager),
            ("victims", self.victims),
        )
        return any(text is not None and is_custom(kind, text) for kind, text in specs)

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
        tags: int | None = None,
        counts_handles: bool = False,
    ) -> EngineDrive:
        """Return a drive for the engine to build.

        Args:
            device: shape of the drive.
            logical_pages: number of logical pages, if it differs from the device's.
            table_pages: logical pages at the end that hold the mapping table, in separate blocks.
            observed: True to record flash operations, for timed runs.
            recorded: True to record all events, for display.
            tags: number of the host's tags, to count operations by tag; None to count none.
            counts_handles: True to count operations by the manager's placement handles.
        """
        # The default victim policy of a user's placement may be a user's policy or an engine's.
        victims = self.victims if is_custom("managers", self.manager) else self.asked_victims
        return EngineDrive(
            geometry=device.geometry,
            logical_pages=device.logical_pages if logical_pages is None else logical_pages,
            layout=device.layout,
            manager=self.manager,
            victims=victims,
            wear_leveling=self.wear_leveling,
            observed=observed,
            recorded=recorded,
            table_pages=table_pages,
            own_manager=source_of("managers", self.manager),
            own_victims=source_of("victims", victims),
            tags=tags,
            own_pages=self.own_pages,
            counts_handles=counts_handles,
        )

    def __str__(self) -> str:
        """Return the specs, joined by commas."""
        return ", ".join(filter(None, (self.manager, self.victims, self.wear_leveling)))

"""Small drives for checks of policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from writeamp import custom
from writeamp._engine import Drive, Geometry, Load, Simulation
from writeamp.devices.geometry import LAYOUTS
from writeamp.registry.declarations import declared, default_victims, source_of
from writeamp.registry.entries import engine_entries
from writeamp.registry.specs import Spec

_LEVELERS = (None, *(entry.small for entry in engine_entries("wear_levelers")))
LOADS = ("hot-cold:f=0.2,r=0.8,trim=0.1", "uniform:trim=0.02", "sequential")

_LUNS = 2
_PAGES_PER_BLOCK = 16
_BATCH_PAGES = 97
# Blocks in addition to those that streams and wear levellers may occupy.
_MORE_BLOCKS = 40

# Counters of a run by name.
Counters = dict[str, int]


@dataclass(frozen=True)
class Rig:
    """A run of a policy on a small drive with two LUNs."""

    manager: Spec
    victims: Spec | None
    streams: int
    layout: str = "flat"
    leveler: str | None = None
    load: str = LOADS[0]
    seed: int = 1
    batch_pages: int = _BATCH_PAGES

    @staticmethod
    def of(manager: Spec, victims: Spec | None, seed: int) -> Rig:
        """Return a run of a policy on a flat drive with enough blocks for its streams.

        Raises:
            WriteampError: the construction of the policy failed.
        """
        source = source_of("managers", manager.text)
        streams = declared(manager.text)["needs"]["most_streams"]
        if source is not None:
            facts = {"logical_pages": 640, "blocks": 64, "pages_per_block": _PAGES_PER_BLOCK}
            streams = source.build(**facts, seed=seed).streams
        return Rig(manager, victims, streams, seed=seed)

    def variants(self) -> Iterator[Rig]:
        """Yield the run in each layout with each wear leveller; the loads alternate."""
        for layout in LAYOUTS:
            for at, leveler in enumerate(_LEVELERS):
                load = LOADS[at % len(LOADS)]
                yield replace(self, layout=layout, leveler=leveler, load=load)

    @property
    def place(self) -> str:
        """Description of the run's drive and load, for sentences."""
        leveler = f" with the wear leveller {self.leveler}" if self.leveler else ""
        return f"on the layout {self.layout}{leveler} under {self.load}"

    @property
    def writes(self) -> int:
        """Host pages of the run: four times the logical pages."""
        return 4 * self._logical_pages

    @property
    def _blocks(self) -> int:
        # Each stream has an open and a reserved block; wear leveller dual-pool reserves more.
        return _LUNS * (2 * self.streams + 12) + 4 * _MORE_BLOCKS

    @property
    def _logical_pages(self) -> int:
        return 3 * _MORE_BLOCKS * _PAGES_PER_BLOCK

    def new(self) -> Simulation:
        """Return the simulation before its first write."""
        victims = default_victims(self.manager.text) if self.victims is None else self.victims.text
        geometry = Geometry(
            channels=_LUNS,
            chips_per_channel=1,
            dies_per_chip=1,
            planes_per_die=1,
            blocks_per_plane=self._blocks // _LUNS,
            pages_per_block=_PAGES_PER_BLOCK,
        )
        drive = Drive(
            geometry=geometry,
            logical_pages=self._logical_pages,
            layout=self.layout,
            manager=self.manager.text,
            victims=victims,
            wear_leveling=self.leveler,
            own_manager=source_of("managers", self.manager.text),
            own_victims=source_of("victims", victims),
        )
        load = Load.spec(self.load, self._logical_pages)
        return Simulation(drive, load, seed=self.seed, batch_pages=self.batch_pages)

    def filled(self) -> Simulation:
        """Return the simulation after each page was written once."""
        run = self.new()
        run.fill(0, self._logical_pages)
        return run

    def done(self) -> tuple[Counters, bytes]:
        """Return the counters of the whole run, and its final state."""
        run = self.filled()
        run.run(self.writes)
        run.assert_invariants()
        return run.counters(), run.save()


def is_compiled(manager: Spec) -> bool:
    """Return whether a manager is a placement that Numba compiles."""
    policy = custom.find("managers", manager.text)
    return policy is not None and policy.is_compiled

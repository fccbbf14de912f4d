"""Published pairs: WA of a flash cache on the same kind of drive with FDP and without.

Sources: Allison et al. (EuroSys '25), printed figures; and the endurance-group logs of WARP's
artifact (FAST '26), media bytes ÷ host bytes in the last fifth of a run.
"""

from __future__ import annotations

from dataclasses import dataclass

# Over-provisioning of the drives. No op is published; two drives of WARP have 0.17 and 0.37 if
# their WA under random writes of 128 KiB is that of the Expected Value model. Space that the cache
# leaves unused and trimmed has the same effect as op.
OPS = (0.07, 0.1, 0.15, 0.2, 0.28, 0.37)

# Share of the written pages that go to the small-object cache: not published for any trace.
OF_KEYS_AND_VALUES = (0.1, 0.2, 0.33, 0.5, 0.66)
# Other traces may write hardly any small objects. A share of 0 would always give a WA of 1.
OF_ANY_OBJECTS = (0.01, *OF_KEYS_AND_VALUES)


@dataclass(frozen=True)
class Unknowns:
    """Values of inputs that a publication does not state; a band is computed over all of them.

    Attributes:
        socs: shares of the small-object cache in the space of the whole cache.
        soc_writes: shares of the written pages that go to the small-object cache.
        old_data: shares of the drive that hold data that are never written again. Unused space
            holds such data if it was used before and is not trimmed.
        ops: over-provisioning ratios, with unused space that is trimmed.
    """

    socs: tuple[float, ...]
    soc_writes: tuple[float, ...] = OF_KEYS_AND_VALUES
    old_data: tuple[float, ...] = (0.0,)
    ops: tuple[float, ...] = OPS

    def __str__(self) -> str:
        """Return the ranges as text."""
        texts = [f"op {_span(self.ops)}", f"soc_writes {_span(self.soc_writes)}"]
        if len(self.socs) > 1:
            texts.append(f"soc {_span(self.socs)}")
        if self.old_data != (0.0,):
            texts.append(f"old data on {_span(self.old_data)} of the drive")
        return ", ".join(texts)


@dataclass(frozen=True)
class Pair:
    """Published WA with FDP and without; None if not published.

    `decimals` is the number of printed decimals of each.
    """

    name: str
    with_fdp: float | None
    without_fdp: float | None
    unknowns: Unknowns
    decimals: tuple[int, int] = (3, 3)


def _span(values: tuple[float, ...]) -> str:
    return f"{min(values):g} to {max(values):g}" if len(values) > 1 else f"{values[0]:g}"


def _warp(trace: str, soc: int, with_fdp: float, without_fdp: float) -> Pair:
    name = f"WARP, {trace}, SOC {soc}%"
    return Pair(name, with_fdp, without_fdp, Unknowns((soc / 100,)))


# Half of the drive is unused. Either it is trimmed, so that it counts as op (1.07/0.5 − 1 and
# more), or it holds old data. The share of 4% may be that of the cache or that of the drive.
_HALF = Unknowns((0.04, 0.08), old_data=(0.0, 0.5), ops=(0.07, 0.1, 0.15, 0.2, 0.28, 0.37, 1.14))

PAIRS = (
    Pair("EuroSys '25, SOC 4%, 50% utilization", 1.03, 1.3, _HALF, (2, 1)),
    Pair("EuroSys '25, SOC 4%, 100% utilization", 1.03, 3.5, Unknowns((0.04,)), (2, 1)),
    Pair("EuroSys '25, SOC 64%, 100% utilization", 2.5, None, Unknowns((0.64,)), (1, 1)),
    _warp("KV 2022-06", 4, 1.021, 3.562),
    _warp("KV 2022-06", 20, 1.184, 2.961),
    _warp("KV 2022-06", 40, 1.616, 2.925),
    _warp("KV 2022-10", 4, 1.005, 1.463),
    _warp("KV 2022-10", 20, 1.258, 3.546),
    _warp("KV 2024", 4, 1.000, 2.746),
    _warp("KV 2024", 20, 1.314, 2.395),
    Pair("WARP, Twitter cluster 12", 1.002, 1.845, Unknowns((0.04, 0.2, 0.4), OF_ANY_OBJECTS)),
)

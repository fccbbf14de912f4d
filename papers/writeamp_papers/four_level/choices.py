"""Joint readings (interpretations) of paper 5: one set of choices for all of its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from writeamp_papers.readings import Reading

# Unit of address mapping and programming: what one low time of a pin programs ("pair": 4 KiB on
# SSD-v, 8 KiB of two planes on the others), a page of one plane ("page"), or one program on every
# die at once ("stripe").
Mapping: TypeAlias = Literal["pair", "page", "stripe"]

_PS_AT_10_MHZ = 100_000
_PS_AT_100_KHZ = 10_000_000


@dataclass(frozen=True)
class Firmware:
    """Firmware of a drive and sampling of its pins; a reading uses the same in all figures.

    Attributes:
        mapping: unit of address mapping and programming (`Mapping`).
        caches_data: whether the drive's memory caches host writes.
        read_share: share of the cache that reads take under a load of reads and writes.
        flash_of_ssd_i: the drive of Table I whose flash times SSD-I has.
        period_ps: time between two samples of a pin, in ps.
    """

    mapping: Mapping
    caches_data: bool = True
    read_share: float = 0.5
    flash_of_ssd_i: str = "ssd-i"
    period_ps: int = _PS_AT_10_MHZ


@dataclass(frozen=True)
class Choices:
    """Choices of one reading (interpretation of the paper), as parameters of the runs.

    Attributes:
        firmware: firmware of every drive.
        is_emptied: whether SSD-v is empty before each workload of Figs. 5 and 6.
        op_is_physical: whether the drive of Fig. 9 has only flash for the disk partition plus
            2.8 GiB, instead of 40 GiB.
        has_initial_data: whether the disk partition of Fig. 9 is written once before the sub-tests.
        sub_tests_a_trace: sub-tests of Figs. 10 and 11 into which the written bytes of a trace
            are divided; None if each sub-test writes 5 GiB.
    """

    firmware: Firmware
    is_emptied: bool = False
    op_is_physical: bool = False
    has_initial_data: bool = True
    sub_tests_a_trace: int | None = None


_PAIR = Firmware("pair")
CHOICES: dict[str, Choices] = {
    "5-A as carried out, pair": Choices(_PAIR),
    "5-B page": Choices(
        Firmware("page", read_share=0, flash_of_ssd_i="ssd-v", period_ps=_PS_AT_100_KHZ),
        has_initial_data=False,
        sub_tests_a_trace=15,
    ),
    "5-C stripe": Choices(Firmware("stripe", caches_data=False)),
    "5-D label": Choices(_PAIR, is_emptied=True, op_is_physical=True),
}
PAIR, PAGE, STRIPE, LABEL = CHOICES

_COMMON = {
    "GB, MB/s": "2^30 and 2^20 bytes",
    "span": "the whole user space",
    "before Figs. 7, 8, 10 and 11": "filled once, then 4 KiB random writes of 1.33 times the "
    "user space",
    "volume": "2 GiB per workload of Figs. 5 and 6, 5 GiB of Figs. 7 to 9",
    "benchmark of Fig. 9": "random 4 KiB writes, aligned, one outstanding",
    "replay": "as fast as the drive answers, repeated from the start",
    "read disturb": "none",
    "mapping table": "in memory up to the size in the profile, the rest on flash",
}


def _reading(name: str) -> Reading:
    choices = CHOICES[name]
    firmware = choices.firmware
    return Reading(
        name,
        {
            "mapping and program unit": {
                "pair": "pages programmed in one low time of a die: 4 KiB (SSD-v), 8 KiB (others)",
                "page": "4 KiB; two-plane programs take two unrelated pages",
                "stripe": "one program on every die: 16 KiB (SSD-v), 80 KiB (SSD-I), 128 KiB",
            }[firmware.mapping],
            "write cache": "holds writes" if firmware.caches_data else "none for data",
            "reads": "reads take half of the cache in mixed loads"
            if firmware.read_share
            else "not cached",
            "flash of SSD-I": "those of "
            + firmware.flash_of_ssd_i.upper().replace("SSD-V", "SSD-v"),
            "pin": f"sampled at {1e9 / firmware.period_ps:g} kHz",
            "before Figs. 5 and 6": "emptied before each"
            if choices.is_emptied
            else "filled once, then all workloads in turn",
            "flash of a partition": "partition and 2.8 GiB" if choices.op_is_physical else "40 GiB",
            "initial data": "the partition is written once in order"
            if choices.has_initial_data
            else "none",
            "sub-test of a trace": "5 GiB"
            if choices.sub_tests_a_trace is None
            else f"1/{choices.sub_tests_a_trace} of the trace's written bytes",
            **_COMMON,
        },
    )


READINGS = tuple(_reading(name) for name in CHOICES)


def by_reading(value: Callable[[Choices], float]) -> dict[str, float]:
    """Return a value under the choices of each joint reading."""
    return {name: value(choices) for name, choices in CHOICES.items()}

"""Figures 7 and 8: micro-benchmarks with 50% and 100% of writes on steady drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from writeamp.plots import FigureSpec
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.four_level import figures
from writeamp.reproduce.four_level.drives import Counts, Life, Scale
from writeamp.reproduce.four_level.loads import PAGE_BYTES, SECTOR_BYTES, SIZES, Access, grid
from writeamp.reproduce.items import Item, OpenDetail, at_most, compared

DRIVES = ("ssd-i", "ssd-m", "ssd-s")
_SHARES = (1.0, 0.5)

# Section V.B.1: "The average value of write amplification is anywhere between 1 and 5 except for
# the workload where request size is 512 bytes. In the random case, […] is between 10 and 50."
_SEQUENTIAL, _RANDOM = (1.0, 5.0), (10.0, 50.0)
# Random accesses with half of them writes: 110 to 150 on SSD-I, 85 to 90 on SSD-M.
_RANDOM_50 = {"ssd-i": (110.0, 150.0), "ssd-m": (85.0, 90.0)}

# One access decides each of the values; the sizes tell the rest.
_TYPICAL = 4096

# The random writes of the twelve hours pass without time; the last of them take it, so that caches
# are filled and collection in the background has come to rest.
_STEADY = Access(_TYPICAL, is_random=True, write_share=1, is_aligned=True)
_WARM_UP_SHARE = 0.02

_COARSE_UNITS = (16_384, 65_536)
_SMALL_CACHE = ("write_cache.bytes=32768", "map_cache.bytes=32768")
_OTHER_VOLUMES = (0.25, 2.0)


@dataclass(frozen=True)
class Form:
    """Drives at a scale, aged by random writes, and what each micro-benchmark writes.

    `ageing_writes` and the volumes are shares of what the host sees. Random accesses meet the drive
    as it is, so few suffice; sequential ones change it, and their volume decides the mean.
    """

    scale: Scale
    ageing_writes: float
    random_share: float
    sequential_share: float
    most_small_writes: int

    def volume(self, access: Access, capacity_bytes: int) -> int:
        """Return the bytes that an access writes; of the smallest, no more than so many."""
        share = self.random_share if access.is_random else self.sequential_share
        volume = round(share * capacity_bytes)
        if access.size > SECTOR_BYTES:
            return volume
        return min(volume, self.most_small_writes * access.size)


FULL = Form(Scale(16, 64), 4, 0.05, 1.0, 400_000)
SHORT = Form(Scale(256, 8), 3, 0.05, 1.0, 6_000)

_Key = tuple[str, Access]
_Found = Mapping[_Key, Counts]


def run(bench: Bench) -> Findings:
    """Run Table II's micro-benchmarks on the three drives, each in its random steady state."""
    form = FULL if bench.full else SHORT
    keys = [(name, access) for name in DRIVES for access in grid((True, False), _SHARES)]
    bench.step(f"{len(keys)} micro-benchmarks on steady drives (Figs. 7 and 8)")
    done = bench.map(_counts, [(name, access, form) for name, access in keys])
    found = dict(zip(keys, done, strict=True))
    items = [
        *_orders(found),
        *_reads(found),
        *_drives(found, form),
        *_alignment(found, form),
        *_values(found, form),
    ]
    return Findings(items, _figures(found, form) if bench.figures else {})


def _counts(
    name: str,
    access: Access,
    form: Form,
    unit_bytes: int = PAGE_BYTES,
    changes: tuple[str, ...] = (),
) -> Counts:
    drive = form.scale.device(name, *changes, unit_bytes=unit_bytes)
    space, warm_up = drive.capacity_bytes, round(_WARM_UP_SHARE * drive.capacity_bytes)
    life = Life(drive, _STEADY.load(space, warm_up, seed=1), ageing_writes=form.ageing_writes)
    life.settle()
    return life.go_on(access.load(space, form.volume(access, space), seed=2))


def _orders(found: _Found) -> list[Item]:
    """Return what is said of order and size on each drive."""
    items = []
    for name in DRIVES:
        for share in _SHARES:
            figure = _figure(share)
            random = _chosen(found, name, share, lambda one: one.is_random)
            sequential = _chosen(found, name, share, lambda one: not one.is_random)
            items.append(
                at_most(
                    f"{figure}, {name}: sequential WA over random, largest of all sizes",
                    1,
                    max(
                        sequential[one] / random[replace(one, is_random=True)] for one in sequential
                    ),
                )
            )
            for order, values in (("sequential", sequential), ("random", random)):
                small = max(wa for one, wa in values.items() if one.size == min(SIZES))
                large = max(wa for one, wa in values.items() if one.size > min(SIZES))
                items.append(
                    at_most(
                        f"{figure}, {name}: largest {order} WA of 4K to 32K over that of 512",
                        1,
                        large / small,
                        note=f"{large:.2f} and {small:.2f}",
                    )
                )
    return items


def _reads(found: _Found) -> list[Item]:
    """Say that WA with 50% of writes is above that with 100%."""
    items = []
    for name in DRIVES:
        all_writes = _chosen(found, name, 1.0, lambda one: one.is_random)
        half = {
            replace(one, write_share=1.0): wa
            for one, wa in _chosen(found, name, 0.5, lambda one: one.is_random).items()
        }
        items.append(
            at_most(
                f"Figs. 7 and 8, {name}: random WA of 100% writes over that of 50%, mean",
                1,
                sum(all_writes[one] / half[one] for one in half) / len(half),
                note="reads push entries out of the mapping table's cache, and disturb blocks",
            )
        )
    return items


def _drives(found: _Found, form: Form) -> list[Item]:
    """Say that the smaller cache is the worse."""
    items = []
    for share in _SHARES:
        access = replace(_STEADY, write_share=share)
        wa = {name: found[name, access].wa for name in DRIVES}
        coarse = _counts("ssd-s", access, form, _COARSE_UNITS[0]).wa
        small = _counts("ssd-m", access, form, changes=_SMALL_CACHE).wa
        figure = f"{_figure(share)}, random 4K"
        items += [
            at_most(
                f"{figure}: WA of SSD-M (cache 128 MB) over SSD-I (32 MB)",
                1,
                wa["ssd-m"] / wa["ssd-i"],
            ),
            at_most(
                f"{figure}: WA of SSD-M over the same with SSD-S's cache of 32 KB",
                1,
                wa["ssd-m"] / small,
                note=f"{wa['ssd-m']:.2f} and {small:.2f}",
            ),
            at_most(
                f"{figure}: WA of SSD-I over SSD-S (32 KB, but twice the over-provisioning)",
                1,
                wa["ssd-i"] / wa["ssd-s"],
                open_detail=OpenDetail(
                    "the unit of mapping of SSD-S, whose 32 KB hold a thousandth of a page table",
                    "4 KiB",
                    {
                        "by 4 KiB": wa["ssd-i"] / wa["ssd-s"],
                        "SSD-S by 16 KiB": wa["ssd-i"] / coarse,
                    },
                ),
            ),
        ]
    return items


def _alignment(found: _Found, form: Form) -> list[Item]:
    """Say that alignment matters below 4 KiB only."""
    items = []
    for share in _SHARES:
        for is_random in (False, True):
            order = "random" if is_random else "sequential"
            effect = {
                size: max(
                    _relative(found, name, Access(size, is_random, share, is_aligned=True))
                    for name in DRIVES
                )
                for size in SIZES
            }
            largest = max(value for size, value in effect.items() if size > min(SIZES))
            sizes = ", ".join(f"{size}: {value:.2f}" for size, value in effect.items())
            items.append(
                at_most(
                    f"{_figure(share)}: WA by alignment, {order}, largest ratio from 4K on",
                    1.25,
                    largest,
                    note=f'"rarely" dramatic; by size {sizes}',
                    open_detail=_unit(largest, share, is_random, form),
                )
            )
    return items


def _relative(found: _Found, name: str, aligned: Access) -> float:
    """Return WA with one alignment over that with the other, whichever is larger."""
    ratio = found[name, replace(aligned, is_aligned=False)].wa / found[name, aligned].wa
    return max(ratio, 1 / ratio)


def _unit(ours: float, share: float, is_random: bool, form: Form) -> OpenDetail:
    """Return what the unit of mapping decides of alignment."""
    by_sector = [
        _counts("ssd-m", Access(_TYPICAL, is_random, share, is_aligned), form, SECTOR_BYTES).wa
        for is_aligned in (True, False)
    ]
    return OpenDetail(
        "the unit of mapping",
        "4 KiB, of which an access that is not aligned touches one more",
        {"by 4 KiB": ours, "by sectors (SSD-M at 4K)": max(by_sector) / min(by_sector)},
    )


def _values(found: _Found, form: Form) -> list[Item]:
    """Compare what levels the text states."""
    items = []
    for name in DRIVES:
        for share in _SHARES:
            figure = _figure(share)
            large = [
                wa
                for one, wa in _chosen(found, name, share, lambda one: not one.is_random).items()
                if one.size > min(SIZES)
            ]
            mean = sum(large) / len(large)
            low, high = _SEQUENTIAL
            items.append(
                compared(
                    f"{figure}, {name}: mean sequential WA, 4K to 32K ({low:g} to {high:g})",
                    (low + high) / 2,
                    mean,
                    (high - low) / 2,
                    open_detail=_volume(name, share, mean, form),
                )
            )
            typical = Access(_TYPICAL, is_random=True, write_share=share, is_aligned=True)
            low, high = _RANDOM if share == 1 else _RANDOM_50.get(name, _RANDOM)
            ours = found[name, typical]
            items.append(
                compared(
                    f"{figure}, {name}: random 4K WA ({low:g} to {high:g})",
                    (low + high) / 2,
                    ours.wa,
                    (high - low) / 2,
                    note=f"pages a host page: {ours.causes()}",
                    open_detail=_firmware(name, typical, ours.wa, form),
                )
            )
    return items


def _volume(name: str, share: float, ours: float, form: Form) -> OpenDetail:
    """Return what the volume decides of sequential writes, which tidy a drive up."""
    largest = Access(max(SIZES), is_random=False, write_share=share, is_aligned=True)
    others = {
        f"{times:g} times that, at 32K": _counts(
            name, largest, replace(form, sequential_share=times * form.sequential_share)
        ).wa
        for times in _OTHER_VOLUMES
    }
    return OpenDetail(
        "how much is written to a drive that random writes have left",
        f"{form.sequential_share:g} times its size",
        {"so": ours, **others},
    )


def _firmware(name: str, access: Access, ours: float, form: Form) -> OpenDetail:
    """Return what coarser mapping makes of an access: 4 KiB of random writes rewrite a unit."""
    coarse = {
        f"by {unit // 1024} KiB": _counts(name, access, form, unit).wa for unit in _COARSE_UNITS
    }
    return OpenDetail(
        "what the firmware maps by (pages, or the blocks and hybrids that section II.A names)",
        "pages of 4 KiB, greedy collection",
        {"by 4 KiB": ours, **coarse},
    )


def _chosen(
    found: _Found, name: str, share: float, is_chosen: Callable[[Access], bool]
) -> dict[Access, float]:
    return {
        access: counts.wa
        for (of_drive, access), counts in found.items()
        if of_drive == name and access.write_share == share and is_chosen(access)
    }


def _figure(share: float) -> str:
    return "Fig. 8" if share == 1 else "Fig. 7"


def _figures(found: _Found, form: Form) -> dict[str, FigureSpec]:
    wa = {key: counts.wa for key, counts in found.items()}
    subtitle = (
        f"paper 5, Figs. 7 and 8 · drives at 1/{form.scale.factor} of their size after random "
        f"writes of {form.ageing_writes:g} times theirs"
    )
    return {"fig7-8-micro-benchmarks": figures.micro_benchmarks(wa, DRIVES, subtitle)}

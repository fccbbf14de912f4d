"""Scaled-down drives that are simulated for a requested capacity (docs/capacity.md)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from writeamp._engine import scaled_policy, scaled_workload
from writeamp.devices.device import Device
from writeamp.devices.device import device as build_device
from writeamp.errors import WriteampError
from writeamp.registry.declarations import TABLED, ZONED, is_custom
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec, SpecLike
from writeamp.runs.capacity_error import Scale
from writeamp.settings.compared import PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import EnduranceSettings, PolicySettings
from writeamp.text import Detail
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.ratios import logical_of

# A drive of at most `_MOST_PAGES` pages is simulated at full size. A larger one is simulated at
# 1/64 of its size, but within these bounds, which keep runs at seconds and hundreds of megabytes.
_SHARE = 64
_FEWEST_PAGES = 2**19
_MOST_PAGES = 2**21
# Open blocks take spare space. With one of them, WA of the smallest drive differs by less than 0.1%
# from WA of the largest; with those of other managers, by more than 1%.
_MANAGERS_OF_ONE_OPEN_BLOCK = {"single"}
# A drive needs at least this many blocks, also per LUN if each LUN has its own pool. If blocks are
# large, the drive may therefore have more pages than the maximum above.
_FEWEST_BLOCKS = 2048
_FEWEST_BLOCKS_PER_LUN = 256
_MOST_PAGES_FOR_BLOCKS = 2**23
# With zones or reclaim units, the erase unit is scaled like the drive, so that the ratio of zone to
# erase unit, and the number of reclaim units, are kept. Blocks keep at least this number of pages,
# because WA of smaller blocks differs. They have fewer only on the drive of the scaling error,
# where another ratio would change WA much more.
_FEWEST_PAGES_PER_BLOCK = 64
# Ratios of table to erase unit that differ by less than this count as equal.
_SAME_RATIO = 0.01
# A lifetime run programs each page once per erase that a block endures, in each replica. The first
# bound limits the programs of all replicas, but a drive keeps at least the second number of blocks.
_MOST_PROGRAMS_OF_LIVES = 2**30
_FEWEST_BLOCKS_OF_LIVES = 512


def scale_of(experiment: Experiment) -> Scale | None:
    """Return the sizes of the simulated drive and the requested capacity, and their ratio.

    Returns None if no capacity is requested, or the settings state the simulated size itself.

    Raises:
        WriteampError: the drive is not a flash drive, or the capacity is too small.
    """
    settings = experiment.device
    if settings.capacity is None or settings.counts_size:
        return None
    drive = build_device(settings.base, **settings.overrides())
    if drive.kind != "flash":
        raise WriteampError(
            f"{drive.name} is a {drive.kind}; capacity is for flash drives, whose WA is "
            "the same on a smaller drive"
        )
    pages = settings.capacity // drive.page_bytes
    if pages == 0:
        raise WriteampError(
            f"capacity is {settings.capacity} bytes; it must be at least a page of "
            f"{drive.page_bytes} bytes"
        )
    simulated = _simulated_pages(drive, pages, experiment)
    if simulated >= pages:
        return Scale(settings.capacity, pages * drive.page_bytes, 1.0)
    factor, unit_factor = pages / simulated, 1.0
    if _scales_units(experiment):
        block_pages, unit_factor = _scaled_blocks(drive, factor)
        rounding = _pages_of_program(drive) / 2
        if block_pages <= drive.pages_per_block / factor + rounding:
            # Blocks are whole pages. The drive and its zones keep their exact ratio to them.
            factor, simulated = unit_factor, round(pages / unit_factor)
    _, not_scaled = _policy(experiment.policy, factor, unit_factor)
    return Scale(
        settings.capacity,
        simulated * drive.page_bytes,
        factor,
        (*not_scaled, *_tables_not_scaled(experiment, factor, unit_factor)),
        unit_factor,
    )


def at_scale(experiment: Experiment, scale: Scale, smaller: int = 1) -> Experiment:
    """Return the experiment on the scaled-down drive.

    Numbers of writes and blocks are divided like pages, and workloads keep the write frequency of
    each share of the pages.

    Args:
        experiment: requested experiment.
        scale: scale of the drive.
        smaller: further divisor of the drive's size and of all numbers. If erase units are scaled,
            the divisor is that of whole blocks, if the scale keeps the number of blocks.

    Raises:
        WriteampError: the workload, or a number of writes, cannot be scaled.
    """
    if scale.is_exact and smaller == 1:
        return _sized(experiment, scale.capacity_bytes)
    factor, simulated_bytes = scale.factor * smaller, scale.simulated_bytes // smaller
    load = experiment.load
    block_pages, unit_factor = None, 1.0
    if _scales_units(experiment):
        settings = experiment.device
        drive = build_device(settings.base, **settings.overrides())
        # A block of one program cannot be smaller.
        can_shrink = round(drive.pages_per_block / scale.unit_factor) > _pages_of_program(drive)
        keeps_ratio = scale.factor == scale.unit_factor and can_shrink
        fewest = 1 if keeps_ratio else _FEWEST_PAGES_PER_BLOCK
        block_pages, unit_factor = _scaled_blocks(drive, factor, fewest)
        if keeps_ratio:
            # Blocks are whole programs, so this drive is not smaller by exactly `smaller`.
            factor = unit_factor
            simulated_bytes = round(scale.simulated_bytes * scale.factor / factor)
    texts = [scaled_workload(workload.text, factor, unit_factor) for workload in load.workloads]
    scaled = [Spec.of("workloads", text) for text in texts]
    if scaled:
        scaled_load: Any = scaled if len(scaled) > 1 else scaled[0]
        load = replace(load, workload=scaled_load)
    run = experiment.run
    if not isinstance(run, EnduranceSettings):
        changes = {
            name: _writes(name, getattr(run, name), factor)
            for name in ("writes", "warmup")
            if isinstance(getattr(run, name, None), int)
        }
        run = replace(run, **changes)  # type: ignore[arg-type]
    sized = _sized(experiment, simulated_bytes, block_pages)
    policy, _ = _policy(experiment.policy, factor, unit_factor)
    return replace(sized, load=load, policy=policy, run=run)


def notes_of(experiment: Experiment, simulated: Experiment, scale: Scale) -> tuple[str, ...]:
    """Return notes on the simulated size, and on how workloads and policies were scaled."""
    if scale.is_exact:
        return ()
    size = Detail(
        f"a drive of {shown_bytes(scale.simulated_bytes)} is simulated for the requested "
        f"{shown_bytes(scale.capacity_bytes)}, which is {scale.factor:.4g} times as large; give "
        "--size to simulate the full size"
    )
    notes: list[str] = [size]
    requested = [*experiment.load.workloads, *_specs(experiment.policy)]
    scaled = [*simulated.load.workloads, *_specs(simulated.policy)]
    for spec, scaled_spec in dict(zip(requested, scaled, strict=True)).items():
        if spec.name == "fio":
            notes.append(
                f"on the smaller drive, the bytes and requests of the fio jobs are divided by "
                f"{scale.factor:.4g}; block sizes stay"
            )
        elif spec != scaled_spec:
            notes.append(f"on the smaller drive, {spec} is simulated as {scaled_spec}")
    return tuple(notes)


def _policy(
    policy: PolicySettings | PoliciesSettings, factor: float, unit_factor: float
) -> tuple[PolicySettings | PoliciesSettings, list[str]]:
    """Return scaled policies, and sentences on policy parameters that stay unscaled.

    Args:
        policy: requested policies.
        factor: divisor of the drive's pages.
        unit_factor: divisor of the pages of an erase unit.
    """
    kinds: dict[str, EngineKind] = {
        "manager": "managers",
        "managers": "managers",
        "victims": "victims",
        "wear_leveling": "wear_levelers",
    }
    sentences: dict[str, None] = {}

    def scaled(kind: EngineKind, spec: SpecLike) -> Spec:
        requested = Spec.of(kind, spec)
        if is_custom(kind, requested.text):
            if requested.values:
                sentences[
                    f"the parameters of {requested.name} are not scaled to the smaller drive"
                ] = None
            return requested
        text, not_scaled = scaled_policy(kind, requested.text, factor, unit_factor)
        sentences.update(dict.fromkeys(not_scaled))
        result = Spec.of(kind, text)
        return requested if result == requested else result

    changes: dict[str, Any] = {}
    for name, kind in kinds.items():
        specs = getattr(policy, name, None)
        if isinstance(specs, tuple):
            changes[name] = _distinct(specs, tuple(scaled(kind, spec) for spec in specs))
        elif specs is not None:
            changes[name] = scaled(kind, specs)
    return replace(policy, **changes), list(sentences)


def _distinct(requested: tuple[Spec, ...], scaled: tuple[Spec, ...]) -> tuple[Spec, ...]:
    """Return specs scaled to a smaller drive; reject two specs that become equal."""
    first_of: dict[Spec, Spec] = {}
    for spec, scaled_spec in zip(requested, scaled, strict=True):
        first = first_of.setdefault(scaled_spec, spec)
        if first != spec:
            raise WriteampError(
                f"{first} and {spec} are both simulated as {scaled_spec} on the smaller drive; "
                "give only one of them, or give --size"
            )
    return scaled


def _specs(
    policy: PolicySettings | PoliciesSettings,
    names: tuple[str, ...] = ("manager", "managers", "victims", "wear_leveling"),
) -> list[Spec]:
    specs: list[Spec] = []
    for name in names:
        value = getattr(policy, name, None)
        if value is not None:
            specs += value if isinstance(value, tuple) else (value,)
    return specs


def _simulated_pages(drive: Device, pages: int, experiment: Experiment) -> int:
    per_block, op = drive.pages_per_erase_unit, drive.op
    run = experiment.run
    if isinstance(run, EnduranceSettings):
        assert run.w_max is not None
        programs = _MOST_PROGRAMS_OF_LIVES // (run.w_max * run.replicas)
        fewest = round(logical_of(_FEWEST_BLOCKS_OF_LIVES * per_block, op))
        return min(max(programs, fewest), _MOST_PAGES)
    blocks = max(_FEWEST_BLOCKS, _FEWEST_BLOCKS_PER_LUN * drive.geometry.luns)
    most = _FEWEST_PAGES if _has_one_open_block(experiment.policy) else _MOST_PAGES
    if _scales_units(experiment):
        # Blocks are scaled as well, so that their number does not limit the scale.
        blocks, most = 0, _MOST_PAGES
    for_blocks = min(round(logical_of(blocks * per_block, op)), _MOST_PAGES_FOR_BLOCKS)
    if pages <= max(_MOST_PAGES, for_blocks):
        return pages
    return max(min(max(pages // _SHARE, _FEWEST_PAGES), most), for_blocks)


def _has_one_open_block(policy: PolicySettings | PoliciesSettings) -> bool:
    managers = {str(spec) for spec in _specs(policy, ("manager", "managers"))}
    return managers <= _MANAGERS_OF_ONE_OPEN_BLOCK


def _writes(name: str, pages: int, factor: float) -> int:
    scaled = round(pages / factor)
    if pages and not scaled:
        raise WriteampError(
            f"{name} is {pages}, which is less than one page write after division by "
            f"{factor:.4g}, the scale of the simulated drive; give a larger {name}, or --size "
            "instead of --capacity"
        )
    return scaled


def _scaled_blocks(
    drive: Device, factor: float, fewest: int = _FEWEST_PAGES_PER_BLOCK
) -> tuple[int, float]:
    """Return the pages of a block on a drive of 1/`factor` of the size, and the block's scale.

    The scale is well below `factor` if the block would have fewer than `fewest` pages.
    """
    own, step = drive.pages_per_block, _pages_of_program(drive)
    least = math.ceil(min(own, fewest) / step)
    pages = step * max(round(own / factor / step), least)
    return pages, own / pages


def _pages_of_program(drive: Device) -> int:
    """Return the pages that a program writes to a plane; blocks are multiples of them."""
    return drive.pages_per_program // drive.planes_per_program


def _scales_units(experiment: Experiment) -> bool:
    """Return whether erase units are scaled like the drive.

    WA of zones and tables depends on their ratio to erase units. Erase units that are reclaim units
    of a stated size would be too few on a smaller drive.
    """
    return experiment.reclaim_unit_bytes is not None or any(
        workload.name in (*ZONED, *TABLED) for workload in experiment.load.workloads
    )


def _tables_not_scaled(experiment: Experiment, factor: float, unit_factor: float) -> list[str]:
    """Return a sentence for each workload whose ratio of range to erase unit is not kept."""
    if abs(unit_factor / factor - 1) < _SAME_RATIO:
        return []
    return [
        f"{TABLED[workload.name]} of {workload.name} is {factor / unit_factor:.3g} times as large, "
        "in erase units, on the requested drive as on the simulated one"
        for workload in experiment.load.workloads
        if workload.name in TABLED
    ]


def _sized(
    experiment: Experiment, size_bytes: int, pages_per_block: int | None = None
) -> Experiment:
    # Facts on a lifetime (TBW, DWPD) refer to the requested capacity, so the plan needs it.
    is_life = isinstance(experiment.run, EnduranceSettings)
    capacity = experiment.device.capacity if is_life else None
    device = replace(experiment.device, size=size_bytes, capacity=capacity)
    if pages_per_block is not None:
        device = replace(device, pages_per_block=pages_per_block)
    return replace(experiment, device=device)

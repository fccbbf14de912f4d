"""Smaller drives that are simulated for one of a stated capacity (docs/capacity.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from writeamp._engine import scaled_policy, scaled_workload
from writeamp.devices.device import Device
from writeamp.devices.device import device as build_device
from writeamp.errors import WriteampError
from writeamp.registry.declarations import is_custom
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec, SpecLike
from writeamp.runs.capacity_error import Scale
from writeamp.settings.compared import PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import EnduranceSettings, PolicySettings
from writeamp.text import Detail
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.ratios import logical_of

# What is smaller is simulated as it is; what is larger, at this share of its size, within bounds
# that runs of seconds and hundreds of megabytes allow.
_SHARE = 64
_FEWEST_PAGES = 2**19
_MOST_PAGES = 2**21
# Drives of large blocks need more pages for enough of them, in each LUN that collects for itself.
_FEWEST_BLOCKS = 2048
_FEWEST_BLOCKS_PER_LUN = 256
_MOST_PAGES_FOR_BLOCKS = 2**23
# Lives program each page as often as a block endures erases, in each replica.
_MOST_PROGRAMS_OF_LIVES = 2**30
_FEWEST_BLOCKS_OF_LIVES = 512


def scale_of(experiment: Experiment) -> Scale | None:
    """Return the smaller drive that stands for the one that is asked for.

    None if the size that is to be simulated is given.

    Raises:
        WriteampError: there is no such flash drive.
    """
    settings = experiment.device
    if settings.capacity is None or settings.counts_size:
        return None
    drive = build_device(settings.base, **settings.overrides())
    if drive.kind != "flash":
        raise WriteampError(
            f"{drive.name} is a {drive.kind}; capacity is for flash drives, whose smaller ones "
            "amplify as they do"
        )
    pages = settings.capacity // drive.page_bytes
    if pages == 0:
        raise WriteampError(
            f"capacity is {settings.capacity} bytes, less than a page of {drive.page_bytes}"
        )
    simulated = _simulated_pages(drive, pages, experiment)
    if simulated >= pages:
        return Scale(settings.capacity, pages * drive.page_bytes, 1.0)
    factor = pages / simulated
    _, not_scaled = _policy(experiment.policy, factor)
    return Scale(settings.capacity, simulated * drive.page_bytes, factor, tuple(not_scaled))


def at_scale(experiment: Experiment, scale: Scale, smaller: int = 1) -> Experiment:
    """Return the experiment on the smaller drive that stands for the one that is meant.

    Numbers of writes and of blocks are divided as pages are, and workloads keep how often each
    share of the pages is written.

    Args:
        experiment: what is asked for.
        scale: the drive that stands for it.
        smaller: by how much to divide that once more.

    Raises:
        WriteampError: the workload, or a number of writes, is not for a smaller drive.
    """
    if scale.is_exact and smaller == 1:
        return _sized(experiment, scale.capacity_bytes)
    factor = scale.factor * smaller
    load = experiment.load
    texts = [scaled_workload(one.text, factor) for one in load.workloads]
    scaled = [Spec.of("workloads", text) for text in texts]
    if scaled:
        several: Any = scaled if len(scaled) > 1 else scaled[0]
        load = replace(load, workload=several)
    run = experiment.run
    if not isinstance(run, EnduranceSettings):
        changes = {
            name: _writes(name, getattr(run, name), factor)
            for name in ("writes", "warmup")
            if isinstance(getattr(run, name, None), int)
        }
        run = replace(run, **changes)  # type: ignore[arg-type]
    sized = _sized(experiment, scale.simulated_bytes // smaller)
    policy, _ = _policy(experiment.policy, factor)
    return replace(sized, load=load, policy=policy, run=run)


def notes_of(experiment: Experiment, simulated: Experiment, scale: Scale) -> tuple[str, ...]:
    """Return sentences on the size that is simulated and the capacity that it stands for."""
    if scale.is_exact:
        return ()
    size = Detail(
        f"a drive of {shown_bytes(scale.simulated_bytes)} stands for the one of "
        f"{shown_bytes(scale.capacity_bytes)}, which is {scale.factor:.4g} times larger; --size "
        "simulates a drive of its own size"
    )
    found: list[str] = [size]
    asked = [*experiment.load.workloads, *_specs(experiment.policy)]
    scaled = [*simulated.load.workloads, *_specs(simulated.policy)]
    for one, other in dict(zip(asked, scaled, strict=True)).items():
        if one != other:
            found.append(f"on it {one} is simulated as {other}")
    return tuple(found)


def _policy(
    policy: PolicySettings | PoliciesSettings, factor: float
) -> tuple[PolicySettings | PoliciesSettings, list[str]]:
    """Return the policies on drives so many times smaller, and sentences on what is not scaled."""
    kinds: dict[str, EngineKind] = {
        "manager": "managers",
        "managers": "managers",
        "victims": "victims",
        "wear_leveling": "wear_levelers",
    }
    sentences: dict[str, None] = {}

    def scaled(kind: EngineKind, one: SpecLike) -> Spec:
        asked = Spec.of(kind, one)
        if is_custom(kind, asked.text):
            if asked.values:
                sentences[
                    f"the parameters of {asked.name} are as given, on the smaller drive too"
                ] = None
            return asked
        text, not_scaled = scaled_policy(kind, asked.text, factor)
        sentences.update(dict.fromkeys(not_scaled))
        found = Spec.of(kind, text)
        return asked if found == asked else found

    changes: dict[str, Any] = {}
    for name, kind in kinds.items():
        given = getattr(policy, name, None)
        if isinstance(given, tuple):
            changes[name] = _distinct(given, tuple(scaled(kind, one) for one in given))
        elif given is not None:
            changes[name] = scaled(kind, given)
    return replace(policy, **changes), list(sentences)


def _distinct(asked: tuple[Spec, ...], scaled: tuple[Spec, ...]) -> tuple[Spec, ...]:
    """Return specs scaled to a smaller drive; refuse two that become one."""
    first_of: dict[Spec, Spec] = {}
    for one, other in zip(asked, scaled, strict=True):
        first = first_of.setdefault(other, one)
        if first != one:
            raise WriteampError(
                f"{first} and {one} are both simulated as {other} on the drive that stands for the "
                "capacity; name one of them, or give --size"
            )
    return scaled


def _specs(policy: PolicySettings | PoliciesSettings) -> list[Spec]:
    found: list[Spec] = []
    for name in ("manager", "managers", "victims", "wear_leveling"):
        given = getattr(policy, name, None)
        if given is not None:
            found += given if isinstance(given, tuple) else (given,)
    return found


def _simulated_pages(drive: Device, pages: int, experiment: Experiment) -> int:
    per_block, op = drive.pages_per_erase_unit, drive.op
    run = experiment.run
    if isinstance(run, EnduranceSettings):
        assert run.w_max is not None
        programs = _MOST_PROGRAMS_OF_LIVES // (run.w_max * run.replicas)
        fewest = round(logical_of(_FEWEST_BLOCKS_OF_LIVES * per_block, op))
        return min(max(programs, fewest), _MOST_PAGES)
    blocks = max(_FEWEST_BLOCKS, _FEWEST_BLOCKS_PER_LUN * drive.geometry.luns)
    for_blocks = min(round(logical_of(blocks * per_block, op)), _MOST_PAGES_FOR_BLOCKS)
    if pages <= max(_MOST_PAGES, for_blocks):
        return pages
    return max(min(max(pages // _SHARE, _FEWEST_PAGES), _MOST_PAGES), for_blocks)


def _writes(name: str, pages: int, factor: float) -> int:
    found = round(pages / factor)
    if pages and not found:
        raise WriteampError(
            f"{name} is {pages}, less than one write of the drive that is simulated, which is "
            f"{factor:.4g} times smaller; give more, or --size in place of --capacity"
        )
    return found


def _sized(experiment: Experiment, size_bytes: int) -> Experiment:
    # What a life is worth is said of the capacity that is meant.
    is_life = isinstance(experiment.run, EnduranceSettings)
    capacity = experiment.device.capacity if is_life else None
    return replace(
        experiment, device=replace(experiment.device, size=size_bytes, capacity=capacity)
    )

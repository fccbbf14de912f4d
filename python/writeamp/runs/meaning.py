"""Meaning of a run: everything that decides its counters, as JSON types for a digest."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from typing import Any

from writeamp import custom, traces
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.files import inputs
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec
from writeamp.runs.lifetime_plan import Lifetime
from writeamp.runs.plan import Plan
from writeamp.settings.experiment import meaning_of_settings

# Settings that tell how many runs there are, and which of them one is.
_OF_THE_STUDY = ("seed", "replicas", "spread")


def meaning_of_run(plan: Plan, drive: Device) -> dict[str, Any]:
    """Return all that decides a run on a drive, with its seed; traces count by their content."""
    return {
        **_meaning_of_host(plan),
        "device": drive.meaning(with_times=False),
        "replicas": plan.run.replicas,
        "earlier": None if plan.earlier is None else _meaning_of_load(plan.earlier),
        "before": None if plan.before is None else _meaning_of_load(plan.before),
        **({} if plan.window is None else {"window": asdict(plan.window)}),
    }


def meaning_of_life(plan: Lifetime, seed: int) -> dict[str, Any]:
    """Return all that decides the life of a drive with a seed."""
    return {
        **_meaning_of_host(plan),
        "device": plan.device.meaning(with_times=False),
        "spare_blocks": plan.spare_blocks,
        "seed": seed,
    }


def _meaning_of_host(plan: Plan | Lifetime) -> dict[str, Any]:
    run = meaning_of_settings(plan.run)
    host = meaning_of_settings(plan.host)
    # What is replayed, as it stands in memory, says more than its path and how it was read.
    for name in ("workload", "trace"):
        host.pop(name, None)
    return {
        "load": _meaning_of_load(plan.load),
        "host": host,
        "policy": list(plan.policy.meaning),
        **_meaning_of_code(plan.policy),
        "run": {name: one for name, one in run.items() if name not in _OF_THE_STUDY},
        "seed": plan.seed,
    }


def _meaning_of_code(policy: Policy) -> dict[str, Any]:
    """Return the identities of the files that users' policies stand in; none of the engine's."""
    kinds: tuple[tuple[EngineKind, str], ...] = (
        ("managers", policy.manager),
        ("victims", policy.victims),
    )
    users = [found for found in (custom.find(kind, text) for kind, text in kinds) if found]
    sources = [inspect.getsourcefile(one.cls) for one in users]
    return {"code": [one and inputs.identity(one) for one in sources]} if users else {}


def _meaning_of_load(load: Spec | traces.PageTrace) -> str:
    return load.canonical if isinstance(load, Spec) else load.digest

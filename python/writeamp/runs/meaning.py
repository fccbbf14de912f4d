"""Key of a run: all inputs that determine its counters, as JSON types to be hashed."""

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

# Settings that determine which runs a study has, and how many. They do not change the counters of a
# single run, so they are not part of its key.
_OF_THE_STUDY = ("seed", "replicas", "spread")


def meaning_of_run(plan: Plan, drive: Device) -> dict[str, Any]:
    """Return all inputs that determine a run on a drive, with its seed and its traces' digests."""
    return {
        **_meaning_of_host(plan),
        "device": drive.meaning(with_times=False),
        "replicas": plan.run.replicas,
        "earlier": None if plan.earlier is None else _meaning_of_load(plan.earlier),
        "before": None if plan.uncounted is None else _meaning_of_load(plan.uncounted),
        **({} if plan.window is None else {"window": asdict(plan.window)}),
    }


def meaning_of_life(plan: Lifetime, seed: int) -> dict[str, Any]:
    """Return all inputs that determine the life of a drive with a seed."""
    return {
        **_meaning_of_host(plan),
        "device": plan.device.meaning(with_times=False),
        "spare_blocks": plan.spare_blocks,
        "seed": seed,
    }


def _meaning_of_host(plan: Plan | Lifetime) -> dict[str, Any]:
    run = meaning_of_settings(plan.run)
    host = meaning_of_settings(plan.host)
    # The load's own digest is part of the key instead of its path and reading options.
    for name in ("workload", "trace"):
        host.pop(name, None)
    return {
        "load": _meaning_of_load(plan.load),
        "host": host,
        "policy": list(plan.policy.meaning),
        **_meaning_of_code(plan.policy),
        "run": {name: value for name, value in run.items() if name not in _OF_THE_STUDY},
        "seed": plan.seed,
    }


def _meaning_of_code(policy: Policy) -> dict[str, Any]:
    """Return the identity of the source file of each user's policy; empty for built-in ones."""
    kinds: tuple[tuple[EngineKind, str], ...] = (
        ("managers", policy.manager),
        ("victims", policy.victims),
    )
    users = [policy for policy in (custom.find(kind, text) for kind, text in kinds) if policy]
    sources = [inspect.getsourcefile(policy_class.cls) for policy_class in users]
    return {"code": [source and inputs.identity(source) for source in sources]} if users else {}


def _meaning_of_load(load: Spec | traces.PageTrace) -> str:
    return load.canonical if isinstance(load, Spec) else load.digest

"""What theory says of a simulation: of this very run if it can, or else of uniform writes."""

from __future__ import annotations

from typing import Any

from writeamp.errors import WriteampError
from writeamp.experiments.simulation_result import Result
from writeamp.registry.specs import Spec
from writeamp.theory.meanfield.fixed_point import hot_cold, hot_cold_swap
from writeamp.theory.models.expected_value import expected_value
from writeamp.theory.models.markov import markov


def expectation(result: Result) -> str:
    """Return the WA that theory expects and where it comes from, in a few words."""
    load, device = result.plan.load, result.device
    victims = result.plan.policy.victims
    if field := _mean_field(result):
        return field
    used_op = device.physical_pages / (device.logical_pages * result.utilization) - 1
    uniform = _is_plain(load, "uniform")
    if uniform and victims == "greedy":
        pages_per_block = device.geometry.pages_per_block
        return f"{markov(used_op, pages_per_block):.4f} Markov (greedy, uniform writes)"
    if uniform and victims == "random":
        return f"{1 + 1 / used_op:.4f} = 1/spare_factor (random victims, uniform writes)"
    fifo = uniform and victims == "fifo"
    what = "FIFO, uniform writes" if fifo else "for comparison: FIFO and uniform writes"
    return f"{expected_value(used_op):.4f} Expected Value ({what})"


def _mean_field(result: Result) -> str | None:
    """Return what the mean field says of HCWF under hot and cold data with the oracle."""
    policy = result.plan.policy
    manager, victims = Spec.of("managers", policy.manager), Spec.of("victims", policy.victims)
    hot = _hot_shares(result.plan.load)
    plain = result.utilization == 1 and result.device.layout == "flat"
    if (
        manager.name not in ("hcwf", "hcwf-swap")
        or manager.params["detector"] != "oracle"
        or victims.name != "d-choices"
        or hot is None
        or not plain
        or policy.wear_leveling is not None
    ):
        return None
    drive: dict[str, Any] = {
        "pages_per_block": result.device.geometry.pages_per_block,
        "spare_factor": result.device.spare_factor,
        "d": int(victims.params["d"]),
        "hot_fraction": hot[0],
        "hot_write_fraction": hot[1],
    }
    try:
        if manager.name == "hcwf-swap":
            point = hot_cold_swap(**drive, d_swap=int(manager.params["d_swap"]))
        else:
            point = hot_cold(**drive)
    except WriteampError:  # parameters that it does not solve
        return None
    return f"{point.wa:.4f} mean field of {policy.manager} (many blocks)"


def _hot_shares(load: object) -> tuple[float, float] | None:
    """Return the hot share of the pages and of the writes under the workload `hot-cold`."""
    if not (isinstance(load, Spec) and _is_plain(load, "hot-cold")):
        return None
    return float(load.params["hot_fraction"]), float(load.params["hot_write_fraction"])


def _is_plain(load: object, name: str) -> bool:
    """Return whether it is the workload of that name without TRIMs, of which no theory knows."""
    return isinstance(load, Spec) and load.name == name and "trim" not in load.params

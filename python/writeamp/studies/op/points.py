"""Simulation at one op as a row of a table and as a point of a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from writeamp.plots.figures.wa_over_op import OpPoint
from writeamp.results.numbers import json_number
from writeamp.runs.simulation_result import Result


def point(result: Result) -> dict[str, Any]:
    """Return WA, its interval and theory's WA at the op of a drive, as JSON types."""
    device = result.device
    return {
        "op": device.op,
        "fill": device.fill,
        "spare_factor": device.spare_factor,
        "blocks": device.geometry.blocks,
        "wa": json_number(result.wa),
        "wa_ci95": [json_number(bound) for bound in result.ci],
        "wa_bytes": json_number(result.wa_bytes),
        "steady": result.steady,
        "steady_reason": result.steady_state.reason,
        "theory": vars(result.theory),
        **result.substitute.facts_of_wa(),
    }


def common_facts(result: Result) -> dict[str, Any]:
    """Return the facts that drives of one logical size share, as JSON types."""
    device, plan = result.device, result.plan
    varied = ("op", "fill", "spare_factor", "blocks", "physical_pages")
    return {
        **{name: fact for name, fact in device.facts().items() if name not in varied},
        "device": device.name,
        "workload": plan.load_name,
        **plan.policy.facts(),
        "precondition": plan.host.precondition,
        "seed": plan.seed,
        **result.substitute.facts_of_drive(),
    }


def figure_points(points: Sequence[dict[str, Any]], ratio: str) -> list[OpPoint]:
    """Return points for a picture over op, fill or spare factor, x rising."""
    found = []
    for one in sorted(points, key=lambda one: float(one[ratio])):
        wa, low, high = (
            math.nan if value is None else value for value in (one["wa"], *one["wa_ci95"])
        )
        found.append(OpPoint(one[ratio], wa, low, high, one["steady"], one["theory"]["wa"]))
    return found

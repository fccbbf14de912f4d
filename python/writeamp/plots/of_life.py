"""Figures of the lives that `writeamp.endurance` measured, with the titles that belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.plots.life import LifeCurve, erases_of_blocks, life_over_w
from writeamp.plots.spec import LineChart, PanelChart

if TYPE_CHECKING:
    from writeamp.life import Endurance


def life_over_w_of(found: Endurance) -> PanelChart:
    """Describe PE fairness and endurance against W."""
    title = f"PE fairness and endurance: {found.plan.load_name}"
    interval = " · thin: 95% confidence" if found.plan.replicas > 1 else ""
    return life_over_w([curve_of(found)], title=title, subtitle=_subtitle(found) + interval)


def curve_of(found: Endurance) -> LifeCurve:
    """Return the two functions of W, named by what the drives worked by."""
    curve = found.curve
    fairness, endurance = "pe_fairness", "endurance_full_drive_writes"
    return LifeCurve(
        _label(found),
        curve["w"].to_numpy(),
        *(curve[f"{fairness}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
        *(curve[f"{endurance}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
    )


def erase_histogram_of(found: Endurance) -> LineChart:
    """Describe how often the blocks were erased by the end of life."""
    bins = found.erase_histogram
    first = bins["erases_from"].to_list()
    return erases_of_blocks(
        first,
        bins["blocks"].to_list(),
        width=bins["erases_to"][0] + 1,
        label=_label(found),
        title=f"Wear at the end of life: {found.plan.load_name}",
        subtitle=f"{_subtitle(found)} · PE fairness {found.pe_fairness:.4f}",
    )


def _label(found: Endurance) -> str:
    return str(found.plan.policy)


def _subtitle(found: Endurance) -> str:
    device, plan = found.plan.device, found.plan
    return (
        f"op = (T-U)/U = {device.op:.4g} · device {device.name}: {device.geometry.blocks:,} blocks "
        f"of {device.geometry.pages_per_block:,} pages · W_max {plan.w_max:,} · "
        f"{plan.replicas} replicas from seed {plan.seed}"
    )

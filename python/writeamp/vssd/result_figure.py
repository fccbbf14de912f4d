"""Figures of a virtual drive's result: its layers, or write amplification over time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.plots.figures.layers import wa_by_layer
from writeamp.plots.figures.points import visible_points
from writeamp.plots.figures.wa_over_time import WaSeries, wa_over_time
from writeamp.plots.spec import FigureSpec
from writeamp.text import printable
from writeamp.units.byte_sizes import shown_bytes
from writeamp.vssd.layers import Layers
from writeamp.vssd.settings import DriveSettings


def layers_figure(
    layers: Layers, device: Device, policy: Policy, settings: DriveSettings, run: str | None
) -> FigureSpec:
    """Describe a figure of the bytes that each layer wrote, and the ratios between the layers."""
    return wa_by_layer(
        layers.bytes_by_layer(),
        title=f"Bytes written by layer: {_host(run)}",
        subtitle=f"{settings.file_system} · {_drive(device, policy, settings)}",
    )


def points_of(
    host: npt.NDArray[np.float64], flash: npt.NDArray[np.float64], device: Device
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return drive writes and WA of the points to draw, from pages of each interval, shape (n,).

    The samples have no erases, so the collected blocks are estimated from the programmed pages.
    """
    ends, wa = visible_points(host, flash, flash / device.geometry.pages_per_block)
    return ends / device.logical_pages, wa


def wa_figure(
    intervals: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
    wa: float,
    ci: tuple[float, float],
    *,
    device: Device,
    policy: Policy,
    settings: DriveSettings,
    run: str | None,
) -> FigureSpec:
    """Describe a figure of write amplification over drive writes.

    Args:
        intervals: host pages written and flash pages programmed in each interval.
        wa: write amplification of the whole run.
        ci: 95% confidence interval of `wa`.
        device: the drive.
        policy: its manager and victims.
        settings: other settings of the drive.
        run: the command, or None.

    Raises:
        WriteampError: the host has not written.
    """
    drive_writes, wa_of_points = points_of(*intervals, device)
    low, high = ci
    return wa_over_time(
        [
            WaSeries(
                label=str(policy),
                drive_writes=drive_writes,
                wa=wa_of_points,
                steady_wa=wa,
                ci_low=low,
                ci_high=high,
            )
        ],
        title=f"Write amplification over time: {_host(run)}",
        subtitle=_drive(device, policy, settings),
    )


def _drive(device: Device, policy: Policy, settings: DriveSettings) -> str:
    return (
        f"{printable(device.name)}, {shown_bytes(device.capacity_bytes)} · op = "
        f"(T-U)/U = {device.op:.4g} · {policy} · seed {settings.seed}"
    )


def _host(run: str | None) -> str:
    return printable(run or "an external host")

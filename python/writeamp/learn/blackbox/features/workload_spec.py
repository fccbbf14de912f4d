"""Characteristics of a writeamp workload, from its parameters."""

from __future__ import annotations

from collections.abc import Mapping

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.features.characteristics import Characteristics, DriveUse
from writeamp.learn.blackbox.features.footprints import (
    HOTTEST_SHARE,
    skew_of_hot_cold,
    skew_of_zipf,
)
from writeamp.registry import Spec, SpecLike

_OF_REQUESTS = ("io", "random", "sequential")
# A spec of `sequential` omits parameters with these values, so they are added here.
_DEFAULTS = {"rate": "none", "qd": "auto", "write": "1"}
_OF_PAGES = ("uniform", "permutation", "zipf", "hot-cold", "sequential")


def of_workload(
    workload: SpecLike, *, page_bytes: int = 4096, use: DriveUse | None = None
) -> Characteristics:
    """Return the characteristics of a workload, from its parameters.

    Workloads of requests (`io`, `random`, `sequential:bs=`) have the characteristics as parameters.
    Workloads of pages write one page after another, with a depth of 1 and the size of a page.

    Args:
        workload: a spec, or its text.
        page_bytes: bytes of a logical page.
        use: the state of the drive; None leaves all but paper 2's characteristics unknown.

    Returns:
        `Characteristics`: `write_ratio`, `queue_depth`, `read_size_bytes`, `skew`, and others;
        `frame()`.

    Raises:
        WriteampError: the spec is not valid; its requests come at a rate, so that their depth
            depends on the drive; or its parameters do not determine the characteristics (`phases`,
            `database`).

    >>> row = of_workload("random:bs=8k,write=0.5,qd=8")
    >>> row.write_ratio, row.queue_depth, row.write_size_bytes, row.write_randomness
    (0.5, 8.0, 8192.0, 1.0)
    """
    spec = Spec.of("workloads", workload)
    params = spec.params
    is_of_pages = spec.name == "sequential" and params.get("bs", "pages") == "pages"
    if spec.name in _OF_REQUESTS and not is_of_pages:
        return _of_requests(spec, use)
    if spec.name in _OF_PAGES:
        return _of_pages(spec, page_bytes, use)
    valid = ", ".join(sorted({*_OF_REQUESTS, *_OF_PAGES}))
    raise WriteampError(
        f"the parameters of the workload {spec.name!r} do not determine its characteristics; "
        f"valid are {valid}, or windows of a trace"
    )


def _of_requests(spec: Spec, use: DriveUse | None) -> Characteristics:
    params = _DEFAULTS | dict(spec.params)
    if params["rate"] != "none":
        raise WriteampError(
            f"the workload '{spec}' has a rate, so its queue depth depends on the drive; give qd, "
            "or windows of a trace"
        )
    size = {side: float(params.get("bs") or params[f"{side}_size"]) for side in ("write", "read")}
    always = {"random": "1", "sequential": "0"}.get(spec.name)
    random = {side: float(always or params[f"{side}_random"]) for side in size}
    stride = {side: params.get("stride") or params.get(f"{side}_stride", "0") for side in size}
    align = params.get("align", "size")
    slot_bytes = size["write"] if align == "size" else float(align)
    return Characteristics(
        write_ratio=float(params["write"]),
        queue_depth=1.0 if params["qd"] == "auto" else float(params["qd"]),
        write_size_bytes=size["write"],
        read_size_bytes=size["read"],
        write_randomness=random["write"],
        read_randomness=random["read"],
        write_stride_bytes=float(stride["write"]),
        read_stride_bytes=float(stride["read"]),
        **_on_drive(params.get("access", "uniform"), random["write"], slot_bytes, use),
    )


def _of_pages(spec: Spec, page_bytes: int, use: DriveUse | None) -> Characteristics:
    random = 0.0 if spec.name == "sequential" else 1.0
    access = spec.text if spec.name in ("zipf", "hot-cold") else "uniform"
    return Characteristics(
        write_ratio=1.0,
        queue_depth=1.0,
        write_size_bytes=page_bytes,
        read_size_bytes=0.0,
        write_randomness=random,
        read_randomness=0.0,
        write_stride_bytes=0.0,
        read_stride_bytes=0.0,
        **_on_drive(access, random, page_bytes, use),
    )


def _on_drive(
    access: str, random: float, slot_bytes: float, use: DriveUse | None
) -> Mapping[str, float]:
    """Return the characteristics that depend on the drive.

    Sequential writes reach every page equally often.
    """
    if use is None:
        return {}
    slots = max(int(use.space_bytes // slot_bytes), 1)
    hot = _skew_of(Spec.of("workloads", access), slots)
    return {
        "working_set_bytes": float(use.space_bytes),
        "fill": use.fill,
        "recent_write_bytes": use.recent_write_bytes,
        "skew": random * hot + (1 - random) * HOTTEST_SHARE,
    }


def _skew_of(access: Spec, slots: int) -> float:
    params = access.params
    if access.name == "zipf":
        return skew_of_zipf(float(params["s"]), slots)
    if access.name == "hot-cold":
        return skew_of_hot_cold(float(params["hot_fraction"]), float(params["hot_write_fraction"]))
    return HOTTEST_SHARE

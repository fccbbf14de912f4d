"""Devices of paper 2: a disk, and flash drives with less flash per die for short runs.

The host takes time for each request, which the paper does not state. It is the only parameter that
all devices share.
"""

from __future__ import annotations

from functools import lru_cache

from writeamp.devices.device import Device, device, profile_op
from writeamp.devices.profile import profile
from writeamp.devices.raid import is_array, parse_array
from writeamp.learn.blackbox.targets.simulated import pages_per_block
from writeamp.units.ratios import physical_of

# Section IV.A; Array_I is a RAID-0 of two SSD_I.
DEVICES = {
    "HDD_S": "spinpoint-m7",
    "SSD_I": "x25-m",
    "SSD_A": "apex",
    "SSD_S": "samsung-slc",
    "Array_I": "raid0:x25-m,x25-m",
}
DISK, ARRAY = "HDD_S", "Array_I"
FLASH = ("SSD_I", "SSD_A", "SSD_S")

# Time of the host (generator and kernel) per request, one request after another. Fitted to SSD_I's
# mean throughput in Table II, in steps of 20 µs, after means without it were known. All other
# devices are held out of the fit.
HOST_NS = 100_000

_MINUTE_S = 60.0
# Minimum bytes of a scaled write cache, which hold a few of the largest requests.
_LEAST_CACHE_BYTES = 1 << 20


@lru_cache(maxsize=16)
def built(name: str, flash_bytes: int, *, disk_cached: bool = True) -> Device:
    """Return a device of the paper, with its flash drives scaled to a capacity.

    Flash drives keep their dies. Their write cache is scaled with their capacity, so that it
    holds the same share of a run's writes.

    Args:
        name: one of `DEVICES`.
        flash_bytes: capacity of each flash drive, in bytes.
        disk_cached: whether a disk's write cache is on.
    """
    name = DEVICES[name]
    whole = device(name)
    changes = with_host(name)
    if whole.kind == "disk":
        return device(whole, set=changes | ({} if disk_cached else {"disk.write_back": False}))
    members = parse_array(name).members if is_array(name) else (name,)
    shape = profile(members[0]).shape
    cache_bytes = (shape.times or {}).get("write_cache", {}).get("bytes", 0)
    small_bytes = max(_LEAST_CACHE_BYTES, int(cache_bytes * _share(members[0], flash_bytes)))
    return device(
        name,
        size=flash_bytes * len(members),
        pages_per_block=pages_per_block(members[0], flash_bytes),
        write_cache=int(min(cache_bytes, small_bytes)) // shape.page_bytes * shape.page_bytes
        or None,
        set=changes,
    )


def with_host(name: str, host_ns: int | None = None) -> dict[str, int]:
    """Return changes of a device's profile that add the host's time per request.

    The host and the drive's controller each serve one request at a time. The engine has one such
    stage per drive, so it gets the longer of both times; the shorter one is a delay before it.
    Members of an array are served by one host, so each waits for the requests of all members.

    Args:
        name: a profile or an array of one profile.
        host_ns: time per request in ns; None for `HOST_NS`.
    """
    host_ns = HOST_NS if host_ns is None else host_ns
    members = parse_array(name).members if is_array(name) else (name,)
    host = (device(members[0]).times or {})["host"]
    times_ns = sorted((host.get("controller_ns", 0), host_ns * len(members)))
    delays = {
        f"host.{kind}_in_ns": host[f"{kind}_in_ns"] + times_ns[0] for kind in ("read", "write")
    }
    return {"host.controller_ns": times_ns[1]} | delays


def run_s(name: str, flash_bytes: int, disk_s: float) -> float:
    """Return the seconds of a run that represents a minute on the full-size device."""
    name = DEVICES[name]
    if device(name).kind == "disk":
        return disk_s
    first = parse_array(name).members[0] if is_array(name) else name
    return _MINUTE_S * _share(first, flash_bytes)


def _share(name: str, flash_bytes: int) -> float:
    """Return the capacity `flash_bytes` as a share of the full-size drive's capacity."""
    shape = profile(name).shape
    return physical_of(flash_bytes, profile_op(name)) / (shape.physical_pages * shape.page_bytes)

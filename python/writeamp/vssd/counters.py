"""Counters of the virtual SSD as files, in the formats of tools for real drives.

smart.json is `nvme smart-log -o json`, ocp.json `nvme ocp smart-add-log -o json
--output-format-version=2`, ocp-v1.json the same with the older keys, ocp.bin its raw page, and
fdp.json `nvme fdp stats -o json`.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from writeamp.devices.device import Device
from writeamp.devices.drive import SECTOR_BYTES
from writeamp.errors import WriteampError
from writeamp.files.output import replacing
from writeamp.vssd.control import Control, Document, programmed_bytes
from writeamp.vssd.log_pages.fdp import HOST_WRITTEN, MEDIA_ERASED, MEDIA_WRITTEN
from writeamp.vssd.log_pages.ocp import GUID, WRITTEN, Value, encoded_page, shown_log
from writeamp.vssd.log_pages.smart import PERCENT_USED, POWER_ON_HOURS, data_units
from writeamp.vssd.log_pages.smart import WRITTEN as WRITTEN_UNITS
from writeamp.vssd.placement_handles import by_handle

_PERIOD_S = 1.0


def write_counters(directory: Path, counters: Document, blocks: Document, device: Device) -> None:
    """Write the files of the counters, each atomically.

    The directory is created if missing.

    Args:
        directory: directory of the files.
        counters: response of the control socket to "counters".
        blocks: response to "blocks".
        device: the drive that is served.

    Raises:
        WriteampError: they cannot be written.
    """
    _make(directory)
    _write_files(directory, _files(counters, blocks, device))


class Refresher:
    """Writes the counters to files each second during a `with` block, and once at its end.

    The files of the first and the last write are synced to the disk. Those in between are replaced
    within a second, and syncing them would slow programs that write to the same disk.
    """

    def __init__(self, directory: Path, control: Control, device: Device) -> None:
        """Write the counters of a running drive to a directory.

        Raises:
            WriteampError: the directory cannot be written to, or the drive does not respond.
        """
        self._directory = directory
        self._control = control
        self._device = device
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._refresh, daemon=True)
        self._write()

    def __enter__(self) -> Refresher:
        """Start refreshing."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Write the files a last time.

        Raises:
            WriteampError: the files could not be written, and the `with` block raised no exception.
        """
        self._ended.set()
        self._thread.join()
        try:
            self._write()
        except (OSError, WriteampError):
            if kind is None:
                raise

    def _write(self) -> None:
        counters, blocks = self._control.counters(), self._control.blocks()
        write_counters(self._directory, counters, blocks, self._device)

    def _refresh(self) -> None:
        while not self._ended.wait(_PERIOD_S):
            try:
                counters, blocks = self._control.counters(), self._control.blocks()
                files = _files(counters, blocks, self._device)
                _write_files(self._directory, files, synced=False)
            except (OSError, WriteampError):
                continue  # a permanent disk failure is reported by the last write


def _files(counters: Document, blocks: Document, device: Device) -> dict[str, bytes]:
    return {
        "smart.json": _json(smart_log(counters, device.rated_erases)),
        "ocp.json": _json(ocp_log(counters, blocks, device)),
        "ocp-v1.json": _json(ocp_log(counters, blocks, device, version=1)),
        "ocp.bin": ocp_page(counters, blocks, device),
        "fdp.json": _json(fdp_statistics(counters)),
    }


def _json(document: Any) -> bytes:
    return (json.dumps(document) + "\n").encode()


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteampError(
            f"cannot create the directory {os.fspath(directory)!r} for counters: "
            f"{error.strerror or error}"
        ) from None


def _write_files(directory: Path, files: dict[str, bytes], *, synced: bool = True) -> None:
    for name, content in files.items():
        with replacing(directory / name, "counters", synced=synced) as file:
            file.write(content)


# The drive has no temperature sensor; room temperature avoids alarms in monitors.
_TEMPERATURE_KELVIN = 298
_SPARE_THRESHOLD_PERCENT = 10
_NS_PER_HOUR = 3_600_000_000_000
_MOST_PERCENT = 255


def smart_log(counters: Document, rated_erases: int | None = None) -> dict[str, int]:
    """Return the SMART log of a drive.

    Data units are 512,000 bytes, rounded up. The temperature is a constant in kelvin.
    `power_on_hours` is the time since the server started. `percent_used` is the mean erases per
    block / rated erases, in whole percent rounded down, at most 255 as in NVMe; 0 if the profile
    has no rating. The drive continues beyond 100, as it retires no blocks.

    Args:
        counters: response of the control socket to "counters".
        rated_erases: rated erases of a block, from the profile.
    """
    host = counters["host"]
    return {
        "critical_warning": 0,
        "temperature": _TEMPERATURE_KELVIN,
        "avail_spare": 100,
        "spare_thresh": _SPARE_THRESHOLD_PERCENT,
        PERCENT_USED: _percent_used(counters, rated_erases),
        "endurance_grp_critical_warning_summary": 0,
        "data_units_read": data_units(host["read_bytes"]),
        WRITTEN_UNITS: data_units(host["written_bytes"]),
        "host_read_commands": host["read_requests"],
        "host_write_commands": host["write_requests"],
        "controller_busy_time": 0,
        "power_cycles": 1,
        POWER_ON_HOURS: counters["elapsed_ns"] // _NS_PER_HOUR,
        "unsafe_shutdowns": 0,
        "media_errors": 0,
        "num_err_log_entries": 0,
        "warning_temp_time": 0,
        "critical_comp_time": 0,
        "thm_temp1_trans_count": 0,
        "thm_temp2_trans_count": 0,
        "thm_temp1_total_time": 0,
        "thm_temp2_total_time": 0,
    }


def _percent_used(counters: Document, rated_erases: int | None) -> int:
    if rated_erases is None:
        return 0
    return min(_MOST_PERCENT, int(100 * counters["mean_erase_count"] / rated_erases))


# Version that the OCP log of the virtual drive states: the first that has the mean erase count.
LOG_PAGE_VERSION = 5

_LABEL = "writeamp virtual SSD"
_WHOLE_PERCENT = 100
# Causes of program operations that copy pages. Each page that they program was first read.
_COPIES = ("gc", "wear_leveling", "refresh", "folding")


def ocp_log(
    counters: Document, blocks: Document, device: Device, *, version: Literal[1, 2] = 2
) -> dict[str, Value]:
    """Return the OCP log of a drive as JSON types.

    Physical media units are bytes, as {hi, lo} of 128 bits. `percent_free_blocks` is 100 times the
    blocks without a valid page / the most blocks that could be without one, if the valid pages
    filled as few blocks as possible. Values that the virtual drive lacks (bad blocks, power,
    firmware, errors) are 0, or 100 if that means healthy.

    Args:
        counters: response of the control socket to "counters".
        blocks: response to "blocks".
        device: the drive that is served.
        version: version of the keys: 2 is snake_case, 1 is nvme-cli's output without
            --output-format-version=2.
    """
    return shown_log(_values(counters, blocks, device), version)


def ocp_page(counters: Document, blocks: Document, device: Device) -> bytes:
    """Return the OCP log as the raw page of 512 bytes; arguments as in `ocp_log`."""
    return encoded_page(_values(counters, blocks, device))


def _values(counters: Document, blocks: Document, device: Device) -> dict[str, int | str]:
    """Return the values of the OCP log that may differ from 0, by their keys in version 2."""
    return {
        WRITTEN: programmed_bytes(counters),
        "physical_media_units_read": _read_bytes(counters),
        "bad_user_nand_blocks_normalized": _WHOLE_PERCENT,
        "bad_system_nand_blocks_normalized": _WHOLE_PERCENT,
        "refresh_count": counters["programs"].get("refresh", 0),
        "max_user_data_erase_count": counters["max_erase_count"],
        "min_user_data_erase_count": counters["min_erase_count"],
        "percent_free_blocks": _percent_free(counters, blocks),
        "capacitor_health": _WHOLE_PERCENT,
        "unaligned_io": counters["read_modify_write_pages"],
        "nuse_namespace_utilization": counters["mapped_pages"]
        * counters["page_bytes"]
        // SECTOR_BYTES,
        "log_page_version": LOG_PAGE_VERSION,
        "log_page_guid": GUID,
        "total_media_dies": device.dies,
        "nand_avg_erase_count": round(counters["mean_erase_count"]),
        "sys_area_program_fail_count_noralized": _WHOLE_PERCENT,
        "sys_area_uncorrectable_read_count_noralized": _WHOLE_PERCENT,
        "sys_area_erase_fail_count_noralized": _WHOLE_PERCENT,
        "dssd_firmware_revision": "",
        "dssd_firmware_build_label": _LABEL,
    }


def _read_bytes(counters: Document) -> int:
    """Return the bytes read from the flash for host reads, copies and partial writes."""
    pages = counters["host"]["read_pages"] + counters["read_modify_write_pages"]
    pages += sum(counters["programs"].get(cause, 0) for cause in _COPIES)
    return int(pages * counters["page_bytes"])


def _percent_free(counters: Document, blocks: Document) -> int:
    needed = -(-counters["mapped_pages"] // counters["pages_per_block"])
    spare = counters["blocks"] - needed
    if spare <= 0:
        return 0
    free = blocks["free_blocks"] + blocks["valid_pages_histogram"][0]
    return int(min(_WHOLE_PERCENT, _WHOLE_PERCENT * free // spare))


def fdp_statistics(counters: Document) -> dict[str, Any]:
    """Return the FDP statistics of a drive, in bytes.

    `hbmw` counts bytes written by the host, `mbmw` bytes programmed, and `mbe` bytes erased (whole
    blocks, including those of an SLC cache). No count includes metadata, as the virtual drive
    stores none. If the drive counts by placement handle, `handles` has a row for each of them,
    which the logs of real drives do not have. Its keys are those of `by_handle`.

    Args:
        counters: response of the control socket to "counters".
    """
    slc = counters.get("slc", {"erased_pages": 0})
    erased_pages = counters["erases"] * counters["pages_per_block"] + slc["erased_pages"]
    handles = by_handle(counters)
    return {
        HOST_WRITTEN: counters["host"]["written_bytes"],
        MEDIA_WRITTEN: programmed_bytes(counters),
        MEDIA_ERASED: erased_pages * counters["page_bytes"],
        **({} if handles is None else {"handles": handles}),
    }

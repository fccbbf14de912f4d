"""OCP log of a drive: SMART / Health Information Extended (log 0xC0).

The OCP Datacenter NVMe SSD specification defines it. It is written as `nvme ocp smart-add-log`
prints it: JSON with the keys of either output format version, or the raw page of 512 bytes.
"""

from __future__ import annotations

from typing import Literal

from writeamp.devices.device import Device
from writeamp.devices.drive import SECTOR_BYTES
from writeamp.vssd.control import Document
from writeamp.vssd.counter_sums import programmed_bytes
from writeamp.vssd.log_pages.ocp import GUID, WRITTEN, Value, encoded_page, shown_log

# From 5 on, the page has the mean count of erases.
LOG_PAGE_VERSION = 5

_LABEL = "writeamp virtual SSD"
_WHOLE_PERCENT = 100
# Copies, whose pages were read before they were programmed.
_COPIES = ("gc", "wear_leveling", "refresh", "folding")


def ocp_log(
    counters: Document, blocks: Document, device: Device, *, version: Literal[1, 2] = 2
) -> dict[str, Value]:
    """Return the OCP log of a drive as JSON types.

    Physical media units are bytes, as {hi, lo} of 128 bits. `percent_free_blocks` are the blocks
    without a valid page, of those that the valid pages would leave if they filled their blocks.
    What the virtual drive does not have (bad blocks, power, firmware, errors) is 0, or 100 where
    that means healthy.

    Args:
        counters: what the control socket answers to "counters".
        blocks: what it answers to "blocks".
        device: the drive that is served.
        version: of the keys: 2 is snake_case, 1 is what nvme-cli prints without
            --output-format-version=2.
    """
    return shown_log(_values(counters, blocks, device), version)


def ocp_page(counters: Document, blocks: Document, device: Device) -> bytes:
    """Return the raw page of 512 bytes, as the drive would send it; arguments as in `ocp_log`."""
    return encoded_page(_values(counters, blocks, device))


def _values(counters: Document, blocks: Document, device: Device) -> dict[str, int | str]:
    """Return the values that are not 0, by their keys in version 2."""
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
    """Return the bytes read from the flash: for the host, copies, and partial writes."""
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

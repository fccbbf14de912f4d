"""OCP log of a drive: SMART / Health Information Extended (log 0xC0).

The OCP Datacenter NVMe SSD specification defines it. It is written as `nvme ocp smart-add-log`
prints it: JSON with the keys of either output format version, or the raw page of 512 bytes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias
from uuid import UUID

from writeamp.devices.device import Device
from writeamp.devices.drive import SECTOR_BYTES
from writeamp.vssd.control import Document
from writeamp.vssd.counter_sums import programmed_bytes

Value: TypeAlias = int | str | dict[str, int]

PAGE_BYTES = 512
GUID = 0xAFD514C97C6F4F9CA4F2BFEA2810AFC5
# From 5 on, the page has the mean count of erases.
LOG_PAGE_VERSION = 5

_LABEL = "writeamp virtual SSD"
_WHOLE_PERCENT = 100
_WORD_BITS = 64
# Copies, whose pages were read before they were programmed.
_COPIES = ("gc", "wear_leveling", "refresh")

# Number: a plain integer. Wide: 128 bits as {hi, lo}. Text and the two identifiers: strings.
_Kind: TypeAlias = Literal["number", "wide", "text", "guid", "uuid"]


class _Field(NamedTuple):
    """Place of a value in the page, and its keys in version 2 and version 1 of the JSON."""

    offset: int
    length: int
    key: str
    old_key: str
    kind: _Kind = "number"


# In the order of the JSON; the spelling, misprints included, is nvme-cli's.
_FIELDS = (
    _Field(0, 16, "physical_media_units_written", "Physical media units written", "wide"),
    _Field(16, 16, "physical_media_units_read", "Physical media units read", "wide"),
    _Field(32, 6, "bad_user_nand_blocks_raw", "Bad user nand blocks - Raw"),
    _Field(38, 2, "bad_user_nand_blocks_normalized", "Bad user nand blocks - Normalized"),
    _Field(40, 6, "bad_system_nand_blocks_raw", "Bad system nand blocks - Raw"),
    _Field(46, 2, "bad_system_nand_blocks_normalized", "Bad system nand blocks - Normalized"),
    _Field(48, 8, "xor_recovery_count", "XOR recovery count"),
    _Field(56, 8, "uncorrectable_read_errors", "Uncorrectable read error count"),
    _Field(64, 8, "soft_ecc_error_count", "Soft ecc error count"),
    _Field(72, 4, "end_to_end_detected_errors", "End to end detected errors"),
    _Field(76, 4, "end_to_end_corrected_errors", "End to end corrected errors"),
    _Field(80, 1, "system_data_percent_used", "System data percent used"),
    _Field(81, 7, "refresh_count", "Refresh counts"),
    _Field(88, 4, "max_user_data_erase_count", "Max User data erase counts"),
    _Field(92, 4, "min_user_data_erase_count", "Min User data erase counts"),
    _Field(96, 1, "thermal_throttling_events", "Number of Thermal throttling events"),
    _Field(97, 1, "current_throttling_status", "Current throttling status"),
    _Field(104, 8, "pcie_correctable_errors", "PCIe correctable error count"),
    _Field(112, 4, "incomplete_shutdowns", "Incomplete shutdowns"),
    _Field(120, 1, "percent_free_blocks", "Percent free blocks"),
    _Field(128, 2, "capacitor_health", "Capacitor health"),
    _Field(136, 8, "unaligned_io", "Unaligned I/O"),
    _Field(144, 8, "security_version_number", "Security Version Number"),
    _Field(152, 8, "nuse_namespace_utilization", "NUSE - Namespace utilization"),
    _Field(160, 16, "plp_start_count", "PLP start count"),
    _Field(176, 16, "endurance_estimate", "Endurance estimate"),
    _Field(494, 2, "log_page_version", "Log page version"),
    _Field(496, 16, "log_page_guid", "Log page GUID", "guid"),
    _Field(131, 1, "nvme_command_set_errata_version", "NVMe Command Set Errata Version"),
    _Field(208, 8, "lowest_permitted_firmware_revision", "Lowest Permitted Firmware Revision"),
    _Field(132, 1, "nvme_over_pcie_errata_version", "NVMe Over Pcie Errata Version"),
    _Field(133, 1, "nvme_mi_errata_version", "NVMe Mi Errata Version"),
    _Field(216, 2, "total_media_dies", "Total media dies"),
    _Field(218, 2, "total_die_failure_tolerance", "Total die failure tolerance"),
    _Field(220, 2, "media_dies_offline", "Media dies offline"),
    _Field(222, 1, "max_temperature_recorded", "Max temperature recorded"),
    _Field(224, 8, "nand_avg_erase_count", "Nand avg erase count"),
    _Field(232, 4, "command_timeouts", "Command timeouts"),
    _Field(236, 4, "sys_area_program_fail_count_raw", "Sys area program fail count raw"),
    _Field(
        240, 1, "sys_area_program_fail_count_noralized", "Sys area program fail count noralized"
    ),
    _Field(
        244, 4, "sys_area_uncorrectable_read_count_raw", "Sys area uncorrectable read count raw"
    ),
    _Field(
        248,
        1,
        "sys_area_uncorrectable_read_count_noralized",
        "Sys area uncorrectable read count noralized",
    ),
    _Field(252, 4, "sys_area_erase_fail_count_raw", "Sys area erase fail count raw"),
    _Field(256, 1, "sys_area_erase_fail_count_noralized", "Sys area erase fail count noralized"),
    _Field(260, 2, "max_peak_power_capability", "Max peak power capability"),
    _Field(262, 2, "current_max_avg_power", "Current max avg power"),
    _Field(264, 6, "lifetime_power_consumed", "Lifetime power consumed"),
    _Field(270, 8, "dssd_firmware_revision", "Dssd firmware revision", "text"),
    _Field(278, 16, "dssd_firmware_build_uuid", "Dssd firmware build UUID", "uuid"),
    _Field(294, 64, "dssd_firmware_build_label", "Dssd firmware build label", "text"),
    _Field(98, 1, "errata_version_field", "Errata Version Field"),
    _Field(99, 2, "point_version_field", "Point Version Field"),
    _Field(101, 2, "minor_version_field", "Minor Version Field"),
    _Field(103, 1, "major_version_field", "Major Version Field"),
    _Field(130, 1, "nvme_base_errata_version", "NVMe Base Errata Version"),
    _Field(192, 8, "pcie_link_retraining_count", "PCIe Link Retraining Count"),
    _Field(200, 8, "power_state_change_count", "Power State Change Count"),
)


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
    values = _values(counters, blocks, device)
    return {
        field.key if version == 2 else field.old_key: _shown(field, values.get(field.key, 0))
        for field in _FIELDS
    }


def ocp_page(counters: Document, blocks: Document, device: Device) -> bytes:
    """Return the raw page of 512 bytes, as the drive would send it; arguments as in `ocp_log`."""
    values = _values(counters, blocks, device)
    page = bytearray(PAGE_BYTES)
    for field in _FIELDS:
        value = values.get(field.key, 0)
        raw = value.encode() if isinstance(value, str) else value.to_bytes(field.length, "little")
        page[field.offset : field.offset + len(raw)] = raw
    return bytes(page)


def _values(counters: Document, blocks: Document, device: Device) -> dict[str, int | str]:
    """Return the values that are not 0, by their keys in version 2."""
    return {
        "physical_media_units_written": programmed_bytes(counters),
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


def _shown(field: _Field, value: int | str) -> Value:
    if isinstance(value, str) or field.kind == "number":
        return value
    if field.kind == "wide":
        return {"hi": value >> _WORD_BITS, "lo": value & (1 << _WORD_BITS) - 1}
    return f"{value:#x}" if field.kind == "guid" else str(UUID(int=value))

"""OCP log of a drive: the fields of SMART / Health Information Extended (log 0xC0).

The OCP Datacenter NVMe SSD specification defines it. `nvme ocp smart-add-log` prints it as JSON
with the keys of either output format version, or as the raw page of 512 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias
from uuid import UUID

Value: TypeAlias = int | str | dict[str, int]

PAGE_BYTES = 512
GUID = 0xAFD514C97C6F4F9CA4F2BFEA2810AFC5
WRITTEN = "physical_media_units_written"

_WORD_BITS = 64

# Form of a value in the JSON. "number" is an integer, "wide" is 128 bits as {hi, lo}; "text",
# "guid" and "uuid" are strings.
_Kind: TypeAlias = Literal["number", "wide", "text", "guid", "uuid"]


class OcpField(NamedTuple):
    """Offset and length of a value in the page, in bytes, and its keys in both JSON versions."""

    offset: int
    length: int
    key: str
    old_key: str
    kind: _Kind = "number"


# Fields in the order of the JSON. The spelling of the keys, including misprints, is nvme-cli's.
FIELDS = (
    OcpField(0, 16, "physical_media_units_written", "Physical media units written", "wide"),
    OcpField(16, 16, "physical_media_units_read", "Physical media units read", "wide"),
    OcpField(32, 6, "bad_user_nand_blocks_raw", "Bad user nand blocks - Raw"),
    OcpField(38, 2, "bad_user_nand_blocks_normalized", "Bad user nand blocks - Normalized"),
    OcpField(40, 6, "bad_system_nand_blocks_raw", "Bad system nand blocks - Raw"),
    OcpField(46, 2, "bad_system_nand_blocks_normalized", "Bad system nand blocks - Normalized"),
    OcpField(48, 8, "xor_recovery_count", "XOR recovery count"),
    OcpField(56, 8, "uncorrectable_read_errors", "Uncorrectable read error count"),
    OcpField(64, 8, "soft_ecc_error_count", "Soft ecc error count"),
    OcpField(72, 4, "end_to_end_detected_errors", "End to end detected errors"),
    OcpField(76, 4, "end_to_end_corrected_errors", "End to end corrected errors"),
    OcpField(80, 1, "system_data_percent_used", "System data percent used"),
    OcpField(81, 7, "refresh_count", "Refresh counts"),
    OcpField(88, 4, "max_user_data_erase_count", "Max User data erase counts"),
    OcpField(92, 4, "min_user_data_erase_count", "Min User data erase counts"),
    OcpField(96, 1, "thermal_throttling_events", "Number of Thermal throttling events"),
    OcpField(97, 1, "current_throttling_status", "Current throttling status"),
    OcpField(104, 8, "pcie_correctable_errors", "PCIe correctable error count"),
    OcpField(112, 4, "incomplete_shutdowns", "Incomplete shutdowns"),
    OcpField(120, 1, "percent_free_blocks", "Percent free blocks"),
    OcpField(128, 2, "capacitor_health", "Capacitor health"),
    OcpField(136, 8, "unaligned_io", "Unaligned I/O"),
    OcpField(144, 8, "security_version_number", "Security Version Number"),
    OcpField(152, 8, "nuse_namespace_utilization", "NUSE - Namespace utilization"),
    OcpField(160, 16, "plp_start_count", "PLP start count"),
    OcpField(176, 16, "endurance_estimate", "Endurance estimate"),
    OcpField(494, 2, "log_page_version", "Log page version"),
    OcpField(496, 16, "log_page_guid", "Log page GUID", "guid"),
    OcpField(131, 1, "nvme_command_set_errata_version", "NVMe Command Set Errata Version"),
    OcpField(208, 8, "lowest_permitted_firmware_revision", "Lowest Permitted Firmware Revision"),
    OcpField(132, 1, "nvme_over_pcie_errata_version", "NVMe Over Pcie Errata Version"),
    OcpField(133, 1, "nvme_mi_errata_version", "NVMe Mi Errata Version"),
    OcpField(216, 2, "total_media_dies", "Total media dies"),
    OcpField(218, 2, "total_die_failure_tolerance", "Total die failure tolerance"),
    OcpField(220, 2, "media_dies_offline", "Media dies offline"),
    OcpField(222, 1, "max_temperature_recorded", "Max temperature recorded"),
    OcpField(224, 8, "nand_avg_erase_count", "Nand avg erase count"),
    OcpField(232, 4, "command_timeouts", "Command timeouts"),
    OcpField(236, 4, "sys_area_program_fail_count_raw", "Sys area program fail count raw"),
    OcpField(
        240, 1, "sys_area_program_fail_count_noralized", "Sys area program fail count noralized"
    ),
    OcpField(
        244, 4, "sys_area_uncorrectable_read_count_raw", "Sys area uncorrectable read count raw"
    ),
    OcpField(
        248,
        1,
        "sys_area_uncorrectable_read_count_noralized",
        "Sys area uncorrectable read count noralized",
    ),
    OcpField(252, 4, "sys_area_erase_fail_count_raw", "Sys area erase fail count raw"),
    OcpField(256, 1, "sys_area_erase_fail_count_noralized", "Sys area erase fail count noralized"),
    OcpField(260, 2, "max_peak_power_capability", "Max peak power capability"),
    OcpField(262, 2, "current_max_avg_power", "Current max avg power"),
    OcpField(264, 6, "lifetime_power_consumed", "Lifetime power consumed"),
    OcpField(270, 8, "dssd_firmware_revision", "Dssd firmware revision", "text"),
    OcpField(278, 16, "dssd_firmware_build_uuid", "Dssd firmware build UUID", "uuid"),
    OcpField(294, 64, "dssd_firmware_build_label", "Dssd firmware build label", "text"),
    OcpField(98, 1, "errata_version_field", "Errata Version Field"),
    OcpField(99, 2, "point_version_field", "Point Version Field"),
    OcpField(101, 2, "minor_version_field", "Minor Version Field"),
    OcpField(103, 1, "major_version_field", "Major Version Field"),
    OcpField(130, 1, "nvme_base_errata_version", "NVMe Base Errata Version"),
    OcpField(192, 8, "pcie_link_retraining_count", "PCIe Link Retraining Count"),
    OcpField(200, 8, "power_state_change_count", "Power State Change Count"),
)


def shown_log(values: Mapping[str, int | str], version: Literal[1, 2]) -> dict[str, Value]:
    """Return a log as JSON types, with the keys of either version.

    Args:
        values: values by the keys of version 2; missing fields are 0.
        version: version of the keys.
    """
    return {
        field.key if version == 2 else field.old_key: _shown(field, values.get(field.key, 0))
        for field in FIELDS
    }


def _shown(field: OcpField, value: int | str) -> Value:
    if isinstance(value, str) or field.kind == "number":
        return value
    if field.kind == "wide":
        return {"hi": value >> _WORD_BITS, "lo": value & (1 << _WORD_BITS) - 1}
    return f"{value:#x}" if field.kind == "guid" else str(UUID(int=value))


def encoded_page(values: Mapping[str, int | str]) -> bytes:
    """Return the raw page; missing fields are 0."""
    page = bytearray(PAGE_BYTES)
    for field in FIELDS:
        value = values.get(field.key, 0)
        raw = value.encode() if isinstance(value, str) else value.to_bytes(field.length, "little")
        page[field.offset : field.offset + len(raw)] = raw
    return bytes(page)


def decoded_page(page: bytes) -> dict[str, int]:
    """Return the numbers of a raw page of 512 bytes, by the keys of version 2, without texts."""
    return {
        field.key: int.from_bytes(page[field.offset : field.offset + field.length], "little")
        for field in FIELDS
        if field.kind != "text"
    }


def decoded_log(log: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a printed log of either version, by the keys of version 2."""
    return {
        field.key: log[key] for field in FIELDS for key in (field.key, field.old_key) if key in log
    }

"""SMART / Health Information (log 0x02), as `nvme smart-log -o json` prints it."""

from __future__ import annotations

from writeamp.vssd.control import Document
from writeamp.vssd.log_pages.smart import PERCENT_USED, POWER_ON_HOURS, WRITTEN, data_units

# The drive has no temperature: what a room has keeps monitors of real drives quiet.
_TEMPERATURE_KELVIN = 298
_SPARE_THRESHOLD_PERCENT = 10
_NS_PER_HOUR = 3_600_000_000_000
_MOST_PERCENT = 255


def smart_log(counters: Document, rated_erases: int | None = None) -> dict[str, int]:
    """Return the SMART log of a drive.

    Data units are 512,000 bytes, rounded up; the temperature is in kelvin, and no measurement.
    `power_on_hours` is the time since the server started. `percent_used` is the mean erases of a
    block over those that it is rated for, in whole per cent rounded down, 255 at most as NVMe has
    it; 0 if the profile does not say. Beyond 100 the drive goes on, for it retires no block.

    Args:
        counters: what the control socket answers to "counters".
        rated_erases: of a block, by the profile.
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
        WRITTEN: data_units(host["written_bytes"]),
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

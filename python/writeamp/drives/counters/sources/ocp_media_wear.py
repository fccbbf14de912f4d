"""Media wear events of OCP telemetry: terabytes that the host and the flash were written."""

from __future__ import annotations

from writeamp.drives.counters.printed_log import PrintedLog, Written, source_of

SOURCE = source_of(
    PrintedLog(
        "nvme ocp internal-log, media wear",
        "OCP telemetry, media wear",
        (
            Written("host", ("host_tb_written", "host_terabytes_written"), "TB",
                    rounding="unknown"),
            Written("flash", ("media_tb_written", "media_terabytes_written"), "TB",
                    rounding="unknown"),
        ),
    )
)  # fmt: skip

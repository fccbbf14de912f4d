"""Logs of drives as tools print them, small and of our own making, one for each source."""

from __future__ import annotations

import json

from writeamp.vssd.log_pages import ocp

TB = 10**12

OCP_TEXT = """SMART Cloud Attributes :-
  Physical media units written     : 0 3000000000000
  Max User data erase counts       : 30
  Min User data erase counts       : 20
  Log page version                 : 2
"""
SMART_TEXT = """Smart Log for NVME device:nvme0n1 namespace-id:ffffffff
critical_warning                    : 0
percentage_used                     : 4%
Data Units Written                  : 3,906,250 (2.00 TB)
power_on_hours                      : 1,234
"""
INTEL_TEXT = """Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff
key                               normalized raw
wear_leveling                   :  70%       min: 2, max: 4, avg: 3
nand_bytes_written              : 100%       sectors: 90000
host_bytes_written              : 100%       sectors: 60000
"""
ID_CTRL = json.dumps(
    {"vid": 32902, "sn": "S1", "mn": "INTEL SSDPE2KX010T8", "fr": "VDV1", "tnvmcap": TB}
)


def stats(head: str, flash: int, host: int) -> str:
    """Return an additional SMART log in nvme-cli's JSON."""
    return json.dumps(
        {
            head: "nvme0",
            "Device stats": {
                "nand_bytes_written": {"normalized": 100, "raw": flash},
                "host_bytes_written": {"normalized": 100, "raw": host},
            },
        }
    )


def intel_page(flash: int, host: int) -> bytes:
    """Return the raw page 0xCA of Intel's items."""
    page = bytearray(512)
    numbers = (0xAB, 0xAC, 0xAD, 0xB8, 0xC7, 0xE2, 0xE3, 0xE4, 0xEA, 0xF0, 0xF3, 0xF4, 0xF5)
    for place, number in enumerate(numbers):
        page[place * 12], page[place * 12 + 3] = number, 100
    page[0x84 + 5 : 0x84 + 11] = flash.to_bytes(6, "little")
    page[0x90 + 5 : 0x90 + 11] = host.to_bytes(6, "little")
    return bytes(page)


def matrix(metric: dict[str, str], *values: tuple[float, str]) -> str:
    """Return Prometheus' answer to a query over a range, of one series."""
    result = [{"metric": metric, "values": [list(one) for one in values]}]
    data = {"resultType": "matrix", "result": result}
    return json.dumps({"status": "success", "data": data})


def samsung_page(flash: int, host: int) -> bytes:
    """Return the raw page 0xCA of Samsung's counts."""
    page = bytearray(512)
    page[264:280], page[280:296] = (one.to_bytes(16, "little") for one in (host, flash))
    return bytes(page)


_ATA = 'smartctl_device_attribute{device="sda",attribute_id="%d",attribute_value_type="raw"} %d\n'
EXPORTER_TEXT = (
    'smartctl_device{device="sda",model_name="INTEL SSDSC2KB960G8",serial_number="A"} 1\n'
    + _ATA % (225, 60_000)
    + _ATA % (243, 90_000)
    + 'smartctl_device_bytes_written{device="nvme0"} 2e+12\n'
)
BACKBLAZE = (
    "date,serial_number,model,capacity_bytes,failure,smart_9_raw,smart_225_normalized,"
    "smart_225_raw,smart_243_raw\n"
    "2024-01-01,A,INTEL SSDSC2KB960G8,960197124096,0,100,100,60000,90000\n"
    "2024-01-02,A,INTEL SSDSC2KB960G8,960197124096,0,124,100,61000,93000\n"
)

LOGS: dict[str, bytes] = {
    name: content if isinstance(content, bytes) else content.encode()
    for name, content in {
        "smart-text": SMART_TEXT,
        "smart-json": '{"critical_warning": 0, "percent_used": 4, "data_units_written": 3906250}',
        "ocp-text": OCP_TEXT,
        "ocp-v1": json.dumps(ocp.shown_log({ocp.WRITTEN: 3 * TB}, 1)),
        "ocp-v2": json.dumps(ocp.shown_log({ocp.WRITTEN: 3 * TB}, 2)),
        "ocp-page": ocp.encoded_page({ocp.WRITTEN: 3 * TB, "log_page_guid": ocp.GUID}),
        "intel-text": INTEL_TEXT,
        "intel-json": stats("Intel Smart log", 90_000, 60_000),
        "intel-page": intel_page(90_000, 60_000),
        "table": "ID KEY Normalized Raw\n0xf4    nand_bytes_written    100    90000\n"
        "0xf5    host_bytes_written    100    60000\n",
        "fdp-text": "Host Bytes with Metadata Written (HBMW): 2,000\n"
        "Media Bytes with Metadata Written (MBMW): 3,000\nMedia Bytes Erased (MBE): 4,000\n",
        "fdp-json": '{"hbmw": 2000, "mbmw": 3000, "mbe": 4000}',
        "endurance-text": "data_units_written : 2000\nmedia_units_written : 3000\n",
        "endurance-json": '{"data_units_written": 2000, "media_units_written": 3000}',
        "boot-text": "Physical Media Units Written - TLC : 5859375\n"
        "Physical Media Units Written - SLC : 1000\n"
        "User data erase counts (Minimum TLC) : 20\nUser data erase counts (Maximum TLC) : 30\n",
        "kinds": '{"NAND Writes TLC (Bytes)": 3000, "NAND Writes SLC (Bytes)": 10}',
        "micron-d0": "NAND Writes (Bytes Written)     : 0x2ba7def3000\n",
        "micron-c6": json.dumps(
            {
                "Total TLC NAND Write Count": 200,
                "Total SLC NAND Write Count": 100,
                "Total SLC Host Write Count": 120,
                "Total TLC Host Write Count": 80,
            }
        ),
        "wdc-ca": '{"NAND Bytes Written Hi": 0, "NAND Bytes Written Lo": 3000000000000}',
        "wdc-d0": "  Lifetime NAND Writes       300\n  Lifetime User Writes       2\n",
        "seagate": "Physical (NAND) bytes written    60137    0x000000000000000000000000000000c8\n"
        "Physical (HOST) bytes written    62193    0x00000000000000000000000000000064\n",
        "liteon": "Physical(NAND) bytes written   : 3,000,000,000,000\n"
        "User data erase counts maximum : 30\nUser data erase counts minimum : 20\n",
        "samsung": "[015:000] PhysicallyWrittenBytes : 3000000000000\n",
        "samsung-page": samsung_page(30_000, 12_000),
        "taken": '{"writeamp_snapshot": 1, "taken_at": 1700000000.0}',
        "toshiba": "Total data written to NAND : 2793.9 GiB\nUser Data Erase Count (Max) : 30\n",
        "inspur": "".join(f"[{place}]nand_bytes_written        : 750 GB\n" for place in range(4)),
        "media-wear": "Host TB Written : 200\nMedia TB Written : 300\n",
        "virtium": "HostWrites;12;NandWrites;0;\n",
        "tracker": "timestamp, hostReads, hostWrites, nandWrites\n1, 2, 3, 4\n",
        "id-ctrl": ID_CTRL,
        "smartctl-text": "=== START OF INFORMATION SECTION ===\n"
        "Device Model:     INTEL SSDSC2KB960G8\nUser Capacity:    960,197,124,096 bytes [960 GB]\n"
        "=== START OF READ SMART DATA SECTION ===\n"
        "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE UPDATED FAILED RAW_VALUE\n"
        "225 Host_Writes_32MiB       0x0032   100   100   000    Old_age Always - 60000\n"
        "243 NAND_Writes_32MiB       0x0032   100   100   000    Old_age Always - 90000\n",
        "exporter": EXPORTER_TEXT,
        "range": matrix(
            {"__name__": "nvme_data_units_written_total", "device": "nvme0"},
            (1.7e9, "1000"),
            (1.7e9 + 86400, "3000"),
        ),
        "backblaze": BACKBLAZE,
    }.items()
}

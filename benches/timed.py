"""How many flash operations a second of computing a timed run simulates, fill not included.

Run `python benches/timed.py`; an operation is a program, a page read or an erase.
"""

from __future__ import annotations

import statistics

import writeamp as wa

REPEATS = 3
CASES = {
    "random reads 4 KiB, depth 16 (mqsim)": {
        "device": "mqsim",
        "workload": "random:bs=4k,write=0,qd=16",
        "time": 10.0,
    },
    "sequential reads 128 KiB, depth 8 (mqsim)": {
        "device": "mqsim",
        "workload": "sequential:bs=128k,write=0,qd=8",
        "time": 10.0,
    },
    "random writes 4 KiB, depth 32, collecting (mqsim, op 0.28)": {
        "device": "mqsim",
        "op": 0.28,
        "workload": "random:bs=8k,write=1,qd=32",
        "time": 120.0,
    },
    "half of each 4 KiB, depth 32, cached, collecting (x25-m of 4 GiB)": {
        "device": "x25-m",
        "size": "4GiB",
        "workload": "random:bs=4k,write=0.5,qd=32",
        "time": 120.0,
    },
}


def main() -> None:
    for name, settings in CASES.items():
        rates = [wa.simulate(**settings).flash_ops_per_s for _ in range(REPEATS)]
        print(f"{name}: {statistics.median(rates) / 1e6:.2f} M flash operations a second")


if __name__ == "__main__":
    main()

"""Printed values of paper 2's Tables II to VII (section IV)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """Row of Tables II, III, V and VI: MAE and mean in ms, MB/s or IO/s, and MRE as a ratio."""

    r2: float
    mae: float
    mean: float
    mre: float


# Printed values by table, metric and device; Tables V and VI have only the array.
BASIC = {
    "latency": {
        "HDD_S": Printed(0.808, 28.94, 94.61, 0.90),
        "SSD_I": Printed(0.627, 6.90, 15.97, 0.63),
        "SSD_A": Printed(0.926, 5.61, 36.31, 0.23),
        "SSD_S": Printed(0.693, 14.21, 34.90, 0.55),
        "Array_I": Printed(0.763, 3.21, 8.78, 0.59),
    },
    "bandwidth": {
        "HDD_S": Printed(0.281, 7.29, 14.63, 1.10),
        "SSD_I": Printed(0.515, 21.87, 68.61, 0.40),
        "SSD_A": Printed(0.570, 15.72, 38.17, 0.86),
        "SSD_S": Printed(0.548, 13.66, 36.33, 0.63),
        "Array_I": Printed(0.446, 41.87, 98.82, 0.60),
    },
    "throughput": {
        "HDD_S": Printed(0.080, 467, 664, 0.50),
        "SSD_I": Printed(0.500, 1547, 3967, 0.53),
        "SSD_A": Printed(0.765, 246, 1054, 0.19),
        "SSD_S": Printed(0.459, 749, 1702, 0.48),
        "Array_I": Printed(0.399, 1980, 4346, 0.52),
    },
}
EXTENDED = {
    "latency": {
        "HDD_S": Printed(0.866, 17.96, 94.61, 0.26),
        "SSD_I": Printed(0.986, 1.42, 15.97, 0.12),
        "SSD_A": Printed(0.976, 3.16, 36.31, 0.09),
        "SSD_S": Printed(0.911, 6.22, 34.90, 0.20),
        "Array_I": Printed(0.939, 1.43, 8.15, 0.23),
    },
    "bandwidth": {
        "HDD_S": Printed(0.768, 3.67, 14.63, 0.35),
        "SSD_I": Printed(0.981, 3.91, 68.61, 0.06),
        "SSD_A": Printed(0.882, 6.29, 38.17, 0.18),
        "SSD_S": Printed(0.917, 5.21, 36.33, 0.19),
        "Array_I": Printed(0.885, 18.45, 101.70, 0.25),
    },
    "throughput": {
        "HDD_S": Printed(0.870, 152, 664, 0.18),
        "SSD_I": Printed(0.970, 254, 3967, 0.06),
        "SSD_A": Printed(0.971, 74, 1054, 0.08),
        "SSD_S": Printed(0.951, 212, 1702, 0.15),
        "Array_I": Printed(0.860, 934, 4875, 0.17),
    },
}

# Table IV: R² and then MRE of HDD_S, SSD_I and SSD_A, by metric and the symbol of the class.
SPECIFIC_DEVICES = ("HDD_S", "SSD_I", "SSD_A")
SPECIFIC = {
    "latency": {
        "rd_only": ((0.953, 0.999, 0.999), (0.18, 0.04, 0.01)),
        "wr_only": ((0.942, 0.996, 0.990), (0.17, 0.04, 0.07)),
        "rand_only": ((0.910, 0.975, 0.991), (0.29, 0.15, 0.05)),
        "seq_only": ((0.933, 0.954, 0.989), (0.16, 0.12, 0.06)),
        "rand_rd": ((0.965, 0.999, 0.968), (0.46, 0.02, 0.08)),
        "rand_wr": ((0.984, 0.993, 0.993), (0.09, 0.09, 0.05)),
        "seq_read": ((0.964, 0.999, 0.999), (0.08, 0.02, 0.06)),
        "seq_wr": ((0.961, 0.999, 0.998), (0.07, 0.07, 0.03)),
    },
    "bandwidth": {
        "rd_only": ((0.923, 0.994, 1), (0.15, 0.04, 0.004)),
        "wr_only": ((0.911, 0.978, 0.990), (0.15, 0.04, 0.04)),
        "rand_only": ((0.879, 0.980, 0.960), (0.15, 0.07, 0.12)),
        "seq_only": ((0.915, 0.996, 0.977), (0.16, 0.03, 0.11)),
        "rand_rd": ((0.891, 0.999, 1), (0.11, 0.01, 0.003)),
        "rand_wr": ((0.963, 0.946, 0.993), (0.09, 0.07, 0.04)),
        "seq_read": ((0.920, 0.999, 1), (0.09, 0.02, 0.004)),
        "seq_wr": ((0.909, 0.995, 0.998), (0.09, 0.02, 0.01)),
    },
    "throughput": {
        "rd_only": ((0.970, 0.979, 1), (0.14, 0.04, 0.004)),
        "wr_only": ((0.975, 0.996, 0.816), (0.16, 0.04, 0.07)),
        "rand_only": ((0.049, 0.987, 0.999), (0.11, 0.06, 0.04)),
        "seq_only": ((0.987, 0.996, 0.998), (0.13, 0.04, 0.03)),
        "rand_rd": ((0, 0.998, 1), (0.09, 0.03, 0.003)),
        "rand_wr": ((0.946, 0.989, 0.255), (0.09, 0.06, 0.05)),
        "seq_read": ((0.990, 0.996, 1), (0.10, 0.01, 0.004)),
        "seq_wr": ((0.993, 0.996, 0.999), (0.09, 0.02, 0.02)),
    },
}

# Table VII: MRE of Financial1, Financial2, WebSearch1 and WebSearch2, by metric and device.
TRACES = ("Financial1", "Financial2", "WebSearch1", "WebSearch2")
ON_TRACES = {
    "latency": {
        "HDD_S": (0.16, 0.12, 0.01, 0.03),
        "SSD_I": (0.07, 0.19, 0.01, 0.01),
        "SSD_S": (0.18, 0.15, 0.02, 0.01),
        "Array_I": (0.19, 0.11, 0.01, 0.01),
    },
    "bandwidth": {
        "HDD_S": (0.18, 0.30, 0.05, 0.05),
        "SSD_I": (0.11, 0.38, 0.01, 0.01),
        "SSD_S": (0.17, 0.14, 0.02, 0.01),
        "Array_I": (0.26, 0.25, 0.02, 0.02),
    },
    "throughput": {
        "HDD_S": (0.15, 0.26, 0.05, 0.05),
        "SSD_I": (0.09, 0.37, 0.01, 0.01),
        "SSD_S": (0.15, 0.14, 0.02, 0.01),
        "Array_I": (0.25, 0.12, 0.01, 0.01),
    },
}

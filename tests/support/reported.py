"""Documents and pages that tests of reports share."""

from __future__ import annotations

from typing import Any

from writeamp.reports.report import Report

HOSTILE = "</script><img src=x onerror=\"document.title='bad'\">"

# As issue 34 has it: rows, differences with causes, advice.
ANSWER: dict[str, Any] = {
    "rows": [
        {"way": "formula: markov", "wa": 2.41, "wa_ci95": None, "seconds": 0.001,
         "assumes": "uniform random writes", "reason": "the writes are not uniform"},
        {"way": "mean-field", "wa": None, "wa_ci95": None, "seconds": 0.0, "assumes": "",
         "reason": "the trace has no hot set"},
        {"way": "simulate", "wa": 2.855, "wa_ci95": [2.848, 2.862], "seconds": 4.0,
         "assumes": "pages are written whole", "reason": None},
        {"way": "virtual", "wa": 2.85, "wa_ci95": [2.80, 2.90], "seconds": 12.0,
         "assumes": "none of these", "reason": None},
    ],
    "differences": [
        {"between": ["formula: markov", "simulate"], "wa_difference": 0.445,
         "causes": [{"cause": "skew of the writes", "share": 0.40}], "unexplained": 0.045},
    ],
    "advice": [
        {"change": "--manager sepgc", "wa": 2.391},
        {"change": f"--op 0.2 {HOSTILE}", "wa": 2.1},
    ],
    "workload": "examples/postgres-tpcb.parquet",
    "op": 0.1,
    "pages_per_block": 64,
    "warnings": [],
    "notes": ["TRIMs leave data on 91.5% of the pages"],
}  # fmt: skip

DOCTOR: dict[str, Any] = {
    "findings": [
        {"id": "no-direct", "severity": "note", "message": "direct=0", "evidence": "direct=0",
         "advice": "direct=1", "wa_now": None, "wa_fixed": None},
        {"id": "looped", "severity": "error", "message": f"a loop {HOSTILE}",
         "evidence": {"loops": 3}, "advice": "norandommap", "wa_now": 1.0, "wa_fixed": 3.7},
    ],
}  # fmt: skip

_PHASE: dict[str, Any] = {
    "drive": "D", "run": "r", "phase": 1, "pattern": "uniform", "wa": 2.0, "predicted": 2.1,
    "predicted_low": 1.9, "predicted_high": 2.3, "holds": True, "reason": None,
}  # fmt: skip
CHECK: dict[str, Any] = {
    "twin": "mine.toml",
    "summary": "mine.toml predicts 1 load",
    "p90_error": 0.05,
    "phases": [_PHASE, _PHASE | {"predicted": None, "reason": "the twin is of D"}],
}
COUNTERS: dict[str, Any] = {
    "wa": 1.75, "wa_low": 1.7, "wa_high": 1.8, "wa_definition": "flash over host",
    "class": "measured", "reason": None, "host_bytes": 10, "flash_bytes": 17, "checks": [],
    "model": f"Evil {HOSTILE}", "serial": "S4EVNX0M123456", "notes": [],
}  # fmt: skip

LIFETIME: dict[str, Any] = {
    "years": 9.0, "years_low": 8.0, "years_high": 10.0, "at_least_years": None,
    "method": f"steps {HOSTILE}", "wear_a_year": 10.0, "wear_a_year_low": 9.0,
    "wear_a_year_high": 11.0,
    "readings": [{"days": 0.0, "percentage_used": 5.0}, {"days": 365.0, "percentage_used": 15.0}],
}  # fmt: skip

HISTORY: dict[str, Any] = {
    "drives": [
        {"name": f"Evil {HOSTILE}", "drive": "sha256:1", "life": {"wa": 2.0}, "intervals": [
            {"from": 0.0, "until": 86_400.0, "wa": 2.0, "host_bytes": 10**9, "is_break": False},
            {"from": 86_400.0, "until": 172_800.0, "wa": None, "host_bytes": None},
        ]},
        {"name": "new", "drive": "sha256:2", "life": {}, "intervals": []},
    ],
    "intervals": 2,
}  # fmt: skip

FLEET: dict[str, Any] = {
    "drives_with_wa": 1, "median_wa": 2.0, "outliers": 0, "worn_out_within_a_year": 0,
    "reasons": [{"group": "hard disks", "reason": HOSTILE, "drives": 1, "examples": []}],
    "drives": [
        {"name": f"Evil {HOSTILE}", "years_left_low": 1.0, "years_left_high": 2.0, "wa": 2.0},
        {"name": "b", "years_left_low": None, "years_left_high": None, "wa": None},
    ],
    "models": [{"model": None, "drives": 2, "with_wa": 1, "wa": 2.0, "wa_min": 2.0, "wa_max": 2.0}],
    "skipped": [],
}  # fmt: skip

BEFORE_AFTER: dict[str, Any] = {
    "settings": [{"key": f"manager {HOSTILE}", "a": "single", "b": "sepgc"}],
    "numbers": [
        {"key": "wa", "a": 2.9, "a_ci95": [2.8, 3.0], "b": 2.5, "b_ci95": [2.4, 2.6],
         "relative": -0.14, "verdict": "lower"},
    ],
    "equal": 12,
}  # fmt: skip

# Data of the drawings of a timed run, which are beside its document.
LATENCIES: dict[str, Any] = {
    "latencies": {
        "directions": [
            {"label": "reads", "upper_us": [100.0, 2000.0], "counts": [9.0, 1.0],
             "time_s": [1.0, 2.0], "mb_s": [10.0, 0.0], "mean_us": [90.0, None]},
        ],
        "cliff_gb": [0.1, 0.2],
        "cliff_mb_s": [500.0, 50.0],
    }
}  # fmt: skip


def reported(document: dict[str, Any], *command: str, verb: str = "answer") -> Report:
    """Return a report of a document."""
    return Report(verb, (verb, *command), document, {}, "0.0")

"""Places in the repository, and beside it, that tests read."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# The shipped trace: PostgreSQL under pgbench's TPC-B.
TRACE = EXAMPLES / "postgres-tpcb.parquet"
# A few lines of each trace format.
TINY = ROOT / "tests" / "data" / "traces"
# Published files, on machines that have them.
SHARED = ROOT.parent / "shared"

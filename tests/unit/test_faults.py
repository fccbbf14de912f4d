"""Faults that hostile input once found: each gives an answer or one sentence now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import in_process
import writeamp as wa
from writeamp import traces

PAGES = 200


def test_a_drive_that_trims_left_empty_has_a_theory() -> None:
    columns = {
        "timestamp_ns": range(2 * PAGES),
        "device": [0] * 2 * PAGES,
        "op": ["write"] * PAGES + ["trim"] * PAGES,
        "offset": [4096 * page for page in range(PAGES)] * 2,
        "length": [4096] * 2 * PAGES,
    }
    frame = pl.DataFrame(columns).cast(traces.SCHEMA)  # type: ignore[arg-type]
    trace = traces.Trace(frame, "parquet", "made", ["0"])
    settings = {"precondition": "none", "op": 0.3, "pages_per_block": 4, "replicas": 1, "repeat": 1}
    found = wa.simulate(trace=trace, spread=False, **settings)
    assert found.held_pages == 0
    assert found.theory.wa == pytest.approx(1)
    assert found.to_dict()["theory"]["op"] == found.device.physical_pages - 1


@pytest.mark.parametrize(
    "verb", ["simulate --trace {}", "trace info {}", "trace convert {} --to msr o.csv"]
)
def test_a_file_that_is_no_trace_is_not_quoted(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "secrets"
    path.write_text("root:hunter2:0:0\nmore:of:it\n")
    done = in_process.run(verb.format(path), "")
    assert done.status == 2
    assert f"{path}: its first line is no row of a known format; name the format" in done.err
    assert "hunter2" not in done.err


SEARCHES = {
    "op": lambda **asked: wa.required_op(2.0, **asked),
    "curve": lambda **asked: wa.wa_over_op("op=0.1:0.5:3", **asked),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_of_many_runs_bounds_the_draws_of_each_collection(
    search: Callable[..., object],
) -> None:
    drive = {"logical_blocks": 200, "pages_per_block": 64, "replicas": 1}
    with pytest.raises(wa.WriteampError, match=r"draws 65536 blocks .* at most 4000; .* greedy"):
        search(victims="d-choices:d=65536", **drive)

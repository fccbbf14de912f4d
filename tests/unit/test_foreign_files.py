"""Recordings, fleets and plans whose values nobody has written: refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import in_process
import writeamp as wa
from recordings import recorded, requests
from writeamp.learn.twin.chain import Chain, chain_of
from writeamp.traces.recorded import RECORDING_KEY
from writeamp.volumes.fleet import MARK, TABLE, Fleet


def refused(verb: str, arguments: str) -> None:
    done = in_process.run(verb, arguments)
    assert (done.status, len(done.err.splitlines())) == (2, 1), done


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("channels", 2**31),
        ("page_bytes", "x"),
        ("pages_per_block", 10**30),
        ("times_json", "{"),
        ("times_json", "[" * 100_000),
        ("times_json", '{"timing": [1]}'),
        ("times_json", '{"program": {"pages_per_word_line": -3}}'),
        ("times_json", '{"write_cache": {"bytes": "x"}}'),
        ("members", [[1]]),
    ],
)
def test_a_recording_of_a_drive_that_cannot_be_is_refused(
    key: str, value: Any, tmp_path: Path
) -> None:
    path = recorded(tmp_path, requests(100))
    metadata = pl.read_parquet_metadata(path)
    facts = json.loads(metadata[RECORDING_KEY])
    facts["device"][key] = value
    ours = {name: text for name, text in metadata.items() if name != "ARROW:schema"}
    ours[RECORDING_KEY] = json.dumps(facts)
    pl.read_parquet(path).write_parquet(path, metadata=ours)
    refused("simulate", f"--trace {path} --replicas 1")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    in_process.document("volumes make", f"--volumes 3 --requests 1e3 --out {folder}/t.csv")
    in_process.document("volumes split", f"{folder}/t.csv --format alibaba --out {folder}/fleet")
    return folder / "fleet"


@pytest.mark.parametrize("key", ["requests", "volumes", "bytes_in", "inputs", "plan"])
def test_a_fleet_whose_mark_lacks_something_is_refused(key: str, fleet: Path) -> None:
    mark = fleet / MARK
    whole = mark.read_bytes()
    for change in ({key: None}, {}):
        facts = json.loads(whole)
        del facts[key]
        mark.write_text(json.dumps(facts | change))
        with pytest.raises(wa.WriteampError, match="damaged"):
            Fleet.open(fleet)
    mark.write_bytes(whole)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("requests", -1),
        ("first_row", -5),
        ("file", 2**63 - 1),
        ("drive_writes", float("nan")),
        ("span_s", float("inf")),
    ],
)
def test_a_fleet_whose_table_has_numbers_of_no_fleet_is_refused(
    column: str, value: float, fleet: Path
) -> None:
    table = fleet / TABLE
    whole = table.read_bytes()
    frame = pl.read_parquet(table)
    changed = frame.with_columns(pl.lit(value).cast(frame[column].dtype).alias(column))
    changed.write_parquet(table)
    refused("volumes info", str(fleet))
    table.write_bytes(whole)
    assert in_process.document("volumes info", str(fleet))["volumes"] == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("capacity_bytes", float("inf")),
        ("capacity_bytes", 10**400),
        ("capacity_bytes", -4096),
        ("page_bytes", 0),
        ("page_bytes", "x"),
        ("phases", 5),
        ("phases", [{"workload": "uniform", "ends": [10**400]}]),
    ],
)
def test_a_plan_with_sizes_of_no_drive_is_refused(key: str, value: Any) -> None:
    tables = chain_of(2, chunks=False, capacity_bytes=2**30).tables()
    assert Chain.from_tables(tables, "plan").tables() == tables
    with pytest.raises(wa.WriteampError, match="plan"):
        Chain.from_tables(tables | {key: value}, "plan")

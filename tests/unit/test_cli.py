"""The command line's contracts: keys, silence when piped, examples in help, Ctrl-C."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from in_process import document, run
from places import TRACE
from writeamp.cli.trace import shown_fact

SIMULATE_KEYS = {
    "wa", "wa_ci95", "steady", "host_pages", "flash_pages", "causes", "erases", "op", "fill",
    "spare_factor", "pages_per_block", "physical_pages", "logical_pages", "drive_writes", "seed",
    "version", "elapsed_s", "host_pages_per_s",
}  # fmt: skip
TRACE_KEYS = {
    "format", "requests", "writes", "reads", "write_fraction", "bytes_written",
    "unique_bytes_written", "footprint_bytes", "duration_s", "mean_write_bytes", "mean_read_bytes",
    "drive_writes", "drive_writes_of", "writes_per_page", "hottest_1pct_share",
    "hottest_10pct_share",
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [(14190.2, "14,190"), (1.0, "1"), (0.99997, "0.999970"), (0.5, "0.5"), (0.99949, "0.9995")],
)
def test_a_share_that_is_not_all_is_not_shown_as_all(value: float, text: str) -> None:
    assert shown_fact(value) == text


def test_devices_are_counted_and_named() -> None:
    assert shown_fact(["0"]) == "1: 0"
    assert shown_fact(["sda", "sdb"]) == "2: sda, sdb"


def test_a_trace_reports_its_spread_over_drive_sizes() -> None:
    found = document("simulate", f"--trace '{TRACE}' --op 0.10 --repeat 5")
    assert found.keys() >= SIMULATE_KEYS | {"wa_spread"}
    assert found["steady"]
    around = [found["wa"], *found["wa_one_block_less_more"]]
    assert found["wa_spread"] == pytest.approx(max(around) - min(around))
    assert "the trace was looped 5 times" in found["notes"]


def test_trace_info_prints_the_promised_keys() -> None:
    found = document("trace info", f"'{TRACE}'")
    assert found.keys() >= TRACE_KEYS
    assert found["writes"] > 300_000


COLUMNS = "columns:offset=1:sectors,length=4KiB,op=2:W=write/R=read,separator=semicolon"


@pytest.mark.parametrize(
    ("row", "options"),
    [
        ("{sector};W", f"--format '{COLUMNS}'"),
        ("8,0 0 {at} {at}.0 40 D W {sector} + 8 [writer]", "--action D"),
        ("0,{sector},4096,W,{at}.5", ""),
    ],
)
@pytest.mark.parametrize("pages", [128, 300, 8192])
def test_trace_info_ends_with_a_command_that_simulates_the_trace_as_it_was_read(
    row: str, options: str, pages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    trace = tmp_path / "a disk's requests.txt"
    rows = (row.format(sector=8 * (at * 7 % pages), at=at) for at in range(3 * pages))
    trace.write_text("\n".join(rows) + "\n")
    done = run("trace info", f'"{trace}" {options}')
    last = done.out.splitlines()[-1]
    assert last.startswith("next: writeamp simulate --trace ")
    found = document("simulate", last.removeprefix("next: writeamp simulate "))
    assert found["logical_pages"] >= pages
    assert found["op"] == pytest.approx(0.1, rel=0.1)
    assert ("--pages-per-block" in last) == (pages < 8192)


def test_trace_info_suggests_no_drive_for_a_trace_that_none_is_fitted_to(tmp_path: Path) -> None:
    trace = tmp_path / "t.spc"
    trace.write_text("".join(f"0,{8 * at},4096,W,{at}.5\n" for at in range(127)))
    done = run("trace info", f"'{trace}'")
    assert done.status == 0
    assert "next:" not in done.out


def test_a_converted_trace_holds_the_same_requests(tmp_path: Path) -> None:
    spc = tmp_path / "small.spc"
    spc.write_text("0,20941264,8192,W,0.551706\n0,20939840,4096,R,0.554041\n")
    assert run("trace convert", f"'{spc}' '{tmp_path}/out.parquet' --from spc")[0] == 0
    first, second = (
        document("trace info", f"'{path}' --format {name}")
        for path, name in ((spc, "spc"), (tmp_path / "out.parquet", "parquet"))
    )
    for key in TRACE_KEYS - {"format"}:
        assert first[key] == second[key]


def test_list_covers_every_registry() -> None:
    found = document("list")
    names = {kind: {row["name"] for row in rows} for kind, rows in found.items()}
    assert names["victims"] >= {
        "greedy", "fifo", "random", "d-choices", "windowed-greedy", "cost-benefit"
    }  # fmt: skip
    assert names["managers"] >= {"single", "sepgc"}
    assert names["formats"] >= {"msr", "spc", "mqsim", "ssdsim", "disksim", "blkparse", "parquet"}
    assert names["devices"] >= {"generic", "eagletree"}


def test_list_tells_defaults_from_examples() -> None:
    out = run("list", "managers").out
    assert "regions=6 by default (regions: a whole number from 2 to 64)" in out
    assert "for example dac:regions=4" in out
    # Beside the name stands nothing that could be taken for a default.
    names = re.findall(r"^  (\S+)", run("list", "").out, re.MULTILINE)
    assert {"dac", "zipf", "d-choices"} <= set(names)
    assert [name for name in names if ":" in name] == ["columns:…"]
    [dac] = [row for row in document("list", "managers")["managers"] if row["name"] == "dac"]
    assert (dac["defaults"], dac["example"]) == (
        {"regions": "6", "residence": "off"},
        "dac:regions=4",
    )
    [hot] = [r for r in document("list", "workloads")["workloads"] if r["name"] == "hot-cold"]
    assert hot["defaults"] == {"hot_fraction": None, "hot_write_fraction": None, "trim": "0"}
    assert "hot_fraction or f must be given (" in hot["parameters"]
    assert "for example hot-cold:f=0.1,r=0.9" in run("list", "").out


def test_simulate_prints_the_promised_keys() -> None:
    found = document(
        "simulate", "--workload uniform --blocks 512 --pages-per-block 64 --fill 0.70 --seed 1"
    )
    assert found.keys() >= SIMULATE_KEYS
    assert sum(found["causes"].values()) == found["flash_pages"]
    assert found["wa"] == found["flash_pages"] / found["host_pages"]
    assert found["wa_ci95"][0] <= found["wa"] <= found["wa_ci95"][1]
    assert 1 - found["fill"] == pytest.approx(found["spare_factor"])
    assert 1 / (1 + found["op"]) == pytest.approx(found["fill"])


@pytest.mark.parametrize(
    "verb", ["simulate", "endurance", "predict", "list", "trace info", "trace convert"]
)
def test_help_shows_an_example(verb: str) -> None:
    status, out, _ = run(verb, "--help")
    assert status == 0
    assert "Example: writeamp" in out

"""JSON documents of verbs, their keys as columns of CSV, and help that shows examples.

`test_required_op.py` has the document of `simulate --target-wa`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import in_process
import writeamp as wa
from in_process import document, run
from places import TRACE as POSTGRES
from samples import DRIVE as SETTINGS
from samples import FORMAT, SWEEP, TRACE, captured
from samples import MEAN_FIELD as HOT_COLD_FIELD
from writeamp.results import frames
from writeamp.results.facts import fact_in_words, shown_fact
from writeamp.results.frames import frame_of

DRIVE = "--blocks 64 --pages-per-block 16 --op 0.25"
RUN = f"{DRIVE} --workload zipf:s=0.9 --writes 20000"
MEAN_FIELD = "--pages-per-block 8 --spare-factor 0.2 --d 5"
PINS = "--dies 2 --page-bytes 4KiB --window 200:900"
HEAT = "--hot-fraction 0.2 --hot-write-fraction 0.8"

# A verb, its arguments, the rows that it prints, and in which list of its document they are.
VERBS = {
    "simulate": (RUN, 1, None),
    "simulate timed": ("--device x25-m --size 64MiB --workload random:qd=4 --time 5ms", 1, None),
    "compare": (f"{RUN} --managers single,sepgc --replicas 2", 2, "rows"),
    "endurance": ("--blocks 32 --pages-per-block 8 --op 0.25 --w-max 20 --replicas 2", 1, None),
    "predict": ("--op 0.28", None, "models"),
    "meanfield": (f"--mode hcwf {MEAN_FIELD} {HEAT}", 1, None),
    "blackbox predict": ("{model} --workload random:bs=8k,write=0.5,qd=8", 1, None),
    "blackbox choose": ("{model} --workload random:bs=8k,qd=8 --max-latency 2ms", 1, "choices"),
    "blackbox evaluate": ("{model} {measurements} --cv 3", None, "metrics"),
    "trace info": ("{trace} --format spc", 1, None),
    "measure rb": (f"{{capture}} {PINS} --host-bytes 1MiB", 1, None),
}  # fmt: skip
# What took time, or holds rows of a table of its own.
_NEVER_SAME = ("elapsed_s", "check_elapsed_s", "host_pages_per_s", "flash_ops_per_s")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give the files that the verbs read."""
    import blackbox_tables  # noqa: PLC0415 (beside the tests)
    from writeamp.learn.blackbox import model_file, training  # noqa: PLC0415 (takes seconds)

    folder = tmp_path_factory.mktemp("csv")
    found = {name: folder / name for name in ("trace", "model")}
    found["trace"].write_text(TRACE)
    found["measurements"] = folder / "m.parquet"
    table = blackbox_tables.measured(120)
    table.write_parquet(found["measurements"])
    model_file.save(training.train(table), found["model"])
    captured(folder)
    return found | {"capture": folder / "rb.vcd"}


def csv_of(verb: str, arguments: str) -> pl.DataFrame:
    done = in_process.run(verb, f"{arguments} --csv")
    assert done.status == 0, done.err
    return pl.read_csv(done.out.encode(), infer_schema_length=None)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_prints_csv_with_the_keys_of_its_document(name: str, files: dict[str, Path]) -> None:
    text, rows, place = VERBS[name]
    verb, arguments = name.removesuffix(" timed"), text.format(**files)
    table = csv_of(verb, arguments)
    document = in_process.document(verb, arguments)
    records = [document] if place is None else document[place]
    assert table.height == (len(records) if rows is None else rows)
    expected = frame_of(records)
    common = [
        column
        for column in table.columns
        if column in expected.columns and column not in _NEVER_SAME
    ]
    assert len(common) > 2
    for column in common:
        for shown, known in zip(table[column], expected[column].to_list(), strict=True):
            if isinstance(known, list):
                assert json.loads(shown) == known
            elif isinstance(known, float) and not isinstance(shown, str):
                assert shown == known, column
            else:
                assert str(shown) == str(known) or (shown is None and known in (None, "")), column


@pytest.mark.usefixtures("in_process")
def test_a_sweep_is_shown_as_csv(tmp_path: Path) -> None:
    wa.sweep(SWEEP, keep=tmp_path / "out", runner=wa.runners.Here())
    plain = csv_of("sweep show", str(tmp_path / "out"))
    assert plain.height == 6
    assert {"op", "manager", "wa", "wa_low", "wa_high"} <= set(plain.columns)
    lines = csv_of("sweep show", f"{tmp_path / 'out'} --x op --hue manager")
    assert sorted(lines["wa"]) == sorted(plain["wa"])
    front = csv_of("sweep show", f"{tmp_path / 'out'} --pareto wa,op")
    assert "standing" in front.columns


def test_a_sweep_of_models_has_a_row_for_each_value_and_model() -> None:
    table = csv_of("predict", "--sweep op=0.1:0.3:3 --model markov --model fifo")
    assert table.select("op", "model").rows() == [
        (op, model) for op in (0.1, 0.2, 0.3) for model in ("markov", "fifo")
    ]


def test_the_history_of_a_run_is_csv_too() -> None:
    table = csv_of("simulate", f"{RUN} --series")
    assert table.columns[:3] == ["host_pages", "drive_writes", "wa"]
    assert table["host_pages"][-1] == 20_000
    curve = csv_of("endurance", "--blocks 32 --pages-per-block 8 --op 0.25 --w-max 20 --curve")
    assert curve["w"].to_list() == list(range(1, 21))


@pytest.mark.parametrize("order", ["--json --csv", "--csv --json"])
@pytest.mark.parametrize("verb", ["simulate", "predict --op 0.28"])
def test_two_forms_of_one_result_are_refused_before_anything_runs(verb: str, order: str) -> None:
    name, _, rest = verb.partition(" ")
    said = in_process.refusal(name, f"{rest} {order}")
    assert "exclude each other; give only one" in said


def test_csv_is_all_that_is_on_stdout() -> None:
    done = in_process.run("simulate", f"{DRIVE} --writes 200 --csv")
    assert done.out.count("\n") == 2
    assert "warning: " in done.err


def test_a_name_that_a_spreadsheet_would_run_is_text_and_is_read_back_as_given() -> None:
    names = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\t=1", "\r=1", "a=b", "'q", "", None]
    frame = pl.DataFrame({"=name": names, "wa": [-1.5] * len(names)})
    written = frames.csv_of(frame)
    read = pl.read_csv(written.encode())
    assert [one and one.startswith("'") for one in read["'=name"]] == [True] * 6 + [
        False, True, "", None,
    ]  # fmt: skip
    assert read["wa"].dtype == pl.Float64
    assert frames.names_as_given(read).to_series(0).to_list() == names


def test_a_number_stays_one_where_others_of_its_column_are_text() -> None:
    written = frames.csv_of(pl.DataFrame({"value": ["-1.5", "+2e3", "-", "on"]}))
    assert written.split() == ["value", "-1.5", "+2e3", "'-", "on"]


def test_a_drive_with_a_name_of_a_formula_is_text_in_a_fleet(tmp_path: Path) -> None:
    log = {"critical_warning": 0, "data_units_written": 2000}
    (tmp_path / "=1+1.json").write_text(json.dumps({"model_name": "@x", **log}))
    done = in_process.run("measure fleet", f"{tmp_path} --csv")
    (row,) = csv.DictReader(done.out.splitlines())
    cells = [cell for cell in row.values() if cell.startswith(("=", "@", "+", "-"))]
    assert cells == []


WORKLOAD = "hot-cold:f=0.1,r=0.9"
TIMED: dict[str, Any] = {"size": "64MiB", "workload": "random:qd=4", "time": "5ms"}
# What the doctor, whom the library leaves to its caller, says of a load without mistakes.
NO_FINDINGS: dict[str, Any] = {"findings": []}


def options(settings: dict[str, Any]) -> str:
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())


def info(folder: Path) -> dict[str, Any]:
    (folder / "t.spc").write_text(TRACE)
    return wa.traces.info(wa.traces.read(folder / "t.spc", FORMAT))


# What a verb is given, and what the library says of the same.
OF_LIBRARY: dict[str, tuple[str, Callable[[Path], dict[str, Any]]]] = {
    "simulate": (
        options(SETTINGS | {"workload": WORKLOAD, "writes": 20_000}),
        lambda _: wa.simulate(**SETTINGS, workload=WORKLOAD, writes=20_000).to_dict() | NO_FINDINGS,
    ),
    "simulate --timed": (
        options({"device": "x25-m"} | TIMED),
        lambda _: wa.simulate("x25-m", **TIMED).to_dict() | NO_FINDINGS,
    ),
    "compare": (
        options(SETTINGS | {"managers": "single,sepgc", "writes": 20_000, "replicas": 2}),
        lambda _: wa.compare(
            **SETTINGS, managers="single,sepgc", writes=20_000, replicas=2
        ).to_dict(),
    ),
    "endurance": (
        options(SETTINGS | {"w_max": 20, "replicas": 2}),
        lambda _: wa.endurance(**SETTINGS, w_max=20, replicas=2).to_dict(),
    ),
    "meanfield": (
        options(HOT_COLD_FIELD | {"mode": "hcwf"}),
        lambda _: wa.meanfield.hot_cold(**HOT_COLD_FIELD).to_dict(),
    ),
    "trace info": ("{folder}/t.spc --format spc", info),
}


def without_times(value: Any) -> Any:
    """Return a document without what took time, at any depth."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in _NEVER_SAME}
    return list(map(without_times, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("verb", OF_LIBRARY)
def test_the_document_of_a_verb_is_that_of_the_library(verb: str, tmp_path: Path) -> None:
    arguments, of_library = OF_LIBRARY[verb]
    expected = json.loads(json.dumps(of_library(tmp_path)))
    found = in_process.document(verb, arguments.format(folder=tmp_path))
    assert without_times(found) == without_times(expected)


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


@pytest.mark.parametrize(
    ("key", "value", "row"),
    [
        ("written_set_bytes", 2.5 * 2**20, ("written set", "2.5 MiB")),
        ("median_update_interval_s", 14979.4, ("median update interval", "14,979 s")),
        ("sequential_share", 0.2451, ("sequential writes", "24.5%")),
        ("requests_per_s", 962_600.0, ("requests per s", "962,600")),
        ("days", 0.9999992, ("days", "1")),
    ],
)
def test_a_fact_has_a_unit(key: str, value: float, row: tuple[str, str]) -> None:
    assert fact_in_words(key, value) == row


def test_devices_are_counted_and_named() -> None:
    assert shown_fact(["0"]) == "1: 0"
    assert shown_fact(["sda", "sdb"]) == "2: sda, sdb"


def test_a_trace_reports_its_spread_over_drive_sizes() -> None:
    found = document("simulate", f"--trace '{POSTGRES}' --op 0.10 --repeat 5")
    assert found.keys() >= SIMULATE_KEYS | {"wa_spread"}
    assert found["steady"]
    around = [found["wa"], *found["wa_one_block_less_more"]]
    assert found["wa_spread"] == pytest.approx(max(around) - min(around))
    assert "the trace was looped 5 times" in found["notes"]


def test_trace_info_prints_the_promised_keys() -> None:
    found = document("trace info", f"'{POSTGRES}'")
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
    out = " ".join(run("list", "managers").out.split())
    assert "regions=6 by default (number of regions: a whole number from 2 to 64)" in out
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

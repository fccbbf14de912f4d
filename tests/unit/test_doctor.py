"""Inputs of the doctor, what it finds in traces, results and counters, and its numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import in_process
import samples
import smart_documents
import writeamp as wa
from places import EXAMPLES, TINY
from writeamp.drives.doctor.in_passing import findings_in_command
from writeamp.drives.doctor.registry import checks
from writeamp.errors import WriteampError
from writeamp.reports.headlines.headline import headline
from writeamp.results.signatures import SIGNATURES

GIB = 2**30


def ids(report: wa.DoctorReport, *, notes: bool = True) -> set[str]:
    return {one.id for one in report.findings if notes or one.severity != "note"}


def examined(*sources: Any, **how: Any) -> wa.DoctorReport:
    return wa.doctor(*sources, **({"simulate": False} | how))


def fio_output(
    written: int, *, text: str = "", version: str = "fio-3.33", result: Any = None, **options: str
) -> str:
    """Return fio's JSON of one job."""
    own = {"rw": "randwrite", "ioengine": "libaio", "direct": "1", "filename": "/dev/nvme0n1"}
    entry = {
        "jobname": "w",
        "groupid": 0,
        "job options": own | options,
        "write": {"io_bytes": written, "total_ios": written // 4096, **(result or {})},
    }
    return text + json.dumps({"fio version": version, "global options": {}, "jobs": [entry]})


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def trace_of(offsets: Any, **columns: Any) -> wa.traces.Trace:
    offsets = np.asarray(offsets, np.uint64)
    frame = pl.DataFrame(
        {
            "timestamp_ns": np.arange(offsets.size) * 1000,
            "device": np.zeros(offsets.size, np.uint32),
            "op": ["write"] * offsets.size,
            "offset": offsets,
            "length": np.full(offsets.size, 4096, np.uint32),
        }
        | columns,
        schema=wa.traces.SCHEMA,
    )
    return wa.traces.Trace(frame, "parquet", "t.parquet", ["0"])


def test_the_example_has_the_numbers_of_its_mistake() -> None:
    report = wa.doctor(EXAMPLES / "fio" / "looped-randwrite.fio")
    (found,) = (one for one in report.findings if one.id == "looped-permutation")
    assert found.severity == "error"
    assert found.wa_now.wa == pytest.approx(1, abs=0.001)
    assert 3.6 <= found.wa_fixed.wa <= 3.8
    assert headline(report.to_dict()) == (
        "1 error, 1 note; the worst is looped-permutation (WA 1 instead of "
        f"{found.wa_fixed.wa:.4g})."
    )
    document = {"findings": [], "not_judged": [{"id": "x"}]}
    assert headline(document) == "No mistake was found by the checks that could run."
    assert "op 0.15" in report.drive


def test_the_drive_that_is_simulated_may_be_another() -> None:
    path = EXAMPLES / "fio" / "looped-randwrite.fio"
    ample = wa.doctor(path, op=0.5, size="16MiB").findings[0].wa_fixed
    assert ample.wa < 2
    with pytest.raises(WriteampError, match="At least 1,024"):
        wa.doctor(path, size="1MiB")
    of_a_profile = wa.doctor(path, device="x25-m", size="64MiB").findings[0].wa_fixed
    assert of_a_profile.wa > 3


def test_no_simulation_leaves_the_findings_without_numbers() -> None:
    found = examined(EXAMPLES / "fio" / "looped-randwrite.fio").findings[0]
    assert (found.wa_now, found.wa_fixed) == (None, None)


RIGHT = sorted((EXAMPLES / "fio").glob("*-right.fio"))


@pytest.mark.parametrize("path", RIGHT, ids=lambda one: one.stem)
def test_of_each_pair_of_examples_one_is_wrong_and_one_right(path: Path) -> None:
    assert ids(examined(path), notes=False) == set()
    wrong = path.with_name(path.name.replace("-right", ""))
    assert ids(examined(wrong), notes=False)


def test_there_are_five_pairs_of_examples() -> None:
    assert len(RIGHT) == 5


# What each file is taken for.
def test_an_input_is_told_by_its_content(tmp_path: Path) -> None:
    smart = smart_documents.intel(1000, 2000)
    inputs = {
        "a fio job file": put(tmp_path, "a", "[a]\nrw=write\n"),
        "command lines of fio": put(tmp_path, "b", "#!/bin/sh\nfio --name=a --rw=read\n"),
        "fio's JSON output": put(tmp_path, "c", fio_output(1, version=f"fio-{'9' * 5000}.3")),
        "a block trace": TINY / "tiny.msr.csv",
        "a result of predict": put(tmp_path, "d", {"models": [], "op": 0.1}),
        "counter snapshots": put(tmp_path, "e", smart),
    }
    for kind, path in inputs.items():
        assert [kind for _, kind in examined(path).inputs] == [kind]


OF_VERBS = {
    "simulate": "Result",
    "simulate, timed": "TimedResult",
    "simulate --target-wa": "RequiredOp",
    "compare": "Comparison",
    "endurance": "Endurance",
    "answer": "Answer",
    "serve": "ServeResult",
    "measure rb": "ReadyBusy",
    "lifetime": "Lifetime",
    "measure counters": "DriveCounters",
}


def result_of(verb: str, folder: Path) -> Any:
    if verb == "predict":
        return in_process.document(verb, "--op 0.28")
    return (samples.SAMPLES | samples.PARTS)[OF_VERBS[verb]](folder).to_dict()


@pytest.mark.parametrize("verb", SIGNATURES)
def test_a_result_of_every_verb_is_one_and_no_snapshot(verb: str, tmp_path: Path) -> None:
    document = result_of(verb, tmp_path)
    path = put(tmp_path, "result.json", document)
    assert [kind for _, kind in examined(path).inputs] == [f"a result of {verb}"]
    refused = in_process.run("measure", f"counters {path}")
    assert refused.status == 2
    assert f"result.json is a result of writeamp {verb}, not a snapshot of a drive" in refused.err


def test_a_page_of_report_is_the_result_inside(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    in_process.run("simulate", f"--blocks 64 --op 0.2 --writes 2000 --report {page}")
    report = examined(page)
    assert [kind for _, kind in report.inputs] == ["a result of simulate"]
    assert "doubtful-result" in ids(report)


@pytest.mark.parametrize("path", sorted(TINY.iterdir()), ids=lambda one: one.name)
def test_a_trace_of_every_format_is_judged(path: Path) -> None:
    if not path.is_file():
        return
    name = path.name.split(".")[1]
    (found,) = examined(path, trace_format=name if name in wa.traces.FORMATS else None).inputs
    assert found[1] == "a block trace"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hello world\n", ["not a supported input", "fio job file", "--format"]),
        ("", ["empty"]),
        ("rw=randwrite\n[a]\nrw=write\n", [":1", "before the first [section]"]),
        ("[global]\nrw=write\n", ["no job"]),
        ("[a]\nrw=write\n" * 501, ["501 jobs", "At most 500"]),
        ('{"a": 1}', ["not a supported input"]),
        ('{"fio version": "fio-3.33", "jobs": [', ["truncated"]),
        ("[Unit]\nDescription=a service\n", ["not a supported input"]),
        ("128166372003061629,hm,0,Write,1\n", ["format"]),
        ("op,lba,size\nW,8,4096\nR,16,4096\n", ["reads it: --format columns:offset=lba"]),
    ],
)
def test_what_is_none_of_the_inputs_is_refused(
    content: str, words: list[str], tmp_path: Path
) -> None:
    with pytest.raises(WriteampError) as refused:
        examined(put(tmp_path, "x", content))
    assert [word for word in words if word not in str(refused.value)] == []


def test_a_trace_in_pages_is_judged_and_a_number_is_not() -> None:
    pages = wa.traces.to_pages(trace_of(np.tile(ORDER, 4)))
    assert "looped-permutation" in ids(examined(pages))
    with pytest.raises(WriteampError, match="7 is not a supported input"):
        examined(7)


def test_no_input_is_refused_and_so_is_a_command_without_fio() -> None:
    with pytest.raises(WriteampError, match="no input"):
        wa.doctor()
    with pytest.raises(WriteampError, match="does not run fio"):
        wa.doctor(run="dd if=/dev/zero of=/dev/sdb")


def test_nothing_that_an_input_names_is_opened(tmp_path: Path) -> None:
    put(tmp_path, "more.fio", "[b]\nrw=randwrite\nloops=4\nfilename=/dev/sdb\n")
    text = "[a]\nfilename=/dev/sdb\nrw=write\ndirect=1\ninclude more.fio\n"
    report = examined(put(tmp_path, "a.fio", text))
    assert ids(report) == set()
    assert any("more.fio is included but was not read" in note for note in report.notes)
    script = put(tmp_path, "run.sh", f"fio {tmp_path}/more.fio\n")
    report = examined(script)
    assert ids(report) == set()
    assert any(f"names {tmp_path}/more.fio" in note for note in report.notes)


def test_a_command_that_is_about_to_run_is_judged_with_its_job_files(tmp_path: Path) -> None:
    job = put(tmp_path, "more.fio", "[b]\nrw=randwrite\nloops=4\nfilename=/dev/sdb\n")
    assert "looped-permutation" in ids(examined(run=f"sudo fio --eta=never {job}"))
    assert examined(run="fio missing.fio").notes == (
        "the command names missing.fio, which was not read. To examine it, run `writeamp doctor "
        "missing.fio`",
    )


def test_a_script_has_its_own_variables_and_others_leave_a_call_unjudged(tmp_path: Path) -> None:
    call = "fio --name=a --filename=$DEV $MORE --rw=randwrite --loops=5\n"
    known = "DEV=/dev/sdb\nMORE='--direct=1 --ioengine=libaio'\n"
    report = examined(put(tmp_path, "a.sh", known + call))
    assert ids(report, notes=False) == {"looped-permutation"}
    assert report.notes == ()
    report = examined(put(tmp_path, "b.sh", call))
    assert ids(report) == set()
    assert "$MORE is unknown" in report.notes[0]


def test_an_unknown_variable_is_told_and_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "[a]\nfilename=/dev/sdb\nrw=write\ndirect=1\niodepth=8\nioengine=${OF_NOBODY}\n"
    report = examined(put(tmp_path, "a.fio", text))
    assert ids(report) == set()
    assert any("ioengine=${OF_NOBODY} is unknown" in note for note in report.notes)
    monkeypatch.setenv("OF_NOBODY", "sync")
    assert ids(examined(put(tmp_path, "a.fio", text))) == {"depth-without-effect"}


# fio's output: what its options say, what came of them, and what stands before the document.
def test_output_of_fio_has_the_mistakes_of_its_jobs(tmp_path: Path) -> None:
    size = {"size": "1g", "filename": "/mnt/a", "io_size": "4g"}
    found = examined(put(tmp_path, "o.json", fio_output(4 * GIB, **size)))
    assert "looped-permutation" in ids(found, notes=False)
    plain = fio_output(4 * GIB, norandommap="1", **size)
    assert ids(examined(put(tmp_path, "o.json", plain)), notes=False) == set()


def test_output_of_fio_hides_flags_which_is_no_more_than_a_note(tmp_path: Path) -> None:
    timed = fio_output(4 * GIB, size="1g", filename="/mnt/a", runtime="60")
    found = examined(put(tmp_path, "o.json", timed))
    assert ids(found, notes=False) == set()
    assert "looped-permutation" in ids(found)


def test_output_of_fio_that_shows_flags_hides_none(tmp_path: Path) -> None:
    options = {"size": "1g", "filename": "/mnt/a", "runtime": "60", "time_based": ""}
    found = examined(put(tmp_path, "o.json", fio_output(4 * GIB, **options)))
    assert "looped-permutation" in ids(found, notes=False)
    plain = fio_output(4 * GIB, norandommap="", **options)
    assert ids(examined(put(tmp_path, "o.json", plain)), notes=False) == set()


def test_the_last_of_several_documents_of_fio_counts_behind_any_text(tmp_path: Path) -> None:
    size = {"size": "1g", "filename": "/mnt/a", "runtime": "60"}
    early, late = fio_output(GIB // 2, **size), fio_output(3 * GIB, **size)
    text = "+ fio --name=x --rw=read {\n" + "line\n" * 100
    assert "too-few-writes" not in ids(examined(put(tmp_path, "o", f"{text}{early}\n{late}")))
    assert "too-few-writes" in ids(examined(put(tmp_path, "o", f"{text}{late}\n{early}")))


def test_output_of_fio_says_how_fast_the_drive_was(tmp_path: Path) -> None:
    options = {"rw": "write", "size": "1g", "runtime": "60"}
    for written, expected in ((GIB // 2, True), (GIB, False)):
        report = examined(put(tmp_path, "o.json", fio_output(written, **options)))
        assert ("runtime-ends-it" in ids(report)) is expected
        assert report.not_judged == ()
    looped = {"size": "1g", "runtime": "60", "loops": "4"}
    for written, expected in ((GIB // 2, False), (2 * GIB, True)):
        report = examined(put(tmp_path, "o.json", fio_output(written, **looped)))
        assert ("looped-permutation" in ids(report)) is expected


def test_output_of_fio_shows_what_was_written(tmp_path: Path) -> None:
    few = fio_output(GIB // 2, size="1g", filename="/mnt/a", runtime="60")
    assert "too-few-writes" in ids(examined(put(tmp_path, "o.json", few)), notes=False)
    enough = fio_output(3 * GIB, size="1g", filename="/mnt/a", runtime="60")
    assert "too-few-writes" not in ids(examined(put(tmp_path, "o.json", enough)))


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("random-map-skew", {"version": "fio-3.7"}, {"version": "fio-3.28"}),
        ("random-map-skew", {"version": "fio-3.1"}, {"version": "fio-3.7", "norandommap": "1"}),
        (
            "generator-period",
            {"text": "fio: file /dev/x exceeds 32-bit tausworthe random generator.\n"},
            {"text": "fio: warning\n"},
        ),
        ("log-without-offsets", {"text": "note: both iodepth >= 1\n"}, {}),
        (
            "unsteady-bandwidth",
            {"result": {"bw_samples": 100, "bw_mean": 1000.0, "bw_dev": 900.0, "bw_min": 10}},
            {"result": {"bw_samples": 100, "bw_mean": 1000.0, "bw_dev": 100.0, "bw_min": 700}},
        ),
        ("depth-without-effect", {"iodepth": "32", "ioengine": "psync"}, {"iodepth": "32"}),
    ],
)
def test_a_mistake_in_output_of_fio_is_found(
    name: str, wrong: dict[str, Any], right: dict[str, Any], tmp_path: Path
) -> None:
    assert name in ids(examined(put(tmp_path, "o.json", fio_output(4 * GIB, **wrong))))
    assert name not in ids(examined(put(tmp_path, "o.json", fio_output(4 * GIB, **right))))


def test_fio_says_itself_that_it_was_not_steady(tmp_path: Path) -> None:
    options = {"steadystate": "iops:5%", "steadystate_duration": "300"}
    document = json.loads(fio_output(4 * GIB, **options))
    document["jobs"][0]["steadystate"] = {"ss": "iops:5%", "duration": 300, "attained": 0}
    assert "short-steady-state" in ids(examined(put(tmp_path, "o.json", document)))
    document["jobs"][0]["steadystate"]["attained"] = 1
    assert "short-steady-state" not in ids(examined(put(tmp_path, "o.json", document)))


def test_two_outputs_of_one_seed_are_found_together(tmp_path: Path) -> None:
    first, second = (put(tmp_path, f"{n}.json", fio_output(GIB, bs="4k")) for n in (1, 2))
    assert "repeated-seed" in ids(examined(first, second))
    assert "repeated-seed" not in ids(examined(first))
    other = put(tmp_path, "3.json", fio_output(GIB, bs="4k", randrepeat="0"))
    assert "repeated-seed" not in ids(examined(first, other))


# Traces.
RANDOM = np.random.default_rng(1)
ORDER = RANDOM.permutation(3000) * 4096
UNIFORM = RANDOM.integers(0, 3000, 30_000) * 4096
EVEN = np.concatenate([RANDOM.permutation(3000) * 4096 for _ in range(10)])
SHORT = np.tile(RANDOM.integers(0, 3000, 2000) * 4096, 10)
ZIPF = RANDOM.permutation(2**15)[np.minimum(RANDOM.zipf(1.2, 30_000), 2**15) - 1] * 4096
JITTER = np.argsort(np.arange(30_000) + RANDOM.uniform(0, 16, 30_000), kind="stable")


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("looped-permutation", np.tile(ORDER, 10), UNIFORM),
        ("looped-permutation", np.tile(ORDER, 10)[JITTER], np.sort(UNIFORM)),
        ("looped-permutation", np.concatenate([np.sort(ORDER), np.tile(ORDER, 10)]), ORDER),
        ("looped-permutation", EVEN, np.tile(np.sort(ORDER), 10)),
        ("short-period", SHORT, UNIFORM),
        ("short-period", np.concatenate([UNIFORM, SHORT]), np.tile(np.sort(ORDER), 10)),
        (
            "short-period",
            RANDOM.integers(0, 2000, 9000) * 32768,
            RANDOM.integers(0, 16000, 9000) * 4096,
        ),
        ("short-period", RANDOM.choice(RANDOM.integers(0, 2**17, 2000), 9000) * 4096, ZIPF),
        ("misaligned", UNIFORM + 512, UNIFORM),
        ("no-trim", UNIFORM, None),
        ("doubtful-trace", np.repeat(UNIFORM, 2), UNIFORM),
    ],
)
def test_a_mistake_in_a_trace_is_found(name: str, wrong: Any, right: Any) -> None:
    assert name in ids(examined(trace_of(wrong)))
    if right is not None:
        assert name not in ids(examined(trace_of(right)))


def test_a_trace_with_a_pause_and_one_of_another_drive_are_doubtful() -> None:
    times = np.arange(5000) * 1000
    times[2500:] += 10**10
    assert "doubtful-trace" in ids(examined(trace_of(UNIFORM[:5000], timestamp_ns=times)))
    trace = trace_of(UNIFORM)
    assert "doubtful-trace" in ids(examined(trace, capacity="4MiB"), notes=False)
    assert "doubtful-trace" not in ids(examined(trace, capacity="64MiB"))
    assert "small-span" in ids(examined(trace, capacity="64MiB"))
    assert "small-span" not in ids(examined(trace, capacity="12MiB"))


@pytest.mark.parametrize("name", ["postgres-tpcb.parquet", "sqlite-upserts.parquet"])
def test_a_captured_trace_is_clean(name: str) -> None:
    assert ids(examined(EXAMPLES / name), notes=False) == set()


# Results of writeamp.
def test_a_result_that_is_not_steady_is_doubtful() -> None:
    drive = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
    short = wa.simulate(writes=2000, precondition="none", replicas=1, **drive)
    found = examined(short)
    assert "doubtful-result" in ids(found, notes=False)
    long = wa.simulate(**drive)
    assert ids(examined(long)) == set()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"run_exit_status": 1}, "doubtful-result"),
        ({"interrupted": True}, "doubtful-result"),
        ({"op": 28.0}, "doubtful-result"),
        ({"file_system": "ext4", "host": {"trimmed_pages": 0}}, "no-trim"),
        ({"precondition": "none", "host_pages": 10, "logical_pages": 100}, "fresh-drive"),
        ({"layers": {"factors": {"file_system": 2.5}}}, "stacked-storage"),
    ],
)
def test_a_result_of_serve_says_what_is_wrong(changes: dict[str, Any], name: str) -> None:
    clean = {"wa": 2.0, "run": "fio", "count_from": "run", "steady": True, "op": 0.28}
    assert ids(examined(clean)) == set()
    assert name in ids(examined(clean | changes))


# Counters of drives.
def intel(folder: Path, name: str, host: int, flash: int, day: float, **more: Any) -> Path:
    return put(folder, name, smart_documents.intel(host, flash, day, **more))


def test_counters_with_bounds_that_are_wide_are_coarse(tmp_path: Path) -> None:
    first = intel(tmp_path, "1", 100_000, 200_000, 0)
    few, many = intel(tmp_path, "2", 100_010, 200_020, 1), intel(tmp_path, "3", 110_000, 220_000, 1)
    assert "coarse-counters" in ids(examined(first, few))
    assert "coarse-counters" not in ids(examined(first, many))


def test_flash_that_goes_on_after_the_run_is_found(tmp_path: Path) -> None:
    before, after = (
        intel(tmp_path, "1", 100_000, 200_000, 0),
        intel(tmp_path, "2", 110_000, 220_000, 1),
    )
    late, quiet = (
        intel(tmp_path, "3", 110_001, 226_000, 2),
        intel(tmp_path, "4", 110_001, 220_010, 2),
    )
    found = examined(before, after, late)
    assert "collection-after-the-end" in ids(found)
    (one,) = (one for one in found.findings if one.id == "collection-after-the-end")
    assert one.wa_now.wa == pytest.approx(2.0)
    assert one.wa_fixed.wa == pytest.approx(2.6, rel=0.01)
    assert "collection-after-the-end" not in ids(examined(before, after, quiet))


def test_a_ratio_below_one_is_turned_round(tmp_path: Path) -> None:
    wrong, right = (
        intel(tmp_path, "1", 400_000, 100_000, 0),
        intel(tmp_path, "2", 100_000, 400_000, 0),
    )
    (found,) = (one for one in examined(wrong).findings if one.id == "inverted-ratio")
    assert (found.wa_now.wa, found.wa_fixed.wa) == pytest.approx((0.25, 4.0))
    assert "inverted-ratio" not in ids(examined(right))


def test_a_drive_that_is_virtual_or_new_is_found(tmp_path: Path) -> None:
    first, last = (intel(tmp_path, name, host, 2 * host, day, model_name="QEMU HARDDISK")
                   for name, host, day in (("1", 1000, 0), ("2", 2000, 1)))  # fmt: skip
    assert "no-flash-behind" in ids(examined(first, last))
    new, later = intel(tmp_path, "3", 1000, 2000, 0), intel(tmp_path, "4", 2000, 4000, 1)
    found = ids(examined(new, later))
    assert "fresh-drive" in found
    assert "no-flash-behind" not in found
    old = [intel(tmp_path, str(day), 10**6 + day, 2 * 10**6, day) for day in (5, 6)]
    assert "fresh-drive" not in ids(examined(*old))


@pytest.mark.parametrize(
    ("units", "options", "name"),
    [
        (320, {}, None),
        (400, {}, "other-writers"),
        (400, {"ramp_time": "60"}, "ramp-not-counted"),
        (2560, {}, "mistaken-unit"),
        (40, {}, "mistaken-unit"),
        (200, {"direct": "0"}, "page-cache"),
    ],
)
def test_fio_and_the_counters_are_held_against_each_other(
    units: int, options: dict[str, str], name: str | None, tmp_path: Path
) -> None:
    written = 320 * 2**25
    output = put(tmp_path, "o.json", fio_output(written, norandommap="1", **options))
    before = intel(tmp_path, "1", 10**6, 2 * 10**6, 0)
    after = intel(tmp_path, "2", 10**6 + units, 2 * 10**6 + 4 * units, 1)
    among = {"other-writers", "ramp-not-counted", "mistaken-unit", "page-cache"}
    found = ids(examined(output, before, after), notes=False)
    assert found & among == ({name} if name else set())


@pytest.mark.parametrize(("written", "is_found"), [(0, True), (10**9, False)])
def test_statistics_of_fdp_that_stay_0_are_found(
    written: int, is_found: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "snapshot"
    folder.mkdir()
    put(folder, "smart.json", {"critical_warning": 0, "data_units_written": 10**6})
    put(folder, "fdp.json", {"hbmw": written, "mbmw": 2 * written, "mbe": 0})
    assert ("fdp-not-used" in ids(examined(folder))) is is_found


def test_percentages_and_units_that_other_logs_contradict_are_found(tmp_path: Path) -> None:
    attributes: dict[int, Any] = {241: 10**6, 243: 2 * 10**6, 233: (0, 95)}
    model = "INTEL SSDSC2KB960G8"
    inverted = smart_documents.ata(model, attributes, capacity=960_197_124_096, used=95)
    assert "inverted-ratio" in ids(examined(put(tmp_path, "1", inverted)))
    agreeing = smart_documents.ata(model, attributes, capacity=960_197_124_096, used=5)
    assert "inverted-ratio" not in ids(examined(put(tmp_path, "2", agreeing)))
    other = smart_documents.ata(model, attributes, capacity=960_197_124_096, sectors=10**6)
    assert "mistaken-unit" in ids(examined(put(tmp_path, "3", other)))
    assert "mistaken-unit" not in ids(examined(put(tmp_path, "2", agreeing)))


def test_a_snapshot_without_a_write_amplification_has_a_note(tmp_path: Path) -> None:
    log = {"critical_warning": 0, "data_units_written": 10**6}
    report = examined(put(tmp_path, "smart.json", log))
    assert [(one.id, one.severity) for one in report.findings] == [("doubtful-result", "note")]
    both = intel(tmp_path, "1", 10**6, 2 * 10**6, 0)
    assert "doubtful-result" not in ids(examined(both))


# The command.
def test_what_was_not_judged_stands_below_and_the_drive_only_if_it_was_simulated(
    tmp_path: Path,
) -> None:
    whole = "[a]\nfilename=/dev/nvme0n1\nioengine=libaio\ndirect=1\nrw=write\n"
    loop = put(tmp_path, "a.fio", f"{whole}[b]\nfilename=/dev/nvme1n1\nioengine=libaio\ndirect=1\n"
               "rw=randrw\nrwmixread=100\nsize=100%\nio_size=1T\n")  # fmt: skip
    assert "not judged" not in in_process.run("doctor", str(loop)).out
    loop.write_text(loop.read_text().replace("rwmixread=100", "rwmixread=50"))
    shown = in_process.run("doctor", str(loop)).out
    assert "not judged: looped-permutation of " in shown
    assert "Pass --capacity" in shown
    assert "is from a simulation" not in shown
    counters = [intel(tmp_path, "1", 400_000, 100_000, 0)]
    assert examined(*counters, simulate=True).drive is None


def test_the_help_says_which_drive_is_simulated() -> None:
    shown = in_process.run("doctor", "--help").out
    assert "256 logical blocks of 64 pages, op 0.15" in shown
    assert "8192 blocks" not in shown


def test_the_status_is_0_unless_fail_on_says_otherwise(tmp_path: Path) -> None:
    wrong = put(tmp_path, "w.fio", "[a]\nfilename=/dev/sdb\nrw=write\n")
    for option, status in (("", 0), ("--fail-on error", 0), ("--fail-on warning", 1)):
        assert in_process.run("doctor", f"{wrong} --no-simulate {option}").status == status


def test_a_clean_job_has_a_table_of_no_rows() -> None:
    clean = EXAMPLES / "fio" / "page-cache-right.fio"
    wrong = EXAMPLES / "fio" / "looped-randwrite.fio"
    header, *rows = in_process.run("doctor", f"{clean} --csv").out.splitlines()
    of_wrong = in_process.run("doctor", f"{wrong} --csv").out.splitlines()
    assert header == of_wrong[0]
    assert len(of_wrong) > 1
    assert [row for row in rows if "note" not in row] == []


def test_a_job_without_any_finding_has_the_line_of_names_alone(tmp_path: Path) -> None:
    fill = "[fill]\nfilename=/dev/nvme0n1\nioengine=libaio\ndirect=1\nrw=write\n"
    shown = in_process.run("doctor", f"{put(tmp_path, 'good.fio', fill)} --csv").out
    assert shown.startswith("id,severity,message,")
    assert shown.count("\n") == 1


def test_a_page_and_a_card_say_what_was_not_judged(tmp_path: Path) -> None:
    text = "[a]\nfilename=/dev/sdb\ndirect=1\nrw=randwrite\nsize=100%\nio_size=1T\n"
    job, page = put(tmp_path, "a.fio", text), tmp_path / "page.html"
    in_process.run("doctor", f"{job} --report {page}")
    shown = in_process.run("report", str(page)).out
    assert "Not checked, looped-permutation" in shown
    assert any("not judged: looped" in note for note in examined(job).card().notes)


def test_the_document_has_the_keys_of_findings() -> None:
    path = EXAMPLES / "fio" / "looped-randwrite.fio"
    found = in_process.document("doctor", str(path))["findings"][0]
    assert {"id", "severity", "message", "evidence", "advice", "wa_now", "wa_fixed"} <= found.keys()
    assert found["wa_now"] == pytest.approx(1, abs=0.001)


def test_checks_have_ids_of_plain_words_that_are_names_of_their_files() -> None:
    names = [one.id for one in checks()]
    assert len(names) == len(set(names))
    for one in checks():
        assert one.severity in ("error", "warning", "note")
        assert one.message
        assert one.advice
        assert one.source


# What other verbs are given.
def test_simulate_shows_what_is_wrong_with_the_order_of_a_trace(tmp_path: Path) -> None:
    for offsets, expected in ((np.tile(ORDER, 4), ["looped-permutation"]), (UNIFORM, [])):
        path = tmp_path / "t.parquet"
        wa.traces.write(trace_of(offsets), path, replace=True)
        command = f"--trace {path} --op 0.2 --pages-per-block 16 --repeat 1"
        assert [one["id"] for one in in_process.document("simulate", command)["findings"]] == (
            expected
        )
        said = in_process.run("simulate", command).err
        assert ("looped-permutation: " in said) is bool(expected)
    assert in_process.document("simulate", "--blocks 64 --op 0.2 --writes 2000")["findings"] == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("fio --name=a --ioengine=nbd --uri=$uri --rw=randwrite --size=60M --loops=4",
         ["looped-permutation"]),
        ("fio --name=a --ioengine=nbd --uri=$uri --rw=randwrite --size=60M --bs=4k", []),
        ("mkfs.ext4 /dev/nbd0 && fio --name=a --rw=randread --iodepth=4", ["depth-without-effect"]),
        ("profiofile --name=a --iodepth=4", []),
        ("fio broken.fio", []),
    ],
)  # fmt: skip
def test_a_command_is_judged_before_it_runs(
    command: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "broken.fio", "loops=4\n[a]\nrw=randwrite\n")
    assert [one.id for one in findings_in_command(command)] == expected

"""Ratios in per cent and sizes with units: how they may be written, everywhere alike."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import pytest

import writeamp as wa
from in_process import document, refusal, run
from writeamp.fields.domains import PerCent, ratio_of
from writeamp.studies.sweep.axes import axes_of
from writeamp.units.byte_sizes import ByteSize

pytestmark = pytest.mark.usefixtures("plain_messages")

DRIVE = "--blocks 64 --pages-per-block 16 --writes 2000 --warmup 1000"
SMALL = {"blocks": 64, "pages_per_block": 16, "writes": 2000, "warmup": 1000}

# A ratio that looks like no number, or like no ratio.
NOT_RATIOS = ("15 %", "15%%", "%", "%15", "1e1%", "nan%", "inf%", "nan", "inf", "15 percent", "")


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        *(("15%", 0.15), ("7.3%", 0.073), ("150%", 1.5), ("0.15", 0.15), (".15", 0.15)),
        *(("12.5%", 0.125), (".5%", 0.005), ("5.%", 0.05), ("1.5e-1", 0.15), ("100%", 1.0)),
    ],
)
def test_a_ratio_in_per_cent_is_the_same_number_to_the_last_bit(text: str, ratio: float) -> None:
    assert ratio_of(text) == ratio
    asked = wa.Experiment.of("simulate", op=text)
    assert asked == wa.Experiment.of("simulate", op=ratio)
    assert asked.hash == wa.Experiment.of("simulate", op=ratio).hash
    assert wa.device(blocks=64, op=text) == wa.device(blocks=64, op=ratio)


@pytest.mark.parametrize("text", [*NOT_RATIOS, pytest.param("9" * 200_000, id="digits")])
def test_what_is_no_ratio_is_refused_in_python_and_by_the_command(text: str) -> None:
    assert math.isnan(ratio_of(text))
    for setting in ("op", "fill", "utilization", "precision"):
        with pytest.raises(wa.WriteampError, match=rf"^{setting} is '.*15%") as refused:
            wa.simulate(
                **SMALL, **{"op": 0.25, setting: text} | ({"op": None} if setting == "fill" else {})
            )
        assert "\n" not in str(refused.value)
    refusal("simulate", f"{DRIVE} --op '{text}'")


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        *(("op", "-5%"), ("op", "0%"), ("fill", "100%"), ("fill", "0%"), ("fill", "-10%")),
        *(("spare-factor", "150%"), ("utilization", "101%"), ("utilization", "0%")),
        *(("precision", "100%"), ("precision", "-1%")),
    ],
)
def test_per_cent_outside_the_domain_are_refused_as_the_number_is(setting: str, text: str) -> None:
    said = refusal("simulate", f"{DRIVE} --{setting}={text}")
    assert f"--{setting} is " in said
    assert "must" in said


def test_every_verb_takes_per_cent() -> None:
    for verb, by_cent, by_number in [
        ("simulate", f"{DRIVE} --op 25% --utilization 50%", f"{DRIVE} --op .25 --utilization .5"),
        ("predict", "--fill 80% --model markov", "--fill 0.8 --model markov"),
        (
            "predict",
            "--op 7% --utilization 80% --hot-ratio 60% --model expected-value",
            "--op 0.07 --utilization 0.8 --hot-ratio 0.6 --model expected-value",
        ),
        (
            "meanfield",
            "--mode hcwf --pages-per-block 8 --spare-factor 10% --d 3 --hot-fraction 10% "
            "--hot-write-fraction 90%",
            "--mode hcwf --pages-per-block 8 --spare-factor 0.1 --d 3 --hot-fraction 0.1 "
            "--hot-write-fraction 0.9",
        ),
        (
            "allocate",
            "--sizes 70%,30% --frequencies 10%/90% --op 20% --coldest-op 5%",
            "--sizes 0.7,0.3 --frequencies 0.1/0.9 --op 0.2 --coldest-op 0.05",
        ),
        ("predict", "--sweep op=5%:40%:6", "--sweep op=0.05:0.4:6"),
    ]:
        found, expected = document(verb, by_cent), document(verb, by_number)
        for one in (found, expected):
            for key in [key for key in one if key.endswith(("elapsed_s", "_per_s"))]:
                del one[key]
        assert found == expected, by_cent


def test_python_takes_per_cent_where_it_takes_ratios() -> None:
    assert (
        wa.predict(op="7%", models=["markov"])[0].wa == wa.predict(op=0.07, models=["markov"])[0].wa
    )
    asked = {"op": 0.1, "models": ["expected-value"]}
    assert (
        wa.predict(**asked, utilization="80%", written_fraction="60%")[0].wa
        == wa.predict(**asked, utilization=0.8, written_fraction=0.6)[0].wa
    )
    by_cent, by_number = (
        wa.predict_sweep(sweep, models=["expected-value"], utilization=used, written_fraction=hot)
        for sweep, used, hot in (("op=5%:40%:3", "80%", "60%"), ("op=0.05:0.4:3", 0.8, 0.6))
    )
    assert by_cent.to_frame().equals(by_number.to_frame())
    assert by_cent.card() == by_number.card()
    heats = {"hot_fraction": 0.1, "hot_write_fraction": 0.9, "spare_factor": 0.1}
    heats_by_cent = {"hot_fraction": "10%", "hot_write_fraction": "90%", "spare_factor": "10%"}
    drive = {"pages_per_block": 8, "d": 3}
    assert (
        wa.meanfield.hot_cold(**drive, **heats_by_cent).wa
        == wa.meanfield.hot_cold(**drive, **heats).wa
    )
    with pytest.raises(wa.WriteampError, match="utilization is '80 %'"):
        wa.predict(**asked, utilization="80 %", written_fraction=0.6)


def test_files_and_axes_take_per_cent_and_units(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text('verb = "simulate"\n[device]\nop = "15%"\npage_bytes = "16K"\nsize = "1GiB"\n')
    asked = wa.Experiment.from_toml(file)
    assert (asked.device.op, asked.device.page_bytes) == (0.15, 16384)
    assert asked.hash == wa.Experiment.of("simulate", op=0.15, page_bytes=16384, size=2**30).hash
    file.write_text('verb = "simulate"\n[device]\nop = "15 %"\n')
    with pytest.raises(wa.WriteampError, match=r"device: op is '15 %'"):
        wa.Experiment.from_toml(file)
    (by_cent,) = axes_of({"op": {"from": "5%", "to": "40%", "num": 8}}, "x")
    (by_number,) = axes_of({"op": {"from": 0.05, "to": 0.4, "num": 8}}, "x")
    assert by_cent == by_number
    with pytest.raises(wa.WriteampError, match="from is '5 %'"):
        axes_of({"op": {"from": "5 %", "to": "40%", "num": 8}}, "x")


def test_sweeps_take_per_cent_in_lists(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        'verb = "simulate"\n[device]\nblocks = 64\npages_per_block = 16\n[run]\nwrites = 2000\n'
        'warmup = 1000\nreplicas = 1\n[sweep.axes]\nop = ["20%", 0.25]\n'
    )
    wa.sweep(file, keep=tmp_path / "points", runner=wa.runners.Here())
    found = wa.sweep_results(tmp_path / "points").to_frame()
    assert sorted(found["op"].to_list()) == [0.2, 0.25]


def test_shares_in_specs_are_the_same_in_per_cent() -> None:
    by_cent = wa.Experiment.of("simulate", workload="hot-cold:f=10%,r=90%")
    assert by_cent.hash == wa.Experiment.of("simulate", workload="hot-cold:f=0.1,r=0.9").hash
    with pytest.raises(wa.WriteampError, match=r"f=10 % is not valid; .*15%"):
        wa.workload("hot-cold:f=10 %,r=0.9")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("4K", 4096), ("4k", 4096), ("4KiB", 4096), ("4 KiB", 4096), ("4096", 4096)),
        *(("4e3", 4000), ("4kB", 4000), ("1.5 TiB", 3 * 2**39), ("64GB", 64 * 10**9)),
        *(("64G", 64 * 2**30), ("1.92TB", 1_920_000_000_000), ("1.92 TB", 1_920_000_000_000)),
        *(("4_096", 4096), (4096, 4096)),
    ],
)
def test_sizes_have_units_of_1000_or_1024(text: str | int, size: int) -> None:
    assert ByteSize().check("size", text) == size


@pytest.mark.parametrize(
    "text", ["1.92 tb", "1.92tb", "4Kb", "4kib", "-4K", "0", "0K", "1.5", "nan", "4 K B", "K", ""]
)
def test_what_is_no_size_is_refused_in_one_sentence(text: str) -> None:
    for option in ("page-bytes", "capacity", "size"):
        done = run("simulate", f"--op 0.25 --{option}='{text}'")
        assert (done.status, done.out) == (2, ""), option
        assert len(done.err.splitlines()) == 1
        assert f"--{option} is " in done.err
        assert "64GiB, 500GB or 64k" in done.err


def test_the_size_of_a_page_may_have_a_unit() -> None:
    found = document("simulate", f"{DRIVE} --op 0.25 --page-bytes 16K")
    assert found["page_bytes"] == 16384
    by_number = wa.Experiment.of("simulate", page_bytes=4096)
    assert wa.Experiment.of("simulate", page_bytes="4K").hash == by_number.hash
    with pytest.raises(wa.WriteampError, match=r"page_bytes is '64GiB'; .* from 1 to 4294967295"):
        wa.device(blocks=64, page_bytes="64GiB")


@pytest.mark.parametrize("text", ["1_0", "0_1%", "٠.٥", "٥%", "0.1_5"])
def test_ratios_are_of_ascii_digits_alone(text: str) -> None:
    assert math.isnan(ratio_of(text))
    assert run("simulate", f"{DRIVE} --op {text}").status == 2


def test_sizes_are_of_ascii_digits_and_may_be_whole_floats() -> None:
    assert ByteSize().check("capacity", 1.92e12) == ByteSize().check("capacity", "1.92e12")
    for wrong in ("٤٠٩٦", "4__096", 4096.5, math.inf, math.nan):
        with pytest.raises(wa.WriteampError, match="size is"):
            ByteSize().check("size", wrong)


def _in_engine(spec: str, name: str, text: str) -> float:
    try:
        return float(wa.workload(f"{spec}={text}").params[name])
    except wa.WriteampError:
        return math.nan


def _in_python(text: str) -> float:
    try:
        return float(ByteSize().check("size", text))
    except wa.WriteampError:
        return math.nan


@pytest.mark.parametrize("count", ["4", "1.5", "0.625", "1e3", "4e", "1.0001", "٤", "-4", ""])
def test_sizes_mean_the_same_in_specs_and_in_python(count: str) -> None:
    units = ["", "B", "k", "kB", "KB", "kb", "K", "Ki", "KiB", "ki", "kiB", "kib", "Kb"]
    units += ["M", "MB", "MiB", "Mi", "mb", "m", "Gb", "b", "Bi", "KK"]
    for text in (count + unit for unit in units):
        theirs, ours = _in_engine("random:bs", "bs", text), _in_python(text)
        if not 512 <= ours <= 2**26:  # what a request may have
            ours = math.nan
        assert theirs == ours or (math.isnan(theirs) and math.isnan(ours)), text


@pytest.mark.parametrize(
    "text",
    [
        "0.15",
        ".5",
        "5.e-1",
        "15%",
        "7.3%",
        ".5%",
        "1e1%",
        "15 %",
        "%",
        "0.1_5",
        "1_0%",
        "٥%",
        "nan",
    ],
)
def test_ratios_mean_the_same_in_specs_and_in_python(text: str) -> None:
    theirs, ours = _in_engine("uniform:trim", "trim", text), ratio_of(text)
    assert theirs == ours or (math.isnan(theirs) and math.isnan(ours))


@pytest.mark.parametrize(
    "command",
    [
        "simulate --op 15",
        "simulate --sweep op=15:40:3",
        "compare --managers single --op 15",
        "endurance --w-max 5 --op 15",
        "predict --op 15",
        "predict --sweep op=0.05:15:3",
        "meanfield --mode hcwf --d 9 --op 15 --hot-fraction 0.1 --hot-write-fraction 0.9",
        "allocate --op 15 --sizes 0.4,0.6 --frequencies 0.9,0.1",
        "serve --op 15 --run true",
    ],
)
def test_op_15_is_asked_back_by_every_verb(command: str) -> None:
    said = refusal(command, "")
    assert "did you mean 15%? Write an op above 3 as a percentage: 1500%" in said


def test_the_library_and_files_ask_back_too(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text('verb = "simulate"\n[device]\nop = 15\n')
    plan = {"verb": "simulate", "sweep": {"axes": {"op": [15]}}}
    for asked in (
        lambda: wa.simulate(op=15.0, **SMALL),
        lambda: wa.device(op="15"),
        lambda: wa.predict(op=15),
        lambda: wa.wa_over_op([0.1, 15]),
        lambda: wa.run(file),
        lambda: wa.sweep(plan, keep=tmp_path / "out", runner=wa.runners.Here()),
    ):
        with pytest.raises(wa.WriteampError, match="did you mean 15%"):
            asked()


def test_one_in_per_cent_is_taken_and_kept(tmp_path: Path) -> None:
    saved = tmp_path / "saved.toml"
    found = document("simulate", f"--op 1500% {DRIVE} --save-config {saved}")
    assert found["op"] == 15
    assert 'op = "1500%"' in saved.read_text()
    assert document("simulate", f"{saved}")["causes"] == found["causes"]
    again = wa.Experiment.from_toml(saved)
    assert pickle.loads(pickle.dumps(again)) == again
    plan = {"device": {"blocks": 64}, "run": {"writes": 1000, "replicas": 1}}
    axes = {"op": ["400%", 3]}
    swept = wa.sweep(
        {**plan, "sweep": {"axes": axes}}, keep=tmp_path / "out", runner=wa.runners.Here()
    )
    assert swept.done == 2


def test_per_cent_is_a_number_like_others() -> None:
    value = PerCent("7.3%")
    assert (value, json.dumps(value), pickle.loads(pickle.dumps(value)).text) == (
        0.073,
        "0.073",
        "7.3%",
    )


def test_a_fill_that_leaves_so_much_space_needs_no_sign() -> None:
    assert wa.device(fill=0.1, blocks=64).op == pytest.approx(9, rel=0.1)

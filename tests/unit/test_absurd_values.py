"""Numbers of thousands of digits, nesting of thousands of levels: one sentence for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import writeamp as wa
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.settings.experiment import Experiment

DIGITS = "9" * 5000
DEEP = "[" * 100_000
ROW = "128166372003061629,hm,0,Write,4096,8192,2833\n"
FRAME = pl.DataFrame(
    {"timestamp_ns": [0], "device": [0], "op": ["write"], "offset": [0], "length": [512]}
)


def refusal(call: Callable[[], object], *words: str) -> None:
    with pytest.raises(WriteampError) as error:
        call()
    sentence = str(error.value)
    assert len(sentence) < 1000
    assert "\n" not in sentence
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("column", range(7))
def test_an_msr_field_of_5000_digits_names_its_line_or_is_text(tmp_path: Path, column: int) -> None:
    fields = ROW.strip().split(",")
    fields[column] = DIGITS
    path = tmp_path / "trace.csv"
    path.write_text(",".join(fields) + "\n" + ROW)
    words = column in (1, 6)
    if words:
        assert traces.read(path, format="msr").requests.height == 2
    else:
        refusal(lambda: traces.read(path, format="msr"), "trace.csv:1")


def test_devices_of_many_digits_are_sorted_and_written_as_any_others(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    rows = [ROW.replace("hm", host) for host in (f"a1{DIGITS}", "a9", "a10")]
    path.write_text("".join(rows))
    trace = traces.read(path, format="msr")
    assert [len(name) for name in trace.devices] == [4, 5, 5004]
    assert traces.write(trace, tmp_path / "out.txt", "mqsim")


NAMES = [f"[{DIGITS}]", DEEP, '["\\udcff"]', '["a", 1]', "{}"]


@pytest.mark.parametrize("names", NAMES, ids=["digits", "deep", "half", "number", "object"])
def test_metadata_that_is_no_list_of_names_is_refused(tmp_path: Path, names: str) -> None:
    path = tmp_path / "trace.parquet"
    FRAME.write_parquet(path, metadata={"writeamp.devices": names})
    refusal(lambda: traces.read(path), "trace.parquet", "valid is a JSON list of names")


@pytest.mark.parametrize("value", [DIGITS, DEEP, "{a=" * 100_000], ids=["digits", "deep", "deeper"])
@pytest.mark.parametrize("key", ["[device]\nblocks", "[load]\nworkload", "x"])
def test_an_experiment_of_absurd_values_is_refused(tmp_path: Path, key: str, value: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(f"{key} = {value}\n")
    refusal(lambda: Experiment.from_toml(path, verb="simulate"), "run.toml", "not valid TOML")


@pytest.mark.parametrize("value", [DIGITS, DEEP, f"0x{'f' * 4000}"], ids=["digits", "deep", "hex"])
@pytest.mark.parametrize("key", ["[geometry]\nchannels", "[management]\nop"])
def test_a_device_of_absurd_values_is_refused(tmp_path: Path, key: str, value: str) -> None:
    path = tmp_path / "drive.toml"
    path.write_text(f"{key} = {value}\n")
    refusal(lambda: wa.device(path), "drive.toml")


ABSURD = [10**400, 10**5000, -(10**5000), "9" * 5000, [[]] * 10**5]


@pytest.mark.parametrize("value", ABSURD, ids=["400", "5000", "-5000", "text", "list"])
@pytest.mark.parametrize("name", ["op", "blocks", "seed", "precision", "utilization", "layout"])
def test_an_argument_of_absurd_value_is_named(name: str, value: object) -> None:
    refusal(lambda: wa.simulate(**{name: value}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [10**400, 10**5000], ids=["400", "5000"])
def test_a_model_refuses_an_argument_of_absurd_value(value: int) -> None:
    refusal(lambda: wa.models.expected_value(value), "op")
    refusal(lambda: wa.predict(op=value), "op")
    refusal(
        lambda: wa.meanfield.hot_cold(
            pages_per_block=value, d=value, hot_fraction=0.1, hot_write_fraction=0.9, op=0.1
        ),
        "pages_per_block",
    )


@pytest.mark.parametrize("value", [False, 39, 1.5, [], b"x", 10**5000], ids=list("abcdef"))
def test_a_file_or_profile_that_is_no_name_is_refused(value: object) -> None:
    refusal(lambda: wa.device(value), "device is")  # type: ignore[arg-type]
    refusal(lambda: wa.simulate(trace=value, op=0.1), "the trace ")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: wa.models.find_model({}), "model is {}; valid"),
        (lambda: wa.predict(op=0.2, models=5), "model is 5; valid"),
        (lambda: wa.predict(op=0.2, pages_per_block=[]), "pages_per_block is []"),  # type: ignore[arg-type]
        (lambda: wa.simulate(trace="\udcff.csv", op=0.1), "is not UTF-8 text"),
        (lambda: wa.measure.fleet(5), "5 is no file name"),
        (lambda: wa.measure.fleet("no-such"), "there is no file or folder 'no-such'"),
        (lambda: wa.volumes.split(float("inf"), "out"), "inf is no file name"),
        (lambda: wa.allocation.explore("2", 0.2), "'2' chunks"),
        (lambda: list(wa.allocation.configurations(4, {})), "groups is {}"),
        (lambda: wa.measure.history("no-such", drive=5), "drive is 5"),
        (lambda: wa.traces.of([0], page_bytes=0), "page_bytes is 0"),
    ],
)
def test_what_is_no_value_of_an_argument_is_refused(call: Callable[[], object], words: str) -> None:
    refusal(call, words)

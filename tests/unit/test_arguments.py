"""Arguments of any type and size, in calls and in files: a sentence, or it works."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.settings.experiment import Experiment

pytestmark = pytest.mark.usefixtures("plain_messages")

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
RUN: dict[str, Any] = DRIVE | {"writes": 2000, "replicas": 1}
GROUPS: dict[str, Any] = {"sizes": [0.5, 0.5], "frequencies": [0.9, 0.1], "op": 0.2}
HEAT: dict[str, Any] = {
    "pages_per_block": 8, "d": 5, "hot_fraction": 0.2, "hot_write_fraction": 0.8,
    "spare_factor": 0.2,
}  # fmt: skip
# Arguments that are right, for functions that need some before they look at another.
RIGHT: dict[str, dict[str, Any]] = {
    "simulate": RUN,
    "compare": RUN | {"managers": "single"},
    "endurance": DRIVE | {"w_max": 3, "replicas": 1},
    "answer": RUN | {"quick": True, "writes": 100},
    "required_op": {"target_wa": 2.0, "pages_per_block": 16, "blocks": 64, "writes": 2000},
    "wa_over_op": {"sweep": "op=0.2:0.3:2", "blocks": 64, "pages_per_block": 16, "writes": 2000},
    "diff": {"a": {}, "b": {}},
    "predict": {"op": 0.2},
    "predict_sweep": {"sweep": "op=0.1:0.3:3"},
    "manager": {"name": "single"},
    "victims": {"name": "greedy"},
    "workload": {"name": "uniform"},
    "wear_leveling": {"name": "static"},
    "volumes.make": {
        "out": "fleet.csv",
        "volumes": 3,
        "requests": 300,
        "size": "1MiB",
    },
    "sweep": {"plan": {"verb": "simulate"}, "keep": "out"},
    "allocation.by_frequency": GROUPS,
    "allocation.by_size": GROUPS,
    "allocation.closed_form": GROUPS,
    "allocation.optimal": GROUPS,
    "allocation.equal_gain": GROUPS | {"measure": np.negative},
    "allocation.explore": {"chunks": 4, "op": 0.2, "most_groups": 3},
    "meanfield.hot_cold": HEAT,
    "meanfield.hot_cold_swap": HEAT | {"d_swap": 3},
    "meanfield.transient": HEAT | {"drive_writes": [0.0, 1.0]},
    "models.block_lifetime": {"valid_pages": 8, "logical_pages": 900, "pages_per_block": 16},
    "models.coupon_collector": {"op": 0.2, "pages_per_block": 16},
    "models.d_choices": {"spare_factor": 0.2, "pages_per_block": 16},
    "models.effective_op": {"op": 0.2, "utilization": 0.9, "written_fraction": 0.5},
    "models.markov": {"op": 0.2, "pages_per_block": 16},
    "models.valid_pages": {"writes": 600, "logical_pages": 900, "pages_per_block": 16},
    "models.required_op": {"target_wa": 2.0},
    "allocate": GROUPS,
    "explore": {"managers": "single", "writes": 10},
    "measure.calibrate": {"write": 1},
    "measure.fleet": {"paths": ["no-such"]},
    "traces.of": {"data": np.arange(5)},
    # Refused after WA is checked and before any candidate is simulated.
    "twin.fit_one": {"workload": "no-such"},
    "plots.wa_by_policy": {"rows": [], "title": "", "subtitle": ""},
    "plots.wa_over_time": {"series": [], "title": "", "subtitle": ""},
    "plots.life_over_w": {"curves": [], "title": "", "subtitle": ""},
}


class Hostile:
    """An object that compares with nothing, and cannot be shown."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError


VALUES: dict[str, Callable[[], Any]] = {
    "array": lambda: np.array([1, 2]),
    "no array": lambda: np.array([]),
    "array of texts": lambda: np.array(["a", "b"]),
    "NumPy number": lambda: np.float64(-0.5),
    "NumPy text": lambda: np.str_("x"),
    "frame": lambda: pl.DataFrame({"a": [1]}),
    "series": lambda: pl.Series([1, 2]),
    "surrogate": lambda: "\udcff",
    "surrogates": lambda: ["uniform\ud800"],
    "NUL": lambda: "a\0b",
    "number": lambda: 1,
    "huge number": lambda: 10**5000,
    "complex number": lambda: 1j,
    "None": lambda: None,
    "bytes": lambda: b"\xff",
    "path": lambda: Path("\udcff"),
    "generator": lambda: iter([1]),
    "table": lambda: {1: 2},
    "object": object,
    "hostile object": Hostile,
}
# They take what the engine or a test of theirs gives; the names of their arguments say nothing.
INTERNAL = ("custom.",)


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of the library and of its packages, by their names."""
    for name in wa.__all__:
        one = getattr(wa, name)
        of_package = [f"{name}.{inner}" for inner in getattr(one, "__all__", [])]
        for path in of_package if inspect.ismodule(one) else [name]:
            found = getattr(one, path.partition(".")[2]) if of_package else one
            if inspect.isfunction(found) and not path.startswith(INTERNAL):
                yield path, found


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_refuses_what_it_cannot_take_by_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("writeamp.runners.choice.processors", lambda: 1)
    function, right = FUNCTIONS[name], RIGHT.get(name, {})
    parameters = inspect.signature(function).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = {
        one.name: "no-such"
        for one in parameters
        if one.default is one.empty and one.kind not in several
    }
    for parameter in parameters:
        for make in VALUES.values():
            given = needed | right | {parameter.name: make()}
            try:
                if parameter.kind not in several:
                    function(**given)
            except wa.WriteampError as refused:
                sentence = str(refused)
                assert sentence.isprintable()
            except Exception as error:
                raise AssertionError((name, parameter.name, make())) from error


def test_every_public_function_is_checked_and_is_found_again_by_pickle() -> None:
    for name, function in FUNCTIONS.items():
        assert hasattr(function, "__wrapped__"), name
        assert pickle.loads(pickle.dumps(function)) is function


@checked
def measured(
    path: str | Path, count: int = 1, *, ratio: float = 0.5, tell: Callable[[], None] | None = None
) -> Any:
    """Fail for any reason."""
    if tell is not None:
        tell()
    raise KeyError(path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": 3}, "path is 3; it must be text or a Path"),
        ({"path": b"x"}, "path is b'x'; it must be text or a Path"),
        ({"path": "x", "count": 1.5}, "count is 1.5; it must be a whole number"),
        ({"path": "x", "ratio": "0.5"}, "ratio is '0.5'; it must be a number"),
        ({"path": "x", "tell": 3}, "tell is 3; it must be a function"),
        ({"path": "\udcff"}, r"path is '\udcff', which is not UTF-8 text"),
        ({"path": np.ones((2, 2))}, "path is of the type ndarray; it must be text or a Path"),
    ],
)
def test_the_argument_that_explains_a_failure_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(wa.WriteampError, match=f"^{said.replace(chr(92), chr(92) * 2)}$"):
        measured(**given)


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (
            "predict",
            {"utilization": np.array(0.2)},
            "utilization is array(0.2); it must be a number",
        ),
        ("simulate", {"op": {1}}, "op is {1}; it must be a finite number"),
        ("simulate", {"op": None, "fill": np.float32(2)}, "fill is 2.0; it must be above 0"),
        ("volumes.split", {"paths": [], "out": "out"}, "paths is empty; give at least one trace"),
        ("simulate", {"op": 10**5000}, "op is int that is too long to print; it must be a finite"),
        (
            "simulate",
            {"trace_format": pl.DataFrame({"a": [1]})},
            "trace_format is of the type Data",
        ),
        ("simulate", {"time_scale": 5e-324}, "time_scale is 5e-324; its absolute value must be 0"),
        ("meanfield.transient", {"drive_writes": []}, "drive_writes is empty; it must be a sequen"),
    ],
)
def test_a_value_that_only_looks_right_is_refused(
    call: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(wa.WriteampError) as refused:
        FUNCTIONS[call](**(RIGHT.get(call, {}) | given))
    assert str(refused.value).startswith(said)
    if given.get("op"):
        with pytest.raises(wa.WriteampError):
            wa.Experiment.of("simulate", **given)


def test_a_failure_that_no_argument_explains_stays_as_it_is() -> None:
    with pytest.raises(KeyError):
        measured("x")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'path'"):
        measured()  # type: ignore[call-arg]


def test_a_sentence_quotes_text_of_others_on_one_line() -> None:
    sentence = str(wa.WriteampError("a\nb\x1b[31m \udcff: no file"))
    assert sentence == r"a\nb\x1b[31m \udcff: no file"


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
        (lambda: wa.measure.fleet(5), "5 is not a file name"),
        (lambda: wa.measure.fleet("no-such"), "'no-such' does not exist"),
        (lambda: wa.volumes.split(float("inf"), "out"), "inf is not a file name"),
        (lambda: wa.allocation.explore("2", 0.2), "'2' chunks"),
        (lambda: list(wa.allocation.configurations(4, {})), "groups is {}"),
        (lambda: wa.allocation.explore(4, 0.2, most_groups=10), "most_groups is 10"),
        (lambda: wa.measure.history("no-such", drive=5), "drive is 5"),
        (lambda: wa.traces.of([0], page_bytes=0), "page_bytes is 0"),
    ],
)
def test_what_is_no_value_of_an_argument_is_refused(call: Callable[[], object], words: str) -> None:
    refusal(call, words)

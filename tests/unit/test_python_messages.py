"""Wrong calls of the library: one sentence each, that tells the fault and the valid values.

`test_refusals.py` walks the settings and what is outside of their domains.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import in_process
import writeamp as wa
from places import EXAMPLES
from samples import FORMAT, MEAN_FIELD, TRACE
from writeamp.errors import WriteampError

pytestmark = pytest.mark.usefixtures("plain_messages")

SMALL: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "writes": 2000, "warmup": 1000}
PLAN = {"verb": "simulate", "sweep": {"axes": {"op": [0.1]}}}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder with a trace and nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("t.spc").write_text(TRACE)


def trace() -> wa.traces.Trace:
    return wa.traces.read("t.spc", FORMAT)


def simulate(**more: Any) -> Any:
    return wa.simulate(**SMALL | more)


AS_WORKLOAD = "which is a workload; give it as workload (--workload on the command line)"
AS_TRACE = "give it as trace (--trace on the command line)"
ANY: Any = wa  # what no type checker would let pass
# A call, and words of the sentence that refuses it.
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: simulate(ops=0.1),
        "simulate() got an unexpected keyword argument 'ops' (did you mean 'op'?)",
    ),
    (lambda: simulate(managers="single"), "'managers' (did you mean 'manager'?)"),
    (lambda: wa.simulate("uniform"), f"device is 'uniform', {AS_WORKLOAD}"),
    (lambda: wa.simulate("zipf:s=0.9"), f"device is 'zipf:s=0.9', {AS_WORKLOAD}"),
    (lambda: wa.simulate("hot-cold(f=0.1,r=0.9)"), AS_WORKLOAD),
    (lambda: wa.simulate(ANY.workload("uniform")), f"device is <workload uniform>, {AS_WORKLOAD}"),
    (
        lambda: wa.simulate("t.spc"),
        f"device is 't.spc', which is a file but not a profile; {AS_TRACE}",
    ),
    (lambda: wa.simulate(workload="t.spc"), f"workload is 't.spc', which is a file; {AS_TRACE}"),
    (lambda: wa.simulate(workload="x25-m"), "which is a device; give it as device (--device"),
    (
        lambda: simulate(workload=trace()),
        f"workload is of the type Trace, which is a trace; {AS_TRACE}",
    ),
    (lambda: simulate(workload=np.arange(9)), f"the type ndarray, which is a trace; {AS_TRACE}"),
    (lambda: simulate(workload=pl.DataFrame()), "of the type DataFrame, which is a trace"),
    (
        lambda: wa.simulate(ANY.predict),
        "it must be a profile's name, a profile's path, or a Device",
    ),
    (lambda: wa.simulate("x25m"), "unknown device 'x25m' (did you mean 'x25-m'?)"),
    (
        lambda: simulate(workload=3),
        "workload is 3; it must be a spec or its text, such as 'zipf:s=0.99'",
    ),
    (lambda: simulate(workload=["uniform"]), "workload is ['uniform']; it must be a spec"),
    (lambda: simulate(workload="unifrm"), "unknown workload 'unifrm' (did you mean 'uniform'?)"),
    (
        lambda: simulate(manager=None),
        "block manager is None; it must be a spec or its text, such as 'sepgc'",
    ),
    (
        lambda: simulate(manager=["single", "sepgc"]),
        "block manager is ['single', 'sepgc']; it must be a spec",
    ),
    (lambda: simulate(manager="wold"), "unknown block manager 'wold' (did you mean 'wolf'?)"),
    (
        lambda: simulate(manager=ANY.victims("greedy")),
        "'greedy' is a victim policy; give a block manager",
    ),
    (lambda: simulate(victims=3), "victim policy is 3; it must be a spec or its text"),
    (lambda: simulate(precondition=None), "precondition is None; it must be one of full, workload"),
    (lambda: simulate(progress=3), "progress is 3; it must be a function of two numbers"),
    (lambda: wa.simulate(trace="nothere.csv"), "nothere.csv: no such file"),
    (lambda: wa.simulate(trace="t.spc", trace_format="spcc"), "(did you mean 'spc'?)"),
    (
        lambda: wa.simulate(trace="t.spc", workload="uniform"),
        "workload and trace exclude each other",
    ),
    (lambda: wa.compare("uniform", managers="single"), f"device is 'uniform', {AS_WORKLOAD}"),
    (
        lambda: ANY.compare(manager="single"),
        "compare() got an unexpected keyword argument 'manager' (did you mean 'managers'?)",
    ),
    (
        lambda: ANY.compare(managers="single", warmup=3),
        "unexpected keyword argument 'warmup'; valid: device, workload, progress, runner, keep",
    ),
    (lambda: wa.compare(managers=[]), "managers is empty; give at least one manager"),
    (
        lambda: ANY.compare(managers=None),
        "managers is missing (--managers): block managers, separated by commas",
    ),
    (
        lambda: wa.compare(trace=EXAMPLES / "sqlite-upserts.parquet"),  # of one manager
        "managers is missing (--managers): block managers, separated by commas",
    ),
    (lambda: ANY.compare(managers=["single", 3]), "block manager is 3; it must be a spec"),
    (
        lambda: ANY.compare(managers="single", runner=3),
        "runner is 3; it must be a writeamp.runners.Runner",
    ),
    (wa.endurance, "w_max is missing (--w-max): erases after which a block is worn out"),
    (lambda: wa.endurance("uniform"), f"device is 'uniform', {AS_WORKLOAD}"),
    (
        lambda: ANY.endurance(wmax=10),
        "endurance() got an unexpected keyword argument 'wmax' (did you mean 'w_max'?)",
    ),
    (
        lambda: ANY.device(3),
        "device is 3; it must be a profile's name, a profile's path, or a Device",
    ),
    (lambda: ANY.device("generic", blocks=1.5), "blocks is 1.5; it must be a whole number"),
    (lambda: wa.workload("zipff"), "unknown workload 'zipff' (did you mean 'zipf'?)"),
    (lambda: wa.workload("zipf", t=3), "unknown parameter of workload zipf 't'"),
    (lambda: ANY.workload(3), "workload is 3; it must be a spec or its text"),
    (
        lambda: wa.victims("d-choices:d=10", d=3),
        "has parameters in its text and by keyword; use only one",
    ),
    (wa.predict, "over-provisioning is missing; give one of op, fill, spare_factor, or target_wa"),
    (lambda: ANY.predict(op=[0.1]), "op is [0.1]; it must be "),
    (
        lambda: ANY.predict(target_wa="1.5x"),
        "target_wa is '1.5x'; it must be a finite number above 1",
    ),
    (
        lambda: wa.predict(op=0.2, models="markof"),
        "unknown model 'markof' (did you mean 'markov'?)",
    ),
    (lambda: ANY.predict_sweep(3), "sweep is 3; it must be text such as op=0.05:1.0:100"),
    (
        lambda: ANY.predict_sweep("op=0.1:1:3", ops=3),
        "predict_sweep() got an unexpected keyword argument 'ops' (did you mean 'op'?)",
    ),
    (lambda: ANY.models.find_model(3), "model is 3; valid: uniform-distribution"),
    (lambda: ANY.models.expected_value("a"), "op must be finite and greater than 0"),
    (
        lambda: wa.meanfield.hot_cold(**MEAN_FIELD | {"d": 1.5}),
        "d is 1.5; it must be a whole number from 1 to 4294967295",
    ),
    (
        lambda: wa.meanfield.hot_cold(**MEAN_FIELD | {"spare_factor": None}),
        "over-provisioning is missing; give one of",
    ),
    (lambda: ANY.traces.read(3), "3 is not a file name; it must be a text or a Path"),
    (lambda: ANY.traces.read("t.spc", 3), "is 3; valid: msr, spc"),
    (lambda: ANY.traces.info(3), "the trace is 3; a trace is the path of a file"),
    (lambda: ANY.traces.to_pages("t.spc"), "read it with wa.traces.read('t.spc')"),
    (lambda: ANY.traces.to_pages(trace(), "x"), "page_bytes is 'x'; valid are multiples of 512"),
    (lambda: ANY.traces.to_pages(trace(), mapping=3), "mapping is 3; valid: compact, as-is"),
    (
        lambda: ANY.traces.to_pages(trace(), logical_pages="a"),
        "logical_pages is 'a'; it must be a whole number",
    ),
    (lambda: ANY.traces.write("t.spc", "u.parquet"), "read it with wa.traces.read('t.spc')"),
    (lambda: ANY.traces.write(trace(), 3), "3 is not a file name; it must be a text or a Path"),
    (
        lambda: wa.VirtualSsd(ops=3),
        "VirtualSsd() got an unexpected keyword argument 'ops' (did you mean 'op'?)",
    ),
    (lambda: ANY.VirtualSsd(3), "device is 3; it must be a profile's name"),
    (lambda: ANY.sweep(3, keep="o"), "3 is not a file name; it must be a text or a Path"),
    (lambda: ANY.sweep(PLAN, keep=3), "3 is not a file name; it must be a text or a Path"),
    (
        lambda: ANY.sweep(PLAN, keep="o", runner=3),
        "runner is 3; it must be a writeamp.runners.Runner",
    ),
    (
        lambda: ANY.runners.runner_of(scheduler=3).__enter__(),
        "scheduler is 3; it must be the address of a scheduler, or a Dask client",
    ),
    (lambda: ANY.compare(threads=2), "threads is an option of the command; give runner="),
    (lambda: ANY.compare(workers=2), "argument 'workers' (did you mean 'runner'?)"),
    (lambda: ANY.endurance(out="o"), "argument 'out' (did you mean 'keep'?)"),
    (lambda: ANY.required_op(2.0, ants=2), "argument 'ants'; valid: target_wa, device, workload"),
    (lambda: ANY.blackbox.target_of("ssd-m", workers=2), "target_of() got an unexpected keyword"),
    (
        lambda: ANY.sweep(PLAN, keep="o", runner=wa.runners.Threads),
        "Threads'>; it must be a writeamp.runners.Runner",
    ),
    (
        lambda: ANY.compare(runner=wa.runners.Here),
        "Here'>; it must be a writeamp.runners.Runner",
    ),
    (
        lambda: wa.run(wa.Experiment.of("simulate"), keep="o"),
        "simulate takes neither runner nor keep",
    ),
    (lambda: ANY.runners.Threads("a"), "workers is 'a'; it must be a whole number"),
    (
        lambda: wa.sweep({"verb": "simulate", "sweep": {"axes": {"ops": [1]}}}, keep="o"),
        "unknown axis 'ops' (did you mean 'op'?)",
    ),
    (lambda: ANY.sweep_results(3), "3 is not a file name; it must be a text or a Path"),
    (lambda: ANY.run(3), "3 is not a file name; it must be a text or a Path"),
    (lambda: ANY.Experiment.from_dict(3), "experiment is 3; it must be a table of settings"),
    (
        lambda: wa.Experiment.of("simulate").with_settings(ops=3),
        "unexpected keyword argument 'ops' (did you mean 'op'?)",
    ),
    (lambda: simulate().plot(3), "3 is not a file name; it must be a text or a Path"),
    (
        lambda: simulate().plot("x.gif"),
        "cannot plot to 'x.gif', which has suffix '.gif'; valid: png, svg, pdf",
    ),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said[:60] for _, said in REFUSED])
def test_a_wrong_call_is_one_sentence(call: Callable[[], Any], said: str, in_process: None) -> None:
    with pytest.raises(WriteampError) as refused:
        call()
    sentence = str(refused.value)
    assert said in sentence
    assert "\n" not in sentence


def test_an_argument_that_there_is_not_is_a_type_error_too() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'ops'"):
        simulate(ops=0.1)


@pytest.mark.parametrize("writes", [2e3, np.float64(2000), np.int64(2000), np.float32(2000)])
def test_a_whole_float_is_a_count(writes: Any) -> None:
    assert simulate(writes=writes) == simulate(writes=2000)
    of_float, of_int = (wa.Experiment.of("simulate", writes=one) for one in (writes, 2000))
    assert of_float.hash == of_int.hash


def test_one_model_may_be_named_by_a_text() -> None:
    assert wa.predict(op=0.2, models="markov") == wa.predict(op=0.2, models=["markov"])


def test_the_command_says_the_same_of_a_workload_in_the_place_of_the_device() -> None:
    said = in_process.refusal("simulate", "--device uniform")
    assert said == f"writeamp: --device is 'uniform', {AS_WORKLOAD}\n"

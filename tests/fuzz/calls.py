"""Calls of the library: such as work, with arguments of any kind in the place of some."""

from __future__ import annotations

import inspect
import math
import tomllib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import values
from call import Call, shown_call
from files import Folder, Samples
from values import one_of

import writeamp as wa
from writeamp.errors import WriteampError

_SIMULATED: dict[str, Any] = {
    "blocks": 64, "pages_per_block": 8, "op": 0.3, "writes": 600, "replicas": 1,
}  # fmt: skip
_REPLAYED: dict[str, Any] = {
    "blocks": 16,
    "pages_per_block": 2,
    "op": 0.6,
    "repeat": 3,
    "replicas": 1,
    "spread": False,
}
_OVER_OP: dict[str, Any] = {"logical_pages": 300, "pages_per_block": 8, "replicas": 1,
                            "writes": 600}  # fmt: skip
_HOT: dict[str, Any] = {
    "pages_per_block": 8, "d": 4, "hot_fraction": 0.2, "hot_write_fraction": 0.8, "op": 0.2,
}  # fmt: skip
# Parameters of models.
_DRIVE: dict[str, Any] = {"op": 0.2, "spare_factor": 0.2, "pages_per_block": 16}
_GROUPS: dict[str, Any] = {"sizes": [0.7, 0.3], "frequencies": [0.2, 0.8], "op": 0.25}


@dataclass(frozen=True)
class Made:
    """Argument that is made when the call is: of a file of a role, if one is named."""

    what: str
    of: Callable[[str], Any]
    role: str = ""
    file: str = ""

    def __repr__(self) -> str:
        return f"{self.what}({self.file!r})" if self.role else self.what


def _file(role: str) -> Made:
    return Made("str", str, role)


def _traces(key: str = "trace", of: Made | None = None, **more: Any) -> tuple[dict[str, Any], ...]:
    """Return examples with traces whose formats show themselves, and one with any."""
    kind = of or _file("")
    return tuple(
        {key: replace(kind, role=role), **more}
        for role in ("trace:msr", "trace:a.parquet", "trace:iolog", "trace")
    )


_READ = Made("wa.traces.read", wa.traces.read)


def _model(_: str = "") -> Made:
    return Made("wa.blackbox.load", wa.blackbox.load, "model")


def _measured() -> Made:
    return Made("wa.blackbox.read_measurements", wa.blackbox.read_measurements, "measured:a")


def _fleet() -> Made:
    return Made("wa.volumes.Fleet.open", wa.volumes.Fleet.open, "fleet")


def _plan(name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(name).read_text("utf-8", "replace"))
    except (ValueError, RecursionError, OSError) as error:
        raise WriteampError("no TOML") from error


def _made(what: str) -> Made:
    return Made(what, lambda _: eval(what))


_PINS = _made("wa.measure.PinFacts(2, 1, 1, 1, 4096, (50.0,), (300.0,), (2000.0,))")
_ONE = "wa.simulate(blocks=64, pages_per_block=8, op=0.3, writes=600, replicas=1)"
_SERIES = _made('[wa.plots.WaSeries("a", [0.0, 1.0], [1.0, 2.0])]')
_TITLES = {"title": "a", "subtitle": "b"}


def _serve(device: Any = None, **settings: Any) -> Any:
    with wa.VirtualSsd(device, **settings) as drive:
        return drive.counters()


def _doctor(source: Any, **settings: Any) -> Any:
    return wa.doctor(source, **settings)


def _stream(self: Any, page: int) -> int:
    return 0 * page


def _policy(register: Callable[[Any], Any]) -> Callable[..., Any]:
    def named(name: Any) -> Any:
        methods = dict.fromkeys(("on_write", "on_migrate", "choose"), _stream)
        methods["__doc__"] = "Mine."
        base = wa.Placement if register is wa.placement else wa.VictimPolicy
        return register(name)(type("Mine", (base,), methods))

    return named


# Names as `import writeamp as wa` has them; of each, arguments that work.
CALLS: dict[str, tuple[Callable[..., Any], tuple[dict[str, Any], ...]]] = {
    "allocation.by_frequency": (wa.allocation.by_frequency, (_GROUPS,)),
    "allocation.by_size": (wa.allocation.by_size, (_GROUPS,)),
    "allocation.closed_form": (wa.allocation.closed_form, (_GROUPS,)),
    "allocation.configurations": (
        lambda **given: list(wa.allocation.configurations(**given)),
        ({"chunks": 4, "groups": 2},),
    ),
    "allocation.equal_gain": (
        wa.allocation.equal_gain, ({**_GROUPS, "measure": _made("wa.models.fifo"), "rounds": 3},)),
    "allocation.explore": (wa.allocation.explore, ({"chunks": 3, "op": 0.2},)),
    "allocation.optimal": (wa.allocation.optimal, (_GROUPS,)),
    "allocate": (wa.allocate, (_GROUPS, {"explore": 3, "op": 0.2})),
    "answer": (wa.answer, ({**_SIMULATED, "quick": True},)),
    "blame": (wa.blame, _traces(**{name: value for name, value in _REPLAYED.items()
                                   if name != "spread"}, by="range:3")),
    "blackbox.choose": (
        wa.blackbox.choose,
        ({"models": _made("{}"), "characteristics": _made("{}"),
          "bounds": _made('{"latency": 100.0}'), "share": 0.5},)),
    "blackbox.collect": (
        wa.blackbox.collect,
        ({"target": _made('wa.blackbox.target_of("generic", size="16MiB", most_s="20ms")'),
          "out": "out.parquet", "design": _made("wa.blackbox.Design(points=1)")},)),
    "blackbox.explained": (wa.blackbox.explained, ({"model": _model(), "target": "wa"},)),
    "blackbox.load": (wa.blackbox.load, ({"path": _file("model")},)),
    "blackbox.of_workload": (
        wa.blackbox.of_workload, ({"workload": "random:bs=8k,write=0.5,qd=8"},)),
    "blackbox.read_measurements": (
        wa.blackbox.read_measurements, ({"path": _file("measured")},)),
    "blackbox.save": (wa.blackbox.save, ({"model": _model(), "path": "out.model"},)),
    "blackbox.target_of": (wa.blackbox.target_of, ({"name": "generic", "size": "16MiB"},)),
    "blackbox.train": (
        wa.blackbox.train,
        ({"measurements": _measured(), "targets": ["wa"], "model": "quantile-tree"},)),
    "compare": (wa.compare, ({**_SIMULATED, "managers": "single,sepgc"},)),
    "compiled": (wa.compiled, ({"of": _made("lambda page: 2 * page")},)),
    "device": (wa.device, ({"blocks": 64}, {"base": "qlc", "size": "16MiB"},
                           {"base": _file("device"), "size": "16MiB"})),
    "diff": (wa.diff, ({"a": _file("result:simulate"), "b": _file("result:simulate")},
                       {"a": _made(_ONE), "b": _made(_ONE)},
                       {"a": _made("wa.predict(op=0.2)"), "b": _made(_ONE)})),
    "doctor": (_doctor,
               ({"source": _file("job"), "simulate": False}, *_traces("source", simulate=False),
                {"source": _file("result"), "simulate": False})),
    "endurance": (wa.endurance, ({"blocks": 48, "pages_per_block": 8, "op": 0.3, "w_max": 2,
                                  "replicas": 1},)),
    "explore": (wa.explore, ({"managers": "single,sepgc", "blocks": 16, "pages_per_block": 8,
                              "writes": 100},)),
    "Experiment.of": (wa.Experiment.of, ({"verb": "simulate", **_SIMULATED},)),
    "lifetime": (wa.lifetime, ({"snapshots": [_file("snap")]},)),
    "cite": (wa.cite, ({}, {"verb": "simulate"}, {"verb": "measure rb"})),
    "listed": (wa.listed, ({}, {"kind": "victims"})),
    "manager": (wa.manager, ({"name": "single"}, {"name": "dac", "regions": 4})),
    "meanfield.hot_cold": (wa.meanfield.hot_cold, (_HOT,)),
    "meanfield.hot_cold_swap": (wa.meanfield.hot_cold_swap, ({**_HOT, "d_swap": 3},)),
    "meanfield.transient": (wa.meanfield.transient, ({**_HOT, "drive_writes": [0.0, 1.0]},)),
    "measure.counters": (wa.measure.counters, ({"snapshots": [_file("snap")]},)),
    "measure.diff": (wa.measure.diff, ({"before": _file("snap"), "after": _file("snap")},)),
    "measure.facts_of": (wa.measure.facts_of, ({"device": _made('wa.device("qlc")')},)),
    "measure.fleet": (wa.measure.fleet, ({"paths": [_file("snap"), _file("snaps")]},)),
    "measure.history": (wa.measure.history, ({"db": _file("history")},)),
    "measure.ready_busy": (
        wa.measure.ready_busy,
        ({"path": _file("capture"), "facts": _PINS, "host_bytes": 1e5},
         {"path": _file("capture"), "facts": _PINS, "host_bytes": 1e5, "method": "fixed"})),
    "measure.watch": (wa.measure.watch, ({"sources": [_file("snap")], "db": "out.db"},)),
    **{
        f"models.{model.function.__name__}":
            (model.function, ({key: _DRIVE[key] for key in model.parameters if key in _DRIVE},))
        for model in wa.models.MODELS.values()
    },
    "models.block_lifetime": (
        wa.models.block_lifetime,
        ({"valid_pages": 8, "logical_pages": 900, "pages_per_block": 16},)),
    "models.effective_op": (
        wa.models.effective_op, ({"op": 0.2, "utilization": 0.5, "written_fraction": 0.5},)),
    "models.find_model": (wa.models.find_model, ({"name": "fifo"},)),
    "models.required_op": (wa.models.required_op, ({"target_wa": 1.5},)),
    "models.valid_pages": (
        wa.models.valid_pages, ({"writes": 600, "logical_pages": 900, "pages_per_block": 16},)),
    "placement": (_policy(wa.placement), ({"name": "mine"},)),
    "plots.check_target": (wa.plots.check_target, ({"path": "out.svg"},)),
    "plots.erases_of_blocks": (
        wa.plots.erases_of_blocks,
        ({"erases_from": _made("[1, 2]"), "blocks": _made("[3, 4]"), "width": 1, "label": "x",
          **_TITLES},)),
    "plots.life_over_w": (wa.plots.life_over_w, ({"curves": _made(
        '[wa.plots.LifeCurve("a", *[[1.0, 2.0]] * 7)]'), **_TITLES},)),
    "plots.save": (
        wa.plots.save,
        ({"spec": _made('wa.plots.erases_of_blocks([1, 2], [3, 4], width=1, label="x", title="a", '
                        'subtitle="b")'),
          "path": "out.html"},)),
    "plots.wa_by_policy": (wa.plots.wa_by_policy, ({"rows": _made(
        '[wa.plots.PolicyResult("a", 2.0, {"host": 1, "gc": 1})]'), **_TITLES},)),
    "plots.wa_over_time": (wa.plots.wa_over_time, ({"series": _SERIES, **_TITLES},)),
    "predict": (wa.predict, ({"op": 0.2}, {"target_wa": 1.5}, {"op": 0.2, "models": "fifo"})),
    "predict_fdp": (wa.predict_fdp, ({"fdp": "soc=4%", "op": 0.07},)),
    "predict_sweep": (wa.predict_sweep, ({"sweep": "op=0.1:0.3:3"},)),
    "report": (wa.report, ({"page": _file("page")},)),
    "required_op": (wa.required_op, ({"target_wa": 2.0, **_OVER_OP, "precision": 0.1},)),
    "run": (wa.run, (
        {"experiment": _file("run")},
        {"experiment": _made(_ONE.replace("simulate(", 'Experiment.of("simulate", '))})),
    "simulate": (wa.simulate, (
        _SIMULATED,
        {**_SIMULATED, "device": "qlc", "size": "16MiB", "blocks": None, "pages_per_block": None},
        {**_SIMULATED, "timed": True},
        {**_SIMULATED, "fio": _file("job")},
        {**_SIMULATED, "fio_run": "fio --name=a --rw=randwrite"},
        *_traces(**_REPLAYED),
        *_traces(of=_READ, **_REPLAYED),
    )),
    "sweep": (wa.sweep, ({"plan": Made("tomllib.load", _plan, "sweep"), "keep": "out",
                          "runner": _made("wa.runners.Here()")},)),
    "sweep_results": (wa.sweep_results, ({"folder": _file("swept")},)),
    "traces.catalogue": (wa.traces.catalogue, ({},)),
    "traces.detect": (wa.traces.detect, _traces("path")),
    # By hand: it has no address, so nothing is downloaded.
    "traces.fetch": (wa.traces.fetch, ({"name": "alibaba-2020"},)),
    "traces.info": (wa.traces.info, _traces(of=_READ)),
    "traces.of": (wa.traces.of, (
        {"data": _made("pl.DataFrame(dict(op=['write'], offset=[0], length=[4096]))")},
        {"data": _made("np.arange(8)")})),
    "traces.read": (wa.traces.read, _traces("path")),
    "traces.to_pages": (wa.traces.to_pages, _traces(of=_READ)),
    "traces.write": (wa.traces.write, (*_traces(of=_READ, path="out.csv", format="msr"),
                                       *_traces(of=_READ, path="out.parquet"))),
    "victim_policy": (_policy(wa.victim_policy), ({"name": "mine"},)),
    "victims": (wa.victims, ({"name": "greedy"}, {"name": "d-choices", "d": 5})),
    "VirtualSsd": (_serve, ({"blocks": 64, "pages_per_block": 8, "op": 0.3},)),
    "volumes.info": (wa.volumes.info, ({"fleet": _fleet()},)),
    "volumes.make": (wa.volumes.make, ({
        "out": "out.csv",
        "volumes": 2, "requests": 60, "size": "64KiB"},)),
    "volumes.need": (wa.volumes.need, ({"fleet": _fleet(), "manager": "single", "target_wa": 1.5,
                                        "pages_per_block": 4},)),
    "volumes.run": (wa.volumes.run, ({"fleet": _fleet(), "managers": "single,sepgc", "op": 0.5,
                                      "pages_per_block": 4, "repeat": 1},)),
    "volumes.split": (wa.volumes.split, _traces(
        "paths", out="out", runner=_made("wa.runners.Here()"))),
    "volumes.together": (wa.volumes.together, ({"fleet": _fleet(), "managers": "single,sepgc",
                                                "op": 0.5, "pages_per_block": 4},)),
    "wa_over_op": (wa.wa_over_op, ({"sweep": "op=0.3:0.5:2", **_OVER_OP},)),
    "wear_leveling": (wa.wear_leveling, ({"name": "static"}, {"name": "static", "threshold": 4})),
    "workload": (wa.workload, ({"name": "uniform"}, {"name": "zipf", "s": 0.9})),
}  # fmt: skip
# Of 10 000 calls, where they are not as usual.
SHARES = {
    "simulate": 500, "predict": 300, "device": 250, "compare": 80, "endurance": 80, "answer": 3,
    "blame": 30,
    "VirtualSsd": 3, "volumes.need": 4, "volumes.run": 8, "volumes.together": 8, "sweep": 8,
    "volumes.make": 8, "blackbox.train": 8, "blackbox.collect": 6, "plots.save": 8, "wa_over_op": 8,
    "required_op": 8, "volumes.split": 10, "measure.ready_busy": 30, "traces.info": 60,
    "lifetime": 10, "explore": 8, "blackbox.explained": 20, "doctor": 40, "run": 30,
    "models.required_op": 30, "diff": 30,
}  # fmt: skip
USUAL_SHARE = 40

# They run commands, read or write drives, or take minutes.
_LEFT_OUT = {
    "measure.calibrate",
    "measure.run",
    "measure.save",
    "measure.this_machine",
    "record",
    "reproduce",
}


def _public() -> Iterator[str]:
    """Return every function of the library by its name, and what is called like one."""
    modules = ("allocation", "blackbox", "meanfield", "measure", "models", "plots", "traces",
               "volumes")  # fmt: skip
    for name in wa.__all__:
        if isinstance(getattr(wa, name), types.FunctionType):
            yield name
    for module in modules:
        whole = getattr(wa, module)
        for name in getattr(whole, "__all__", dir(whole)):
            if name[0] != "_" and isinstance(getattr(whole, name), types.FunctionType):
                yield f"{module}.{name}"


if lacking := set(_public()) - set(CALLS) - _LEFT_OUT:
    raise AssertionError(f"not tried of the library: {', '.join(sorted(lacking))}")

# Nothing but what is given: they run, mount, connect or destroy.
_FIXED = (
    *("runner", "destroys", "mount", "run", "fs", "progress", "row", "part"),
    *("measure", "rb_capture", "record", "backing", "counters", "metrics", "socket"),
    # Objects of the library's own, and words of pictures, which are what they are.
    *("coldest", "theory", "changes", "passes", "strips", "design", "learner", "selection"),
    *("start", "bounds", "use", "of", "width", "title", "subtitle", "label"),
)
_BOUNDED: tuple[Any, ...] = (
    0, -1, 1, 2, 5, 64, None, True, 1.5, "2", "x", "", b"2", math.nan, -math.inf, 10**400, 2**64,
    10**5000, [], [2], {}, 1j, np.array([2]), np.int64(4), np.float32(2), "1MiB", "5%", (2,),
    "\udcff", object, pl.Series([2]), np.array("x"), np.nan, Ellipsis,
)  # fmt: skip
_ANYTHING: tuple[Any, ...] = (
    *_BOUNDED, 1e300, 1e-300, 5e-324, math.inf, 2**31, 2**63, -(2**63), 0.5, 0.999999, "a\0b",
    "\x1b[31m", "(" * 300, "a" * 3000, "op=0.2", bytearray(b"x"), range(3), np.arange(3),
    np.zeros((2, 2)), np.array([np.nan, 1.0]), np.array(["x"]), np.array([]), np.array(None),
    np.datetime64("2020-01-01"), np.bool_(True), Path("x"), Path("."), pl.DataFrame({"a": [1]}),
    [None], ["x", 1], {"a": 1}, {1: 2}, [[0.1, 0.2]], (0.1, 0.9), {"op"}, len, int, print, -0.0,
    "uniform", "single", "generic", "nan", "1e400", "0.3", [0.1, 0.2], np.array(0.2), slice(2),
)  # fmt: skip


@cache
def _names(name: str) -> list[str]:
    function, examples = CALLS[name]
    known = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    more = (
        set(inspect.signature(wa.simulate).parameters)
        if "settings" in str(inspect.signature(function))
        and "Simulate" in str(inspect.signature(function))
        else set()
    )
    # What is an object of the library's own is one: only values are checked by it.
    own = {
        key
        for example in examples
        for key, value in example.items()
        if isinstance(value, Made) and value.of is not str
    }
    return sorted({*known, *more, *examples[0]} - {*_FIXED, *own})


def draw(rng: Random, kind: str, samples: Samples) -> Call:
    """Return a call of a function of the library, with the files that it names."""
    name = kind.removeprefix("wa.")
    function, examples = CALLS[name]
    given = dict(one_of(rng, examples))
    changes = one_of(rng, (0, 0, 1, 1, 1, 2))
    for _ in range(changes if _names(name) else 0):
        key = one_of(rng, _names(name))
        given[key] = _value(rng, key)
    folder = Folder(samples, rng, one_of(rng, (0.0, 0.4)), {}, {})
    given = {key: _with_files(value, folder) for key, value in given.items()}
    return Call(
        kind=kind,
        shown=shown_call(kind, given),
        contents=folder.contents,
        whole=folder.whole,
        function=function,
        arguments=given,
        outputs=(
            "out",
            *(
                str(given[key])
                for key in ("path", "out", "keep", *(["db"] if name == "measure.watch" else []))
                if isinstance(given.get(key), str | Path)
            ),
        ),
        runs_programs=name in ("VirtualSsd", "answer"),
    )


def _with_files(value: Any, folder: Folder) -> Any:
    if isinstance(value, list):
        return [_with_files(each, folder) for each in value]
    if not isinstance(value, Made) or not value.role:
        return value
    return Made(value.what, value.of, value.role, folder.name(value.role))


def ready(value: Any) -> Any:
    """Return an argument as the call gets it."""
    if isinstance(value, list):
        return [ready(each) for each in value]
    return value.of(value.file) if isinstance(value, Made) else value


def _value(rng: Random, key: str) -> Any:
    if rng.random() < 0.5 and (valid := _valid(rng, key)) is not None:
        return valid
    return one_of(rng, _BOUNDED if key in values.LENGTHS else _ANYTHING)


def _valid(rng: Random, key: str) -> Any:
    """Return a value that an argument of this name may have, or None."""
    if key in (
        "op",
        "fill",
        "spare_factor",
        "utilization",
        "written_fraction",
        "hot_fraction",
        "level",
    ):
        return one_of(rng, (float(f"{rng.random():.3f}"), "15%", np.float64(0.2)))
    registry = {"manager": "managers", "managers": "managers", "victims": "victims",
                "workload": "workloads", "wear_leveling": "wear_levelers"}.get(key)  # fmt: skip
    if registry:
        return values.spec(rng, registry)  # type: ignore[arg-type]
    if key in ("set",):
        return one_of(rng, (values.change(rng), [values.change(rng), values.change(rng)]))
    if key in ("seed", "blocks", "pages_per_block", "d", "window"):
        return one_of(rng, (1, 4, 16, 64, np.int32(8)))
    return None

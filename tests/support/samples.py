"""A small real instance of every result, and a walk over the classes of the library."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import blackbox_tables
import synthetic_captures as synthetic
import vssd_documents
import writeamp as wa
from writeamp.allocation.compared import AllocationsByMethod, Exploration
from writeamp.answers.advice import Advice
from writeamp.answers.differences import CauseChain, Share, differences_of
from writeamp.answers.way import WayRow
from writeamp.devices.candidates import Candidate
from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.reading import read_snapshot
from writeamp.drives.devices.calibration import calibration_of
from writeamp.drives.devices.run import DriveRun
from writeamp.drives.histories.watching import watch_once
from writeamp.drives.lifetime.of_drives import DriveLifetimes, OneLifetime
from writeamp.drives.lifetime.result import DriveLifetime
from writeamp.drives.live.estimate import estimate
from writeamp.drives.live.result import LiveWear, Writer
from writeamp.drives.measure import PinFacts, ready_busy
from writeamp.files.content_facts import ContentFacts
from writeamp.learn.blackbox import training
from writeamp.learn.blackbox.choosing import choose
from writeamp.learn.blackbox.collection import Collected
from writeamp.learn.blackbox.explanation import explained, responses, typical_workload
from writeamp.learn.blackbox.measurement_file import SCHEMA
from writeamp.learn.twin import chain as chains
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.fitting import Fit, fit
from writeamp.learn.twin.phases.checked import (
    CheckedPhase,
    CheckedWindow,
    PredictedWa,
    TwinCheck,
)
from writeamp.learn.twin.phases.counted import CountedPhase
from writeamp.learn.twin.table import CandidateTable
from writeamp.learn.twin.windows import windows_of
from writeamp.recorder.rows import Counts
from writeamp.studies.mixture import CandidateRun, Mixture, OfCandidates
from writeamp.vssd.result import ServeResult
from writeamp.vssd.settings import DriveSettings
from writeamp_papers import Findings, Item

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
MEAN_FIELD: dict[str, Any] = {
    "pages_per_block": 8, "spare_factor": 0.2, "d": 5, "hot_fraction": 0.2,
    "hot_write_fraction": 0.8,
}  # fmt: skip
FORMAT = "spc"
TRACE = "".join(
    f"0,{8 * ((7 * i) % 90)},{4096 * (1 + i % 3)},{'r' if i % 5 == 4 else 'w'},{i / 100:.2f}\n"
    for i in range(400)
)
SWEEP = {
    "verb": "simulate",
    "sweep": {"axes": {"op": [0.15, 0.25, 0.4], "manager": ["single", "sepgc"]}},
    "device": {"blocks": 64, "pages_per_block": 16},
    "run": {"writes": 4000, "warmup": 2000, "replicas": 1},
}


def simulated(**changes: Any) -> wa.Result:
    asked = {"workload": "zipf:s=0.9", "writes": 20_000, "warmup": 5000} | DRIVE | changes
    found = wa.simulate(**asked)
    assert isinstance(found, wa.Result)
    return found


def timed(_: Path) -> Any:
    load = "random:bs=4k,write=0.3,qd=4"
    return wa.simulate("x25-m", workload=load, time="20ms", size="64MiB")


def compared(_: Path) -> wa.Comparison:
    return wa.compare(
        workload="zipf:s=0.9", managers="single,sepgc", writes=20_000, replicas=2, **DRIVE
    )


def worn_out(_: Path) -> wa.Endurance:
    return wa.endurance(blocks=32, pages_per_block=8, op=0.25, w_max=20, replicas=2)


def recorded() -> wa.RecordResult:
    """Return a recording of 3 requests, of which 2 write."""
    counts = Counts(requests=Counter(write=2, read=1), bytes=Counter(write=12288, read=4096))
    counts.processes.add(["sqlite3", None], np.array([8192, 4096]))
    counts.files.add(["db.sqlite", "[journal]"], np.array([8192, 4096]))
    return wa.RecordResult(
        path="t.parquet",
        device="nvme0n1",
        counts=counts,
        has_files=True,
        duration_s=2.0,
        events=20_000,
        lost_events=1,
        removed_requests=0,
        processor_s=0.1,
        statistics_bytes=12288,
        zeroing_requests=1,
        zeroed_bytes=4096,
        left_out={"events with RWBS ZF": 1},
        run="true",
        run_exit_status=0,
    )


def live(host_bytes: int, pages: Sequence[Any]) -> LiveWear:
    """Return ten seconds of one process, and the estimate for writes of these pages."""
    frames = [
        pl.DataFrame({"op": "write", "offset": each * 4096, "length": 4096}) for each in pages
    ]
    return LiveWear(
        device="nvme0n1",
        model="DRIVE X",
        capacity_bytes=10**9,
        duration_s=10.0,
        whole=Writer("all", host_bytes, 10.0),
        processes=(Writer("logger", host_bytes, 10.0),),
        files=None,
        estimate=estimate(frames, 10**9, profile="generic"),
        rated_tbw=600.0,
        rated_source="--rated-tbw",
        counters_wa=None,
        notes=(),
    )


def trace(folder: Path) -> wa.traces.Trace:
    path = folder / "t.spc"
    path.write_text(TRACE)
    return wa.traces.read(path, FORMAT)


def blamed(folder: Path) -> wa.Blame:
    return wa.blame(trace(folder), "range:3", blocks=64, pages_per_block=4, op=0.5, repeat=2)


def examined(folder: Path) -> wa.DoctorReport:
    path = folder / "job.fio"
    path.write_text("[a]\nfilename=/dev/sdb\nrw=write\n")
    return wa.doctor(path)


def ran_fleet(folder: Path) -> wa.volumes.FleetRun:
    small: Any = {"volumes": 3, "requests": 3000, "size": "1MiB"}
    trace = wa.volumes.make(folder / "fleet.csv", **small).path
    fleet = wa.volumes.split(trace, folder / "fleet", trace_format="alibaba").fleet
    return wa.volumes.run(fleet, "single,sepgc", op=0.25, pages_per_block=8, repeat=2)


def ran_together(folder: Path) -> wa.volumes.TogetherRun:
    ran_fleet(folder)
    fleet = wa.volumes.Fleet.open(folder / "fleet")
    return wa.volumes.together(fleet, "single,sepgc", op=0.25, pages_per_block=8, repeat=2)


def needed(folder: Path) -> wa.volumes.FleetNeed:
    ran_fleet(folder)
    fleet = wa.volumes.Fleet.open(folder / "fleet")
    return wa.volumes.need(2.0, fleet, "single", pages_per_block=4, repeat=2)


def swept(folder: Path) -> wa.Sweep:
    return wa.sweep(SWEEP, keep=folder / "sweep", runner=wa.runners.Here())


def captured(folder: Path) -> Any:
    kinds = (synthetic.Kind("program", 3000, 300, 20), synthetic.Kind("erase", 60, 2000, 60))
    path = folder / "rb.vcd"
    synthetic.write_vcd(path, synthetic.pins(kinds, ["rb0", "rb1"], 1))
    facts = PinFacts(2, 1, 1, 1, 4096, (50.0,), (300.0,), (2000.0,))
    return ready_busy(path, facts, 2.0**20)


def counted(folder: Path) -> Any:
    (folder / "smart.json").write_text('{"critical_warning": 0, "data_units_written": 2000}')
    media = '{"physical_media_units_written": {"hi": 0, "lo": 3072000000}}'
    (folder / "ocp.json").write_text(media)
    return life_answer(read_snapshot(folder))


def watched(folder: Path) -> Any:
    drive, db = folder / "drive", folder / "db.sqlite"
    drive.mkdir(exist_ok=True)
    db.unlink(missing_ok=True)
    counted(drive)
    for at, (host, flash) in enumerate((("2000", "3072"), ("4000", "9216"))):
        for name, before, after in (("smart.json", "2000", host), ("ocp.json", "3072", flash)):
            (drive / name).write_text((drive / name).read_text().replace(before, after))
        for place in (*drive.iterdir(), drive):
            os.utime(place, (1e9 + at, 1e9 + at))
        watch_once([drive], db)
    return wa.measure.history(db)


def served(_: Path) -> ServeResult:
    began = vssd_documents.counters()
    ended = vssd_documents.counters(elapsed_ns=9_000_000_000_000)
    ended["host"] = {name: 2 * count for name, count in began["host"].items()}
    ended["programs"] = {name: 2 * count for name, count in began["programs"].items()}
    written = list(range(1000, 21_000, 500))
    return ServeResult(
        device=vssd_documents.DEVICE,
        policy=simulated().plan.policy,
        settings=DriveSettings(),
        began=began,
        ended=ended,
        samples={"written_pages": written, "programmed_pages": [2 * one for one in written]},
        blocks={},
    )


def fetched_trace(folder: Path) -> wa.traces.FetchedTrace:
    """Return a public trace as if it had been downloaded."""
    public = wa.traces.catalogue().traces[0]
    content = ContentFacts(12, 64 * "0")
    return wa.traces.FetchedTrace(public, folder / public.file_name, content, is_new=True)


_TRAINED: dict[str, Any] = {}


def model(_: Path) -> training.BlackBox:
    """Return a model, fitted once."""
    if not _TRAINED:
        _TRAINED["model"] = training.train(blackbox_tables.related(200))
    return _TRAINED["model"]  # type: ignore[no-any-return]


def forecast(folder: Path) -> Any:
    return model(folder).predict(blackbox_tables.related(7, seed=5))


def ranking(folder: Path) -> Any:
    one = model(folder)
    rows = {one.features: blackbox_tables.related(3, seed=5)}
    return choose({"a": one, "b": one}, rows, {"latency": 1000.0}, 0.5)


def held_out(folder: Path) -> Any:
    return model(folder).held_out(blackbox_tables.related(40, seed=9))[0]


def response(folder: Path) -> Any:
    return responses(model(folder), typical_workload(model(folder)))[0]


def collected(folder: Path) -> Collected:
    path = folder / "measured.parquet"
    pl.DataFrame([dict.fromkeys(SCHEMA)], schema=SCHEMA).write_parquet(path)
    return Collected(path, 3, 1, 1, 1, 0, ("a point could not be measured",), (), 1.5)


def answered_by_theory(_: Path) -> wa.Answer:
    """Return an answer of the ways that take no time, made of parts that are checked too."""
    rows = (
        WayRow("formula markov", "formula", 4.115, 0.001, "uniform random writes"),
        WayRow("simulate", "simulate", 4.213, 1.0, "pages written whole", ci=(4.211, 4.215)),
    )
    chain = CauseChain("formula markov", (Share("finite drive", -0.09),))
    advice = (Advice("op 0.2 instead of 0.1", 3.1, 4.2, "9% more flash", ci=(3.0, 3.2)),)
    return wa.Answer(
        "uniform", "single, greedy", wa.device(**DRIVE), rows,
        differences_of(rows, {chain.way: chain}), advice, 1024,
    )  # fmt: skip


def mixture(_: Path) -> Mixture:
    one = Candidate("single", "greedy", 0.2, 64, 1.0)
    return Mixture("mine.toml", "uniform", (CandidateRun(one, 2.0, 0.01, steady=True),), 0.01)


def twin(_: Path) -> Fit:
    chain = chains.Chain((chains.Phase("uniform", (1.0,)),), 4096 * 4096)
    variant = Variant("single", "greedy")
    op = np.log([[[0.1, 0.2, 0.4]] * 2])
    wa_of = np.array([[[[5.0], [3.0], [1.7]]] * 2])
    table = CandidateTable((variant,), (0,), np.array([32.0, 64.0]), op, wa_of)
    return fit(windows_of(chain, [(0, -1, 1.0, 1.0), (0, 0, 1.0, 2.5)]), table=table)


def twin_check(_: Path) -> TwinCheck:
    host = np.arange(1.0, 31.0) * 1e9
    phase = CountedPhase("drive", "run", 1, "uniform", "", 8e9, host, 2.0 * host)
    windows = [
        CheckedWindow(window, PredictedWa(2.1, 1.9, 2.3))
        for window in (phase.steady, *phase.fifths)
    ]
    checked = CheckedPhase(phase, windows[0], tuple(windows[1:]), ("run:0",), 2.1)
    return TwinCheck("mine.toml", "drive", (checked,))


OVER_OP: dict[str, Any] = {"logical_pages": 2048, "pages_per_block": 16}


SAMPLES: dict[str, Callable[[Path], Any]] = {
    "Result": lambda _: simulated(),
    "TimedResult": timed,
    "Comparison": compared,
    "Endurance": worn_out,
    "RequiredOp": lambda _: wa.required_op(2.0, **OVER_OP, precision=0.01),
    "OpCurve": lambda _: wa.wa_over_op([0.25, 0.5], **OVER_OP, writes=50_000),
    "Prediction": lambda _: wa.predict(op=0.28)[0],
    "ModelPredictions": lambda _: wa.predict(op=0.28),
    "PredictionSweep": lambda _: wa.predict_sweep("op=0.1:0.3:3"),
    "CachePrediction": lambda _: wa.predict_fdp("soc=4%", op=0.07),
    "FixedPoint": lambda _: wa.meanfield.hot_cold(**MEAN_FIELD),
    "Trajectory": lambda _: wa.meanfield.transient(**MEAN_FIELD, drive_writes=[0.0, 1.0, 2.0]),
    "Allocation": lambda _: wa.allocation.optimal([0.7, 0.3], [0.2, 0.8], 0.25),
    "Trace": trace,
    "TraceCatalogue": lambda _: wa.traces.catalogue(),
    "FetchedTrace": fetched_trace,
    "RecordResult": lambda _: recorded(),
    "LiveWear": lambda _: live(10_000_000, [np.arange(2000)]),
    "PageTrace": lambda folder: wa.traces.to_pages(trace(folder)),
    "Device": lambda _: wa.device("x25-m"),
    "FleetNeed": needed,
    "FleetRun": ran_fleet,
    "TogetherRun": ran_together,
    "Sweep": swept,
    "SweepResults": lambda folder: swept(folder).results,
    "Curves": lambda folder: swept(folder).results.curves(),
    "HeatMaps": lambda folder: swept(folder).results.heat_map("op", "manager"),
    "Pareto": lambda folder: swept(folder).results.pareto("wa", "op"),
    "Sensitivity": lambda folder: swept(folder).results.sensitivity(),
    "ReadyBusy": captured,
    "ServeResult": served,
    "DoctorReport": examined,
    "MachineDrives": lambda folder: (
        counted(folder),
        wa.measure.this_machine(devices=[str(folder)]),
    )[1],
    "Fleet": lambda folder: (counted(folder), wa.measure.fleet([folder]))[1],
    "History": watched,
    "BlackBox": model,
    "Forecast": forecast,
    "Predictions of one target": lambda folder: forecast(folder)["latency"],
    "HeldOut": held_out,
    "Score": lambda folder: held_out(folder).score,
    "Ranking": ranking,
    "Verdict": lambda folder: ranking(folder)[0],
    "Mixture": mixture,
    "Fit": twin,
    "TwinCheck": twin_check,
    "Explanation": lambda folder: explained(model(folder), "latency"),
    "Response": response,
    "Collected": collected,
    "Answer": answered_by_theory,
    "Blame": blamed,
    "ExplorePage": lambda _: wa.explore(
        managers="single", blocks=16, pages_per_block=8, writes=100
    ),
}

# Parts of results, which are results themselves, but show no table in a notebook.
PARTS: dict[str, Callable[[Path], Any]] = {
    "Row": lambda folder: compared(folder).rows[0],
    "DriveCounters": counted,
    "DriveRun": lambda folder: DriveRun(
        counted(folder), "fio", 0, None, 1.0, True, 10.0, None, 0, None
    ),
    "Calibration": lambda _: calibration_of(
        CounterFacts("x", raws=(("a", 1),)),
        CounterFacts("x", raws=(("a", 101),)),
        100 << 30,
        is_exact=True,
    ),
    "Difference": lambda _: wa.diff(simulated(), simulated(seed=2)),
    "WayRow": lambda folder: answered_by_theory(folder).rows[1],
    "WayRow of counters": lambda _: WayRow("real", "real", 2.0, 0.1, "bytes", bounds=(1.9, 2.1)),
    "Row of a learnt profile": lambda folder: replace(
        compared(folder).rows[0], substitutes=(OfCandidates(mixture(folder)),)
    ),
    "DriveLifetimes": lambda _: DriveLifetimes(
        (OneLifetime("A 1", "A 1", DriveLifetime("life so far", 2.0, 1.0, 3.0)),)
    ),
    "Lifetime of a real drive": lambda _: DriveLifetime("life so far", 2.0, 1.0, 3.0),
    "Effect": lambda folder: blamed(folder).tags[0].without,
    "Advice": lambda folder: answered_by_theory(folder).advice[0],
    "Lifetime": lambda _: DriveLifetime(
        "simulation", 2.0, 1.0, 3.0, wa=2.0, wa_low=1.9, wa_high=2.1
    ),
    "FourLevel": lambda folder: captured(folder).mixture,
    "Group": lambda folder: swept(folder).results.groups()[0],
    "Index": lambda folder: swept(folder).results.sensitivity().parts[0].indices[0],
    "AllocationsByMethod": lambda _: AllocationsByMethod.of([0.7, 0.3], [0.2, 0.8], 0.25, None),
    "Exploration": lambda _: Exploration.of(4, 0.25),
    "Followed": lambda _: wa.allocation.equal_gain(
        [0.7, 0.3], [0.2, 0.8], 0.25, wa.models.expected_value
    ),
    "Findings": lambda _: Findings([Item("WA", 2.0, {"as printed": 2.001}, 0.01)]),
}


def library_classes() -> Iterator[type]:
    """Give every class that a module of writeamp defines."""
    for found in pkgutil.walk_packages(wa.__path__, "writeamp."):
        if found.name in ("writeamp._engine", "writeamp._nbdkit"):
            continue
        for _, one in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
            if one.__module__ == found.name:
                yield one

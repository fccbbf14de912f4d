"""Script of a user, which mypy checks: every public function, called with plain arguments.

It is not run. `assert_type` fails for a function whose decorator erases its type.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import polars as pl

import writeamp as wa


def studies(folder: Path) -> None:
    """Simulate, compare, wear out, search and sweep."""
    simulated = wa.simulate(
        workload=wa.workload("zipf", s=0.99),
        manager=wa.manager("sepgc"),
        victims=wa.victims("d-choices", d=10),
        wear_leveling=wa.wear_leveling("static"),
        op="15%",
        seed=2,
        progress=print,
    )
    assert_type(simulated.wa, float)
    simulated.plot(folder / "wa.html")
    assert_type(simulated.to_frame(), pl.DataFrame)
    wa.simulate(trace=np.arange(1000), op=0.28)
    wa.simulate(fio=folder / "job.fio", op=0.28, capacity="1TB")
    wa.answer(fio_run="fio --name=a --rw=randwrite", capacity="1TB")
    wa.lifetime(fio=folder / "job.fio", device="tlc", daily_writes="1TB")
    with wa.runners.runner_of(workers=2) as runner:
        compared = wa.compare(
            workload=["tpcc", "uniform"], managers="single,dac", op=0.15, runner=runner
        )
    assert_type(compared, wa.Comparison)
    worn_out = wa.endurance(wa.device("tlc", blocks=64), w_max=20, keep=folder / "lives")
    assert_type(worn_out, wa.Endurance)
    assert_type(worn_out.ci, tuple[float, float])
    assert_type(wa.required_op(1.5, manager="sepgc", blocks=64), wa.RequiredOp)
    assert_type(wa.wa_over_op([0.1, 0.2], blocks=64), wa.OpCurve)
    wa.run(wa.Experiment.of("simulate", op=0.15)).to_dict()
    assert_type(wa.sweep(folder / "sweep.toml", keep=folder), wa.Sweep)
    assert_type(wa.sweep_results(folder), wa.SweepResults)
    assert_type(wa.diff(simulated, simulated), wa.Difference)
    assert_type(wa.answer(workload="uniform", op=0.2, quick=True), wa.Answer)
    assert_type(wa.blame(folder / "t.parquet", "range:4", op=0.2), wa.Blame)
    assert_type(wa.doctor(folder / "job.fio", simulate=False), wa.DoctorReport)
    assert_type(wa.explore(managers=["single", "sepgc"], op="20%"), wa.ExplorePage)
    assert_type(wa.report(folder / "answer.html").markdown(), str)
    assert_type(wa.listed("victims"), dict[str, list[dict[str, Any]]])
    wa.reproduce("park2017", plots=folder)
    assert_type(wa.cite("simulate"), str)
    with wa.VirtualSsd("ssd-v", size="1GiB") as drive:
        drive.counters()


def theory() -> None:
    """Predict and divide space without a simulation."""
    assert_type(wa.predict(op=0.2)[0], wa.Prediction)
    assert_type(wa.predict_sweep("op=0.1:0.3:3", d=5).to_frame(), pl.DataFrame)
    assert_type(wa.predict_fdp("soc=4%", op="7%"), wa.CachePrediction)
    wa.models.coupon_collector(0.2, 128)
    wa.models.d_choices([0.1, 0.2], 128, 10)
    wa.models.effective_op(0.2, 0.9, 0.5)
    assert wa.models.valid_pages(0, 1000, 64) == 64
    assert wa.models.block_lifetime(64, 1000, 64) == 0
    wa.models.expected_value(np.array([0.07, 0.28]))
    wa.models.fifo(0.2)
    wa.models.markov(0.2, 64)
    wa.models.required_op(1.5, "markov", pages_per_block=64)
    wa.models.uniform_distribution(0.2)
    assert_type(wa.models.find_model("fifo"), wa.models.Model)
    heat = wa.meanfield.hot_cold(
        pages_per_block=8, d=5, hot_fraction=0.2, hot_write_fraction=0.8, op=0.2
    )
    assert_type(heat, wa.meanfield.FixedPoint)
    wa.meanfield.hot_cold_swap(
        pages_per_block=8, d=5, d_swap=3, hot_fraction=0.2, hot_write_fraction=0.8, op=0.2
    )
    followed = wa.meanfield.transient(
        pages_per_block=8,
        d=5,
        hot_fraction=0.2,
        hot_write_fraction=0.8,
        drive_writes=[0.0, 1.0],
        op=0.2,
    )
    assert_type(followed, wa.meanfield.Trajectory)
    sizes, frequencies = [0.7, 0.3], [0.2, 0.8]
    wa.allocate(sizes, frequencies, op=0.25).to_dict()
    wa.allocation.by_frequency(sizes, frequencies, 0.25)
    wa.allocation.by_size(sizes, frequencies, 0.25)
    wa.allocation.closed_form(sizes, frequencies, 0.25)
    assert_type(wa.allocation.optimal(sizes, frequencies, 0.25), wa.allocation.Allocation)
    wa.allocation.equal_gain(sizes, frequencies, 0.25, wa.models.expected_value)
    list(wa.allocation.configurations(4, 2))
    assert_type(wa.allocation.explore(4, 0.25), pl.DataFrame)


def real_drives(folder: Path) -> None:
    """Measure real drives."""
    assert_type(wa.measure.counters(folder / "smart.json"), list[wa.measure.DriveCounters])
    wa.measure.diff(folder / "monday.json", "friday.json", definition="bytes")
    wa.measure.save("/dev/nvme0", folder / "now.json")
    assert_type(wa.measure.run("/dev/nvme0", "fio job.fio", settle="5s").status, int)
    wa.measure.calibrate("/dev/sda", write="20GiB", folder="/home")
    wa.measure.watch([folder / "smart.json"], folder / "history.sqlite")
    assert_type(wa.measure.history(folder / "history.sqlite"), wa.measure.History)
    assert_type(wa.measure.this_machine(), wa.measure.MachineDrives)
    assert_type(wa.measure.fleet([folder], rated_tbw=600), wa.measure.Fleet)
    facts = wa.measure.facts_of(wa.device("ssd-v"))
    assert_type(wa.measure.ready_busy("rb.vcd", facts, 2e9), wa.measure.ReadyBusy)
    assert_type(wa.record("/dev/nvme0n1", "t.parquet", duration_s="10m"), wa.RecordResult)
    assert_type(wa.lifetime(folder / "smart.json"), wa.DriveLifetime)
    wa.lifetime(folder / "smart.json", rated_tbw=600)
    wa.lifetime(workload="uniform", device="tlc", daily_writes="200GB")


def traces(folder: Path) -> None:
    """Read, convert and replay traces, and fleets of them."""
    trace = wa.traces.read(folder / "disk.csv", wa.traces.detect(folder / "disk.csv"))
    assert_type(trace, wa.traces.Trace)
    assert_type(wa.traces.info(trace), dict[str, Any])
    assert_type(wa.traces.to_pages(wa.traces.of([1, 2, 3])), wa.traces.PageTrace)
    assert_type(wa.traces.catalogue(), wa.traces.TraceCatalogue)
    assert_type(wa.traces.fetch("mqsim-tpcc", folder).path, Path)
    assert_type(wa.traces.write(trace, folder / "disk.parquet"), list[str])
    made = wa.volumes.make(folder / "fleet.csv", volumes=3, requests=3000)
    fleet = wa.volumes.split(made.path, folder / "fleet", trace_format="alibaba").fleet
    assert_type(fleet, wa.volumes.Fleet)
    assert_type(wa.volumes.info(fleet, where="drive_writes > 2"), dict[str, Any])
    assert_type(wa.volumes.run(fleet, ["single", "sepgc"], op=0.25), wa.volumes.FleetRun)
    assert_type(wa.volumes.together(fleet, "single", op=0.25), wa.volumes.TogetherRun)
    assert_type(wa.volumes.need(2.0, fleet, "single"), wa.volumes.FleetNeed)


def learnt(folder: Path) -> None:
    """Train models of drives, and fit twins."""
    target = wa.blackbox.target_of("x25-m", size="64MiB")
    design = wa.blackbox.Design(points=10)
    wa.blackbox.collect(target, out=folder / "x25m.parquet", design=design)
    model = wa.blackbox.train(wa.blackbox.read_measurements(folder / "x25m.parquet"))
    assert_type(model, wa.blackbox.BlackBox)
    wa.blackbox.save(model, folder / "x25m.model")
    model = wa.blackbox.load(folder / "x25m.model")
    rows = wa.blackbox.of_workload("random:bs=8k,write=0.5,qd=8").frame()
    assert_type(model.predict(rows), wa.blackbox.Forecast)
    assert_type(wa.blackbox.explained(model, "latency"), wa.blackbox.Explanation)
    ranking = wa.blackbox.choose({"a": model}, {"extended": rows}, {"latency": 2000.0})
    assert_type(ranking, wa.blackbox.Ranking)
    chain = wa.twin.chain_of(3, chunks=True, capacity_bytes=1 << 30)
    assert_type(chain, wa.twin.Chain)
    windows = wa.twin.read_windows(folder / "windows.parquet")
    assert_type(wa.twin.fit(windows), wa.twin.Fit)
    wa.twin.fit_one(3.2, "uniform")
    drives = wa.twin.read_drives(folder / "phases.csv")
    assert_type(wa.twin.fit_phases(drives[0], ["run:0"]), wa.twin.Fit)
    assert_type(
        wa.twin.check(wa.twin.PhaseTwin.read(folder / "mine.toml"), drives), wa.twin.TwinCheck
    )
    wa.twin.fit_trace(3.2, wa.traces.read(folder / "disk.csv"))
    policy = wa.Policy("sepgc")
    assert_type(wa.twin.measure(wa.device("ssd-m"), policy, chain), wa.twin.Windows)


def pictures(folder: Path) -> None:
    """Draw figures of one's own."""
    wa.plots.check_target(folder / "wa.svg")
    wa.plots.save(wa.plots.wa_by_policy([], title="WA", subtitle="of a test"), folder / "wa.svg")
    wa.plots.wa_over_time(
        [wa.plots.WaSeries("a", [0.0, 1.0], [1.0, 2.0])], title="WA", subtitle="of a test"
    )
    curve = wa.plots.LifeCurve("a", [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0])
    wa.plots.life_over_w([curve], title="WA", subtitle="of a test")
    wa.plots.erases_of_blocks(
        [1, 2], [3, 4], width=1, label="erases", title="WA", subtitle="of a test"
    )


@wa.compiled
@wa.placement("by-parity")
class Parity(wa.Placement):
    """Even pages apart from odd ones."""

    streams = 2

    def on_write(self, page: int, now: int) -> int:
        """Return the stream of a page that the host writes."""
        return page % 2

    def on_migrate(self, page: int, victim: wa.Victim) -> int:
        """Return the stream of a page that collection moves."""
        return page % 2


@wa.victim_policy("oldest-block")
class Oldest(wa.VictimPolicy):
    """The block that closed first."""

    def choose(self, candidates: wa.Candidates, now: int) -> int:
        """Return the place of the victim."""
        return 0


def own_policies(text: str) -> None:
    """Ask about policies of one's own."""
    assert_type(wa.custom.as_written(text), tuple[str, dict[str, str]])
    wa.custom.classes_in("mine.py")
    wa.custom.find("managers", text)
    assert_type(wa.custom.find_class("managers", text), bool)
    wa.custom.is_reference("victims", text)
    wa.custom.is_users("victims", text)
    assert_type(wa.custom.known_names("managers"), list[str])
    wa.custom.listed("managers")
    wa.custom.reference_of("managers", Parity)
    wa.custom.split_file(text)
    with wa.custom.without_imports("it holds a policy of another"):
        pass
    wa.custom.compiled(wa.custom.placement("other")(Parity))
    wa.custom.victim_policy("other-oldest")(Oldest)

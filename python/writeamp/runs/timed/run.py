"""Runner of a plan in virtual time: determines its end, observes it, and returns its result."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load as EngineLoad
from writeamp._engine import TimedRun
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runners import Progress, stop_if_asked
from writeamp.runs.loads import engine_load, load_of_trace
from writeamp.runs.partial_pages import factor_of_load
from writeamp.runs.plan import Plan
from writeamp.runs.ready_busy import PinWriter, capturing
from writeamp.runs.series import flash_pages
from writeamp.runs.steadiness_checks import check_loop, check_passes, check_turnovers
from writeamp.runs.timed.device import Ready, notes_on_layout, ready
from writeamp.runs.timed.measured import TimedFigures
from writeamp.runs.timed.result import TimedResult
from writeamp.settings.settings import SimulationSettings, Warmup
from writeamp.statistics.judging import Schedule, judge
from writeamp.statistics.steady import SteadyState
from writeamp.traces.pages import PageTrace
from writeamp.units.durations import shown_duration

_Counts = dict[str, npt.NDArray[np.uint64]]

# Duration in seconds of virtual time, if the end of a synthetic workload is not given.
_DEFAULT_S = 10.0
# Share of the run, in permille, before the measured interval of latencies, bandwidth and
# throughput.
_WARMUP_PERMILLE = 100
# Events between two checks for Ctrl-C, progress and pins. They take at most a tenth of a second.
_CHUNK_EVENTS = 100_000

_NOTHING_WRITTEN = SteadyState(
    warmup_pages=0,
    wa=np.nan,
    ci_low=np.nan,
    ci_high=np.nan,
    steady=False,
    reason="the host wrote nothing, so that WA is undefined",
    batches=0,
)


@dataclass(frozen=True)
class _End:
    """End of the host's requests: limits of virtual time, bytes written and number of requests.

    A limit may be None. The requests end at the first limit that is reached.
    """

    time_ns: int | None
    written_bytes: int | None
    requests: int | None
    notes: tuple[str, ...]

    def done(self, run: TimedRun) -> tuple[int, int]:
        """Return the progress of the run and its total, in ns, bytes or requests."""
        current = (run.now_ns, run.written_bytes, run.issued_requests)
        limits = (self.time_ns, self.written_bytes, self.requests)
        pairs = [
            (now_at, limit)
            for now_at, limit in zip(current, limits, strict=True)
            if limit is not None
        ]
        return max(pairs, key=lambda pair: pair[0] / pair[1])


def run_timed(
    plan: Plan, device: Device, progress: Progress | None = None, *, inputs: tuple[str, ...] = ()
) -> TimedResult:
    """Run a plan on one device in virtual time.

    Args:
        plan: plan of the run.
        device: device to run on.
        progress: called from time to time with the progress and the total, in ns, bytes or
            requests, depending on what ends the run.
        inputs: paths of input files, which a capture must not replace.

    Raises:
        WriteampError: the run is impossible; the message gives the reason.
    """
    started = time.perf_counter()
    _refuse_settings(plan.run)
    load = _load(plan, device)
    end = _end_of(plan, device, load)
    plan = replace(plan, notes=(*plan.notes, *end.notes, *notes_on_layout(device)))

    def tick() -> None:
        stop_if_asked()
        if progress:
            progress(0, 1)

    with capturing(plan, device, inputs) as pins:
        prepared = ready(plan, device, pins=pins is not None, tick=tick)
        run = TimedRun(
            prepared.engine,
            load,
            seed=plan.seed,
            page_bytes=device.page_bytes,
            time_scale=plan.run.time_scale,
            time_ns=end.time_ns,
            written_bytes=end.written_bytes,
            requests=end.requests,
            warmup_permille=0 if _counts_all(plan.run) else _WARMUP_PERMILLE,
            window=_window(plan),
        )
        run_s = _advance(run, end, pins, progress)
    figures = TimedFigures.of(
        run,
        run_s=run_s,
        edges=None if pins is None else pins.edges,
        is_window=plan.window is not None,
    )
    return TimedResult(
        plan=plan,
        device=device,
        steady_state=_judged(plan, device, prepared, figures.samples),
        samples=figures.samples,
        ageing=prepared.ageing,
        elapsed_s=time.perf_counter() - started,
        figures=figures,
    )


def _advance(run: TimedRun, end: _End, pins: PinWriter | None, progress: Progress | None) -> float:
    """Advance the run to its end; return the processor time of the engine in seconds."""
    engine_s, is_done = 0.0, False
    while not is_done:
        stop_if_asked()
        # Processor time is measured, because wall time would depend on other programs on this
        # machine.
        began = time.process_time()
        is_done = run.advance(_CHUNK_EVENTS)
        engine_s += time.process_time() - began
        if pins is not None:
            pins.drain(run)
        if progress:
            progress(*end.done(run))
    if pins is not None:
        pins.finish(run)
    return engine_s


def _load(plan: Plan, device: Device) -> EngineLoad:
    if isinstance(plan.load, Spec):
        return engine_load(plan.load.text, plan.used_pages(device), device)
    return load_of_trace(plan.load, passes=plan.repeat)


def _window(plan: Plan) -> tuple[int, int, int] | None:
    """Return the span in which a recorded drive counted, in virtual time, for the engine."""
    if plan.window is None:
        return None
    scale = plan.run.time_scale
    from_ns, until_ns = plan.window.from_ns, plan.window.until_ns
    return round(from_ns * scale), round(until_ns * scale), plan.window.unanswered


def _end_of(plan: Plan, device: Device, load: EngineLoad) -> _End:
    """Return the limits of the run: those requested and a trace's last request; by default 10 s."""
    run = plan.run
    notes: tuple[str, ...] = ()
    seconds, written_bytes = run.time, run.host_bytes
    if run.writes is not None:
        written_bytes = run.writes * device.page_bytes
        if device.host_page_bytes:
            # Writes count mapping units, which requests cover in part.
            factor = factor_of_load(plan.load, plan.used_pages(device), device, plan.seed)
            written_bytes = round(written_bytes / factor)
    requests = None
    if not isinstance(plan.load, Spec):
        requests = plan.load.op.size * plan.repeat
    elif written_bytes is not None and seconds is None and not load.has_writes():
        raise WriteampError(
            f"workload {plan.load_name} never writes, so that host_bytes or writes would never be "
            "reached; give a time"
        )
    elif written_bytes is None and seconds is None:
        seconds = _DEFAULT_S
        notes = (
            f"the run ends after {shown_duration(_DEFAULT_S)} of virtual time by default; give "
            "--time, --host-bytes or --writes to change that",
        )
    time_ns = None if seconds is None else round(seconds * 1e9)
    return _End(time_ns, written_bytes, requests, notes)


def _counts_all(run: SimulationSettings) -> bool:
    """Return whether the whole run is measured, without a warm-up."""
    return run.warmup == 0 or run.host_bytes is not None


def _judged(plan: Plan, device: Device, prepared: Ready, samples: _Counts) -> SteadyState:
    """Judge whether WA is steady by the counters over the run, as in an untimed run."""
    host, flash = samples["host_pages"].astype(float), flash_pages(samples).astype(float)
    if host[-1] == 0:
        return _NOTHING_WRITTEN
    warmup: Warmup = 0 if _counts_all(plan.run) else "auto"
    steady = judge([(np.diff(host), np.diff(flash))], Schedule(), warmup=warmup)
    members = device.members or (device,)
    physical_pages = sum(member.physical_pages for member in members if member.kind == "flash")
    steady = check_turnovers(steady, float(flash[-1]) / physical_pages)
    if isinstance(plan.load, Spec) or device.kind != "flash":
        return steady
    steady = check_passes(steady, *_passes(plan.load, host, flash, physical_pages))
    if plan.repeat == 1:
        return steady
    return check_loop(steady, plan.load, device, prepared.mapped_pages)


def _passes(
    trace: PageTrace, host: npt.NDArray[np.float64], flash: npt.NDArray[np.float64], physical: int
) -> tuple[int, list[float], float]:
    """Return host pages of a pass, flash pages of each whole pass, and turnovers in the first.

    A turnover programs the whole flash once. If no pass is whole, the turnovers are those of the
    run. Passes end between samples, so that the values are interpolated.
    """
    ends = np.arange(0, host[-1] + 1, trace.host_pages)
    of_passes = np.diff(np.interp(ends, host, flash))
    first = of_passes[0] if of_passes.size else flash[-1]
    return trace.host_pages, of_passes.tolist(), float(first) / physical


def _refuse_settings(run: SimulationSettings) -> None:
    """Reject settings that are only for the length and the verdict of untimed runs."""
    defaults = SimulationSettings()
    if run.warmup not in ("auto", 0):
        raise WriteampError(
            f"warmup is {run.warmup}; in a timed run it must be auto, which leaves out the first "
            "tenth, or 0"
        )
    if run.precision != defaults.precision:
        raise WriteampError(
            "precision ends untimed runs only; leave it out, and end the timed run by time, writes "
            "or host_bytes"
        )
    if run.replicas not in (1, defaults.replicas):
        raise WriteampError(
            "replicas are for untimed runs only; leave them out, and repeat the timed run with "
            "other seeds"
        )

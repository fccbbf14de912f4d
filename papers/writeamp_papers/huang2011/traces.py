"""Table VII: models of trace windows, trained on two thirds of a trace, tested on the rest.

The traces run on one drive, one after another; under a reading (interpretation of the paper) that
erases drives, each trace runs on a new drive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp import traces
from writeamp._engine import Load as EngineLoad
from writeamp._engine import TimedRun
from writeamp.devices.device import Device
from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp.learn.blackbox.features.trace_windows import of_trace
from writeamp.learn.blackbox.predictions import score
from writeamp.runners import stop_if_asked
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.huang2011.accuracy import tree_for
from writeamp_papers.huang2011.campaign import Form, form_of
from writeamp_papers.huang2011.devices import built
from writeamp_papers.huang2011.printed import ON_TRACES, TRACES
from writeamp_papers.huang2011.readings import combined, of_runs
from writeamp_papers.huang2011.runs import METRICS, WAYS, Way, new_drive, way_on
from writeamp_papers.huang2011.trace_drift import drift_items
from writeamp_papers.huang2011.trace_loads import (
    STATISTICS,
    as_trace,
    load_of,
    part_of,
    thirds_of,
    wrapped,
)
from writeamp_papers.items import Item, at_most, checked, ordered, within

_SEED = 11
# Section IV.D: two hours train, the third is predicted.
_TRAINING_SHARE = 2 / 3
# Simulated events between two checks whether a window has ended. So many events take only a small
# part of a window.
_STEP_EVENTS = 32
_LAST_EVENTS = 1 << 16

# File-name patterns of published traces, which are used if the files exist; and the length of their
# windows.
_REAL = {"Financial1": "financial1*.spc", "WebSearch1": "websearch1*.spc"}
_REAL_WINDOW_S = 1.0
_NS = 1e9
_MINUTE_S = 60.0

# Mean relative error (MRE) by metric.
_Errors: TypeAlias = dict[str, float]
# Requests of a trace: generated; published; or generated, with windows that train and test in
# random order, so that drift has no effect.
_Source: TypeAlias = Literal["generated", "published", "shuffled"]
_OfTraces: TypeAlias = dict[tuple[str, _Source], _Errors]
F64 = npt.NDArray[np.float64]

# MREs are printed as whole percentages, so they are rounded by up to 0.5%.
_ROUNDING = 0.005
_MIB = 1 << 20


def run(bench: Bench) -> Findings:
    """Replay the traces on four devices, fit models to two thirds, and score them on the rest."""
    form = form_of(full=bench.full)
    real = _real_files(bench.traces)
    devices = list(ON_TRACES["latency"])
    bench.step(f"{len(TRACES) + len(real)} traces on {len(devices)} devices (Table VII)")
    jobs = [(device, way, form, real) for device in devices for way in WAYS]
    distinct = list(dict.fromkeys((device, way_on(device, way)) for device, way, *_ in jobs))
    done = dict(
        zip(distinct, bench.map(errors_on, [(*job, form, real) for job in distinct]), strict=True)
    )
    errors_of = {
        device: {way.name: done[device, way_on(device, way)] for way in WAYS} for device in devices
    }
    names: list[tuple[str, _Source]] = [(trace, "generated") for trace in TRACES]
    names += [(trace, "published") for trace in real]
    items = [
        _item(device, metric, trace, source, errors_of[device])
        for device in devices
        for trace, source in names
        for metric in METRICS
    ]
    windows = {trace: generated_windows(trace, form) for trace in TRACES}
    return Findings([*items, *sentences(errors_of), *drift_items(windows, form.windows)])


def _real_files(folder: Path | None) -> dict[str, str]:
    errors_of = {}
    for trace, pattern in _REAL.items():
        files = sorted(folder.glob(pattern)) if folder else []
        if files:
            errors_of[trace] = str(files[0])
    return errors_of


def errors_on(device: str, way: Way, form: Form, real: Mapping[str, str]) -> _OfTraces:
    """Return the mean relative errors on each generated and each real trace."""
    drive = built(device, form.flash_bytes, disk_cached=way.disk_cached)
    replayed = _Replay(drive, way)
    errors: _OfTraces = {}
    for trace in TRACES:
        windows, count = replayed.windows(_generated(trace, form), _window_s(trace, form))
        errors[trace, "generated"] = mre(windows, count)
        errors[trace, "shuffled"] = mre(_shuffled(windows, count), count)
    for trace, path in real.items():
        windows, count = replayed.windows(traces.read(path).requests, _REAL_WINDOW_S)
        errors[trace, "published"] = mre(windows, count)
    return errors


def _shuffled(windows: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return the windows with their numbers in random order."""
    numbers = np.random.default_rng(_SEED).permutation(count)
    return windows.with_columns(window=numbers[windows["window"].to_numpy()])


def _window_s(trace: str, form: Form) -> float:
    if form.window_requests is None:
        return _MINUTE_S
    return form.window_requests / STATISTICS[trace].rate_s


def generated_windows(trace: str, form: Form) -> pl.DataFrame:
    """Return the characteristics of the windows of a generated trace."""
    return of_trace(as_trace(_generated(trace, form)), _window_s(trace, form))


def _generated(trace: str, form: Form) -> pl.DataFrame:
    """Return the requests of a generated trace, whose thirds are the paper's three hours."""
    window_s = _window_s(trace, form)
    thirds = thirds_of(trace)
    count = form.windows // len(thirds)
    # Two traces of the same statistics use different random numbers.
    seed = _SEED + len(thirds) * TRACES.index(trace)
    third_ns = round(count * window_s * _NS)
    return pl.concat(
        of_third.windows(count, window_s, seed=seed + number).with_columns(
            pl.col("timestamp_ns") + number * third_ns
        )
        for number, of_third in enumerate(thirds)
    )


class _Replay:
    """Replay of traces on one drive, one after another."""

    def __init__(self, device: Device, way: Way) -> None:
        self._device = device
        self._way = way
        self._run: TimedRun | None = None

    def windows(self, trace: pl.DataFrame, window_s: float) -> tuple[pl.DataFrame, int]:
        """Replay a trace, and return its windows as `mre` needs them, and their number."""
        requests = wrapped(
            part_of(trace, self._way.parts, self._device.capacity_bytes),
            self._device.capacity_bytes,
        )
        characteristics = of_trace(as_trace(requests), window_s)
        load = load_of(requests, self._device.page_bytes, at_times=self._way.at_times)
        run = self._begun(load, requests.height)
        rows = list(_served(run, characteristics, window_s, at_times=self._way.at_times))
        while not run.advance(_LAST_EVENTS):
            stop_if_asked()
        served = pl.DataFrame(rows, schema=["window", *METRICS, "outstanding"], orient="row")
        windows = characteristics.join(
            served.cast({"window": characteristics["window"].dtype}),
            on="window",
            maintain_order="left",
        )
        # The host's queue depth: a new request, and the requests that wait when it arrives.
        windows = windows.with_columns(queue_depth=1 + pl.col("outstanding"))
        return windows, int(characteristics["window"].to_numpy().max()) + 1

    def _begun(self, load: EngineLoad, requests: int) -> TimedRun:
        if self._run is None or self._way.erased:
            self._run = TimedRun(
                new_drive(self._device, self._way, _SEED),
                load,
                seed=_SEED,
                page_bytes=self._device.page_bytes,
                requests=requests,
            )
        else:
            self._run.go_on(load, seed=_SEED, requests=requests)
        return self._run


def _served(
    run: TimedRun, characteristics: pl.DataFrame, window_s: float, *, at_times: bool
) -> Iterator[tuple[int, float, float, float, float]]:
    """Yield number, mean latency (ms), MB/s, IO/s and mean requests outstanding of each window.

    If requests are replayed one after another, a window lasts until its requests are answered, and
    no request waits.
    """
    counts_before, began_ns = np.zeros(3), run.now_ns
    first_ns = began_ns
    issued = characteristics["requests"].cum_sum()
    for window, until in zip(characteristics["window"], issued, strict=True):
        end_ns = first_ns + (window + 1) * window_s * _NS
        while (run.now_ns < end_ns) if at_times else (run.issued_requests < until):
            stop_if_asked()
            # A request takes at least one event, so the loop does not pass the end of a window of
            # requests.
            left = _STEP_EVENTS if at_times else until - run.issued_requests
            if run.advance(left):
                break
        now = _counts(run)
        (answered, moved_bytes, waited_ms), counts_before = now - counts_before, now
        seconds, began_ns = (run.now_ns - began_ns) / _NS, run.now_ns
        # A window without answers has no latency.
        if answered and seconds > 0:
            outstanding = waited_ms / 1e3 / seconds if at_times else 0.0
            yield (
                window,
                waited_ms / answered,
                moved_bytes / _MIB / seconds,
                answered / seconds,
                outstanding,
            )


def _counts(run: TimedRun) -> F64:
    """Return answered requests, transferred bytes and total latency (ms) since the start."""
    served = [run.served(direction) for direction in ("read", "write")]
    return np.array(
        [
            sum(served_kind["requests"] for served_kind in served),
            sum(served_kind["bytes"] for served_kind in served),
            sum(served_kind["requests"] * (served_kind["mean_ns"] or 0.0) for served_kind in served)
            / 1e6,
        ]
    )


def mre(windows: pl.DataFrame, count: int) -> _Errors:
    """Return the MRE of each metric on the last third of the windows.

    Args:
        windows: a row per window: its number, the extended features and the metrics.
        count: number of windows of the trace; windows without answers have no row.
    """
    vectors = find_feature_set("extended").of(windows).to_numpy()
    # By window number, not by row, because windows without answers have no row.
    is_training = windows["window"].to_numpy() < round(count * _TRAINING_SHARE)
    errors = {}
    for metric in METRICS:
        values = windows[metric].to_numpy()
        tree = tree_for(vectors[is_training]).fit(vectors[is_training], values[is_training])
        predicted = tree.predict(vectors[~is_training])
        errors[metric] = score(metric, values[~is_training], predicted).mre
    return errors


def _item(
    device: str, metric: str, trace: str, source: _Source, errors: Mapping[str, _OfTraces]
) -> Item:
    is_real = source == "published"
    return at_most(
        f"Table VII, {metric}, {device}, {'first requests of ' if is_real else ''}{trace}: MRE",
        ON_TRACES[metric][device][TRACES.index(trace)],
        of_runs(
            {
                way: errors_of_traces[trace, source][metric]
                for way, errors_of_traces in errors.items()
            }
        ),
        _ROUNDING,
        note="the published trace, in windows of one second"
        if is_real
        else "requests are generated from the trace's statistics",
        statement=f"P2-T7-{'abc'[METRICS.index(metric)]}",
    )


def sentences(errors_by_device: Mapping[str, Mapping[str, _OfTraces]]) -> list[Item]:
    """Check the statements on Table VII, and that models fail by the drift of traces."""
    items = []
    for kind, least, most, statement in (
        ("WebSearch", 0.01, 0.05, "P2-T7-2"),
        ("Financial", 0.07, 0.38, "P2-T7-3"),
    ):
        errors = [error for by_way in errors_by_device.values() for error in _of_kind(by_way, kind)]
        items += [
            at_most(
                f"Section IV.D: largest MRE of a {kind} trace",
                most,
                combined(max, *errors),
                _ROUNDING,
                statement=statement,
            ),
            within(
                f"Section IV.D: smallest MRE of a {kind} trace",
                least - _ROUNDING,
                most + _ROUNDING,
                combined(min, *errors),
                statement=statement,
            ),
        ]
    for device, by_way in errors_by_device.items():
        financial = _of_kind(by_way, "Financial")
        items += [
            ordered(
                f"Section IV.D, {device}: mean MRE of WebSearch traces ÷ that of Financial traces",
                _mean_ratio(_of_kind(by_way, "WebSearch"), financial),
                statement="P2-T7-4",
            ),
            checked(
                ordered(
                    f"Section IV.D, {device}: mean MRE of Financial traces, windows in random "
                    "order ÷ in the order of time",
                    _mean_ratio(_of_kind(by_way, "Financial", "shuffled"), financial),
                    note="the paper has only the order of time",
                    statement="P2-T7-1",
                )
            ),
        ]
    return items


def _of_kind(
    by_way: Mapping[str, _OfTraces], kind: str, source: _Source = "generated"
) -> list[dict[str, float]]:
    """Return the MRE of each metric and trace of a kind, under each reading."""
    return [
        of_runs({way: of_way[trace, source][metric] for way, of_way in by_way.items()})
        for trace in TRACES
        if trace.startswith(kind)
        for metric in METRICS
    ]


def _mean_ratio(
    errors: Sequence[Mapping[str, float]], others: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    """Return the ratio of the means of as many errors, under each reading."""
    return combined(
        lambda *all_of_them: sum(all_of_them[: len(errors)]) / sum(all_of_them[len(errors) :]),
        *errors,
        *others,
    )

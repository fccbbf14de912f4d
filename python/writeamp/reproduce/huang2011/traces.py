"""Table VII: models of trace windows, trained on two thirds of a trace and held to the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp import traces
from writeamp._engine import TimedRun
from writeamp.blackbox.features.registry import find_feature_set
from writeamp.blackbox.features.trace_windows import of_trace
from writeamp.blackbox.models.registry import make_model
from writeamp.blackbox.scores import score
from writeamp.blackbox.targets.prepared import Prepared
from writeamp.blackbox.targets.scaled import scaled
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.huang2011.forms import Form, form_of
from writeamp.reproduce.huang2011.measuring import DEVICES, METRICS
from writeamp.reproduce.huang2011.printed import ON_TRACES, TRACES
from writeamp.reproduce.huang2011.trace_loads import STATISTICS, as_trace, load_of, wrapped
from writeamp.reproduce.items import Item, OpenDetail, at_most
from writeamp.runners import stop_if_asked

_SEED = 11
# Section IV.D: two hours train, the third is predicted.
_TRAINING_SHARE = 2 / 3
# Events between two looks at the clock: a small part of a window.
_STEP_EVENTS = 32

# Real requests, where their files are there: the published trace, a pattern of its name, and how
# long its windows are.
_REAL = {"Financial1": "financial1*.spc", "WebSearch1": "websearch1*.spc"}
_REAL_WINDOW_S = 1.0
_NS = 1e9

# MRE of each metric by the way of the replay.
_Errors: TypeAlias = dict[str, dict[str, float]]
F64 = npt.NDArray[np.float64]
_BACK_TO_BACK = "each request as the one before is answered"
_AT_TIMES = "each at its time in the trace"
_WAYS = {_BACK_TO_BACK: False, _AT_TIMES: True}


def run(bench: Bench) -> Findings:
    """Replay the traces on four devices, and score what their first two thirds teach."""
    form = form_of(full=bench.full)
    real = _real_files(bench.traces)
    devices = list(ON_TRACES["latency"])
    bench.step(f"{len(TRACES) + len(real)} traces on {len(devices)} devices (Table VII)")
    done = bench.map(_errors, [(device, form, real) for device in devices])
    return Findings(
        [
            _item(device, metric, trace, errors, is_real=is_real)
            for device, found in zip(devices, done, strict=True)
            for (trace, is_real), errors in found.items()
            for metric in METRICS
        ]
    )


def _real_files(folder: Path | None) -> dict[str, str]:
    found = {}
    for trace, pattern in _REAL.items():
        files = sorted(folder.glob(pattern)) if folder else []
        if files:
            found[trace] = str(files[0])
    return found


def _errors(device: str, form: Form, real: Mapping[str, str]) -> dict[tuple[str, bool], _Errors]:
    """Return the errors on each generated and each real trace, by the way of its replay."""
    drive = Prepared.of(scaled(DEVICES[device]), form.settings.seed)
    found = {}
    for trace in TRACES:
        found[trace, False] = _of_trace(drive, _generated(trace, form), form.window_s)
    for trace, path in real.items():
        requests = wrapped(traces.read(path).requests, drive.device.capacity_bytes)
        found[trace, True] = _of_trace(drive, requests, _REAL_WINDOW_S)
    return found


def _generated(trace: str, form: Form) -> pl.DataFrame:
    """Return two hours of one seed and the third of another, or what stands for hours."""
    training = round(form.windows * _TRAINING_SHARE)
    # Two traces of the same statistics are two draws of them.
    seed = _SEED + 2 * TRACES.index(trace)
    first = STATISTICS[trace].windows(training, form.window_s, seed=seed)
    rest = STATISTICS[trace].windows(form.windows - training, form.window_s, seed=seed + 1)
    later_ns = round(training * form.window_s * _NS)
    return pl.concat([first, rest.with_columns(pl.col("timestamp_ns") + later_ns)])


def _of_trace(drive: Prepared, requests: pl.DataFrame, window_s: float) -> _Errors:
    asked = of_trace(as_trace(requests), window_s)
    found = {}
    for way, at_times in _WAYS.items():
        rows = list(_served(drive, requests, asked, window_s, at_times=at_times))
        served = pl.DataFrame(rows, schema=["window", *METRICS], orient="row")
        windows = asked.join(
            served.cast({"window": asked["window"].dtype}), on="window", maintain_order="left"
        )
        found[way] = _mre(windows, int(asked["window"].to_numpy().max()) + 1)
    return found


def _served(
    drive: Prepared,
    requests: pl.DataFrame,
    asked: pl.DataFrame,
    window_s: float,
    *,
    at_times: bool,
) -> Iterator[tuple[int, float, float, float]]:
    """Give the number of each window, its mean latency (ms), MB/s and IO/s.

    A window that is replayed back to back lasts as long as its requests take.
    """
    page_bytes = drive.device.page_bytes
    load = load_of(requests, page_bytes, at_times=at_times)
    run = TimedRun(drive.new(), load, seed=_SEED, page_bytes=page_bytes, requests=requests.height)
    before, began_ns = np.zeros(3), 0
    issued = asked["requests"].cum_sum()
    for window, until in zip(asked["window"], issued, strict=True):
        end_ns = (window + 1) * window_s * _NS
        while (run.now_ns < end_ns) if at_times else (run.issued_requests < until):
            stop_if_asked()
            # A request takes an event at least, so that no window of requests is overshot.
            left = _STEP_EVENTS if at_times else until - run.issued_requests
            if run.advance(left):
                break
        now = _counts(run)
        (answered, moved_bytes, waited_ms), before = now - before, now
        seconds, began_ns = (run.now_ns - began_ns) / _NS, run.now_ns
        # A window in which nothing was answered has no latency.
        if answered and seconds > 0:
            yield window, waited_ms / answered, moved_bytes / 1e6 / seconds, answered / seconds


def _counts(run: TimedRun) -> F64:
    """Return requests answered, bytes moved and milliseconds waited up to now."""
    served = [run.served(direction) for direction in ("read", "write")]
    return np.array(
        [
            sum(one["requests"] for one in served),
            sum(one["bytes"] for one in served),
            sum(one["requests"] * (one["mean_ns"] or 0.0) for one in served) / 1e6,
        ]
    )


def _mre(windows: pl.DataFrame, count: int) -> dict[str, float]:
    """Return the MRE of each metric on the last third of so many windows."""
    extended = find_feature_set("extended")
    vectors = extended.of(windows).to_numpy()
    # By the clock: windows in which nothing was answered are none of these.
    is_training = windows["window"].to_numpy() < round(count * _TRAINING_SHARE)
    found = {}
    for metric in METRICS:
        values = windows[metric].to_numpy()
        model = make_model("linear-tree", log_target=True, names=extended.names)
        model.fit(vectors[is_training], values[is_training])
        predicted = model.predict(vectors[~is_training])
        found[metric] = score(metric, values[~is_training], predicted).mre
    return found


def _item(device: str, metric: str, trace: str, errors: _Errors, *, is_real: bool) -> Item:
    printed = ON_TRACES[metric][device][TRACES.index(trace)]
    values = {way: of_way[metric] for way, of_way in errors.items()}
    name = f"first requests of {trace}" if is_real else trace
    return at_most(
        f"Table VII, {metric}, {device}, {name}: MRE",
        printed,
        values[_BACK_TO_BACK],
        note="the trace, in one-second windows" if is_real else "a generator of its statistics",
        open_detail=OpenDetail("how a trace is replayed", _BACK_TO_BACK, values),
    )

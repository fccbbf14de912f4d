"""Synthetic fleets: a trace of many volumes, and a file of their true parameters."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack

import polars as pl

from writeamp.fields.setting import made_settings, places_in
from writeamp.fields.shown_settings import with_settings_of
from writeamp.files import output
from writeamp.files.output import AnyPath
from writeamp.runners import Progress, stop_if_asked
from writeamp.traces.packed import SUFFIXES, packed
from writeamp.traces.registry import FORMATS
from writeamp.traces.trace import Trace
from writeamp.volumes.requests import draw_parameters, made_requests
from writeamp.volumes.settings import FleetSettings

if TYPE_CHECKING:
    from writeamp.volumes.arguments import MakeArguments

_PLACES = places_in((FleetSettings,), "make")
# Number of computed chunks that may wait to be written, while the next ones are computed.
_WAITING = 2


@dataclass(frozen=True)
class Made:
    """Synthetic fleet.

    Attributes:
        path: the trace.
        truth: the Parquet file of the true parameters, one row for each volume.
        volumes, requests: number of volumes, and of requests.
        bytes: size of the trace.
        trace_format: format of the trace.
        seed: seed of all random numbers; equal seeds give equal fleets.
        elapsed_s: duration of the call, in seconds.
    """

    path: Path
    truth: Path
    volumes: int
    requests: int
    bytes: int
    trace_format: str
    seed: int
    elapsed_s: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts with the keys of `writeamp volumes make --json`."""
        return {
            "path": str(self.path),
            "truth": str(self.truth),
            "format": self.trace_format,
            "seed": self.seed,
            "volumes": self.volumes,
            "requests": self.requests,
            "bytes": self.bytes,
            "elapsed_s": self.elapsed_s,
            "requests_per_s": self.requests / self.elapsed_s,
        }


@with_settings_of(_PLACES)
def make(
    out: AnyPath,
    *,
    progress: Progress | None = None,
    **settings: Unpack[MakeArguments],
) -> Made:
    """Make a synthetic fleet: a trace, and `NAME.truth.parquet` with each volume's parameters.

    Args:
        out: the file to create or replace; a suffix .zst or .gz compresses it.
        progress: called with the number of requests made and the total.
        settings: number of volumes and distributions of their parameters; listed below.

    Returns:
        `Made`: `path`, `truth` (file of true parameters), `requests`, `bytes`, `volumes`.

    Raises:
        WriteampError: a file cannot be written.

    >>> import tempfile
    >>> import writeamp as wa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = wa.volumes.make(f"{folder}/fleet.csv.zst", volumes=3, requests=1000)
    ...     made.truth.name, made.requests
    ('fleet.truth.parquet', 1000)
    """
    [fleet_settings] = made_settings("make", (FleetSettings,), _PLACES, settings)
    assert isinstance(fleet_settings, FleetSettings)
    started = time.perf_counter()
    path = Path(out)
    output.check_target(path, "fleet")
    truth = truth_of(path)
    output.check_target(truth, "fleet")
    volumes = draw_parameters(fleet_settings)
    with output.replacing(path, "fleet") as file:
        with packed(file, path) as text:
            _write(text, path, fleet_settings, volumes, progress)
        file.flush()
        size = file.tell()
    with output.replacing(truth, "true parameters") as file:
        volumes.write_parquet(file)
    return Made(
        path,
        truth,
        fleet_settings.volumes,
        fleet_settings.requests,
        size,
        fleet_settings.trace_format,
        fleet_settings.seed,
        elapsed_s=time.perf_counter() - started,
    )


def truth_of(path: Path) -> Path:
    """Return the path of the file with the true parameters of a fleet's trace.

    >>> truth_of(Path("fleets/one.csv.zst")).name
    'one.truth.parquet'
    """
    name = path.name
    for suffix in (*SUFFIXES, ".csv"):
        name = name.removesuffix(suffix)
    return path.with_name(f"{name}.truth.parquet")


def _write(
    text: BinaryIO,
    path: Path,
    settings: FleetSettings,
    volumes: pl.DataFrame,
    progress: Progress | None,
) -> None:
    """Write all requests on a second thread, while this thread makes the next ones."""
    entry, names = FORMATS[settings.trace_format], volumes["volume"].to_list()
    waiting: deque[Future[list[str]]] = deque()
    done = 0
    with ThreadPoolExecutor(1) as writer:
        try:
            for requests in made_requests(settings, volumes):
                stop_if_asked()
                trace = Trace(requests, settings.trace_format, str(path), names)
                waiting.append(writer.submit(entry.write, trace, text))
                if len(waiting) > _WAITING:
                    waiting.popleft().result()
                done += requests.height
                if progress:
                    progress(done, settings.requests)
            while waiting:
                waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

"""Function `blame`: flash writes of a trace by process, file, folder, device or range."""

from __future__ import annotations

from typing import Unpack

from writeamp.devices.device import DeviceLike
from writeamp.fields.shown_settings import with_settings_of
from writeamp.runners import Progress, check_callbacks
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import TraceLike
from writeamp.studies.blame.arguments import BlameArguments
from writeamp.studies.blame.result import Blame
from writeamp.studies.blame.settings import BLAME_PLACES, BlameSettings
from writeamp.studies.blame.study import BlameStudy


@with_settings_of(BLAME_PLACES)
def blame(
    trace: TraceLike,
    by: str,
    device: DeviceLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[BlameArguments],
) -> Blame:
    """Divide the flash writes of a trace among processes, files, folders, devices or addresses.

    The trace runs on one drive, which counts host pages, moved pages and programs by tag. It runs
    again for each tag with at least 0.5% of the written bytes (at most 32): once without the
    requests of the tag, and once with the tag's pages in a stream of their own (docs/blame.md).

    Args:
        trace: a file, a `traces.Trace`, or data that `traces.of` accepts.
        by: "process", "pid", "file", "directory", "device", "volume", or "range:N" for N equal
            ranges of the addresses.
        device: as for `simulate` with a trace.
        progress: called after each run with the number of runs done and the total.
        settings: settings of `simulate` with a trace; listed below.

    Returns:
        `Blame`: `tags` (each with `tag`, `host_bytes`, `host_share`, `flash_bytes`, `moved_pages`,
        `flash_saved_share`, `without` and `own_stream`, both with `wa`), `wa`, `unknown_share`,
        `measured_passes` (over which bytes are summed), `whole` (the run).

    Raises:
        WriteampError: the trace has no such column, or an input is invalid.

    >>> import polars as pl
    >>> import writeamp as wa
    >>> pages = [page for at in range(3_000) for page in (at * 7 % 64, 64 + at % 512)]
    >>> names = ["hot", "cold"] * 3_000
    >>> trace = pl.DataFrame({"page": pages, "file": names})
    >>> result = wa.blame(trace, "file", op=0.3, pages_per_block=16)
    >>> [(row.tag, row.host_share) for row in result.tags[:2]]
    [('cold', 0.5), ('hot', 0.5)]
    """
    check_callbacks(progress)
    by = BlameSettings(by=by).by
    experiment = Experiment.of("simulate", device=device, trace=trace, **settings)
    return BlameStudy.of(experiment, by).run(progress)

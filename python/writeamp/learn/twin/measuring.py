"""Measuring of simulated drives: the chain's windows, read as a host reads its counters."""

from __future__ import annotations

from typing import Any

import numpy as np

from writeamp._engine import CAUSES, DEFAULT_BATCH_PAGES, Load, Simulation
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.learn.twin.chain import Chain, programmed_pages
from writeamp.learn.twin.windows import Row, SavedWindows, Windows, windows_of
from writeamp.runners import Progress
from writeamp.runs.refusals import check_memory, refusals
from writeamp.runs.seeds import replica_seed
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_drive


def measure(
    drive: Device,
    policy: Policy,
    chain: Chain,
    *,
    seed: int = 1,
    repeats: int = 1,
    kept: SavedWindows | None = None,
    progress: Progress | None = None,
) -> Windows:
    """Let a simulated drive serve a chain, without time, and return what its counters say.

    Args:
        drive: its shape, such as `wa.device("ssd-m", size="64MiB")`.
        policy: how it places pages and chooses victims, such as `wa.Policy("sepgc")`.
        chain: what it serves, on its own size.
        seed: decides every random draw.
        repeats: chains that are served, each by a new drive with a seed of its own.
        kept: where each repeat is kept that was served; those that are there are not served again.
        progress: called with host pages written and expected.

    Returns:
        `Windows`: `wa` of each window, `noise`, `chain`; `write(path)`.

    Raises:
        WriteampError: the drive cannot work by the policy.
    """
    check_memory("the drive needs", drive.geometry.bytes_needed(drive.logical_pages))
    pages = drive.logical_pages
    chain = chain.of_capacity(drive.capacity_bytes, drive.page_bytes)
    spans = list(chain.parts(pages))
    whole = repeats * (pages + spans[-1].end_pages)
    rows: list[Row] = [] if kept is None else list(kept.rows)
    first = len(rows) // (1 + len(spans))
    done = first * (pages + spans[-1].end_pages)
    for repeat in range(first, repeats):
        load = Load.spec(chain.spec(pages), pages, drive.page_bytes)
        with refusals():
            simulation = Simulation(
                policy.drive(drive),
                load,
                seed=replica_seed(seed, repeat),
                batch_pages=DEFAULT_BATCH_PAGES,
            )
            simulation.fill(0, pages)
        before, written = programmed_pages(simulation), 0
        rows.append((repeat, -1, pages * drive.page_bytes, before * drive.page_bytes))
        for part in spans:
            with refusals():
                simulation.run(part.end_pages - written)
            now, host = programmed_pages(simulation), part.end_pages - written
            flash = (now - before) * drive.page_bytes
            rows.append((repeat, part.window, host * drive.page_bytes, flash))
            before, written = now, part.end_pages
            if progress:
                progress(done + pages + written, whole)
        done += pages + written
        if kept is not None:
            kept.add(rows[len(kept.rows) :])
    return windows_of(chain, rows)


def measure_timed(
    experiment: dict[str, Any], chain: Chain, drive: Device, progress: Progress | None = None
) -> Windows:
    """Let a simulated drive serve a chain in virtual time, with its caches.

    Args:
        experiment: settings of `writeamp.simulate` that say the drive, its policy and the seed.
        chain: what it serves, on its own size.
        drive: what the settings say.
        progress: called with what is done of the run, and all of it.
    """
    pages, chain = drive.logical_pages, chain.of_capacity(drive.capacity_bytes, drive.page_bytes)
    spans = list(chain.parts(pages))
    asked = Experiment.of(
        "simulate",
        **experiment,
        workload=chain.spec(pages),
        timed=True,
        host_bytes=spans[-1].end_pages * drive.page_bytes,
    )
    samples: dict[str, Any] = simulate_drive(asked, progress).samples
    host = samples["host_pages"].astype(float)
    flash = sum(samples[name] for name in CAUSES if name in samples).astype(float)
    ends = np.array([0, *(part.end_pages for part in spans)], dtype=float)
    spent = np.diff(np.interp(ends, host - host[0], flash - flash[0])) * drive.page_bytes
    rows = [
        (0, part.window, host_bytes, flash_bytes)
        for part, host_bytes, flash_bytes in zip(
            spans, np.diff(ends) * drive.page_bytes, spent, strict=True
        )
    ]
    return windows_of(chain, rows)

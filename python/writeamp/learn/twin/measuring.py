"""Measurement of simulated drives: host and flash bytes in each window of a chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from writeamp._engine import CAUSES, DEFAULT_BATCH_PAGES, Load, Simulation
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.learn.twin.chain import Chain
from writeamp.learn.twin.serving import programmed_pages
from writeamp.learn.twin.windows import SavedWindows, WindowRow, Windows, windows_of
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
    saved: SavedWindows | None = None,
    progress: Progress | None = None,
) -> Windows:
    """Run a chain on a simulated drive, without simulating time, and return its windows.

    Args:
        drive: geometry of the drive, such as `wa.device("ssd-m", size="64MiB")`.
        policy: placement and victim policy of the drive, such as `wa.Policy("sepgc")`.
        chain: the chain, scaled to the drive.
        seed: seed of all random draws.
        repeats: number of runs, each on a new drive with a seed of its own.
        saved: file of finished repeats, which are not run again; new ones are added to it.
        progress: called with the numbers of host pages written and expected.

    Returns:
        `Windows`: `wa` of each window, `noise`, `chain`; `write(path)`.

    Raises:
        WriteampError: the drive cannot run with this policy.
    """
    check_memory("the drive needs", drive.geometry.bytes_needed(drive.logical_pages))
    pages = drive.logical_pages
    chain = chain.of_capacity(drive.capacity_bytes, drive.page_bytes)
    spans = list(chain.parts(pages))
    whole = repeats * (pages + spans[-1].end_pages)
    rows: list[WindowRow] = [] if saved is None else list(saved.rows)
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
        flash_before, written = programmed_pages(simulation), 0
        rows.append((repeat, -1, pages * drive.page_bytes, flash_before * drive.page_bytes))
        for window in spans:
            with refusals():
                simulation.run(window.end_pages - written)
            now, host = programmed_pages(simulation), window.end_pages - written
            flash = (now - flash_before) * drive.page_bytes
            rows.append((repeat, window.window, host * drive.page_bytes, flash))
            flash_before, written = now, window.end_pages
            if progress:
                progress(done + pages + written, whole)
        done += pages + written
        if saved is not None:
            saved.add(rows[len(saved.rows) :])
    return windows_of(chain, rows)


def measure_timed(
    experiment: dict[str, Any], chain: Chain, drive: Device, progress: Progress | None = None
) -> Windows:
    """Run a chain on a simulated drive in virtual time, with its caches.

    Args:
        experiment: settings of `writeamp.simulate` with the drive, its policy and the seed.
        chain: the chain, scaled to the drive.
        drive: the drive of the settings.
        progress: called with the progress of the run so far, and its value at the end.
    """
    pages, chain = drive.logical_pages, chain.of_capacity(drive.capacity_bytes, drive.page_bytes)
    spans = list(chain.parts(pages))
    experiment_of_chain = Experiment.of(
        "simulate",
        **experiment,
        workload=chain.spec(pages),
        timed=True,
        host_bytes=spans[-1].end_pages * drive.page_bytes,
    )
    samples: dict[str, Any] = simulate_drive(experiment_of_chain, progress).samples
    host = samples["host_pages"].astype(float)
    flash = sum(samples[name] for name in CAUSES if name in samples).astype(float)
    ends = np.array([0, *(window.end_pages for window in spans)], dtype=float)
    spent = np.diff(np.interp(ends, host - host[0], flash - flash[0])) * drive.page_bytes
    rows = [
        (0, window.window, host_bytes, flash_bytes)
        for window, host_bytes, flash_bytes in zip(
            spans, np.diff(ends) * drive.page_bytes, spent, strict=True
        )
    ]
    return windows_of(chain, rows)

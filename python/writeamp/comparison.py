"""Many block managers on one workload or trace: one table (docs/compare.md)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event, Lock
from typing import Any, Unpack

import numpy as np
import polars as pl

from writeamp import _engine, traces
from writeamp.device import Device, DeviceLike
from writeamp.errors import WriteampError
from writeamp.inputs import Overrides, TraceLike, check_count, check_load, prepare
from writeamp.replicas import student_interval
from writeamp.result import Result
from writeamp.run import Progress
from writeamp.simulation import simulate

DEFAULT_REPLICAS = 3

# The same for every manager, or a workload that changes would be another one for each; enough for
# most schemes to learn what is hot on skewed workloads, the second half of it measured.
DEFAULT_DRIVE_WRITES = 20


@dataclass(frozen=True, repr=False)
class Row:
    """One manager's replicas, which differ by their seed only."""

    manager: str
    results: tuple[Result, ...]

    @property
    def wa(self) -> float:
        """Mean write amplification of the replicas."""
        return float(np.mean([result.wa for result in self.results]))

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% interval of `wa`: Student's over replicas, or that of the only run."""
        if len(self.results) == 1:
            return self.results[0].ci
        return student_interval(np.array([result.wa for result in self.results]))

    @property
    def steady(self) -> bool:
        """True if every replica reached a steady state."""
        return all(result.steady for result in self.results)

    @property
    def victims(self) -> str:
        """The victim policy: the one asked for, or the manager's own."""
        return self.results[0].plan.policy.victims

    @property
    def told(self) -> str | None:
        """What the host told of its pages, and others infer: "groups", "deaths" or nothing."""
        return self.results[0].told

    @property
    def causes(self) -> dict[str, float]:
        """Pages programmed in the measured interval by cause, mean of the replicas."""
        return {
            cause: float(np.mean([result.causes[cause] for result in self.results]))
            for cause in _engine.CAUSES
        }

    @property
    def pe_fairness(self) -> float:
        """Mean erases of a block over those of the most erased one, over the whole run."""
        counts = [result.erases_of_block for result in self.results]
        return float(np.mean([c.mean() / c.max() if c.max() else math.nan for c in counts]))

    @property
    def bytes_per_page(self) -> float:
        """Memory that the scheme needs per logical page, beside the map that every drive has."""
        first = self.results[0]
        return first.scheme_bytes / first.device.logical_pages

    @property
    def host_pages_per_s(self) -> float:
        """Host page writes simulated a second by one thread, median of the replicas."""
        return float(np.median([result.host_pages_per_s for result in self.results]))

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        return {
            "manager": self.manager,
            "victims": self.victims,
            "wa": self.wa,
            "wa_ci95": [None if math.isnan(bound) else bound for bound in self.ci],
            "told": self.told,
            "steady": self.steady,
            "causes": self.causes,
            "pe_fairness": None if math.isnan(self.pe_fairness) else self.pe_fairness,
            "bytes_per_page": self.bytes_per_page,
            "host_pages_per_s": self.host_pages_per_s,
        }


@dataclass(frozen=True, repr=False)
class Comparison:
    """The rows in the order of the managers asked for."""

    rows: tuple[Row, ...]

    @property
    def device(self) -> Device:
        """The drive, the same for all."""
        return self.rows[0].results[0].device

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row for each manager, with the keys of `--json`; causes and interval unfolded."""
        flat = []
        for row in self.rows:
            found = row.to_dict()
            low, high = found.pop("wa_ci95")
            causes = {f"{cause}_pages": pages for cause, pages in found.pop("causes").items()}
            flat.append({**found, "wa_low": low, "wa_high": high, **causes})
        return pl.DataFrame(flat)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON types, with the keys of `writeamp compare --json`."""
        first = self.rows[0].results[0]
        return {
            "rows": [row.to_dict() for row in self.rows],
            "workload": first.plan.load_name,
            **first.device.facts(),
            "replicas": len(self.rows[0].results),
            "writes": first.writes,
            "warmup_pages": first.warmup_pages,
            "seed": first.plan.seed,
            "version": _engine.__version__,
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader of the table should know."""
        unsteady = [row.manager for row in self.rows if not row.steady]
        if not unsteady:
            return []
        return [f"not steady, so this WA may not last: {', '.join(unsteady)}"]

    def plot(self, path: str | Path) -> None:
        """Draw WA of every manager, by cause, to a .png, .svg, .pdf or .html file."""
        from writeamp.plots import save  # noqa: PLC0415 (matplotlib is slow)
        from writeamp.plots.of_comparison import wa_by_manager  # noqa: PLC0415

        save(wa_by_manager(self), path)


def compare(
    device: DeviceLike | None = None,
    workload: str | None = None,
    *,
    managers: Sequence[str] | str,
    trace: TraceLike | None = None,
    victims: str | None = None,
    wear_leveling: str | None = None,
    replicas: int = DEFAULT_REPLICAS,
    seed: int = 1,
    writes: int | None = None,
    precondition: str = "full",
    utilization: float = 1.0,
    repeat: int = 1,
    mapping: traces.Mapping = "compact",
    trace_device: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **overrides: Unpack[Overrides],
) -> Comparison:
    """Simulate the same drive and host under each of several block managers.

    Device, workload or trace, wear levelling and what else is not below are as for
    `writeamp.simulate`.

    Args:
        managers: block manager specs, each of which becomes a row; or one text, with commas.
        victims: victim policy for all of them; each manager's own by default.
        replicas: runs of each manager, with seeds from `seed` on. A trace has no draws of its own.
        writes: host page writes after the initial fill of each run, of which the second half is
            measured; by default 20 times the logical pages, or those of the trace.
        threads: runs at the same time; as many as there are processors by default.
        progress: called after each run with the runs done and in all.

    Raises:
        WriteampError: an input that cannot be used; the sentence says which, and what is valid.
    """
    if isinstance(managers, str):
        managers = split_specs(managers)
    if not managers:
        raise WriteampError("there is no manager to compare; name at least one")
    check_load(
        workload,
        trace,
        repeat=repeat,
        mapping=mapping,
        trace_device=trace_device,
        utilization=utilization,
    )
    check_count("replicas", replicas, 1, 10_000)
    if threads is not None:
        check_count("threads", threads, 1)
    prepared = prepare(
        device, workload, trace, overrides, mapping=mapping, trace_device=trace_device
    )
    load = prepared.load
    if isinstance(load, str):
        writes = DEFAULT_DRIVE_WRITES * prepared.drive.logical_pages if writes is None else writes
        check_count("writes", writes, 1)
        in_all = writes
    else:
        in_all = load.host_pages * repeat if writes is None else writes
    jobs = [(manager, seed + replica) for manager in managers for replica in range(replicas)]
    done, lock, cancelled = 0, Lock(), Event()

    def stop_if_cancelled(_done: int, _expected: int) -> None:
        if cancelled.is_set():
            raise WriteampError("cancelled")

    def run(manager: str, of_seed: int) -> Result:
        nonlocal done
        try:
            result = simulate(
                prepared.drive,
                load if isinstance(load, str) else None,
                trace=None if isinstance(load, str) else load,
                manager=manager,
                victims=victims,
                wear_leveling=wear_leveling,
                seed=of_seed,
                writes=writes,
                warmup=in_all // 2,
                precondition=precondition,
                utilization=utilization,
                repeat=repeat,
                spread=False,
                progress=stop_if_cancelled,
            )
        except WriteampError as error:
            raise WriteampError(f"{manager}: {error}") from None
        with lock:
            done += 1
            if progress:
                progress(done, len(jobs))
        return result

    pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)
    try:
        results = list(pool.map(lambda job: run(*job), jobs))
    finally:
        # After an error or an interrupt the other runs stop as well.
        cancelled.set()
        pool.shutdown(cancel_futures=True)
    return Comparison(
        tuple(
            Row(manager, tuple(results[at * replicas : (at + 1) * replicas]))
            for at, manager in enumerate(managers)
        )
    )


def split_specs(text: str) -> list[str]:
    """Split specs at the commas between them, leaving those between their parameters.

    A comma separates two parameters if a bare "key=value" follows it or it stands in parentheses.
    """
    specs: list[str] = []
    depth = 0
    for piece in text.split(","):
        parameter = re.match(r"\s*[A-Za-z_]\w*=", piece)
        if specs and (depth > 0 or parameter):
            if ":" not in specs[-1]:
                raise WriteampError(
                    f"{piece.strip()!r} follows {specs[-1]!r} without a colon; parameters go as in "
                    f"{specs[-1]}:{piece.strip()}"
                )
            specs[-1] += f",{piece}"
        else:
            specs.append(piece.strip())
        depth += piece.count("(") - piece.count(")")
    if not all(specs):
        raise WriteampError(f"{text!r} has an empty place between its commas; name a manager there")
    return specs

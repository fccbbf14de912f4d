"""Runs of volumes as jobs: their definition, execution and storage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from writeamp._engine import CAUSES, MOST_TAGS
from writeamp.devices.device import device
from writeamp.errors import RefusedError, WriteampError
from writeamp.files import inputs
from writeamp.results.numbers import json_number
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import SimulationSettings
from writeamp.studies.dataset import Contents
from writeamp.studies.simulation import simulate_untimed
from writeamp.studies.study import RUN_SCHEMA, DocumentCodec, RunFacts, RunsDataset
from writeamp.traces.assemble import natural_order
from writeamp.traces.in_memory import TraceData
from writeamp.traces.pages import PageTrace, to_pages
from writeamp.traces.trace import Trace
from writeamp.volumes.fleet import read_volume

# Columns of a run's outcome, besides the columns of all studies.
OUTCOME: dict[str, Any] = {
    "volume": pl.String,
    "manager": pl.String,
    "victims": pl.String,
    "wa_low": pl.Float64,
    "wa_high": pl.Float64,
    "steady": pl.Boolean,
    "host_pages": pl.Int64,
    "flash_pages": pl.Int64,
    **{f"{cause}_programs": pl.Int64 for cause in CAUSES},
    "erases": pl.Int64,
    "warmup_pages": pl.Int64,
    "passes": pl.Int64,
    "trace_pages": pl.Int64,
    "logical_pages": pl.Int64,
    "physical_pages": pl.Int64,
    "op": pl.Float64,
    "elapsed_s": pl.Float64,
    "run_s": pl.Float64,
}


class VolumeRunsDataset(RunsDataset):
    """Stored runs of fleets in one folder."""

    contents = Contents("fleet", "runs", {**RUN_SCHEMA, **OUTCOME}, version=1)


@dataclass(frozen=True)
class VolumeJob:
    """Run of one volume, or of several volumes on one drive, under a policy.

    `victims` None selects the manager's own victim policy.
    """

    volume: VolumeAt | VolumesTogether
    manager: str
    victims: str | None
    name: str


@dataclass(frozen=True)
class VolumeOutcome:
    """Outcome of a job: `columns` as in `OUTCOME`, with `wa`, or an error.

    `is_too_small` means that a drive of the volume's size cannot work under this policy. This
    outcome is final; runs with other errors are repeated.
    """

    columns: Mapping[str, Any]
    error: str | None = None
    is_too_small: bool = False


def run_volume(tables: Mapping[str, Any], job: VolumeJob) -> VolumeOutcome:
    """Run one volume on its own drive, or several on a shared drive, as `simulate` would.

    Args:
        tables: the experiment without trace and policy, in the form of `Experiment.to_dict`.
        job: the volume, or several volumes, and the policy.
    """
    named = {
        "volume": job.volume.name,
        "manager": job.manager,
        "victims": job.victims,
    }
    try:
        base = Experiment.from_dict(tables, verb="simulate")
        experiment = base.with_settings(
            trace=pages_of(job.volume, page_bytes(base)), manager=job.manager, victims=job.victims
        )
        result = simulate_untimed(experiment)
    except RefusedError as error:
        return VolumeOutcome(named, str(error), is_too_small=True)
    except WriteampError as error:
        return VolumeOutcome(named, str(error))
    return VolumeOutcome(named | _columns(result) | _by_volume(result))


def page_bytes(experiment: Experiment) -> int:
    """Return the page size of an experiment's drives, in bytes."""
    return device("generic", page_bytes=experiment.device.page_bytes).page_bytes


def _columns(result: Result) -> dict[str, Any]:
    low, high = result.ci
    return {
        "victims": result.plan.policy.victims,
        "wa": json_number(result.wa),
        "wa_low": json_number(low),
        "wa_high": json_number(high),
        "steady": result.steady,
        "host_pages": result.host_pages,
        "flash_pages": result.flash_pages,
        **{f"{cause}_programs": count for cause, count in result.causes.items()},
        "erases": result.erases,
        "warmup_pages": result.steady_state.warmup_pages,
        "passes": result.passes.height,
        "trace_pages": result.plan.load.host_pages,  # type: ignore[union-attr]  # it is a trace
        "logical_pages": result.device.logical_pages,
        "physical_pages": result.device.physical_pages,
        "op": result.device.op,
        "elapsed_s": result.elapsed_s,
        "run_s": result.run_s,
    }


def _by_volume(result: Result) -> dict[str, list[dict[str, Any]]]:
    """Return the bytes of each volume in a run of several; empty if volumes were not counted.

    Data from before the run, and pages of the drive itself, have the volume None.
    """
    counts = result.by_tag
    if counts is None:
        return {}
    flash_bytes = pl.col("flash_pages") * result.page_bytes
    rows = counts.select(pl.col("tag").alias("volume"), "host_bytes", flash_bytes=flash_bytes)
    return {"by_volume": rows.to_dicts()}


class VolumeCodec(DocumentCodec[VolumeJob, VolumeOutcome]):
    """Storage of a fleet's runs; the key covers the requests, the policy and all run settings.

    The column `volume` is null for a run of several volumes together.
    """

    verb = "volumes run"

    def __init__(self, tables: Mapping[str, Any]) -> None:
        """Set the experiment without trace and policy."""
        self._base = Experiment.from_dict(tables, verb="simulate")
        assert isinstance(self._base.run, SimulationSettings)
        self._hashes: dict[tuple[str, str | None], str] = {}

    def meaning(self, job: VolumeJob) -> dict[str, Any]:
        """Return a job's key: digest of its requests, and hash of its experiment and policy."""
        policy = (job.manager, job.victims)
        if policy not in self._hashes:
            experiment = self._base.with_settings(manager=job.manager, victims=job.victims)
            self._hashes[policy] = experiment.hash
        return {"trace": job.volume.digest, "experiment": self._hashes[policy]}

    def facts(self, job: VolumeJob, outcome: VolumeOutcome) -> RunFacts:
        """Return the columns of an outcome for the table of stored runs."""
        more = {name: outcome.columns.get(name) for name in OUTCOME}
        wa = outcome.columns.get("wa")
        return RunFacts(job.name, self._base.run.seed, wa, outcome.error, more)

    def document(self, job: VolumeJob, outcome: VolumeOutcome) -> Any:
        """Return an outcome as JSON types."""
        return vars(outcome)

    def result(self, job: VolumeJob, document: Any) -> VolumeOutcome:
        """Return the outcome stored in a document."""
        outcome = VolumeOutcome(**document)
        # The stored run may be of equal requests in another fleet, where the volume has another
        # name.
        return VolumeOutcome(
            {**outcome.columns, "volume": job.volume.name, "manager": job.manager},
            outcome.error,
            outcome.is_too_small,
        )


def lost_volume(job: VolumeJob, why: str) -> VolumeOutcome:
    """Return the outcome of a job whose worker process died each time it was run."""
    return VolumeOutcome(
        {"volume": job.volume.name, "manager": job.manager, "victims": job.victims}, why
    )


def is_again(outcome: VolumeOutcome) -> bool:
    """Return whether a stored run is repeated: only if it failed and could now succeed."""
    return outcome.error is not None and not outcome.is_too_small


def failure(job: VolumeJob, outcome: VolumeOutcome) -> str | None:
    """Return why a run failed; a volume that is too small for the policy did not fail."""
    is_failure = is_again(outcome)
    return f"{job.volume.name} with {job.name} failed: {outcome.error}" if is_failure else None


# Number of requests of several volumes to convert to pages at a time.
_BATCH_ROWS = 1 << 20


@dataclass(frozen=True)
class VolumeAt:
    """Location of a volume in a fleet's files; the digest of its requests identifies it."""

    name: str
    digest: str
    file: str
    first_row: int
    requests: int

    @property
    def files(self) -> tuple[str, ...]:
        """Files that hold the requests."""
        return (self.file,)

    def read(self) -> Trace:
        """Return the volume's requests."""
        return read_volume(inputs.local(self.file), self.name, self.first_row, self.requests)

    def pages(self, page_bytes: int) -> PageTrace:
        """Return the volume's requests in pages; the written pages are renumbered from 0."""
        return to_pages(self.read(), page_bytes)


@dataclass(frozen=True)
class VolumesTogether:
    """Volumes that share a drive; each has its own range of addresses."""

    volumes: tuple[VolumeAt, ...]

    @property
    def name(self) -> None:
        """None, since the run belongs to no single volume."""
        return None

    @property
    def digest(self) -> str:
        """Digest of the volumes' digests in their order: "tenants:" and a SHA-256."""
        text = " ".join(volume.digest for volume in self.volumes)
        return f"tenants:{hashlib.sha256(text.encode()).hexdigest()}"

    @property
    def files(self) -> tuple[str, ...]:
        """Files that hold the requests."""
        return tuple(volume.file for volume in self.volumes)

    def pages(self, page_bytes: int) -> PageTrace:
        """Return the requests of all volumes in order of time.

        Requests with equal times are in the order of the volumes, as are the volumes' page ranges.
        The tag of each request is its volume, unless more volumes are written than a run can count.
        """
        written: set[str] = set()
        pages = to_pages(TraceData(self._batches(written)), page_bytes)
        if len(written) > MOST_TAGS:
            return pages
        names = [volume.name for volume in self.volumes if volume.name in written]
        return pages.tagged_by_device([names[at] for at in natural_order(names)])

    def _batches(self, written: set[str]) -> Iterator[pl.DataFrame]:
        """Yield the requests of all volumes; adds the volumes with written pages to `written`."""
        names = [volume.name for volume in self.volumes]
        kind = pl.Enum(names)
        merged = pl.concat(
            volume.read().requests.with_columns(device=pl.lit(volume.name, kind))
            for volume in self.volumes
        ).sort("timestamp_ns", maintain_order=True)
        is_write = (pl.col("op") == "write") & (pl.col("length") > 0)
        written.update(merged.filter(is_write)["device"].unique().cast(pl.String))
        for first in range(0, merged.height, _BATCH_ROWS):
            yield merged.slice(first, _BATCH_ROWS).with_columns(pl.col("device").cast(pl.String))


@lru_cache(maxsize=2)
def pages_of(volume: VolumeAt | VolumesTogether, page_bytes: int) -> PageTrace:
    """Return the requests of a volume in pages; runs under several policies share a cached copy."""
    return volume.pages(page_bytes)

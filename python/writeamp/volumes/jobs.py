"""Runs of volumes as jobs: what one is, who does it, and how its outcome is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from writeamp._engine import CAUSES
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
from writeamp.traces.in_memory import Given
from writeamp.traces.pages import PageTrace, to_pages
from writeamp.traces.trace import Trace
from writeamp.volumes.fleet import read_volume

# Columns of a run's outcome, besides those of every study.
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
    """The runs of fleets in one folder."""

    contents = Contents("fleet", "runs", {**RUN_SCHEMA, **OUTCOME}, version=1)


@dataclass(frozen=True)
class VolumeJob:
    """Run of a volume, or of several on one drive, under a policy.

    `victims` is None for those of the manager.
    """

    volume: VolumeAt | VolumesTogether
    manager: str
    victims: str | None
    name: str


@dataclass(frozen=True)
class VolumeOutcome:
    """Outcome of a job: `columns` as of `OUTCOME`, with `wa`; or why there is none.

    `is_too_small` tells that no drive of the volume's size can work so, which stays true.
    """

    columns: Mapping[str, Any]
    error: str | None = None
    is_too_small: bool = False


def run_volume(tables: Mapping[str, Any], job: VolumeJob) -> VolumeOutcome:
    """Run a volume on a drive of its own, or several on one, as `simulate` runs their trace.

    Args:
        tables: the experiment without its trace and policy, as `Experiment.to_dict` has it.
        job: the volume and the policy.
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
        found = simulate_untimed(experiment)
    except RefusedError as error:
        return VolumeOutcome(named, str(error), is_too_small=True)
    except WriteampError as error:
        return VolumeOutcome(named, str(error))
    return VolumeOutcome(named | _columns(found))


def page_bytes(experiment: Experiment) -> int:
    """Return the page size of the drives of an experiment."""
    return device("generic", page_bytes=experiment.device.page_bytes).page_bytes


def _columns(found: Result) -> dict[str, Any]:
    low, high = found.ci
    return {
        "victims": found.plan.policy.victims,
        "wa": json_number(found.wa),
        "wa_low": json_number(low),
        "wa_high": json_number(high),
        "steady": found.steady,
        "host_pages": found.host_pages,
        "flash_pages": found.flash_pages,
        **{f"{cause}_programs": count for cause, count in found.causes.items()},
        "erases": found.erases,
        "warmup_pages": found.steady_state.warmup_pages,
        "passes": found.passes.height,
        "trace_pages": found.plan.load.host_pages,  # type: ignore[union-attr]  # it is a trace
        "logical_pages": found.device.logical_pages,
        "physical_pages": found.device.physical_pages,
        "op": found.device.op,
        "elapsed_s": found.elapsed_s,
        "run_s": found.run_s,
    }


class KeepVolumes(DocumentCodec[VolumeJob, VolumeOutcome]):
    """Keeping of a fleet's runs: each means its requests, policy and all settings.

    The volume of one that is of several together is null.
    """

    verb = "volumes run"

    def __init__(self, tables: Mapping[str, Any]) -> None:
        """Take the experiment without its trace and policy."""
        self._base = Experiment.from_dict(tables, verb="simulate")
        assert isinstance(self._base.run, SimulationSettings)
        self._hashes: dict[tuple[str, str | None], str] = {}

    def meaning(self, job: VolumeJob) -> dict[str, Any]:
        """Return the digest of the requests, and the hash of the experiment with the policy."""
        policy = (job.manager, job.victims)
        if policy not in self._hashes:
            experiment = self._base.with_settings(manager=job.manager, victims=job.victims)
            self._hashes[policy] = experiment.hash
        return {"trace": job.volume.digest, "experiment": self._hashes[policy]}

    def facts(self, job: VolumeJob, outcome: VolumeOutcome) -> RunFacts:
        """Return the columns of an outcome."""
        more = {name: outcome.columns.get(name) for name in OUTCOME}
        wa = outcome.columns.get("wa")
        return RunFacts(job.name, self._base.run.seed, wa, outcome.error, more)

    def document(self, job: VolumeJob, outcome: VolumeOutcome) -> Any:
        """Return an outcome as JSON types."""
        return vars(outcome)

    def result(self, job: VolumeJob, document: Any) -> VolumeOutcome:
        """Return the outcome that a document holds."""
        found = VolumeOutcome(**document)
        # The volume that holds these requests may have another name in this fleet.
        return VolumeOutcome(
            {**found.columns, "volume": job.volume.name, "manager": job.manager},
            found.error,
            found.is_too_small,
        )


def lost_volume(job: VolumeJob, why: str) -> VolumeOutcome:
    """Return the outcome of a job that ended every process which ran it."""
    return VolumeOutcome(
        {"volume": job.volume.name, "manager": job.manager, "victims": job.victims}, why
    )


def is_again(outcome: VolumeOutcome) -> bool:
    """Return whether a run whose outcome is kept is done again: one that failed."""
    return outcome.error is not None and not outcome.is_too_small


# Requests of several volumes that are turned into pages at once.
_BATCH_ROWS = 1 << 20


@dataclass(frozen=True)
class VolumeAt:
    """Volume of a fleet and the rows in which it stands, known by the digest of its requests."""

    name: str
    digest: str
    file: str
    first_row: int
    requests: int

    @property
    def files(self) -> tuple[str, ...]:
        """Files in which it stands."""
        return (self.file,)

    def read(self) -> Trace:
        """Return its requests."""
        return read_volume(inputs.local(self.file), self.name, self.first_row, self.requests)

    def pages(self, page_bytes: int) -> PageTrace:
        """Return its requests in pages, those that it writes numbered from 0."""
        return to_pages(self.read(), page_bytes)


@dataclass(frozen=True)
class VolumesTogether:
    """Volumes that share a drive, each with an address space beside those of the others."""

    volumes: tuple[VolumeAt, ...]

    @property
    def name(self) -> None:
        """None: it is no volume of the fleet."""
        return None

    @property
    def digest(self) -> str:
        """SHA-256 of the digests of the volumes in their order."""
        text = " ".join(one.digest for one in self.volumes)
        return f"together:{hashlib.sha256(text.encode()).hexdigest()}"

    @property
    def files(self) -> tuple[str, ...]:
        """Files in which they stand."""
        return tuple(one.file for one in self.volumes)

    def pages(self, page_bytes: int) -> PageTrace:
        """Return the requests of all in the order of their times.

        Those of one time come in the order of the volumes, whose pages lie in that order, too.
        """
        return to_pages(Given(self._batches()), page_bytes)

    def _batches(self) -> Iterator[pl.DataFrame]:
        names = [one.name for one in self.volumes]
        kind = pl.Enum(names)
        merged = pl.concat(
            one.read().requests.with_columns(device=pl.lit(one.name, kind)) for one in self.volumes
        ).sort("timestamp_ns", maintain_order=True)
        for first in range(0, merged.height, _BATCH_ROWS):
            yield merged.slice(first, _BATCH_ROWS).with_columns(pl.col("device").cast(pl.String))


@lru_cache(maxsize=2)
def pages_of(volume: VolumeAt | VolumesTogether, page_bytes: int) -> PageTrace:
    """Return the requests of a volume in pages; runs under several policies read it once."""
    return volume.pages(page_bytes)

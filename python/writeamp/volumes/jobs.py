"""Runs of volumes as jobs: what one is, who does it, and how its outcome is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from writeamp._engine import CAUSES
from writeamp.devices.device import device
from writeamp.errors import RefusedError, WriteampError
from writeamp.results.numbers import json_number
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import SimulationSettings
from writeamp.studies.dataset import Contents
from writeamp.studies.simulation import simulate_untimed
from writeamp.studies.study import RUN_SCHEMA, DocumentCodec, RunFacts, RunsDataset
from writeamp.volumes.placed import VolumeAt, VolumesTogether, pages_of

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
class Job:
    """Run of a volume, or of several on one drive, under a policy.

    `victims` is None for those of the manager.
    """

    volume: VolumeAt | VolumesTogether
    manager: str
    victims: str | None
    name: str


@dataclass(frozen=True)
class Outcome:
    """Outcome of a job: `columns` as of `OUTCOME`, with `wa`; or why there is none.

    `is_too_small` tells that no drive of the volume's size can work so, which stays true.
    """

    columns: Mapping[str, Any]
    error: str | None = None
    is_too_small: bool = False


def run_volume(tables: Mapping[str, Any], job: Job) -> Outcome:
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
        return Outcome(named, str(error), is_too_small=True)
    except WriteampError as error:
        return Outcome(named, str(error))
    return Outcome(named | _columns(found))


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


class KeepVolumes(DocumentCodec[Job, Outcome]):
    """Keeping of a fleet's runs: each means its requests, policy and all settings.

    The volume of one that is of several together is null.
    """

    verb = "volumes run"

    def __init__(self, tables: Mapping[str, Any]) -> None:
        """Take the experiment without its trace and policy."""
        self._base = Experiment.from_dict(tables, verb="simulate")
        assert isinstance(self._base.run, SimulationSettings)
        self._hashes: dict[tuple[str, str | None], str] = {}

    def meaning(self, job: Job) -> dict[str, Any]:
        """Return the digest of the requests, and the hash of the experiment with the policy."""
        policy = (job.manager, job.victims)
        if policy not in self._hashes:
            experiment = self._base.with_settings(manager=job.manager, victims=job.victims)
            self._hashes[policy] = experiment.hash
        return {"trace": job.volume.digest, "experiment": self._hashes[policy]}

    def facts(self, job: Job, outcome: Outcome) -> RunFacts:
        """Return the columns of an outcome."""
        more = {name: outcome.columns.get(name) for name in OUTCOME}
        wa = outcome.columns.get("wa")
        return RunFacts(job.name, self._base.run.seed, wa, outcome.error, more)

    def document(self, job: Job, outcome: Outcome) -> Any:
        """Return an outcome as JSON types."""
        return vars(outcome)

    def result(self, job: Job, document: Any) -> Outcome:
        """Return the outcome that a document holds."""
        found = Outcome(**document)
        # The volume that holds these requests may have another name in this fleet.
        return Outcome(
            {**found.columns, "volume": job.volume.name, "manager": job.manager},
            found.error,
            found.is_too_small,
        )


def lost_volume(job: Job, why: str) -> Outcome:
    """Return the outcome of a job that ended every process which ran it."""
    return Outcome({"volume": job.volume.name, "manager": job.manager, "victims": job.victims}, why)


def is_again(outcome: Outcome) -> bool:
    """Return whether a run whose outcome is kept is done again: one that failed."""
    return outcome.error is not None and not outcome.is_too_small

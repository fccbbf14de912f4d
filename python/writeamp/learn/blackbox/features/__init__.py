"""Characteristics and features of workloads: fio jobs, writeamp's own, and traces."""

from __future__ import annotations

from writeamp.learn.blackbox.features.characteristics import Characteristics, DriveUse
from writeamp.learn.blackbox.features.feature_sets import (
    FEATURE_SETS,
    Feature,
    FeatureSet,
    find_feature_set,
)
from writeamp.learn.blackbox.features.fio_job import of_fio_job, read_fio_jobs
from writeamp.learn.blackbox.features.trace_windows import of_trace
from writeamp.learn.blackbox.features.workload_spec import of_workload

__all__ = [
    "FEATURE_SETS",
    "Characteristics",
    "DriveUse",
    "Feature",
    "FeatureSet",
    "find_feature_set",
    "of_fio_job",
    "of_trace",
    "of_workload",
    "read_fio_jobs",
]

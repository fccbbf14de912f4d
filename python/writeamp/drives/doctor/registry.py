"""Registry of checks: one file per check, and its name in a list here."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from writeamp.drives.doctor.finding import DoctorCheck

# Display order of findings of one severity.
CHECK_NAMES = (
    "not_understood",
    "looped_permutation",
    "repeated_seed",
    "generator_period",
    "random_map_skew",
    "lfsr_block_sizes",
    "too_few_writes",
    "runtime_ends_it",
    "unreached_blocks",
    "sprandom",
    "short_steady_state",
    "fresh_drive",
    "small_span",
    "overlapping_jobs",
    "page_cache",
    "compressible_data",
    "ramp_not_counted",
    "coarse_counters",
    "other_writers",
    "collection_after_the_end",
    "mistaken_unit",
    "inverted_ratio",
    "misaligned",
    "no_trim",
    "stacked_storage",
    "short_period",
    "unsteady_bandwidth",
    "fdp_not_used",
    "no_flash_behind",
    "log_without_offsets",
    "depth_without_effect",
    "uneven_end",
    "doubtful_trace",
    "doubtful_result",
)


@cache
def checks() -> tuple[DoctorCheck, ...]:
    """Return all checks."""
    return tuple(
        import_module(f"writeamp.drives.doctor.checks.{name}").CHECK for name in CHECK_NAMES
    )


def listed() -> list[tuple[str, str]]:
    """Return ids and messages of all checks, for `writeamp list`."""
    return [(check.id, check.message) for check in checks()]

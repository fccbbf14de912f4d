"""Headline: the sentence that answers the question, made from the JSON document of a result.

The terminal prints it before its tables, and the page of `--report` begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from writeamp.reports.headlines import answers, differences, drives, learnt, runs, studies
from writeamp.reports.values import words

# Keys that identify each kind of document; special kinds come first, because the first match is
# used.
SENTENCES: tuple[tuple[frozenset[str], Callable[[Mapping[str, Any]], str]], ...] = (
    (frozenset({"by", "tags", "unknown_share"}), studies.of_blame),
    (frozenset({"rows", "differences", "advice"}), answers.of_answer),
    (frozenset({"settings", "numbers", "equal"}), differences.of_difference),
    (frozenset({"rows", "loads"}), runs.of_comparison),
    (frozenset({"managers", "baseline"}), studies.of_volumes_run),
    (frozenset({"target_wa", "op"}), runs.of_target),
    (frozenset({"endurance_full_drive_writes"}), runs.of_endurance),
    (frozenset({"years", "at_least_years"}), drives.of_lifetime),
    (frozenset({"lifetimes"}), drives.of_lifetimes),
    (frozenset({"drives", "models", "skipped"}), drives.of_fleet),
    (frozenset({"drives", "intervals"}), drives.of_history),
    (frozenset({"drives", "unread"}), drives.of_machine),
    (frozenset({"tb_a_year", "counters_wa"}), drives.of_live),
    (frozenset({"wa", "wa_definition"}), drives.of_counters),
    (frozenset({"models", "sweep"}), studies.of_prediction_sweep),
    (frozenset({"models", "op"}), runs.of_predictions),
    (frozenset({"models", "target_wa"}), runs.of_predictions),
    (frozenset({"methods", "op"}), runs.of_methods),
    (frozenset({"requests", "writes_per_page"}), runs.of_trace),
    (frozenset({"requests", "lost_events", "unknown_share"}), runs.of_recording),
    (frozenset({"traces"}), runs.of_catalogue),
    (frozenset({"sha256", "downloaded", "command"}), runs.of_fetched),
    (frozenset({"twin", "summary", "phases"}), lambda document: words(document, "summary")),
    (frozenset({"families", "misfit", "op_low"}), learnt.of_twin_fit),
    (frozenset({"chain", "cost", "out"}), learnt.of_twin_plan),
    (frozenset({"windows", "sequential_factor", "out"}), learnt.of_twin_windows),
    (frozenset({"configurations", "by_groups"}), runs.of_exploration),
    (frozenset({"written_bytes", "counters"}), drives.of_calibration),
    (frozenset({"snapshots"}), drives.of_snapshots),
    (frozenset({"swept", "points"}), studies.of_op_curve),
    (frozenset({"shard", "runs_of_all"}), studies.of_shard),
    (frozenset({"points", "done", "failed_before"}), studies.of_sweep),
    (frozenset({"points", "done", "out"}), learnt.of_collection),
    (frozenset({"parameters", "rows"}), studies.of_groups),
    (frozenset({"x", "y", "series"}), studies.of_curves),
    (frozenset({"x_values", "y_values", "maps"}), studies.of_heat_maps),
    (frozenset({"objectives", "choices"}), studies.of_pareto),
    (frozenset({"sensitivity", "y"}), studies.of_sensitivity),
    (frozenset({"truth", "volumes"}), studies.of_volumes_made),
    (frozenset({"resumed_requests", "volumes"}), studies.of_volumes_split),
    (frozenset({"volumes_in_all", "writes"}), studies.of_volumes),
    (frozenset({"paper", "readings", "items"}), studies.of_reproduction),
    (frozenset({"bounds", "choices"}), learnt.of_choice),
    (frozenset({"model", "measurements", "metrics"}), learnt.of_evaluation),
    (frozenset({"model", "targets"}), learnt.of_training),
    (frozenset({"model", "level"}), learnt.of_forecast),
    (frozenset({"timed", "latency_us"}), runs.of_timed),
    (frozenset({"wa"}), runs.of_wa),
    (frozenset({"findings"}), drives.of_findings),
)


def headline(document: Any) -> str:
    """Return the answer in one or two sentences, or "" for documents of other kinds."""
    if isinstance(document, Mapping):
        for keys, sentence in SENTENCES:
            if keys <= document.keys() and (answer := sentence(document)):
                return f"{runs.of_budgets(document)}{answer}"
    return ""

"""Signatures of result documents: keys that identify the command (verb) that printed one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# For each command (verb), keys of its documents. A document is from the first command in this order
# whose keys it all has, so commands with more special keys come before more general ones.
SIGNATURES: dict[str, frozenset[str]] = {
    "measure counters": frozenset({"wa_definition", "class", "checks", "host_bytes"}),
    "lifetime": frozenset({"at_least_years", "years_low", "what_if"}),
    "answer": frozenset({"rows", "differences", "advice"}),
    "compare": frozenset({"rows", "loads", "theory"}),
    "endurance": frozenset({"pe_fairness", "endurance_full_drive_writes", "w_max"}),
    "serve": frozenset({"wa", "run", "count_from"}),
    "measure rb": frozenset({"mixture", "fixed_window", "method"}),
    "simulate --target-wa": frozenset({"target_wa", "op"}),
    "simulate, timed": frozenset({"wa", "latency_us", "workload"}),
    "simulate": frozenset({"wa", "causes", "host_pages", "flash_pages", "workload"}),
    "predict": frozenset({"models", "op"}),
}


def signed_verb(document: Mapping[str, Any]) -> str | None:
    """Return the command (verb) that printed a document, or None if no signature matches."""
    return next((verb for verb, keys in SIGNATURES.items() if keys <= document.keys()), None)

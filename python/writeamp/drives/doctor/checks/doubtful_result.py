"""Check of results of writeamp that report their own uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.drives.counters.document import objects
from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, Severity, WaEstimate
from writeamp.drives.doctor.inputs import Counters, ResultDocument, Several
from writeamp.results.numbers import bounds_in_words

_PERCENT_LIKE_OP = 3


def _of_result(result: ResultDocument) -> Judgements:
    document = result.document
    if document.get("steady") is False and _number(document.get("wa")) is not None:
        yield Mistake(
            "not steady: "
            f"{document.get('steady_reason') or document.get('reason') or 'as reported'}",
            now=_estimate(document),
        )
    for row in objects(document.get("rows")):
        if row.get("steady") is False:
            names = [
                str(row[key]) for key in ("workload", "way", "manager", "victims") if row.get(key)
            ]
            yield Mistake(f"{', '.join(names)}: not steady", now=_estimate(row))
    if document.get("interrupted"):
        yield Mistake("the run was interrupted")
    if document.get("run_exit_status"):
        yield Mistake(
            f"the command ended with status {document['run_exit_status']}",
            message="The writing command failed: the WA covers only its writes until then",
            advice="fix the command, and run it again",
            severity="error",
        )
    op = _number(document.get("op"))
    if op is not None and op > _PERCENT_LIKE_OP:
        yield Mistake(
            f"op is {op:g}",
            message="op is (T-U)/U: 28% is 0.28",
            advice="pass a ratio, or a number with %",
        )
    if document.get("class") in ("none", "lower-bound", "estimated"):
        reason = document.get("reason") or f"class {document['class']}"
        severity: Severity = "warning" if document["class"] == "none" else "note"
        yield _without_wa(str(reason), severity)


def _of_counters(counters: Counters) -> Judgements:
    for drive in counters.answers:
        if drive.wa is None:
            within = bounds_in_words(drive.wa_low, drive.wa_high)
            is_said = not within or within in drive.reason
            prefix = "" if is_said else f"WA is {within}, {drive.kind}: "
            yield _without_wa(f"{drive.name}: {prefix}{drive.reason or drive.kind}", "note")


def _without_wa(reason: str, severity: Severity) -> Mistake:
    return Mistake(
        reason,
        message="The counters do not give a measured write amplification",
        advice="see the reason, and docs/real-drives.md",
        severity=severity,
    )


def _of_all(several: Several) -> Judgements:
    named = [
        (result.name, result.document.get("wa_definition")) for result in several.of(ResultDocument)
    ]
    names = [(name, definition) for name, definition in named if definition]
    if len({definition for _, definition in names}) > 1:
        yield Mistake(
            "; ".join(f"{name}: {definition}" for name, definition in names),
            message="The results use different definitions of WA",
            advice="use one definition for all: --definition",
        )


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _estimate(row: Mapping[str, Any]) -> WaEstimate | None:
    wa, bounds = _number(row.get("wa")), row.get("wa_ci95")
    if wa is None:
        return None
    ends = bounds if isinstance(bounds, list) and len(bounds) == 2 else [None, None]
    low, high = (_number(end) for end in ends)
    return WaEstimate(wa, wa if low is None else low, wa if high is None else high)


CHECK = DoctorCheck(
    "doubtful-result",
    "warning",
    "The result reports that it may not be steady",
    "run longer until the result is steady, or report the WA as valid for these writes only",
    "docs/steady-state.md",
    {"result": _of_result, "counters": _of_counters, "several": _of_all},
)

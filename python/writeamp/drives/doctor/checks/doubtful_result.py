"""Check of results of writeamp whose own words say that they may not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.drives.counters.document import objects
from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, Severity, WaEstimate
from writeamp.drives.doctor.inputs import Counters, ResultDocument, Several
from writeamp.results.numbers import bounds_in_words

_PERCENT_LIKE_OP = 3


def _of_result(result: ResultDocument) -> Judgements:
    found = result.document
    if found.get("steady") is False and _number(found.get("wa")) is not None:
        yield Mistake(
            f"not steady: {found.get('steady_reason') or found.get('reason') or 'it says so'}",
            now=_estimate(found),
        )
    for row in objects(found.get("rows")):
        if row.get("steady") is False:
            names = [
                str(row[key]) for key in ("workload", "way", "manager", "victims") if row.get(key)
            ]
            yield Mistake(f"{', '.join(names)}: not steady", now=_estimate(row))
    if found.get("interrupted"):
        yield Mistake("it was interrupted")
    if found.get("run_exit_status"):
        yield Mistake(
            f"its command ended with status {found['run_exit_status']}",
            message="The command that wrote failed: the number is of what it wrote until then",
            advice="mend the command, and run it again",
            severity="error",
        )
    op = _number(found.get("op"))
    if op is not None and op > _PERCENT_LIKE_OP:
        yield Mistake(
            f"op is {op:g}",
            message="An op is (T-U)/U: 28% is 0.28",
            advice="give a ratio, or a number with %",
        )
    if found.get("class") in ("none", "lower-bound", "estimated"):
        said = found.get("reason") or f"class {found['class']}"
        severity: Severity = "warning" if found["class"] == "none" else "note"
        yield _without_wa(str(said), severity)


def _of_counters(counters: Counters) -> Judgements:
    for one in counters.answers:
        if one.wa is None:
            within = bounds_in_words(one.wa_low, one.wa_high)
            is_said = not within or within in one.reason
            known = "" if is_said else f"WA is {within}, {one.kind}: "
            yield _without_wa(f"{one.name}: {known}{one.reason or one.kind}", "note")


def _without_wa(reason: str, severity: Severity) -> Mistake:
    return Mistake(
        reason,
        message="The counters give no write amplification that was measured",
        advice="see the reason, and docs/real-drives.md",
        severity=severity,
    )


def _of_all(several: Several) -> Judgements:
    named = [(one.name, one.document.get("wa_definition")) for one in several.of(ResultDocument)]
    names = [(name, one) for name, one in named if one]
    if len({one for _, one in names}) > 1:
        yield Mistake(
            "; ".join(f"{name}: {one}" for name, one in names),
            message="The results divide different things by different things",
            advice="ask all for one definition: --definition",
        )


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _estimate(found: Mapping[str, Any]) -> WaEstimate | None:
    wa, bounds = _number(found.get("wa")), found.get("wa_ci95")
    if wa is None:
        return None
    ends = bounds if isinstance(bounds, list) and len(bounds) == 2 else [None, None]
    low, high = (_number(one) for one in ends)
    return WaEstimate(wa, wa if low is None else low, wa if high is None else high)


CHECK = DoctorCheck(
    "doubtful-result",
    "warning",
    "The result says itself that it may not last",
    "run it longer, until it says steady, or state what it is: a WA of these writes alone",
    "docs/steady-state.md",
    {"result": _of_result, "counters": _of_counters, "several": _of_all},
)

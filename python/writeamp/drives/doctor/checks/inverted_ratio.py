"""Check of inverted ratios and percentages."""

from __future__ import annotations

from writeamp.drives.counters.checks import BELOW_ONE, PART_ONLY
from writeamp.drives.counters.document import objects
from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, exactly
from writeamp.drives.doctor.inputs import Counters, ResultDocument, checks_of

# Largest plausible WA. A ratio whose inverse exceeds it is not an inverted WA.
_MOST_WA = 100.0


def _of(source: Counters | ResultDocument) -> Judgements:
    was = _ratios(source)
    for check in checks_of(source):
        if check.name == "percentage used" and check.verdict == "doubt":
            yield Mistake(
                f"{check.name}: {check.evidence}",
                message="The percentage may be the remaining life of the drive, not the used life",
                advice="use the value that another log confirms",
            )
        elif check.name == BELOW_ONE and check.verdict == "fail":
            wa = next((wa for wa in was if 1 / _MOST_WA <= wa < 1), None)
            if PART_ONLY in check.evidence:
                yield Mistake(
                    check.evidence,
                    message="The counters leave out part of the flash writes",
                    advice=(
                        "use the ratio as a lower bound, and compare it with erases times "
                        "capacity / host bytes"
                    ),
                )
                continue
            yield Mistake(
                check.evidence,
                severity="error",
                now=None if wa is None else exactly(wa),
                fixed=None if wa is None else exactly(1 / wa),
            )


def _ratios(source: Counters | ResultDocument) -> list[float]:
    """Return flash bytes / host bytes by each definition of WA."""
    if isinstance(source, Counters):
        rows = [row for answer in source.answers for row in answer.definitions]
    else:
        rows = list(objects(source.document.get("definitions")))
    return [float(row["wa"]) for row in rows if isinstance(row.get("wa"), int | float)]


CHECK = DoctorCheck(
    "inverted-ratio",
    "warning",
    "Flash bytes / host bytes is below 1 on a drive that does not compress: the ratio is "
    "inverted, or a "
    "counter covers only part of the flash",
    "divide the flash bytes by the host bytes; check which counter is which",
    "nvme-cli's micron vs-device-waf; zbx-smartctl issue 148; docs/real-drives.md",
    {"counters": _of, "result": _of},
)

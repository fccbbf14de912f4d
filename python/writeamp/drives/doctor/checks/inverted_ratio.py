"""Check of ratios and percentages that are the wrong way round."""

from __future__ import annotations

from writeamp.drives.counters.checks import BELOW_ONE, PART_ONLY
from writeamp.drives.counters.document import objects
from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, exactly
from writeamp.drives.doctor.inputs import Counters, ResultDocument, checks_of

# What lies above 1 by more than this when it is turned round is no WA either.
_MOST_WA = 100.0


def _of(given: Counters | ResultDocument) -> Judgements:
    was = _ratios(given)
    for one in checks_of(given):
        if one.name == "percentage used" and one.verdict == "doubt":
            yield Mistake(
                f"{one.name}: {one.evidence}",
                message="The percentage of the drive's life may be what is left, not what is used",
                advice="take the value that another log confirms",
            )
        elif one.name == BELOW_ONE and one.verdict == "fail":
            wa = next((wa for wa in was if 1 / _MOST_WA <= wa < 1), None)
            if PART_ONLY in one.evidence:
                yield Mistake(
                    one.evidence,
                    message="The counters leave a part of the flash's writes out",
                    advice="take the ratio for a lower bound, and erases times capacity beside it",
                )
                continue
            yield Mistake(
                one.evidence,
                severity="error",
                now=None if wa is None else exactly(wa),
                fixed=None if wa is None else exactly(1 / wa),
            )


def _ratios(given: Counters | ResultDocument) -> list[float]:
    """Return the ratios of flash and host, by whatever definition."""
    if isinstance(given, Counters):
        rows = [row for answer in given.answers for row in answer.definitions]
    else:
        rows = list(objects(given.document.get("definitions")))
    return [float(row["wa"]) for row in rows if isinstance(row.get("wa"), int | float)]


CHECK = DoctorCheck(
    "inverted-ratio",
    "warning",
    "Flash over host is below 1 on a drive that does not compress: host over flash, or a counter "
    "of a part of the flash",
    "divide what the flash was programmed by what the host wrote; see which counter is which",
    "nvme-cli's micron vs-device-waf; zbx-smartctl issue 148; docs/real-drives.md",
    {"counters": _of, "result": _of},
)

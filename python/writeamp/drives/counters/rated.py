"""Share of a real drive's rated endurance (TBW) that its host has written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from writeamp.devices.endurance import endurance_rating
from writeamp.drives.counters.amounts import Amount
from writeamp.drives.counters.checks import STANDARD
from writeamp.drives.counters.facts import CounterCheck, CounterFacts
from writeamp.errors import WriteampError

# Source of a rating that the user gives.
OPTION = "--rated-tbw"
_MOST_NAMES = 4


class RatedUse(NamedTuple):
    """Rated endurance of a drive, and its used share; None if unknown.

    Attributes:
        rated_tbw: TB (10**12 bytes) that the host may write.
        share_used: host bytes since the drive was new / rated TBW; may exceed 1.
        rated_source: address of the page with the rating, or "--rated-tbw".
        warranty_years: years of warranty of the same page.
    """

    rated_tbw: float | None = None
    share_used: float | None = None
    rated_source: str | None = None
    warranty_years: int | None = None


def rated_use(
    facts: CounterFacts,
    host: Amount | None,
    checks: Iterable[CounterCheck] = (),
    rated_tbw: float | None = None,
) -> RatedUse:
    """Return the rated endurance of a drive, and the share of it that the host has written.

    Args:
        facts: model and capacity of the drive.
        host: bytes that the host has written since the drive was new, or None.
        checks: checks of the counters; if one fails, or device statistics contradict the host
            counter, the share is unknown.
        rated_tbw: rating in TB, instead of that of the model.
    """
    use = rating_of(facts.model, facts.capacity_bytes, rated_tbw)
    if use.rated_tbw is None or host is None or any(map(_refutes_host, checks)):
        return use
    return use._replace(share_used=float(host.nominal) / (use.rated_tbw * 1e12))


def rating_of(
    model: str | None, capacity_bytes: int | None, rated_tbw: float | None = None
) -> RatedUse:
    """Return the rated endurance of a drive without its used share.

    Args:
        model: model as the drive reports it.
        capacity_bytes: user capacity.
        rated_tbw: rating in TB, instead of that of the model.
    """
    if rated_tbw is not None:
        return RatedUse(rated_tbw, None, OPTION)
    rating = endurance_rating(model, capacity_bytes)
    if rating is None:
        return RatedUse()
    return RatedUse(rating.tbw, None, rating.source, rating.warranty_years)


def _refutes_host(check: CounterCheck) -> bool:
    return check.verdict == "fail" or (check.name, check.verdict) == (STANDARD, "doubt")


def require_one_model(drives: Iterable[CounterFacts]) -> None:
    """Check that a single rated TBW can apply to all drives.

    Raises:
        WriteampError: the drives are of several models.
    """
    models = list(dict.fromkeys(facts.model for facts in drives if facts.model))
    if len(models) > 1:
        more = " and others" if len(models) > _MOST_NAMES else ""
        raise WriteampError(
            f"{OPTION} is the rating of one model, but the drives are of {len(models)} models: "
            f"{', '.join(models[:_MOST_NAMES])}{more}. Pass the snapshots of one model"
        )


def rated_rows(use: RatedUse) -> Sequence[tuple[str, str]]:
    """Return the rows of a card on a drive's rated endurance; none without a rating."""
    if use.rated_tbw is None:
        return ()
    years = "" if use.warranty_years is None else f", warranty {use.warranty_years} years"
    share = share_in_words(use.share_used)
    return (
        ("rated TBW used", f"{share} of {use.rated_tbw:,.6g} TB{years}"),
        ("rating from", use.rated_source or OPTION),
    )


def share_in_words(share: float | None) -> str:
    """Return a share of the rated TBW as a percentage."""
    return "an unknown share" if share is None else f"{100 * share:.3g}%"

"""Checks of a write amplification against the other values of the drive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from writeamp.drives.counters.amounts import UNITS, Amount, Counter, Unit
from writeamp.drives.counters.facts import (
    CounterCheck,
    CounterFacts,
    Erases,
    StandardCount,
    Verdict,
)
from writeamp.drives.counters.pairing import Pairing, is_same_span, pairings
from writeamp.results.numbers import with_bounds
from writeamp.units.byte_sizes import shown_bytes
from writeamp.vssd.log_pages.smart import DATA_UNIT_BYTES

_WRAP = 1 << 32
# Tolerated difference of the host writes in two logs, in bytes. The logs are read one after the
# other, and drives update them at different times.
_SLACK_BYTES = 2**28
# Largest ratio, in either direction, between flash bytes and mean erases x capacity on drives with
# known units. Spare blocks and partly filled blocks cause it. A larger ratio is a doubt.
AGREEING_FACTOR = 1.6
# Above this ratio, the flash counter or the erase counter has another meaning, so the check fails.
REFUSED_FACTOR = 4.0
# With fewer erases per block, the check is skipped: blocks are erased at the factory, and the mean
# is rounded.
_FEW_ERASES = 10
# Largest plausible WA; the check fails above it. Idle drives refresh their flash, but write less
# than this per host byte.
_MOST_WA = 10_000
# Largest plausible flash writes / user capacity: it exceeds the rated program/erase cycles of any
# flash.
_MOST_CYCLES = 200_000
BELOW_ONE = "not below 1"
STANDARD = "device statistics"
# Suffix of a check's name: the check of an interval was repeated with the counters since the drive
# was new.
SINCE_NEW = " since new"
# A drive with WA 1 may show a WA slightly below 1, because its counters are rounded. So a WA from
# this value on passes the check.
_NEARLY_ONE = 0.95
# Limits of WA. A WA outside of the first pair is impossible. A WA inside of the second pair is
# plausible after a correction of the unit.
_LEAST_POSSIBLE, _MOST_POSSIBLE = 0.01, 1e4
_LIKELY_LEAST, _LIKELY_MOST = 0.9, 1000.0
PART_ONLY = "the flash counter counts only part of the flash, so this is a lower bound of WA"


def is_wrapped(standard: StandardCount) -> bool:
    """Return whether device statistics hold the attribute's sectors modulo 2**32."""
    counter, sectors, sector_bytes = standard
    if counter.unit is None or sectors >= _WRAP:
        return False
    low, high = (bound / sector_bytes for bound in _bounds_of(counter))
    if high < _WRAP or high - low >= _WRAP:
        return False
    wraps = (high - sectors) // _WRAP
    return wraps > 0 and low <= sectors + wraps * _WRAP <= high


def is_attribute_wrapped(standard: StandardCount) -> bool:
    """Return whether the attribute's count is modulo 2**32, unlike device statistics."""
    counter, sectors, sector_bytes = standard
    if counter.unit is None or counter.count >= _WRAP or sectors < _WRAP:
        return False
    low, high = (bound / counter.unit.nominal for bound in _bounds_of(counter))
    unwrapped = sectors * sector_bytes / counter.unit.nominal
    wraps = (unwrapped - low) // _WRAP
    return wraps > 0 and low <= unwrapped - wraps * _WRAP <= high


def is_contradicted(standard: StandardCount) -> bool:
    """Return whether attribute and device statistics differ by more than late updates explain."""
    counter, sectors, sector_bytes = standard
    low, high = _bounds_of(counter)
    size = Fraction(sectors * sector_bytes)
    return not low * Fraction(99, 100) <= size <= high * Fraction(101, 100)


def _bounds_of(counter: Counter) -> tuple[Fraction, Fraction]:
    amount = counter.amount()
    unit = counter.unit.nominal if counter.unit is not None else Fraction(0)
    slack = max(unit, Fraction(_SLACK_BYTES))
    return amount.low - slack, amount.high + slack


def against_standard(standard: StandardCount) -> CounterCheck:
    """Return the check of an attribute against device statistics."""
    name = STANDARD
    counter, sectors, sector_bytes = standard
    standard_bytes = sectors * sector_bytes
    text = f"device statistics count {standard_bytes / 1e12:.6g} TB of host writes"
    if counter.unit is None:
        return CounterCheck(name, "unknown", f"{text}; the unit of {counter.label} is unknown")
    low, high = _bounds_of(counter)
    if low <= standard_bytes <= high:
        return CounterCheck(
            name, "ok", f"{text}, which agrees with {counter.label} in units of {counter.unit.name}"
        )
    if is_wrapped(standard):
        return CounterCheck(name, "ok", f"{text}, which is {counter.label} modulo 2^32 sectors")
    if is_attribute_wrapped(standard):
        return CounterCheck(
            name, "doubt", f"{text}, and {counter.label} holds this amount modulo 2^32 counts"
        )
    fitting = snapped_unit(counter, standard_bytes)
    other = f"; they agree in units of {fitting.name}" if fitting else ""
    return CounterCheck(
        name,
        "doubt",
        f"{text}, and {counter.label} in units of {counter.unit.name} are "
        f"{float(counter.amount().nominal) / 1e12:.6g} TB{other}",
    )


def snapped_unit(counter: Counter, size_bytes: int | Fraction, slack: int = 0) -> Unit | None:
    """Return the unit in which a count gives this size; None if no unit or several units fit.

    Args:
        counter: counter with its count.
        size_bytes: bytes that were written.
        slack: tolerance of the size, in bytes.
    """
    size = Fraction(size_bytes)
    fitting = [
        unit
        for unit in UNITS.values()
        if unit.low == unit.high
        and (counter.count - 1) * unit.low - slack <= size <= (counter.count + 1) * unit.low + slack
    ]
    return fitting[0] if len(fitting) == 1 else None


def checks_of(
    pairing: Pairing, facts: CounterFacts, *, is_life: bool = True
) -> Iterator[CounterCheck]:
    """Yield the checks of the WA from a pairing of host and flash counters.

    Args:
        pairing: pairing of host and flash counters.
        facts: facts of the drive.
        is_life: whether the pairing covers the drive's life instead of an interval.
    """
    if pairing.doubt:
        yield CounterCheck("page size", "doubt", pairing.doubt)
    elif pairing.definition == "pages" and pairing.host is not None:
        yield CounterCheck("page size", "ok", "host bytes per page match pages of 16 KiB or 64 KiB")
    yield _below_one(pairing, facts)
    if pairing.wa.low > _MOST_WA:
        yield CounterCheck(
            "not absurd",
            "fail",
            f"flash bytes / host bytes is {float(pairing.wa.nominal):,.4g}: at least one counter "
            "must have "
            "another unit",
        )
    if is_life:
        yield _erases(pairing, facts)
        yield _capacity(pairing, facts)
    else:
        yield from _failed_since_new(pairing, facts)


def _failed_since_new(pairing: Pairing, facts: CounterFacts) -> Iterator[CounterCheck]:
    """Yield the checks that fail with the pairing's counters since the drive was new."""
    amounts = {counter.key: counter.amount() for counter in pairing.counters}
    for life in pairings(pairing.counters, amounts):
        if life.definition == pairing.definition:
            for check in checks_of(life, facts):
                if check.verdict == "fail":
                    yield check._replace(name=check.name + SINCE_NEW)


def _below_one(pairing: Pairing, facts: CounterFacts) -> CounterCheck:
    name = BELOW_ONE
    low, wa, high = (float(bound) for bound in pairing.wa)
    if high >= 1:
        if is_partial(pairing, facts):
            return CounterCheck(name, "ok", f"flash bytes / host bytes is {wa:.4g}: {PART_ONLY}")
        text = f"WA is {with_bounds(wa, low, high)}"
        if wa >= _NEARLY_ONE or facts.compresses:
            return CounterCheck(name, "ok", text)
        return CounterCheck(
            name,
            "doubt",
            f"{text}: below 1, which must be rounding, as drives of this family do not compress "
            "data",
        )
    if facts.compresses:
        return CounterCheck(name, "ok", f"WA is {wa:.4g}, and this family compresses data")
    counts_slc = any(
        counter.part == "slc" and counter.unit is not None for counter in facts.counters
    )
    if pairing.definition == "tlc" and counts_slc:
        return CounterCheck(
            name, "ok", f"{wa:.4g} is of TLC only; writes to SLC are counted separately"
        )
    cause = "wrong units, or uncounted writes"
    if is_partial(pairing, facts):
        cause = PART_ONLY
    return CounterCheck(
        name,
        "fail",
        f"flash bytes / host bytes is {wa:.4g}, and drives of this family do not compress data: "
        f"{cause}",
    )


def is_partial(pairing: Pairing, facts: CounterFacts) -> bool:
    """Return whether a pairing's counters leave out part of the flash writes."""
    return pairing.is_partial or facts.has_partial_flash


def _erases(pairing: Pairing, facts: CounterFacts) -> CounterCheck:
    name = "erases x capacity"
    erases, flash = _erases_and_flash(pairing, facts)
    if erases is None or facts.capacity_bytes is None or flash is None:
        missing = "no mean count of erases" if erases is None else "no capacity"
        return CounterCheck(
            name, "unknown", missing if flash else "the unit of the flash counter is unknown"
        )
    if erases.high < _FEW_ERASES:
        return CounterCheck(
            name, "unknown", f"{erases.high:g} erases per block are too few for this check"
        )
    low, high = erased_bytes(erases, facts.capacity_bytes)
    # Ratio between the closest bounds of flash bytes and erased bytes; 1 if their ranges overlap.
    factor = max(float(flash.low) / high, low / max(float(flash.high), 1.0), 1.0)
    verdict: Verdict = "ok" if factor <= AGREEING_FACTOR else "doubt"
    if factor > REFUSED_FACTOR:
        verdict = "fail"
    of_tlc = " of TLC" if erases.part == "tlc" else ""
    mean = f"{erases.low:g}" if erases.high - erases.low <= 1 else f"{erases.low:g}-{erases.high:g}"
    return CounterCheck(
        name,
        verdict,
        f"{mean} erases ({erases.label}) of {shown_bytes(facts.capacity_bytes)} are "
        f"{low / 1e12:.4g} to {high / 1e12:.4g} TB; the flash counter shows "
        f"{float(flash.nominal) / 1e12:.4g} TB{of_tlc}",
    )


def _erases_and_flash(pairing: Pairing, facts: CounterFacts) -> tuple[Erases | None, Amount | None]:
    """Return the erases of the cell type that a pairing counts, and the bytes written to it."""
    tlc = next((counter for counter in pairing.counters if counter.part == "tlc"), None)
    of_tlc = next((erase for erase in facts.erases if erase.part == "tlc"), None)
    if tlc is not None and tlc.unit is not None and of_tlc is not None:
        return of_tlc, tlc.amount()
    if pairing.definition == "tlc":
        return of_tlc, pairing.flash
    return next((erase for erase in facts.erases if erase.part == "all"), None), pairing.flash


def erased_bytes(erases: Erases, capacity_bytes: int) -> tuple[float, float]:
    """Return bounds of the erased bytes: by user capacity, and by raw capacity."""
    return erases.low * capacity_bytes, erases.high * raw_bytes(capacity_bytes)


def raw_bytes(capacity_bytes: int) -> int:
    """Return a drive's raw capacity: the smallest power of two not below its user capacity.

    >>> raw_bytes(960_197_124_096) >> 30, raw_bytes(128_035_676_160) >> 30
    (1024, 128)
    """
    return 1 << (capacity_bytes - 1).bit_length()


def _capacity(pairing: Pairing, facts: CounterFacts) -> CounterCheck:
    name = "total against capacity"
    if facts.capacity_bytes is None or pairing.flash is None:
        return CounterCheck(
            name,
            "unknown",
            "no capacity" if pairing.flash else "the unit of the flash counter is unknown",
        )
    fills = float(pairing.flash.nominal) / facts.capacity_bytes
    verdict: Verdict = "fail" if fills > _MOST_CYCLES else "ok"
    return CounterCheck(
        name, verdict, f"the bytes written to the flash are {fills:,.4g} times the user capacity"
    )


def agreement_checks(pairings: Sequence[Pairing]) -> Iterator[CounterCheck]:
    """Yield checks that pairings of one definition and one interval agree within their bounds."""
    for place, pairing in enumerate(pairings):
        for other in pairings[:place]:
            if pairing.definition == other.definition and is_same_span(pairing, other):
                agrees = pairing.wa.low <= other.wa.high and other.wa.low <= pairing.wa.high
                yield CounterCheck(
                    "sources agree",
                    "ok" if agrees else "doubt",
                    f"WA is {float(other.wa.nominal):.6g} by {other.source}, and by "
                    f"{pairing.source} it is "
                    f"{float(pairing.wa.nominal):.6g}",
                )


def estimated_wa(facts: CounterFacts, host: Amount) -> tuple[float, float] | None:
    """Return bounds of WA from mean erases x capacity; None if unavailable.

    According to Samsung's white papers, one count of attribute 177 is one write of the raw flash.
    """
    erases = next((erase for erase in facts.erases if erase.part == "all"), None)
    if erases is None or facts.capacity_bytes is None or host.low <= 0:
        return None
    low, high = erased_bytes(erases, facts.capacity_bytes)
    return low / float(host.high), high / float(host.low)


def unit_checks(pairing: Pairing) -> Iterator[CounterCheck]:
    """Yield a failed check if a flash counter seems to confuse bytes and units of 512,000 bytes.

    Some tools print units of 512,000 bytes as bytes, or bytes as units.
    """
    if pairing.host is None or pairing.flash is None:
        return
    wa = float(pairing.wa.nominal)
    if _LEAST_POSSIBLE <= wa <= _MOST_POSSIBLE:
        return
    corrected = wa * DATA_UNIT_BYTES if wa < _LEAST_POSSIBLE else wa / DATA_UNIT_BYTES
    problem = "counts units of 512,000 bytes" if wa < _LEAST_POSSIBLE else "counts bytes"
    if _LIKELY_LEAST <= corrected <= _LIKELY_MOST:
        yield CounterCheck(
            "unit of the flash counter",
            "fail",
            f"flash bytes / host bytes is {wa:.4g}; it would be {corrected:.4g} if the flash "
            "counter "
            f"{problem}, as in some tools. Compare with erases x capacity",
        )

"""Pairings of host and flash counters that give a write amplification, by definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from writeamp.drives.counters.amounts import LBA, Amount, Counter

Definition: TypeAlias = Literal["bytes", "pages", "tlc", "tlc+slc", "as the vendor reports"]
DEFINITIONS: tuple[Definition, ...] = (
    "pages",
    "bytes",
    "tlc+slc",
    "tlc",
    "as the vendor reports",
)

# Ranges of host bytes per page of Micron's counters, and the page size of each range. Some firmware
# counts pages of 16 KiB, other firmware four planes of 16 KiB. Padded pages lower the host bytes
# per page.
_PAGE_UNITS = ((14_000, 16_500, Fraction(2**14)), (56_000, 66_000, Fraction(2**16)))
# Ratio of the two page sizes; the host counter and the background counter may have different page
# sizes.
_MIXED_PAGES = 4

Amounts: TypeAlias = Mapping[tuple[str, ...], Amount]


@dataclass(frozen=True)
class Pairing:
    """Write amplification by one definition, and the counters behind it.

    Attributes:
        definition: name of the definition.
        wa: lower bound, nominal value and upper bound of WA.
        host, flash: bytes; None if their unit is unknown.
        counters: counters that were used, the host's first.
        doubt: sentence about uncertain units, or "".
        is_partial: whether the flash counters leave out a cell type that no other counter counts.
    """

    definition: Definition
    wa: Amount
    host: Amount | None
    flash: Amount | None
    counters: tuple[Counter, ...]
    doubt: str = ""
    is_partial: bool = False

    @property
    def source(self) -> str:
        """Labels of the counters, for messages."""
        labels = dict.fromkeys(counter.label for counter in reversed(self.counters))
        return " over ".join((" + ".join(list(labels)[:-1]), list(labels)[-1]))


def ratio(flash: Amount, host: Amount) -> Amount | None:
    """Return flash bytes / host bytes with its bounds; None if the host has not written."""
    if host.nominal <= 0 or host.high <= 0:
        return None
    # If the host may have written nothing, the ratio has no upper bound; use a large one.
    floor = host.low if host.low > 0 else host.nominal / 10**6
    return Amount(flash.low / host.high, flash.nominal / host.nominal, flash.high / floor)


def finest(counters: Iterable[Counter], amounts: Amounts) -> Counter | None:
    """Return the counter with the relatively narrowest bounds among the counters above 0."""
    counting = [
        counter
        for counter in counters
        if counter.key in amounts and amounts[counter.key].nominal > 0
    ]
    return min(counting, key=lambda counter: _width(amounts[counter.key]), default=None)


def _width(amount: Amount) -> Fraction:
    return (amount.high - amount.low) / amount.nominal


def pairings(counters: Iterable[Counter], amounts: Amounts) -> list[Pairing]:
    """Return the pairings of the counters that have an amount; the first gives the default WA.

    Counters of an endurance group are paired only with counters of the same group, and counters of
    a namespace only with those of the same namespace.

    Args:
        counters: all counters of a drive.
        amounts: bytes or counts of a life or an interval, by the key of the counter.
    """
    by_scope: dict[str, list[Counter]] = {}
    for counter in counters:
        if counter.key in amounts:
            by_scope.setdefault(counter.scope, []).append(counter)
    pairs = [pair for group in by_scope.values() for pair in _of_scope(group, amounts)]
    complete = next(
        (pair for pair in pairs if pair.definition == "bytes" and _is_whole(pair)), None
    )
    return sorted(
        pairs,
        key=lambda pair: (
            DEFINITIONS.index(pair.definition),
            not (_is_whole(pair) or (complete is not None and is_same_span(pair, complete))),
            pair.wa.high - pair.wa.low,
        ),
    )


def _is_whole(pair: Pairing) -> bool:
    return pair.counters[0].scope == "drive"


def is_same_span(first: Pairing, other: Pairing) -> bool:
    """Return whether the host amounts of two pairings agree, so both cover one interval."""
    if first.host is None or other.host is None:
        return False
    return first.host.low <= other.host.high and other.host.low <= first.host.high


def _of_scope(counters: list[Counter], amounts: Amounts) -> Iterator[Pairing]:
    def of(side: str, cells: str) -> list[Counter]:
        return [counter for counter in counters if (counter.side, counter.part) == (side, cells)]

    host = finest((counter for counter in of("host", "all") if counter.unit), amounts)
    yield from _by_pages(host, of("flash", "host pages"), of("flash", "background pages"), amounts)
    flash = finest((counter for counter in of("flash", "all") if counter.unit), amounts)
    if host and flash:
        yield from _of_bytes("bytes", host, (flash,), amounts)
    tlc = finest((counter for counter in of("flash", "tlc") if counter.unit), amounts)
    in_slc = [counter for counter in of("flash", "slc") if counter.unit]
    # If an interval has no SLC writes, the SLC counter is 0, which is a valid count.
    slc = finest(in_slc, amounts) or next(iter(in_slc), None)
    if host and tlc and slc:
        yield from _of_bytes("tlc+slc", host, (tlc, slc), amounts)
    if host and tlc:
        yield from _of_bytes("tlc", host, (tlc,), amounts, is_partial=slc is None)
    yield from _in_shared_units(counters, amounts)


def _of_bytes(
    definition: Definition,
    host: Counter,
    flash: tuple[Counter, ...],
    amounts: Amounts,
    *,
    is_partial: bool = False,
) -> Iterator[Pairing]:
    written = amounts[host.key]
    programmed = amounts[flash[0].key]
    for counter in flash[1:]:
        programmed += amounts[counter.key]
    wa = ratio(programmed, written)
    if wa is not None:
        counted = (host, *flash)
        yield Pairing(definition, wa, written, programmed, counted, is_partial=is_partial)


def _by_pages(
    host: Counter | None, first: list[Counter], background: list[Counter], amounts: Amounts
) -> Iterator[Pairing]:
    """Yield WA from Micron's page counters (attributes 247 and 248), by pages and by bytes."""
    if not first or not background:
        return
    host_pages, copies = amounts[first[0].key], amounts[background[0].key]
    pages = Amount(*(a + b for a, b in zip(host_pages, copies, strict=True)))
    extra = ratio(copies, host_pages)
    if extra is None:
        return
    wa = Amount(*(1 + bound for bound in extra))
    counted = (first[0], background[0])
    if host is None or host.unit is None:
        yield Pairing("pages", wa, None, None, counted)
        return
    written = amounts[host.key]
    page_bytes = written.nominal / host_pages.nominal
    sizes = [size for low, high, size in _PAGE_UNITS if low <= page_bytes <= high]
    doubt = ""
    if not sizes:
        doubt = (
            f"{float(page_bytes):,.0f} host bytes per page fit neither 16 KiB nor 64 KiB: the "
            "counters may have different units"
        )
        wa = Amount(1 + extra.low / _MIXED_PAGES, wa.nominal, 1 + extra.high * _MIXED_PAGES)
    flash = Amount(wa.low * written.low, wa.nominal * written.nominal, wa.high * written.high)
    yield Pairing("pages", wa, written, flash, (host, *counted), doubt)
    if sizes:
        programmed = Amount(*(bound * sizes[0] for bound in pages))
        by_bytes = ratio(programmed, written)
        if by_bytes is not None:
            yield Pairing("bytes", by_bytes, written, programmed, (host, *counted))


def _in_shared_units(counters: list[Counter], amounts: Amounts) -> Iterator[Pairing]:
    """Yield WA from host and flash counters in the same unknown unit, which cancels out."""
    for unit in dict.fromkeys(
        counter.shared for counter in counters if counter.shared and not counter.unit
    ):
        same = [counter for counter in counters if counter.shared == unit and counter.unit is None]
        host = [counter for counter in same if counter.side == "host"]
        flash = [counter for counter in same if counter.side == "flash"]
        if not host or not flash:
            continue
        written, programmed = (_sum(side, amounts) for side in (host, flash))
        wa = ratio(programmed, written)
        if wa is not None and programmed.nominal > 0:
            cells = {counter.part for counter in flash}
            is_partial = cells in ({"tlc"}, {"slc"})
            counted = (*host, *flash)
            yield Pairing("as the vendor reports", wa, None, None, counted, is_partial=is_partial)


def _sum(counters: list[Counter], amounts: Amounts) -> Amount:
    total = amounts[counters[0].key]
    for counter in counters[1:]:
        total += amounts[counter.key]
    return total


def standard_counter(logical_sectors: int, sector_bytes: int, source: str) -> Counter:
    """Return the host counter of ATA device statistics (page 1, Logical Sectors Written)."""
    scale = Fraction(sector_bytes, 512)
    unit = (
        LBA
        if scale == 1
        else LBA._replace(
            name=f"{sector_bytes} B",
            nominal=Fraction(sector_bytes),
            low=Fraction(sector_bytes),
            high=Fraction(sector_bytes),
        )
    )
    return Counter(
        "host",
        logical_sectors,
        unit,
        "device statistics, logical sectors written",
        source,
        rounding="exact",
    )

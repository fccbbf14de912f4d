"""Pairings of host and flash counters that give a write amplification, by its definitions."""

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

# Bytes of the host that a page of Micron's counters holds, when few pages are padded; its unit is
# 16 KiB, or four planes of that in some firmware.
_PAGE_UNITS = ((14_000, 16_500, Fraction(2**14)), (56_000, 66_000, Fraction(2**16)))
# A counter may be in the one unit and the other counter in the other.
_MIXED_PAGES = 4

Amounts: TypeAlias = Mapping[tuple[str, ...], Amount]


@dataclass(frozen=True)
class Pairing:
    """Write amplification by one definition, and the counters that it is of.

    Attributes:
        definition: what is divided by what.
        wa: low, nominal and high; a high of None is unknown.
        host, flash: bytes; None if their unit is unknown.
        counters: that were used, the host's first.
        doubt: a sentence about its units; "" of none.
        is_partial: the flash's counters leave out a kind of cell that nothing else counts.
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
        """Labels of the counters, for readers."""
        labels = dict.fromkeys(one.label for one in reversed(self.counters))
        return " over ".join((" + ".join(list(labels)[:-1]), list(labels)[-1]))


def ratio(flash: Amount, host: Amount) -> Amount | None:
    """Return flash over host with its bounds; None if the host wrote nothing that shows."""
    if host.nominal <= 0 or host.high <= 0:
        return None
    # Where the host may have written nothing there is no upper bound; a large one stands for it.
    floor = host.low if host.low > 0 else host.nominal / 10**6
    return Amount(flash.low / host.high, flash.nominal / host.nominal, flash.high / floor)


def finest(counters: Iterable[Counter], amounts: Amounts) -> Counter | None:
    """Return the counter whose amount is known best, of those that count."""
    counting = [one for one in counters if one.key in amounts and amounts[one.key].nominal > 0]
    return min(counting, key=lambda one: _width(amounts[one.key]), default=None)


def _width(amount: Amount) -> Fraction:
    return (amount.high - amount.low) / amount.nominal


def pairings(counters: Iterable[Counter], amounts: Amounts) -> list[Pairing]:
    """Return the pairings of the counters that have an amount, the one to answer with first.

    Counters of an endurance group or a namespace are paired with counters of the same only.

    Args:
        counters: all of a drive.
        amounts: of a life or an interval, by the counters' keys.
    """
    by_scope: dict[str, list[Counter]] = {}
    for one in counters:
        if one.key in amounts:
            by_scope.setdefault(one.scope, []).append(one)
    found = [pair for group in by_scope.values() for pair in _of_scope(group, amounts)]
    whole = next((one for one in found if one.definition == "bytes" and _is_whole(one)), None)
    return sorted(
        found,
        key=lambda pair: (
            DEFINITIONS.index(pair.definition),
            not (_is_whole(pair) or (whole is not None and is_same_span(pair, whole))),
            pair.wa.high - pair.wa.low,
        ),
    )


def _is_whole(pair: Pairing) -> bool:
    return pair.counters[0].scope == "drive"


def is_same_span(one: Pairing, other: Pairing) -> bool:
    """Return whether two pairings' hosts wrote the same, so that they are of the same time."""
    if one.host is None or other.host is None:
        return False
    return one.host.low <= other.host.high and other.host.low <= one.host.high


def _of_scope(counters: list[Counter], amounts: Amounts) -> Iterator[Pairing]:
    def of(side: str, part: str) -> list[Counter]:
        return [one for one in counters if (one.side, one.part) == (side, part)]

    host = finest((one for one in of("host", "all") if one.unit), amounts)
    yield from _by_pages(host, of("flash", "host pages"), of("flash", "background pages"), amounts)
    flash = finest((one for one in of("flash", "all") if one.unit), amounts)
    if host and flash:
        yield from _of_bytes("bytes", host, (flash,), amounts)
    tlc = finest((one for one in of("flash", "tlc") if one.unit), amounts)
    in_slc = [one for one in of("flash", "slc") if one.unit]
    # Of an interval that wrote nothing to SLC, its counter says 0, which is a count.
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
    for one in flash[1:]:
        programmed += amounts[one.key]
    wa = ratio(programmed, written)
    if wa is not None:
        counted = (host, *flash)
        yield Pairing(definition, wa, written, programmed, counted, is_partial=is_partial)


def _by_pages(
    host: Counter | None, first: list[Counter], background: list[Counter], amounts: Amounts
) -> Iterator[Pairing]:
    """Yield (247 + 248) / 247 of Micron (its TN-FD-23), and by bytes if the page is known."""
    if not first or not background:
        return
    mine, copies = amounts[first[0].key], amounts[background[0].key]
    pages = Amount(*(a + b for a, b in zip(mine, copies, strict=True)))
    extra = ratio(copies, mine)
    if extra is None:
        return
    wa = Amount(*(1 + one for one in extra))
    counted = (first[0], background[0])
    if host is None or host.unit is None:
        yield Pairing("pages", wa, None, None, counted)
        return
    written = amounts[host.key]
    page_bytes = written.nominal / mine.nominal
    sizes = [size for low, high, size in _PAGE_UNITS if low <= page_bytes <= high]
    doubt = ""
    if not sizes:
        doubt = (
            f"{float(page_bytes):,.0f} bytes of the host a page are neither 16 KiB nor 64 KiB: the "
            "counters' units may be mixed"
        )
        wa = Amount(1 + extra.low / _MIXED_PAGES, wa.nominal, 1 + extra.high * _MIXED_PAGES)
    flash = Amount(wa.low * written.low, wa.nominal * written.nominal, wa.high * written.high)
    yield Pairing("pages", wa, written, flash, (host, *counted), doubt)
    if sizes:
        programmed = Amount(*(one * sizes[0] for one in pages))
        by_bytes = ratio(programmed, written)
        if by_bytes is not None:
            yield Pairing("bytes", by_bytes, written, programmed, (host, *counted))


def _in_shared_units(counters: list[Counter], amounts: Amounts) -> Iterator[Pairing]:
    """Yield ratios of counters whose common unit is unknown."""
    for unit in dict.fromkeys(one.shared for one in counters if one.shared and not one.unit):
        same = [one for one in counters if one.shared == unit and one.unit is None]
        host = [one for one in same if one.side == "host"]
        flash = [one for one in same if one.side == "flash"]
        if not host or not flash:
            continue
        written, programmed = (_sum(side, amounts) for side in (host, flash))
        wa = ratio(programmed, written)
        if wa is not None and programmed.nominal > 0:
            cells = {one.part for one in flash}
            is_partial = cells in ({"tlc"}, {"slc"})
            counted = (*host, *flash)
            yield Pairing("as the vendor reports", wa, None, None, counted, is_partial=is_partial)


def _sum(counters: list[Counter], amounts: Amounts) -> Amount:
    total = amounts[counters[0].key]
    for one in counters[1:]:
        total += amounts[one.key]
    return total


def standard_counter(logical_sectors: int, sector_bytes: int, source: str) -> Counter:
    """Return the host's counter of ATA device statistics (page 1, Logical Sectors Written)."""
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

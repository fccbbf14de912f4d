"""Rejoining of lines that a terminal or mail program broke, if the result is unambiguous."""

from __future__ import annotations

import re
from collections.abc import Sequence

from writeamp.drives.counters.pasted.prefixes import KEY, ROW_START, SAMPLE, SAMPLE_START
from writeamp.drives.counters.sources.smartctl_text import ROW

# Mark before both parts of a number that was broken over two lines, if they may be joined in
# several ways.
BROKEN = "\u21b5"
_MOST_PARTS = 4
_LONGEST = 400
# Second line of a broken number: the remaining digits, and the text after them.
_REST = re.compile(
    r"[ \t]*[,.']?\d[\d,.' ]{0,60}(?:[ \t]*(?:bytes\b|[\[(%]|h[+]|$).{0,120})?$|[ \t]*bytes \["
    r"|[ \t]*0x[0-9a-fA-F]{1,32}$"
)
_MAYBE = re.compile(
    r"\d[,.']?[ \t]*\n(?:[ \t]*\n)?[ \t]*[,.']?\d[\d,.' ]*(?:$|bytes|[ \t]*[\[(%])"
    r"|(?:Device Model|Model Number):[^\n]*\n[ \t]*\w[^:\n]{0,40}$"
    r"|\d[ \t]*\n[ \t]*0x[0-9a-fA-F]+$|[:=][ \t]*\n[ \t]*\d|\d\n[ \t]*bytes \[",
    re.MULTILINE,
)
_GROUPS = re.compile(r"\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})*|\d+")
_NUMBER = re.compile(r"\d[\d,.' ]*")
_ENDS = re.compile(r"(?P<ahead>.*?)(?P<number>\d[\d,.' ]*?[,.']?)$")
_MODEL = re.compile(r"[ \t]*(?:Device Model|Model Number):.{0,120}$")
# A word with a digit, and no other text: the last word of a model name.
_REST_OF_MODEL = re.compile(r"[ \t]*(?=\S{0,40}\d)[\w./-]{2,40}[ \t]*$")
_HEAD = "ID# ATTRIBUTE_NAME"
_HEAD_END = re.compile(r"(?:UPDATED[ \t]+WHEN_FAILED|THRESH[ \t]+FAIL)[ \t]+RAW_VALUE")
# Sample of Prometheus with its labels or value on the next line.
_OPEN_SAMPLE = re.compile(r"[A-Za-z_]\w{2,80}\{(?:[^{}]{0,400}|[^{}]{0,400}\}[ \t]*)$")
# Start of a line that does not continue the previous one: a field, a section, or a JSON document.
_OWN_LINE = re.compile(
    r"[A-Za-z][A-Za-z0-9 _()/.,#-]{2,80}?[ \t]*:[ \t]|===|[{\[\"]|\d{4}-\d\d-\d\d,"
)
_FEWEST_LINES = 3
_NARROWEST, _WIDEST = 30, 250


def with_joined_lines(text: str) -> str:
    """Return a text in which each attribute row and each number is on one line."""
    if not (_MAYBE.search(text) or _has_broken_row(text)):
        return text
    lines = _joined_at_width(text.split("\n"))
    return "\n".join(_joined_values(_joined_rows(lines)))


def _has_broken_row(text: str) -> bool:
    return any(
        (ROW_START.match(line) and not ROW.match(line)) or _OPEN_SAMPLE.match(line)
        for line in text.split("\n")
        if len(line) <= _LONGEST
    )


def _joined_at_width(lines: Sequence[str]) -> list[str]:
    """Return lines with the breaks at the width of a terminal removed.

    Lines count as broken if at least three lines have the greatest length, and an attribute row,
    the head of the table or three fields continue on the next line.
    """
    width = max(map(len, lines), default=0)
    full = [place for place, line in enumerate(lines[:-1]) if len(line) == width]
    if not _NARROWEST <= width <= _WIDEST or len(full) < _FEWEST_LINES:
        return list(lines)
    open_lines = [place for place in full if _is_rest(lines[place + 1])]
    fields = sum(1 for place in open_lines if KEY.match(lines[place]))
    if fields < _FEWEST_LINES and not any(_goes_on(lines, place, width) for place in open_lines):
        return list(lines)
    joined: list[str] = []
    is_open = False
    for line in lines:
        if is_open and _is_rest(line):
            joined[-1] += line
        else:
            joined.append(line)
        is_open = len(line) == width
    return joined


def _is_rest(line: str) -> bool:
    """Return whether a line may continue the previous line, as it does not start a row or field."""
    return bool(line.strip()) and not any(
        pattern.match(line) for pattern in (ROW_START, SAMPLE_START, _OWN_LINE)
    )


def _goes_on(lines: Sequence[str], place: int, width: int) -> bool:
    """Return whether a row, a sample or the table's head is broken at the end of this line."""
    parts = [lines[place]]
    while len(parts[-1]) == width and len(parts) < _MOST_PARTS and place + len(parts) < len(lines):
        parts.append(lines[place + len(parts)])
    glued, spaced = "".join(parts), " ".join(chunk.strip() for chunk in parts)
    if parts[0].lstrip().startswith(_HEAD):
        return bool(_HEAD_END.search(glued)) and not _HEAD_END.search(spaced)
    if ROW_START.match(parts[0]):
        return bool(ROW.match(glued)) and not ROW.match(parts[0])
    return bool(_OPEN_SAMPLE.match(parts[0]) and SAMPLE.match(glued) and not SAMPLE.match(spaced))


def _joined_rows(lines: Sequence[str]) -> list[str]:
    """Return lines with all columns of each attribute row on one line."""
    width = max(map(len, lines), default=0)
    joined: list[str] = []
    place = 0
    while place < len(lines):
        parts = _parts_of_row(lines, place, width)
        joined.append(_row(parts, width) or lines[place])
        place += len(parts) if _row(parts, width) else 1
    return joined


def _parts_of_row(lines: Sequence[str], place: int, width: int) -> list[str]:
    """Return the lines of a broken row or sample; empty for other lines."""
    first = lines[place]
    if len(first) > _LONGEST:
        return []
    if not _OPEN_SAMPLE.match(first) and (not ROW_START.match(first) or ROW.match(first)):
        return []
    parts = [first]
    for line in lines[place + 1 : place + _MOST_PARTS]:
        is_next = ROW_START.match(line) or SAMPLE_START.match(line)
        if not line.strip() or is_next or len(line) > _LONGEST:
            break
        parts.append(line)
        if _row(parts, width):
            break
    return parts


def _row(parts: Sequence[str], width: int) -> str | None:
    """Return a row or sample joined from its lines, broken between words or within one."""
    spaced, glued = " ".join(chunk.strip() for chunk in parts), "".join(parts)
    if ROW.match(spaced):
        return spaced
    if ROW.match(glued):
        return glued
    is_cut = all(len(chunk) == width for chunk in parts[:-1])
    sample = glued if is_cut else spaced
    return sample if len(parts) > 1 and SAMPLE.match(sample) else None


def _joined_values(lines: Sequence[str]) -> list[str]:
    """Return lines with each number complete, or marked as broken."""
    joined: list[str] = []
    for line in lines:
        if joined and _MODEL.match(joined[-1]) and _REST_OF_MODEL.match(line):
            joined[-1] = f"{joined[-1].rstrip()} {line.strip()}"
            continue
        if joined and len(line) <= _LONGEST and _REST.match(line) and not ROW_START.match(line):
            ahead = next((at for at in (-1, -2) if len(joined) >= -at and joined[at].strip()), 0)
            if ahead and (complete := _value(joined[ahead], line)) is not None:
                joined[ahead:] = [complete]
                continue
        joined.append(line)
    return joined


def _value(line: str, rest: str) -> str | None:
    """Return a line joined with the rest of its value; None if the next line is not that rest."""
    line, rest = line.rstrip(), rest.strip()
    if len(line) > _LONGEST:
        return None
    if rest.startswith("0x"):
        return f"{line}  {rest}" if line[-1:].isdigit() else None
    if not any(pattern.match(f"{line} x") for pattern in (ROW_START, KEY, SAMPLE)):
        return None
    if line.endswith((":", "=")) or rest.startswith("bytes"):
        return f"{line} {rest}"
    ends = _ENDS.match(line)
    return ends and _number(ends["ahead"], ends["number"].strip(), rest)


def _number(ahead: str, begun: str, rest: str) -> str:
    """Return a line with the parts of its number joined, or marked if joining is ambiguous."""
    match = _NUMBER.match(rest.lstrip(",.'"))
    assert match is not None
    number = rest[: rest.index(match[0])] + match[0].strip()
    is_cut = not _GROUPS.fullmatch(begun) or number[0] in ",.'"
    if is_cut and _GROUPS.fullmatch(begun + number):
        return f"{ahead}{begun}{rest}"
    if " " in begun and _GROUPS.fullmatch(f"{begun} {number}"):
        return f"{ahead}{begun} {rest}"
    return f"{ahead}{BROKEN}{begun} {BROKEN}{rest}"

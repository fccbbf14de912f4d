"""Prefixes of the lines of a pasted text: quotes, indentation, logs, line numbers."""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Sequence
from itertools import pairwise

# Start of a row of attributes, up to its flags.
ROW_START = re.compile(
    r"[ \t]*(?:0x[0-9a-f]{2}|\d{1,3})[ \t]+[A-Za-z][^\s|]*[ \t]+(?:0x[0-9a-f]{4}|[POSRCK+-]{6,8})"
    r"(?:[ \t]|$)"
)
KEY = re.compile(r"[ \t]*[A-Za-z][A-Za-z0-9 _()/.,#-]{1,80}?[ \t]*[:=][ \t]*(?=\S)")
# A sample of a metric of Prometheus.
SAMPLE_START = re.compile(r"[A-Za-z_]\w{2,80}\{")
SAMPLE = re.compile(rf"{SAMPLE_START.pattern}[^{{}}\n]{{0,800}}\}}[ \t]+\S")
# A name, and values in columns.
_COLUMNS = r"[ \t]*[A-Za-z][\w ()-]{2,60}?[ \t]{2,}\d"
_KNOWN = re.compile(
    rf"^[\"']?(?:{ROW_START.pattern}|{KEY.pattern}|{SAMPLE_START.pattern}|{_COLUMNS}"
    r"|[ \t]*(?:smartctl \d|=== START OF|[{}\"]))",
    re.MULTILINE,
)
# Begins the lines of one machine or program in a text of several.
ORIGIN = "\f"
ANY_HOST = ""

_QUOTE = re.compile(r"^[ \t]{0,40}(?:>[ \t]?){1,20}", re.MULTILINE)
_BARS = re.compile(r"^[ \t]{0,40}\|(?:[ \t]|$)", re.MULTILINE)
_BAR_ENDS = re.compile(r"\|[ \t]{0,40}$", re.MULTILINE)
_CLOCK = r"\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_STAMP = re.compile(
    r"[ \t]{0,40}(?P<priority><\d{1,3}>(?:1 )?)?(?:"
    r"\[[ ]{0,10}\d{1,10}\.\d{1,9}\]"
    rf"|\[[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} {_CLOCK} \d{{4}}\]"
    rf"|\[?(?:\d{{4}} )?(?:[A-Z][a-z]{{2}} )?[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} "
    rf"(?:\d{{4}} )?{_CLOCK}\]?"
    rf"|\[?\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?"
    rf"|\[?{_CLOCK}\]?"
    r"|\d{10}\.\d{3,9}"
    rf"|\[?\d\d[/.]\d\d[/.]\d{{4}},? {_CLOCK}(?: [AP]M)?\]?"
    rf"|[IWEF]\d{{4}} {_CLOCK} +\d{{1,10}} [\w.-]{{1,60}}:\d{{1,6}}\]"
    r")(?:(?: [|-])?(?: (?:DEBUG|INFO|WARNING|ERROR) ?[|:-])?)(?: |$)"
)
_STAMPED = re.compile(rf"^{_STAMP.pattern}", re.MULTILINE)
_LEVEL = r"(?:(?:debug|info|notice|warn|warning|err|error|crit|alert|emerg|\w+\.\w+) +)?"
_TAG = re.compile(rf"{_LEVEL}(?P<tag>[\w./()@+-]{{1,64}})(?:\[(?P<process>\d{{1,10}})\])?:(?: |$)",
                  re.IGNORECASE)  # fmt: skip
_RFC5424 = re.compile(r"(?P<host>\S+) (?P<tag>\S+) (?P<process>\S+) \S+ (?:-|(?:\[[^\]\n]*\])+) ?")
_STREAM = re.compile(r"(?:stdout|stderr) [FP] ")
# A word or marks in front of lines: "host1: ", "web_1  | ", "[pod/x] ", "# ".
_LABEL = re.compile(
    r"[ \t]{0,40}(\[?[\w./@-]{1,60}\]?[ ]{0,20}[|:>]|\[[\w./@: -]{1,80}\]|<[ @+]?[\w.-]{1,40}>"
    r"|[^\w\s\"'{}\[\](),<=.]{1,3})(?:[ \t]|$)"
)
# The same without a space behind, if all lines have the one: "file.txt:", "+".
_TIGHT_LABEL = re.compile(r"[ \t]{0,40}([\w./@-]{1,60}:|[+|#*<-])")
_NUMBERED = re.compile(r"[ \t]{0,10}L?(\d{1,6})(?: ?[:.)|] ?|\t| {1,40}(?=\S)| {0,4}$)")
_HUNK = re.compile(r"^(?:@@ -\d[^\n]* @@|\d+(?:,\d+)?[acd]\d+(?:,\d+)?$)", re.MULTILINE)
_DIFF_HEAD = re.compile(r"(?:diff |index |new file |--- |\+\+\+ |\\ No newline|---$)")
_MOST = 0.9
_OFTEN = 4
_HOST_LINES = 0.8
_FEWEST_KNOWN = 0.2


def filled_lines(text: str) -> int:
    """Return how many lines of a text are not blank."""
    return sum(1 for line in text.split("\n") if line.strip())


def known_lines(text: str) -> int:
    """Return how many lines of a text look like those of a drive's log."""
    return sum(1 for _ in _KNOWN.finditer(text))


def without_quotes(text: str) -> str:
    """Return a text without the marks of quoted mail in front of its lines."""
    if ">" in text:
        text = _QUOTE.sub("", text)
    # Rows of tables end with a bar, too.
    if "|" in text and len(_BARS.findall(text)) * 2 > filled_lines(text) + len(
        _BAR_ENDS.findall(text)
    ):
        text = _BARS.sub("", text)
    return text


def without_indentation(text: str) -> str:
    """Return a text without the indentation that its lines have in common."""
    lines = text.split("\n")
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    least = min(indents, default=0)
    return "\n".join(line[least:] for line in lines) if least else text


def without_log_prefixes(text: str) -> str:
    """Return the messages of a log without its times, hosts and tags; those of a host together."""
    stamps = len(_STAMPED.findall(text))
    if stamps < 2 or stamps * 2 < filled_lines(text):
        return text
    lines = text.split("\n")
    stamped = [_STAMP.match(line) for line in lines]
    rests = [
        line[found.end() :] if found else line for line, found in zip(lines, stamped, strict=True)
    ]
    host = _host([rest for rest, found in zip(rests, stamped, strict=True) if found])
    named = [
        _named(rest, host, is_rfc5424=(found["priority"] or "").endswith("1 "))
        if found
        else ("", "", rest)
        for rest, found in zip(rests, stamped, strict=True)
    ]
    if not any(origin for origin, _, _ in named):
        return "\n".join(_without_host([rest for _, _, rest in named]))
    if len({process for _, process, _ in named}) > len(named) / _OFTEN:
        named = [(origin, "", rest) for origin, _, rest in named]
    return _sorted([(f"{origin} {process}".strip(), rest) for origin, process, rest in named])


def _host(rests: Sequence[str]) -> str | None:
    """Return the name of the machine in front of nearly all messages, or ANY_HOST of several."""
    names = Tally(
        name
        for rest in rests
        if (name := rest.partition(" ")[0]) and _TAG.match(rest[len(name) + 1 :])
    )
    if names.total() < max(len(rests) * _HOST_LINES, 2):
        return None
    if len(names) == 1:
        return next(iter(names))
    return ANY_HOST if len(names) * _OFTEN <= names.total() else None


def _without_host(rests: Sequence[str]) -> list[str]:
    """Return messages without the machine's name in front of them all, where no tag follows it."""
    names = {rest.partition(" ")[0] for rest in rests if rest.strip()}
    if len(names) != 1 or len(rests) < _OFTEN:
        return list(rests)
    return [rest.partition(" ")[2] for rest in rests]


def _named(rest: str, host: str | None, *, is_rfc5424: bool) -> tuple[str, str, str]:
    """Return the origin and the process of a message, and its text."""
    if is_rfc5424 and (found := _RFC5424.match(rest)):
        return f"{found['host']} {found['tag']}", found["process"], rest[found.end() :]
    if found := _STREAM.match(rest):
        return "", "", rest[found.end() :]
    name, _, behind = rest.partition(" ")
    tag = _TAG.match(behind)
    if tag and (host in (ANY_HOST, name) or (host is None and tag["process"])):
        return f"{name} {tag['tag']}", tag["process"] or "", behind[tag.end() :]
    if host is None and (tag := _TAG.match(rest)) and tag["process"]:
        return tag["tag"], tag["process"], rest[tag.end() :]
    return "", "", rest


def _sorted(lines: Sequence[tuple[str, str]]) -> str:
    """Return lines grouped by origin; those without one follow the line before them."""
    origins: dict[str, list[str]] = {}
    last = ""
    for origin, line in lines:
        last = origin or last
        origins.setdefault(last, []).append(line)
    if len(origins) == 1:
        return "\n".join(origins.popitem()[1])
    return "\n".join(f"{ORIGIN}{origin}\n" + "\n".join(rest) for origin, rest in origins.items())


def without_diff(text: str) -> str:
    """Return the old file of a diff and then the new one, as far as the diff shows them.

    Of a diff that only adds, or only removes, this is one file.
    """
    if not _HUNK.search(text):
        return text
    lines = [one for one in text.split("\n") if not (_HUNK.match(one) or _DIFF_HEAD.match(one))]
    old = [one[1:] for one in lines if one[:1] in "-< "]
    new = [one[1:] for one in lines if one[:1] in "+> "]
    if not any(one[:1] in ("+", ">") for one in lines):
        new = []
    elif not any(one[:1] in ("-", "<") for one in lines):
        old = []
    return "\n".join([*old, *new]) if _are_known([*old, *new]) else text


def without_labels(text: str) -> str:
    """Return a text without the labels or marks that its lines begin with."""
    lines = text.split("\n")
    filled = filled_lines(text)
    if filled < 2 or ORIGIN in text:
        return text
    for pattern, least, most in (
        (_TIGHT_LABEL, filled, 1),
        (_LABEL, _MOST * filled, max(filled // _OFTEN, 1)),
    ):
        found = [pattern.match(line) for line in lines]
        labels = Tally(one[1] for one in found if one)
        if labels.total() < least or len(labels) > most:
            continue
        labelled = [
            (one[1], line[one.end() :]) if one else ("", line)
            for line, one in zip(lines, found, strict=True)
        ]
        # As `grep -n` prints it, a line's number follows the file's name.
        if _are_known(without_line_numbers("\n".join(line for _, line in labelled)).split("\n")):
            return _sorted(labelled)
    return text


def without_line_numbers(text: str) -> str:
    """Return a text without the numbers of its lines, which follow on each other."""
    lines = text.split("\n")
    found = [_NUMBERED.match(line) for line in lines if line.strip()]
    numbers = [int(one[1]) for one in found if one]
    if len(numbers) < max(2, _MOST * len(found)) or any(map(ROW_START.match, lines)):
        return text
    steps = [later - earlier for earlier, later in pairwise(numbers)]
    if any(step < 1 for step in steps) or steps.count(1) < _MOST * len(steps):
        return text
    rests = [_NUMBERED.sub("", line, count=1) for line in lines]
    return "\n".join(rests) if _are_known(rests) else text


def _are_known(lines: Sequence[str]) -> bool:
    """Return whether lines look like a drive's log, so that only a prefix was removed."""
    text = "\n".join(line.lstrip() for line in lines)
    return known_lines(text) >= max(2, filled_lines(text) * _FEWEST_KNOWN)

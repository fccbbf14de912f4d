"""Removal of prefixes of pasted lines: quotes, indentation, log stamps, line numbers."""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Sequence
from itertools import pairwise

# Start of an attribute row, up to its flags.
ROW_START = re.compile(
    r"[ \t]*(?:0x[0-9a-f]{2}|\d{1,3})[ \t]+[A-Za-z][^\s|]*[ \t]+(?:0x[0-9a-f]{4}|[POSRCK+-]{6,8})"
    r"(?:[ \t]|$)"
)
KEY = re.compile(r"[ \t]*[A-Za-z][A-Za-z0-9 _()/.,#-]{1,80}?[ \t]*[:=][ \t]*(?=\S)")
# Start of a sample of a Prometheus metric.
SAMPLE_START = re.compile(r"[A-Za-z_]\w{2,80}\{")
SAMPLE = re.compile(rf"{SAMPLE_START.pattern}[^{{}}\n]{{0,800}}\}}[ \t]+\S")
# Line with a name, and values in columns.
_COLUMNS = r"[ \t]*[A-Za-z][\w ()-]{2,60}?[ \t]{2,}\d"
_KNOWN = re.compile(
    rf"^[\"']?(?:{ROW_START.pattern}|{KEY.pattern}|{SAMPLE_START.pattern}|{_COLUMNS}"
    r"|[ \t]*(?:smartctl \d|=== START OF|[{}\"]))",
    re.MULTILINE,
)
# Marks the start of the lines of one machine or program.
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
# Word or marks before lines: "host1: ", "web_1  | ", "[pod/x] ", "# ".
_LABEL = re.compile(
    r"[ \t]{0,40}(\[?[\w./@-]{1,60}\]?[ ]{0,20}[|:>]|\[[\w./@: -]{1,80}\]|<[ @+]?[\w.-]{1,40}>"
    r"|[^\w\s\"'{}\[\](),<=.]{1,3})(?:[ \t]|$)"
)
# Label without a space after it, such as "file.txt:" or "+". It is removed only if all lines have
# it.
_TIGHT_LABEL = re.compile(r"[ \t]{0,40}([\w./@-]{1,60}:|[+|#*<-])")
_NUMBERED = re.compile(r"[ \t]{0,10}L?(\d{1,6})(?: ?[:.)|] ?|\t| {1,40}(?=\S)| {0,4}$)")
_HUNK = re.compile(r"^(?:@@ -\d[^\n]* @@|\d+(?:,\d+)?[acd]\d+(?:,\d+)?$)", re.MULTILINE)
_DIFF_HEAD = re.compile(r"(?:diff |index |new file |--- |\+\+\+ |\\ No newline|---$)")
_MOST = 0.9
_OFTEN = 4
_HOST_LINES = 0.8
_FEWEST_KNOWN = 0.2


def filled_lines(text: str) -> int:
    """Return the number of lines that are not blank."""
    return sum(1 for line in text.split("\n") if line.strip())


def known_lines(text: str) -> int:
    """Return the number of lines that look like a drive's log."""
    return sum(1 for _ in _KNOWN.finditer(text))


def without_quotes(text: str) -> str:
    """Return a text without the quote marks of mail before its lines."""
    if ">" in text:
        text = _QUOTE.sub("", text)
    # Table rows end with a bar, too, so lines that end with a bar do not count as quoted.
    if "|" in text and len(_BARS.findall(text)) * 2 > filled_lines(text) + len(
        _BAR_ENDS.findall(text)
    ):
        text = _BARS.sub("", text)
    return text


def without_indentation(text: str) -> str:
    """Return a text without the common indentation of its lines."""
    lines = text.split("\n")
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    least = min(indents, default=0)
    return "\n".join(line[least:] for line in lines) if least else text


def without_log_prefixes(text: str) -> str:
    """Return the messages of a log without times, hosts and tags, grouped by host."""
    stamps = len(_STAMPED.findall(text))
    if stamps < 2 or stamps * 2 < filled_lines(text):
        return text
    lines = text.split("\n")
    stamped = [_STAMP.match(line) for line in lines]
    rests = [
        line[match.end() :] if match else line for line, match in zip(lines, stamped, strict=True)
    ]
    host = _host([rest for rest, match in zip(rests, stamped, strict=True) if match])
    named = [
        _named(rest, host, is_rfc5424=(match["priority"] or "").endswith("1 "))
        if match
        else ("", "", rest)
        for rest, match in zip(rests, stamped, strict=True)
    ]
    if not any(origin for origin, _, _ in named):
        return "\n".join(_without_host([rest for _, _, rest in named]))
    if len({process for _, process, _ in named}) > len(named) / _OFTEN:
        named = [(origin, "", rest) for origin, _, rest in named]
    return _sorted([(f"{origin} {process}".strip(), rest) for origin, process, rest in named])


def _host(rests: Sequence[str]) -> str | None:
    """Return the machine name before nearly all messages, ANY_HOST if the names differ, or None."""
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
    """Return messages without a machine name that begins all of them and has no tag after it."""
    names = {rest.partition(" ")[0] for rest in rests if rest.strip()}
    if len(names) != 1 or len(rests) < _OFTEN:
        return list(rests)
    return [rest.partition(" ")[2] for rest in rests]


def _named(rest: str, host: str | None, *, is_rfc5424: bool) -> tuple[str, str, str]:
    """Return the origin, the process and the text of a message."""
    if is_rfc5424 and (match := _RFC5424.match(rest)):
        return f"{match['host']} {match['tag']}", match["process"], rest[match.end() :]
    if match := _STREAM.match(rest):
        return "", "", rest[match.end() :]
    name, _, after_name = rest.partition(" ")
    tag = _TAG.match(after_name)
    if tag and (host in (ANY_HOST, name) or (host is None and tag["process"])):
        return f"{name} {tag['tag']}", tag["process"] or "", after_name[tag.end() :]
    if host is None and (tag := _TAG.match(rest)) and tag["process"]:
        return tag["tag"], tag["process"], rest[tag.end() :]
    return "", "", rest


def _sorted(lines: Sequence[tuple[str, str]]) -> str:
    """Return lines grouped by origin; a line without origin follows the line before it."""
    origins: dict[str, list[str]] = {}
    last = ""
    for origin, line in lines:
        last = origin or last
        origins.setdefault(last, []).append(line)
    if len(origins) == 1:
        return "\n".join(origins.popitem()[1])
    return "\n".join(f"{ORIGIN}{origin}\n" + "\n".join(rest) for origin, rest in origins.items())


def without_diff(text: str) -> str:
    """Return the old file of a diff, and after it the new file, as far as the diff shows them.

    A diff that only adds or only removes lines gives one file.
    """
    if not _HUNK.search(text):
        return text
    lines = [line for line in text.split("\n") if not (_HUNK.match(line) or _DIFF_HEAD.match(line))]
    old = [line[1:] for line in lines if line[:1] in "-< "]
    new = [line[1:] for line in lines if line[:1] in "+> "]
    if not any(line[:1] in ("+", ">") for line in lines):
        new = []
    elif not any(line[:1] in ("-", "<") for line in lines):
        old = []
    return "\n".join([*old, *new]) if _are_known([*old, *new]) else text


def without_labels(text: str) -> str:
    """Return a text without the labels at the start of its lines, which are grouped by label."""
    lines = text.split("\n")
    filled = filled_lines(text)
    if filled < 2 or ORIGIN in text:
        return text
    for pattern, least, most in (
        (_TIGHT_LABEL, filled, 1),
        (_LABEL, _MOST * filled, max(filled // _OFTEN, 1)),
    ):
        matches = [pattern.match(line) for line in lines]
        labels = Tally(match[1] for match in matches if match)
        if labels.total() < least or len(labels) > most:
            continue
        labelled = [
            (match[1], line[match.end() :]) if match else ("", line)
            for line, match in zip(lines, matches, strict=True)
        ]
        # `grep -n` prints the line number after the file name.
        if _are_known(without_line_numbers("\n".join(line for _, line in labelled)).split("\n")):
            return _sorted(labelled)
    return text


def without_line_numbers(text: str) -> str:
    """Return a text without its consecutive line numbers."""
    lines = text.split("\n")
    matches = [_NUMBERED.match(line) for line in lines if line.strip()]
    numbers = [int(match[1]) for match in matches if match]
    if len(numbers) < max(2, _MOST * len(matches)) or any(map(ROW_START.match, lines)):
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

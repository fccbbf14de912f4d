"""Splitting of a file into the logs pasted into it, each with its device."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from writeamp.drives.counters.document import JSON_START, Document
from writeamp.drives.counters.pasted.prefixes import ORIGIN
from writeamp.drives.counters.pasted.text import MOST_CHARACTERS, plain_text
from writeamp.errors import WriteampError
from writeamp.vssd.log_pages import fdp, ocp, smart

_COMMAND = re.compile(
    r"(?P<prompt>.{0,120}?[#$%>:\u276f\u279c][ \t]*|[ \t]*)(?:sudo[ \t]+(?:-\S+[ \t]+){0,4})?"
    r"(?:[\w./\\-]{0,80}[/\\])?(?P<tool>smartctl|nvme)(?:\.exe)?[ \t]+(?P<rest>\S.*)$"
)
_ARGUMENTS = re.compile(r"-|.*/dev/|.*\b(?:nvme|sd[a-z]|ng)\d|(?:list|smart-log|id-ctrl)\b")
_DEVICE = re.compile(r"/dev/([\w/.-]{1,80})|\b(nvme\d{1,4}(?:n\d{1,4})?)\b")
_BEHIND = re.compile(r"-d[ \t]+(\w{1,20},\w{1,20}|\w+\+\w+,\w+)")
_PROMPT = re.compile(
    r"[ \t]*(?:\([^()\n]{1,40}\)[ \t]*)?\[?[\w.-]{1,64}@[\w.-]{1,64}[^\n#$%>]{0,120}"
    r"[#$%>](?:[ \t]|$)"
    r"|[ \t]*(?:PS )?[A-Z]:\\[^>\n]{0,120}>"
)
_MACHINE = re.compile(r"@([\w.-]{1,64})")
_HEAD = re.compile(
    r"[ \t]*(?:smartctl \d|NVM[Ee] Identify Controller|SMART Cloud Attributes|==> .{1,200} <==$"
    r"|.{0,60}\b[Ll]og\b.{0,40}\bfor (?:NVM[Ee]|nvme)[ \t]+device[ \t]*:?[ \t]*(?P<device>\S+))"
)
_OF_NVME = re.compile(r"(nvme|ng)(\d+)\D?")
_RESULT = re.compile(r"\[(?P<machine>[\w.-]{1,64})\][^\n{\[]{0,200} => (?=[{\[])")
# Number of lines at the start of a log. Truncated JSON in them is an error; in later lines, it is
# text.
_HEAD_LINES = 64
_MOST_FAILURES = 16
_MOST_LINE = 400
# Marks of two parts of smartctl's text, which separate commands may print: the drive's identity,
# and its table of values.
_IDENTITY = re.compile(r"^[ \t]*(?:Device Model|Model Number|Product):", re.MULTILINE)
_VALUES = re.compile(
    r"^[ \t]*(?:ID# ATTRIBUTE_NAME|Data Units Written:|Error counter log:)", re.MULTILINE
)
_VERSION_LINE = re.compile(r"^[ \t]*smartctl \d.*$", re.MULTILINE)
# A JSON object with one of these keys is a complete log.
_KEYS_OF_LOGS = frozenset(
    {
        "smartctl",
        "device",
        smart.WRITTEN,
        fdp.HOST_WRITTEN,
        ocp.FIELDS[0].key,
        ocp.FIELDS[0].old_key,
    }
)
_MOST_BYTES = 32 << 20
_MOST_LOGS = 5000
_MOST_NODES = 20_000
_FEWEST_STRINGS = 2
# JSON keys under which log collectors store a line of a log.
_LINE_KEYS = ("MESSAGE", "log", "message", "line", "msg")
_DEVICE_NAME = re.compile(r"(?:/dev/)?(?:nvme\d+(?:n\d+)?|sd[a-z]{1,2}|disk\d+|a?da\d+)")
_DEVICE_KEYS = ("device", "dev", "disk", "name", "path", "DevicePath")
_OF_SMARTCTL = frozenset({"smartctl", "ata_smart_attributes", "nvme_smart_health_information_log"})
# A JSON object is a log if it has all keys of one of these sets.
_KEYS_OF_NESTED_LOGS = (
    *({key} for key in sorted(_OF_SMARTCTL)),
    {"critical_warning", "data_units_written"},
    {"Physical media units written"},
    {"physical_media_units_written"},
)
_MOST_NESTED_NODES = 20_000


class PastedLog(NamedTuple):
    """Log of a document.

    Attributes:
        document: the log's text, as printed by the tool.
        device: device that the command or the log's head names, or "".
        machine: machine on which the log was read, or "".
    """

    document: Document
    device: str = ""
    machine: str = ""


def logs_in(document: Document) -> list[PastedLog]:
    """Return the logs pasted into a document, without the text between them.

    If the whole document is JSON, returns the logs inside it, or the document itself. A document
    that is not text is returned unchanged.

    Raises:
        WriteampError: the document has more than 5,000 logs.
    """
    # Binary pages, and huge files such as CSV tables, are not pasted text, so they stay whole.
    if len(document.content) > _MOST_BYTES or "\0" in document.text[:4096]:
        return [PastedLog(document)]
    if len(document.text) > MOST_CHARACTERS and not document.text.lstrip().startswith(("{", "[")):
        return [PastedLog(document)]
    if _is_json(document):
        log = PastedLog(document)
        return _items(log) or _nested(log) or [log]
    if printed := _printed_results(document):
        return printed
    plain = plain_document(document)
    logs = [log for log in islice(_split(plain), _MOST_LOGS + 1) if log.document.text.strip()]
    logs = [inner for log in logs for inner in _items(log) or [log]]
    if len(logs) > _MOST_LOGS:
        raise WriteampError(
            f"{document.name} holds more than {_MOST_LOGS:,} logs. Pass one file per drive"
        )
    lines = [text for log in logs if (text := _line_of(log)) is not None]
    if len(logs) > 1 and len(lines) == len(logs):
        return logs_in(document.with_text("\n".join(lines)))
    return _completed(logs) or [PastedLog(plain)]


def _printed_results(document: Document) -> list[PastedLog]:
    """Return the results in the output of Ansible, one per machine: `ok: [machine] => {…}`."""
    logs: list[PastedLog] = []
    end = 0
    for match in _RESULT.finditer(document.text):
        if match.start() < end:
            continue
        try:
            span = document.json_from(match.end())
        except WriteampError:
            return []
        end = span.end
        printed = document.with_text(document.text[span.start : span.end])
        logs.append(PastedLog(printed, machine=match["machine"]))
    return logs


def plain_document(document: Document) -> Document:
    """Return a document with its text cleaned, as the tool printed it."""
    return document.with_text(plain_text(document.text))


def texts_in_json(document: Document) -> list[Document]:
    """Return the texts in a JSON document that may be logs.

    These are strings of several lines or of JSON, and lists of lines.
    """
    try:
        root = document.json
    except WriteampError:
        return []
    texts = dict.fromkeys(text.strip("\n") for text in _texts(root))
    return [document.with_text(text) for text in texts]


def _texts(root: Any) -> Iterator[str]:
    nodes = [root]
    for _ in range(_MOST_NODES):
        if not nodes:
            return
        node = nodes.pop()
        if isinstance(node, str) and ("\n" in node.strip("\n") or node.startswith("{")):
            yield node
        elif isinstance(node, dict):
            nodes += reversed(list(node.values()))
        elif isinstance(node, list) and node and all(isinstance(line, str) for line in node):
            if len(node) >= _FEWEST_STRINGS:
                yield "\n".join(line.rstrip("\n") for line in node)
        elif isinstance(node, list):
            nodes += reversed(node)


def _is_json(document: Document) -> bool:
    """Return whether a whole document is JSON."""
    text = document.text
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        span = document.json_span
    except WriteampError:
        return False
    return span is not None and not text[: span.start].strip() and not text[span.end :].strip()


def _nested(log: PastedLog) -> list[PastedLog]:
    """Return the logs inside the JSON document of a log."""
    return [
        PastedLog(log.document.with_text(json.dumps(nested_log)), _short(device), log.machine)
        for nested_log, device in nested_logs(log.document.json)
    ]


def _items(log: PastedLog) -> list[PastedLog]:
    """Return the logs of a JSON list of logs; empty for any other text."""
    if not log.document.text.lstrip().startswith("["):
        return []
    try:
        root = log.document.json
    except WriteampError:
        return []
    if not isinstance(root, list) or not root or not all(isinstance(item, dict) for item in root):
        return []
    if not all(item.keys() & _KEYS_OF_LOGS for item in root):
        return []
    return [log._replace(document=log.document.with_text(json.dumps(item))) for item in root]


def _split(document: Document) -> Iterator[PastedLog]:
    """Yield the logs of a text: output after a command, a prompt or a heading, and JSON."""
    text = document.text
    lines: list[str] = []
    device = machine = origin = ""
    is_begun = False
    place = failures = 0

    def log(content: str) -> PastedLog:
        return PastedLog(document.with_text(content), device, machine)

    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        line = text[place:end]
        head = _head(line.rstrip("\n"))
        json_end = None
        if failures < _MOST_FAILURES and JSON_START.match(line):
            json_end = _json_end(document, place, line, is_at_start=len(lines) < _HEAD_LINES)
            failures += json_end is None
        if (head or json_end) and is_begun:
            if lines:
                yield log("".join(lines))
            lines, is_begun = [], False
            device = "" if head else device
        if json_end:
            yield log(text[place:json_end])
            # Concatenated files may lack line ends between their documents.
            is_next = text[json_end : json_end + 80].lstrip(" \t").startswith("{")
            end = json_end if is_next else text.find("\n", json_end) + 1 or len(text)
            lines, is_begun = [], True
        elif line.startswith(ORIGIN):
            origin = machine = line[1:].split(" ")[0].strip()
            device = ""
        else:
            if head:
                device = head.device or device
                machine = head.machine or origin or machine
            lines.append(line)
            is_begun = is_begun or bool(line.strip() and not head)
        place = end
    yield log("".join(lines))


def _json_end(document: Document, place: int, line: str, *, is_at_start: bool) -> int | None:
    """Return the end of the JSON document that a line begins; None if it is not JSON.

    If the JSON at the start of a log is truncated, returns the end of the text, so the reader of
    the log rejects it.
    """
    try:
        return document.json_from(place + len(line) - len(line.lstrip())).end
    except WriteampError:
        return len(document.text) if is_at_start else None


class _LogHead(NamedTuple):
    """First line of a log, with the device and machine that it names."""

    device: str = ""
    machine: str = ""


def _head(line: str) -> _LogHead | None:
    if len(line) > _MOST_LINE:
        return None
    if line.startswith(ORIGIN):
        return _LogHead()
    if ("smartctl" in line or "nvme" in line) and (match := _COMMAND.match(line)):
        rest = match["rest"]
        if _ARGUMENTS.match(rest):
            return _LogHead(_device(rest), _machine(match["prompt"]))
    if prompt := _PROMPT.match(line):
        return _LogHead("", _machine(prompt[0]))
    if match := _HEAD.match(line):
        return _LogHead(_short(match["device"] or ""))
    return None


def _device(arguments: str) -> str:
    names = list(_DEVICE.finditer(arguments))
    if not names:
        return ""
    name = _short(names[-1][1] or names[-1][2])
    match = _BEHIND.search(arguments)
    return f"{name} {match[1]}" if match else name


def _short(name: str) -> str:
    """Return the drive's name from the name of a device, namespace or partition."""
    name = name.removeprefix("/dev/")
    match = _OF_NVME.match(name)
    return f"nvme{match[2]}" if match else re.sub(r"^(sd[a-z]+)\d+$", r"\1", name)


def _machine(prompt: str) -> str:
    match = _MACHINE.search(prompt)
    return match[1] if match else ""


def _completed(logs: list[PastedLog]) -> list[PastedLog]:
    """Return the logs, with each attribute table of smartctl joined to the identity before it."""
    done: list[PastedLog] = []
    for log in logs:
        previous = done[-1] if done else None
        if previous and _is_continued(previous, log):
            without_version = _VERSION_LINE.sub("", log.document.text, count=1)
            text = f"{previous.document.text.rstrip()}\n\n{without_version}"
            done[-1] = previous._replace(
                document=log.document.with_text(text),
                device=previous.device or log.device,
            )
        else:
            done.append(log)
    return done


def _is_continued(previous: PastedLog, log: PastedLog) -> bool:
    first, second = previous.document.text, log.document.text
    return (
        (not previous.device or not log.device or previous.device == log.device)
        and (not previous.machine or not log.machine or previous.machine == log.machine)
        and bool(_IDENTITY.search(first) and not _VALUES.search(first))
        and bool(_VALUES.search(second) and not _IDENTITY.search(second))
    )


def _line_of(log: PastedLog) -> str | None:
    """Return the log line in a JSON record of a log collector; None if the log is not a record."""
    if not log.document.text.startswith("{"):
        return None
    try:
        record = log.document.json
    except WriteampError:
        return None
    if not isinstance(record, dict):
        return None
    line = next((record[key] for key in _LINE_KEYS if isinstance(record.get(key), str)), None)
    return None if line is None else str(line).rstrip("\n")


def nested_logs(root: Any) -> list[tuple[dict[str, Any], str]]:
    """Return the logs inside a JSON document, each with its device or "".

    If the document itself is a log, returns an empty list. So does a document with a single log of
    nvme-cli, as its model and serial number may be next to the log.
    """
    logs = [] if _is_log(root) else list(_logs_below(root))
    if len(logs) == 1 and not logs[0][0].keys() & _OF_SMARTCTL:
        return []
    return logs


def _logs_below(root: Any) -> Iterator[tuple[dict[str, Any], str]]:
    nodes = [(root, "")]
    for _ in range(_MOST_NESTED_NODES):
        if not nodes:
            return
        node, device = nodes.pop()
        if _is_log(node):
            yield node, device
        elif isinstance(node, dict):
            own_device = next(
                (node[key] for key in _DEVICE_KEYS if _is_device(node.get(key))), device
            )
            nodes += [
                (value, key if _is_device(key) else own_device) for key, value in node.items()
            ][::-1]
        elif isinstance(node, list):
            nodes += [(item, device) for item in reversed(node)]


def _is_log(node: Any) -> bool:
    return isinstance(node, dict) and any(keys <= node.keys() for keys in _KEYS_OF_NESTED_LOGS)


def _is_device(name: Any) -> bool:
    return isinstance(name, str) and _DEVICE_NAME.fullmatch(name) is not None

"""Reading of snapshots from files and folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from writeamp.drives.counters.document import (
    MOST_BYTES,
    Document,
    is_standard_input,
    load,
    name_of,
    whole,
)
from writeamp.drives.counters.facts import CUT_END, CounterCheck, CounterFacts
from writeamp.drives.counters.families import NOTHING_STATED, Family, Stated
from writeamp.drives.counters.pasted.drives import LogFacts, by_drive
from writeamp.drives.counters.pasted.logs import PastedLog, logs_in, plain_document, texts_in_json
from writeamp.drives.counters.pasted.wrapped import BROKEN
from writeamp.drives.counters.saved_file import unpacked
from writeamp.drives.counters.snapshot import Snapshot, snapshot_of
from writeamp.drives.counters.sources import sources
from writeamp.drives.counters.sources.smartctl_text import ROW, raw_value
from writeamp.errors import WriteampError
from writeamp.results.signatures import signed_verb

# All of them are in docs/real-drives.md.
_SUCH = (
    "such is what `smartctl -x`, `nvme smart-log`, `nvme ocp smart-add-log`, `nvme fdp stats` or "
    "a vendor's plugin of nvme-cli prints, as JSON or text; CrystalDiskInfo's and ssacli's text; "
    "Prometheus' text of smartctl_exporter; and Backblaze's daily CSV"
)
_BROKEN = (
    "a number is broken over two lines, or another one follows it: which digits belong together is "
    "not sure, so that it is not read. Paste the text with lines as long as they are"
)
# A text that ends with a digit, perhaps behind an escape sequence, and without a line end.
_CUT = re.compile(r"[0-9a-fA-F](?:\x1b\[[\d;]{0,16}[mK]){0,4}\Z")
# A folder of one drive holds few files, and no folders.
_MOST_FILES = 64
_LAST_LINE = re.compile(r"[^\n]{0,2000}\Z")
_ENDS = re.compile(r"(?:0x[0-9a-fA-F]+|\d[\d,.'_ ]*(?:e\+?\d+)?)\Z")
_LAST_DIGITS = re.compile(r"\d+\Z")
_HOURS_ID = 9


def read_snapshots(
    path: str | os.PathLike[str], model: str | None = None, families: tuple[Family, ...] = ()
) -> list[Snapshot]:
    """Return the snapshots of a file, which may hold several, or of a folder, which is one.

    Args:
        path: of the file or folder; "-" of standard input.
        model: of the drive, for files that do not say it.
        families: to try before those of the table.

    Raises:
        WriteampError: it cannot be read, is no snapshot of a drive, or is one of another model.
    """
    place, stated = Path(path), Stated.of(model, families)
    return snapshots_of(name_of(place), documents_at(place), stated)


def documents_at(place: Path) -> dict[str, bytes]:
    """Return the content of a file under the name "", or of a folder's files by their names.

    A file that `measure save` made is read as the folder of the documents that it holds.

    Raises:
        WriteampError: they cannot be read.
    """
    if place.is_dir() and not is_standard_input(place):
        return _of_folder(place)
    return documents_in(load(place))


def _of_folder(folder: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    total_bytes = 0
    for file in _files(folder):
        found[file.name] = load(file).content
        total_bytes += len(found[file.name])
        if total_bytes > MOST_BYTES:
            raise WriteampError(
                f"the files of {str(folder)!r} are larger than {MOST_BYTES >> 20} MiB, the limit "
                "per snapshot"
            )
    return found


def documents_in(document: Document) -> dict[str, bytes]:
    """Return a document under the name "", or those that a saved snapshot holds by their names.

    Raises:
        WriteampError: it is a saved snapshot that is damaged.
    """
    return unpacked(document) or {"": document.content}


def snapshots_of(
    name: str, contents: Mapping[str, bytes], stated: Stated = NOTHING_STATED
) -> list[Snapshot]:
    """Return the snapshots of a file or a folder from its content, as `documents_at` has it.

    Raises:
        WriteampError: it is no snapshot of a drive.
    """
    if "" in contents:
        return snapshots_in(Document(name, contents[""], stated))
    parts = [
        one
        for file, content in contents.items()
        for one in _facts_of_one(Document(os.path.join(name, file), content, stated))
    ]
    if not parts:
        raise WriteampError(f"the folder {name!r} holds no file of a drive's counters; {_SUCH}")
    return [snapshot_of(name, parts)]


def snapshots_in(document: Document) -> list[Snapshot]:
    """Return the snapshots of a document.

    Raises:
        WriteampError: it is no snapshot of a drive.
    """
    snapshots = snapshots_or_none(document)
    if snapshots is None:
        raise WriteampError(f"{document.name} is {_as_none(document)}; {_SUCH}")
    return snapshots


def snapshots_or_none(document: Document) -> list[Snapshot] | None:
    """Return the snapshots of a document; None if no source reads it, nor a log in it.

    Raises:
        WriteampError: it is a log that cannot be read.
    """
    drives = _drives_in(document)
    return None if drives is None else [snapshot_of(document.name, one) for one in drives]


def _as_none(document: Document) -> str:
    """Return that a document is no snapshot, and if it is a result of ours, of which verb."""
    verb = signed_verb(document.json) if isinstance(document.json, Mapping) else None
    told = "" if verb is None else f"a result of writeamp {verb}, and "
    return f"{told}no snapshot of a drive"


def _drives_in(document: Document) -> list[list[CounterFacts]] | None:
    """Return the facts of each drive and moment in a document; None if no source reads it."""
    read = _read_logs(document)
    if not read:
        return None
    if len(read) == 1:
        return [[one] for one in read[0][1]]
    return by_drive(
        [LogFacts(one, log.device, log.machine) for log, facts in read for one in facts]
    )


def _read_logs(document: Document) -> list[tuple[PastedLog, list[CounterFacts]]]:
    """Return the logs of a document that a source reads, with their facts.

    A log in JSON may hold the text of a tool, as the results of Ansible do.
    """
    read: list[tuple[PastedLog, list[CounterFacts]]] = []
    for log in logs_in(document):
        facts = _with_broken_lines(log.document, _facts_in(log.document))
        if facts is not None and not _lacks_log(facts):
            read.append((log, facts))
            continue
        inner = [
            (one._replace(machine=one.machine or log.machine), said)
            for text in texts_in_json(log.document)
            for one in logs_in(text)
            if (said := _facts_in(one.document)) is not None
        ]
        read += inner or ([] if facts is None else [(log, facts)])
    if read and _CUT.search(document.text[-200:]):
        log, facts = read[-1]
        read[-1] = (log, with_cut_end(facts, log.document.text))
    return read


def _with_broken_lines(
    document: Document, found: list[CounterFacts] | None
) -> list[CounterFacts] | None:
    """Return facts that say if the document's text has numbers that were not put together."""
    if found is None or BROKEN not in document.text:
        return found
    # The check is a warning: without the number, other checks of the drive may be missing.
    check = CounterCheck("whole numbers", "doubt", _BROKEN)
    return [replace(one, notes=(_BROKEN, *one.notes), checks=(*one.checks, check)) for one in found]


def _lacks_log(found: Iterable[CounterFacts]) -> bool:
    """Return whether a document says nothing of what a drive counts."""
    return not any(one.counters or one.raws or one.family for one in found)


def _facts_of_one(document: Document) -> list[CounterFacts]:
    """Return the facts of a document of one drive; of several, as their readers refuse them."""
    drives = _drives_in(document) or []
    together = [one for group in drives for one in group]
    return (_facts_in(plain_document(document)) if len(drives) > 1 else None) or together


def _facts_in(document: Document) -> list[CounterFacts] | None:
    source = next((one for one in sources() if one.matches(document)), None)
    if source is None:
        return None
    found = list(source.read(document))
    for one in found:
        document.stated.check_model(one.model, document.name)
    return [one if one.model else replace(one, model=document.stated.model) for one in found]


def _files(folder: Path) -> list[Path]:
    try:
        visible = (one for one in folder.iterdir() if not one.name.startswith("."))
        found = list(islice((one for one in visible if one.is_file()), _MOST_FILES + 1))
    except OSError as error:
        raise WriteampError(f"cannot read {str(folder)!r}: {error.strerror or error}") from None
    if len(found) > _MOST_FILES:
        raise WriteampError(
            f"the folder {str(folder)!r} holds more than {_MOST_FILES} files, the limit per "
            "snapshot of one drive. For many drives there is `writeamp measure fleet`"
        )
    return sorted(found)


def read_snapshot(
    path: str | os.PathLike[str], model: str | None = None, families: tuple[Family, ...] = ()
) -> Snapshot:
    """Return the one snapshot of a file or folder.

    Args:
        path: of the file or folder; "-" of standard input.
        model, families: as `read_snapshots`.

    Raises:
        WriteampError: as `read_snapshots`, or it holds several.
    """
    found = read_snapshots(path, model, families)
    if len(found) != 1:
        raise WriteampError(
            f"{name_of(Path(path))} holds {len(found)} snapshots; give a file of one"
        )
    return found[0]


def with_cut_end(found: Sequence[CounterFacts], text: str) -> list[CounterFacts]:
    """Return the facts of a text, with a doubt if the number at its end is one of their values.

    Args:
        found: of the last log in the text.
        text: of the log, without a line end.
    """
    last = _LAST_LINE.search(text, max(0, len(text) - 2000))
    line = last[0] if last else ""
    number = _ENDS.search(line)
    if number is None:
        return list(found)
    checked = list(found)
    for place in reversed(range(len(checked))):
        names = list(dict.fromkeys(_values_at(line, number[0], checked[place])))
        if names:
            evidence = (
                f"the text ends with {number[0].strip()}, {' and '.join(names)}, without the end "
                "of the line: if the paste was cut there, digits are missing"
            )
            check = CounterCheck(CUT_END, "doubt", evidence)
            checked[place] = replace(checked[place], checks=(*checked[place].checks, check))
            break
    return checked


def _values_at(line: str, number: str, facts: CounterFacts) -> Iterator[str]:
    """Yield the names of the values that the last line ends with."""
    row = ROW.match(line)
    labels = {f"attribute {whole(row['id'])}"} if row else _labels(number, facts)
    is_hours = whole(row["id"]) == _HOURS_ID if row else "hours" in line.lower()
    is_used = any(f"{label}," in facts.used_label for label in labels) if row else (
        "percent" in line.lower()
    )  # fmt: skip
    counts = {raw_value(row["raw"])} if row else _counts(number)
    for one in facts.counters:
        of_row = any(re.search(rf"\b{label[10:]}\Z|{label}\b", one.label) for label in labels)
        if of_row or (not row and {one.count, one.count_high} & counts - {0}):
            yield one.label
    yield from (one.label for one in facts.erases if one.label in labels)
    if is_hours and facts.power_on_hours in counts:
        yield "power-on hours"
    if is_used and facts.percentage_used is not None:
        yield "percentage used"


def _labels(number: str, facts: CounterFacts) -> set[str]:
    """Return the attributes with a raw value, for logs without rows such as CSV."""
    counts = _counts(number) - {0}
    return {label for label, raw in facts.raws if raw in counts}


def _counts(number: str) -> set[int | None]:
    """Return the counts that a number at the end of a line may be."""
    last = _LAST_DIGITS.search(number)
    try:
        scientific = whole(float(number)) if "e" in number and "x" not in number else None
    except ValueError:
        scientific = None
    digits = "".join(one for one in number if one.isdigit())
    counts = {scientific, whole(last[0]) if last else None}
    return counts | {whole(number.strip() if number.startswith("0x") else digits)}

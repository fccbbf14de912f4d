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

# Most common supported documents, for errors. docs/real-drives.md lists all.
_SUCH = (
    "supported are the outputs of `smartctl -x`, `nvme smart-log`, `nvme ocp smart-add-log`, `nvme "
    "fdp stats` or vendor plugins of nvme-cli, as JSON or text; CrystalDiskInfo's and ssacli's "
    "text; the Prometheus text of smartctl_exporter; and Backblaze's daily CSV"
)
_BROKEN = (
    "the text has a number that may be broken over two lines. It was not read, as it is unclear "
    "which digits belong together. Paste the text with unbroken lines"
)
# Text that ends with a digit (before an optional escape sequence) and without a line end, so its
# last number may be cut off.
_CUT = re.compile(r"[0-9a-fA-F](?:\x1b\[[\d;]{0,16}[mK]){0,4}\Z")
# A folder of one drive has few files, so a folder with more files is rejected.
_MOST_FILES = 64
_LAST_LINE = re.compile(r"[^\n]{0,2000}\Z")
_ENDS = re.compile(r"(?:0x[0-9a-fA-F]+|\d[\d,.'_ ]*(?:e\+?\d+)?)\Z")
_LAST_DIGITS = re.compile(r"\d+\Z")
_HOURS_ID = 9


def read_snapshots(
    path: str | os.PathLike[str], model: str | None = None, families: tuple[Family, ...] = ()
) -> list[Snapshot]:
    """Return the snapshots of a file (possibly several) or of a folder (one).

    Args:
        path: file or folder; "-" for standard input.
        model: model of the drive, for files without it.
        families: families that are tried before the built-in ones.

    Raises:
        WriteampError: the path cannot be read, is not a snapshot, or names another model.
    """
    place, stated = Path(path), Stated.of(model, families)
    return snapshots_of(name_of(place), documents_at(place), stated)


def documents_at(place: Path) -> dict[str, bytes]:
    """Return the content of a file under the key "", or of a folder's files by file name.

    A file that `measure save` wrote is read like a folder with its documents.

    Raises:
        WriteampError: the files cannot be read.
    """
    if place.is_dir() and not is_standard_input(place):
        return _of_folder(place)
    return documents_in(load(place))


def _of_folder(folder: Path) -> dict[str, bytes]:
    documents: dict[str, bytes] = {}
    total_bytes = 0
    for file in _files(folder):
        documents[file.name] = load(file).content
        total_bytes += len(documents[file.name])
        if total_bytes > MOST_BYTES:
            raise WriteampError(
                f"the files of {str(folder)!r} are larger than {MOST_BYTES >> 20} MiB, the limit "
                "per snapshot"
            )
    return documents


def documents_in(document: Document) -> dict[str, bytes]:
    """Return a document under the key "", or the documents of a saved snapshot by name.

    Raises:
        WriteampError: the saved snapshot is damaged.
    """
    return unpacked(document) or {"": document.content}


def snapshots_of(
    name: str, contents: Mapping[str, bytes], stated: Stated = NOTHING_STATED
) -> list[Snapshot]:
    """Return the snapshots in the content of a file or folder, as returned by `documents_at`.

    Raises:
        WriteampError: the content is not a snapshot of a drive.
    """
    if "" in contents:
        return snapshots_in(Document(name, contents[""], stated))
    parts = [
        facts_of_log
        for file, content in contents.items()
        for facts_of_log in _facts_of_one(Document(os.path.join(name, file), content, stated))
    ]
    if not parts:
        raise WriteampError(f"the folder {name!r} has no file with a drive's counters; {_SUCH}")
    return [snapshot_of(name, parts)]


def snapshots_in(document: Document) -> list[Snapshot]:
    """Return the snapshots of a document.

    Raises:
        WriteampError: the document is not a snapshot of a drive.
    """
    snapshots = snapshots_or_none(document)
    if snapshots is None:
        raise WriteampError(f"{document.name} is {_as_none(document)}; {_SUCH}")
    return snapshots


def snapshots_or_none(document: Document) -> list[Snapshot] | None:
    """Return the snapshots of a document; None if no source matches the document or a log in it.

    Raises:
        WriteampError: the document is a log that cannot be read.
    """
    drives = _drives_in(document)
    return None if drives is None else [snapshot_of(document.name, logs) for logs in drives]


def _as_none(document: Document) -> str:
    """Return a clause for an error: the document is not a snapshot, or is a result of writeamp."""
    verb = signed_verb(document.json) if isinstance(document.json, Mapping) else None
    own = "" if verb is None else f"a result of writeamp {verb}, "
    return f"{own}not a snapshot of a drive"


def _drives_in(document: Document) -> list[list[CounterFacts]] | None:
    """Return the facts of each drive and moment in a document; None if no source matches it."""
    read = _read_logs(document)
    if not read:
        return None
    if len(read) == 1:
        return [[snapshot] for snapshot in read[0][1]]
    return by_drive(
        [
            LogFacts(facts_of_log, log.device, log.machine)
            for log, facts in read
            for facts_of_log in facts
        ]
    )


def _read_logs(document: Document) -> list[tuple[PastedLog, list[CounterFacts]]]:
    """Return the logs in a document that a source can read, with their facts.

    A log in JSON may contain the text of a tool, as in the results of Ansible.
    """
    read: list[tuple[PastedLog, list[CounterFacts]]] = []
    for log in logs_in(document):
        facts = _with_broken_lines(log.document, _facts_in(log.document))
        if facts is not None and not _lacks_log(facts):
            read.append((log, facts))
            continue
        inner = [
            (pasted._replace(machine=pasted.machine or log.machine), log_facts)
            for text in texts_in_json(log.document)
            for pasted in logs_in(text)
            if (log_facts := _facts_in(pasted.document)) is not None
        ]
        read += inner or ([] if facts is None else [(log, facts)])
    if read and _CUT.search(document.text[-200:]):
        log, facts = read[-1]
        read[-1] = (log, with_cut_end(facts, log.document.text))
    return read


def _with_broken_lines(
    document: Document, facts: list[CounterFacts] | None
) -> list[CounterFacts] | None:
    """Return facts with a doubt if the document has numbers that could not be rejoined."""
    if facts is None or BROKEN not in document.text:
        return facts
    # The missing number is reported as a doubt, because other checks of the drive may need it.
    check = CounterCheck("whole numbers", "doubt", _BROKEN)
    return [
        replace(
            drive_facts, notes=(_BROKEN, *drive_facts.notes), checks=(*drive_facts.checks, check)
        )
        for drive_facts in facts
    ]


def _lacks_log(facts: Iterable[CounterFacts]) -> bool:
    """Return whether facts have no counter, raw value or family, so no log of a drive was read."""
    return not any(
        drive_facts.counters or drive_facts.raws or drive_facts.family for drive_facts in facts
    )


def _facts_of_one(document: Document) -> list[CounterFacts]:
    """Return the facts of a document that should have one drive.

    If its logs seem to be of several drives, the whole document is read again as one log.
    """
    drives = _drives_in(document) or []
    together = [drive_facts for group in drives for drive_facts in group]
    return (_facts_in(plain_document(document)) if len(drives) > 1 else None) or together


def _facts_in(document: Document) -> list[CounterFacts] | None:
    source = next((source for source in sources() if source.matches(document)), None)
    if source is None:
        return None
    facts = list(source.read(document))
    for drive_facts in facts:
        document.stated.check_model(drive_facts.model, document.name)
    return [
        drive_facts if drive_facts.model else replace(drive_facts, model=document.stated.model)
        for drive_facts in facts
    ]


def _files(folder: Path) -> list[Path]:
    try:
        visible = (path for path in folder.iterdir() if not path.name.startswith("."))
        files = list(islice((path for path in visible if path.is_file()), _MOST_FILES + 1))
    except OSError as error:
        raise WriteampError(f"cannot read {str(folder)!r}: {error.strerror or error}") from None
    if len(files) > _MOST_FILES:
        raise WriteampError(
            f"the folder {str(folder)!r} has more than {_MOST_FILES} files, the limit per "
            "snapshot of one drive. For many drives, use `writeamp measure fleet`"
        )
    return sorted(files)


def read_snapshot(
    path: str | os.PathLike[str], model: str | None = None, families: tuple[Family, ...] = ()
) -> Snapshot:
    """Return the only snapshot of a file or folder.

    Args:
        path: file or folder; "-" for standard input.
        model, families: see `read_snapshots`.

    Raises:
        WriteampError: see `read_snapshots`; or there are several snapshots.
    """
    snapshots = read_snapshots(path, model, families)
    if len(snapshots) != 1:
        raise WriteampError(
            f"{name_of(Path(path))} has {len(snapshots)} snapshots; pass a file with one snapshot"
        )
    return snapshots[0]


def with_cut_end(facts: Sequence[CounterFacts], text: str) -> list[CounterFacts]:
    """Return the facts of a text, with a doubt if the number at its end is one of their values.

    Args:
        facts: facts of the last log in the text.
        text: text of the log, without a line end.
    """
    last = _LAST_LINE.search(text, max(0, len(text) - 2000))
    line = last[0] if last else ""
    number = _ENDS.search(line)
    if number is None:
        return list(facts)
    checked = list(facts)
    for place in reversed(range(len(checked))):
        names = list(dict.fromkeys(_values_at(line, number[0], checked[place])))
        if names:
            evidence = (
                f"the text ends with {number[0].strip()} ({' and '.join(names)}) and has no line "
                "end. If the text was cut there, digits are missing"
            )
            check = CounterCheck(CUT_END, "doubt", evidence)
            checked[place] = replace(checked[place], checks=(*checked[place].checks, check))
            break
    return checked


def _values_at(line: str, number: str, facts: CounterFacts) -> Iterator[str]:
    """Yield the names of the values that the number at the end of the last line may be."""
    row = ROW.match(line)
    labels = {f"attribute {whole(row['id'])}"} if row else _labels(number, facts)
    is_hours = whole(row["id"]) == _HOURS_ID if row else "hours" in line.lower()
    is_used = any(f"{label}," in facts.used_label for label in labels) if row else (
        "percent" in line.lower()
    )  # fmt: skip
    counts = {raw_value(row["raw"])} if row else _counts(number)
    for counter in facts.counters:
        of_row = any(re.search(rf"\b{label[10:]}\Z|{label}\b", counter.label) for label in labels)
        if of_row or (not row and {counter.count, counter.count_high} & counts - {0}):
            yield counter.label
    yield from (erase.label for erase in facts.erases if erase.label in labels)
    if is_hours and facts.power_on_hours in counts:
        yield "power-on hours"
    if is_used and facts.percentage_used is not None:
        yield "percentage used"


def _labels(number: str, facts: CounterFacts) -> set[str]:
    """Return the labels of attributes with this raw value, for logs without attribute rows."""
    counts = _counts(number) - {0}
    return {label for label, raw in facts.raws if raw in counts}


def _counts(number: str) -> set[int | None]:
    """Return the possible counts of a number at the end of a line: as digits, or scientific."""
    last = _LAST_DIGITS.search(number)
    try:
        scientific = whole(float(number)) if "e" in number and "x" not in number else None
    except ValueError:
        scientific = None
    digits = "".join(character for character in number if character.isdigit())
    counts = {scientific, whole(last[0]) if last else None}
    return counts | {whole(number.strip() if number.startswith("0x") else digits)}

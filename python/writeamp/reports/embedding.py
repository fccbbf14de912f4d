"""Result inside a report's page: as it is written, and read back without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.pages.embedded import data_in
from writeamp.reports.report import Report
from writeamp.text import hashed_serial

ELEMENT = "writeamp-report"
# Of what the element holds; a page of a later form is refused, not guessed at.
_FORM = 1
_MOST_BYTES = 4 << 20
# Our own page on a fleet has 0.8 kB per drive. It says in its head that it is ours.
_MOST_OWN_BYTES = 64 << 20
_HEAD_BYTES = 4096
_TITLE = b"<title>writeamp "


def payload(report: Report) -> dict[str, Any]:
    """Return the report as JSON types."""
    return {
        "form": _FORM,
        "version": report.version,
        "verb": report.verb,
        "command": list(report.command),
        "document": report.document,
        "more": report.more,
    }


def report_in(path: Path) -> Report:
    """Return the report that a page holds. Nothing in the file is run.

    Raises:
        WriteampError: it cannot be read, or is no page that `--report` wrote.
    """
    try:
        content = _content(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteampError(f"cannot read {str(path)!r}: {reason}") from None
    return report_of(content, str(path))


def _content(path: Path) -> bytes:
    with inputs.opened(path, _HEAD_BYTES) as file:
        is_ours = _TITLE in file.read(_HEAD_BYTES)
    return inputs.read_bytes(path, _MOST_OWN_BYTES if is_ours else _MOST_BYTES, "report")


def report_of(content: bytes, name: str) -> Report:
    """Return the report that the bytes of a page hold; `name` is for errors.

    Raises:
        WriteampError: they are no page that `--report` wrote.
    """
    try:
        return _read(data_in(content.decode(), ELEMENT))
    except KeyError:
        why = "it holds no result"
    except UnicodeDecodeError:
        why = "it is not UTF-8 text"
    except (ValueError, TypeError, RecursionError, AssertionError) as error:
        why = f"it is damaged ({str(error)[:120] or type(error).__name__})"
    raise WriteampError(f"{name} is no page that --report of a verb wrote: {why}")


def _read(found: Any) -> Report:
    if not isinstance(found, Mapping):
        raise TypeError("its data is no object")
    if found.get("form") != _FORM:
        raise ValueError(f"its form is {found.get('form')!s:.20}, and {_FORM} is known")
    texts = [found.get("verb"), found.get("version")]
    command, document, more = found.get("command"), found.get("document"), found.get("more")
    if not (isinstance(command, list) and all(isinstance(one, str) for one in [*texts, *command])):
        raise TypeError("its command is no list of texts")
    if not (isinstance(document, Mapping) and isinstance(more, Mapping)):
        raise TypeError("its document is no object")
    return Report(found["verb"], tuple(command), document, more, found["version"])


_KEYS = ("serial", "serial_number")
# A shorter one would be found in words that are none.
_FEWEST_CHARACTERS = 4


def without_serials(report: Report) -> Report:
    """Return the report with a hash for each serial number, also in names of files and texts."""
    hashes = {
        serial: hashed
        for serial in _serials(report.document)
        if (hashed := hashed_serial(serial)) and hashed != serial
    }
    if not hashes:
        return report
    return replace(
        report,
        command=tuple(_hashed(one, hashes) for one in report.command),
        document=_hashed(report.document, hashes),
    )


def _serials(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key in _KEYS and isinstance(one, str) and len(one.strip()) >= _FEWEST_CHARACTERS:
                yield one.strip()
            yield from _serials(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _serials(one)


def _hashed(value: Any, hashes: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for serial, hashed in hashes.items():
            value = value.replace(serial, hashed)
        return value
    if isinstance(value, Mapping):
        return {_hashed(key, hashes): _hashed(one, hashes) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_hashed(one, hashes) for one in value]
    return value

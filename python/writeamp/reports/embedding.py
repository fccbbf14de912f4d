"""Write a result into a report's page, and read it back without running the page's scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.pages.embedded import data_in
from writeamp.reports.report import Report
from writeamp.text import hashed_serial

ELEMENT = "writeamp-report"
# Version of the data format in a page; pages of other versions are rejected.
_FORM = 1
# Size limits in bytes: of any page, and of pages of writeamp, which have `_TITLE` in their head.
# The page of a fleet takes 0.8 kB per drive.
_MOST_BYTES = 4 << 20
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
    """Return the report that is stored in a page. Scripts of the page are not run.

    Raises:
        WriteampError: the file cannot be read, or was not written by `--report`.
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
    """Return the report that is stored in the bytes of a page; `name` is for errors.

    Raises:
        WriteampError: the page was not written by `--report`.
    """
    try:
        return _read(data_in(content.decode(), ELEMENT))
    except KeyError:
        why = "it contains no result"
    except UnicodeDecodeError:
        why = "it is not UTF-8 text"
    except (ValueError, TypeError, RecursionError, AssertionError) as error:
        why = f"it is damaged ({str(error)[:120] or type(error).__name__})"
    raise WriteampError(f"{name} is not a page written by --report: {why}")


def _read(data: Any) -> Report:
    if not isinstance(data, Mapping):
        raise TypeError("its data is not a JSON object")
    if data.get("form") != _FORM:
        raise ValueError(
            f"its data format is {data.get('form')!s:.20}, but this version of writeamp reads "
            f"format {_FORM} only"
        )
    texts = [data.get("verb"), data.get("version")]
    command, document, more = data.get("command"), data.get("document"), data.get("more")
    if not (
        isinstance(command, list) and all(isinstance(text, str) for text in [*texts, *command])
    ):
        raise TypeError("its command is not a list of texts")
    if not (isinstance(document, Mapping) and isinstance(more, Mapping)):
        raise TypeError("its document is not a JSON object")
    return Report(data["verb"], tuple(command), document, more, data["version"])


_KEYS = ("serial", "serial_number")
# Shorter serial numbers could match parts of other words.
_FEWEST_CHARACTERS = 4


def without_serials(report: Report) -> Report:
    """Return the report with serial numbers hashed, also within file names, texts and tables."""
    hashes = {
        serial: hashed
        for serial in _serials(report.document)
        if (hashed := hashed_serial(serial)) and hashed != serial
    }
    if not hashes:
        return report
    return replace(
        report,
        command=tuple(_hashed(argument, hashes) for argument in report.command),
        document=_hashed(report.document, hashes),
        more=_hashed(report.more, hashes),
        picture=_hashed(report.picture, hashes),
    )


def _serials(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in _KEYS and isinstance(item, str) and len(item.strip()) >= _FEWEST_CHARACTERS:
                yield item.strip()
            yield from _serials(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _serials(item)


def _hashed(value: Any, hashes: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for serial, hashed in hashes.items():
            value = value.replace(serial, hashed)
        return value
    if isinstance(value, Mapping):
        return {_hashed(key, hashes): _hashed(item, hashes) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_hashed(item, hashes) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{of.name: _hashed(getattr(value, of.name), hashes) for of in fields(value)}
        )
    return value

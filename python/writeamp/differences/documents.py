"""Result documents: the JSON that a verb prints, and the verb that printed it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs
from writeamp.pages.embedded import strict_json
from writeamp.reports.embedding import report_in
from writeamp.results.signatures import SIGNATURES, signed_verb

_MOST_BYTES = 64 << 20


def result_document(source: Any) -> dict[str, Any]:
    """Return a result as JSON types: from a file of --json or --report, or a result itself.

    Raises:
        WriteampError: it cannot be read, or is no JSON object.
    """
    if isinstance(source, Mapping):
        return dict(source)
    if hasattr(source, "to_dict"):
        found: dict[str, Any] = source.to_dict()
        return found
    path = Path(file_name(source))
    if path.suffix.lower() == ".html":
        return dict(report_in(path).document)
    try:
        content = inputs.read_bytes(path, _MOST_BYTES, "result")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteampError(f"cannot read {str(path)!r}: {reason}") from None
    try:
        document = strict_json(content)
    except (ValueError, RecursionError) as error:
        raise _no_result(path, _why(content, error)) from None
    if not isinstance(document, dict):
        raise _no_result(path, ": it is no object")
    return document


def _no_result(path: Path, why: str) -> WriteampError:
    return WriteampError(
        f"{path} is no JSON result of writeamp, as --json of a verb prints it{why}"
    )


def _why(content: bytes, error: Exception) -> str:
    """Return what is wrong with a document; nothing of what is of another kind."""
    if not content.strip():
        return ": the file is empty"
    return f": {error}" if content.lstrip().startswith(b"{") else ""


def verb_of(document: Mapping[str, Any], name: str) -> str:
    """Return the verb whose result a document is.

    Raises:
        WriteampError: it is of none.
    """
    verb = signed_verb(document)
    if verb is None:
        raise WriteampError(
            f"{name} is no result of a verb that can be compared; such are: {', '.join(SIGNATURES)}"
        )
    return verb

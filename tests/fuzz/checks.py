"""Checks that every command and every call must pass, whatever it is given."""

from __future__ import annotations

import json

from child import Ended

_ASIDES = ("writeamp: note: ", "writeamp: warning: ")
_FOREIGN = ("Traceback", "panicked at", "RuntimeWarning", "Exception ignored", "DeprecationWarning")


def fault_of_command(arguments: list[str], ended: Ended) -> str | None:
    """Return what is wrong with how a command ended, or None."""
    if fault := _fault_of_end(ended, (0, 2)):
        return fault
    sentences = [line for line in ended.err.splitlines() if not line.startswith(_ASIDES)]
    if ended.status == 2:
        return _fault_of_refusal(ended, sentences)
    if sentences:
        return "prints on stderr what is neither a note nor a warning"
    if "--json" in arguments and not {"--help", "-h"} & set(arguments):
        return _fault_of_document(ended.out)
    return None


def _fault_of_refusal(ended: Ended, sentences: list[str]) -> str | None:
    if ended.out:
        return "prints results and a refusal"
    if len(sentences) != 1 or not sentences[0].startswith("writeamp: "):
        return f"refuses in {len(sentences)} lines"
    return None


def _fault_of_document(text: str) -> str | None:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return f"prints no JSON document: {error}"
    return None


def fault_of_call(ended: Ended) -> str | None:
    """Return what is wrong with how a call of the library ended, or None."""
    return _fault_of_end(ended, (0,))


def _fault_of_end(ended: Ended, valid: tuple[int, ...]) -> str | None:
    if ended.hung:
        return f"does not end ({ended.cpu_s:.0f} s of CPU time)"
    if ended.status not in valid:
        return f"ends with status {ended.status}"
    if found := [word for word in _FOREIGN if word in ended.err]:
        return f"prints {found[0]!r}"
    return None

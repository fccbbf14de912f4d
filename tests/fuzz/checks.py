"""Checks that every command and every call must pass, whatever it is given."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from call import Call

HANG_S = 30
_ASIDES = ("writeamp: note: ", "writeamp: warning: ", "writeamp: progress: ")
# Of Python, of NumPy and of what learns.
_FOREIGN = ("Traceback", "panicked at", "Warning:", "Exception ignored", "Segmentation", "AddressS")
_FAULT = "this is a fault of writeamp"
# Status of `doctor --fail-on`, `reproduce`, `serve --max-wa`; and of programs that were run.
_VERDICTS = {
    "doctor": (1,), "reproduce": (1,), "serve": (1, 3), "measure run": (1, 3), "answer": (1, 3),
    "blackbox collect": (1,), "sweep run": (1,), "volumes run": (1,),
}  # fmt: skip


@dataclass
class Ended:
    """End of a call.

    `status` is that of a command, 0 or 2 of a call of the library, or minus the signal that ended
    it. `fault` is what was seen to be wrong while it ran.
    """

    status: int
    out: str = ""
    err: str = ""
    elapsed_s: float = 0.0
    fault: str | None = None
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_result(self) -> bool:
        """True of a result, and False of a refusal."""
        return self.status != 2


def fault_of(call: Call, ended: Ended) -> str | None:
    """Return what is wrong with how a call ended, or None."""
    if ended.status in (-signal.SIGXCPU, -signal.SIGKILL) or ended.elapsed_s > HANG_S:
        return f"does not end in {HANG_S} s"
    if ended.status < 0:
        return f"is ended by {signal.Signals(-ended.status).name}"
    if ended.fault:
        return ended.fault
    if ended.left:
        return f"{next(iter(ended.left.values()))} {next(iter(ended.left))}"
    if found := [word for word in (_FAULT, *_FOREIGN) if word in ended.err]:
        return f"prints {found[0]!r}"
    return _fault_of_command(call, call.kind, ended) if call.argv is not None else None


def _fault_of_command(call: Call, verb: str, ended: Ended) -> str | None:
    if ended.status not in (0, 2, *_VERDICTS.get(verb, ())):
        return f"ends with status {ended.status}"
    sentences = [line for line in ended.err.splitlines() if not line.startswith(_ASIDES)]
    if ended.status == 2 and call.runs_programs:  # which print, too
        sentences = [line for line in sentences if line.startswith("writeamp: ")]
    if ended.status == 2 and verb == "measure watch":
        return None  # its rounds go on, whatever one of them ends with
    if ended.status == 2:
        # A file may be called "note".
        return _fault_of_refusal(ended, sentences or ended.err.splitlines()[-1:])
    if sentences and not verb.startswith(("reproduce", "measure watch", "serve", "measure run")):
        return "prints on stderr what is neither a note nor a warning"
    if call.is_document and ended.status == 0:
        return fault_of_document(ended.out)
    return None


def _fault_of_refusal(ended: Ended, sentences: list[str]) -> str | None:
    if ended.out:
        return "prints results and a refusal"
    if len(sentences) != 1 or not sentences[0].startswith("writeamp: "):
        return f"refuses in {len(sentences)} lines"
    return None


def fault_of_document(text: str) -> str | None:
    """Return why a text is no JSON document, in which no number is NaN or infinite, or None."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return f"prints no JSON document: {error}"
    return None

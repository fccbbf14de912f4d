"""Metadata of a virtual drive's recording: the drive, and which of the requests it counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from writeamp import custom
from writeamp.errors import WriteampError
from writeamp.text import one_line

RECORDING_KEY = "writeamp_recording"
_VERSION = 1
# Precondition of a drive that was used before the recording, so its state at the start is unknown.
KEPT = "kept"
# Keys of a counting window.
_WINDOW = ("from_ns", "until_ns", "unanswered")
_POLICY = ("manager", "victims", "wear_leveling", "seed")
# Kinds of policies that users can write in Python, and their keys in the metadata.
_PYTHON = {"managers": "manager", "victims": "victims"}


@dataclass(frozen=True)
class CountingWindow:
    """Time window in which a timed drive counted, in the drive's time since its start.

    Attributes:
        from_ns: when counting began, in ns.
        until_ns: when the counts were read, in ns.
        unanswered: number of requests without an answer at `until_ns`.
    """

    from_ns: int
    until_ns: int
    unanswered: int


@dataclass(frozen=True)
class Recorded:
    """Drive that served the requests of a trace, and the requests that its WA counts.

    Attributes:
        device: the drive, as in `Device.to_dict`.
        policy: specs of `manager`, `victims` and `wear_leveling` or None, and the `seed`.
        precondition: the state before the first request, in the notation of `simulate`, or `KEPT`.
        count_from_request: number of requests before counting began.
        timed: whether the drive simulated the time of its operations.
        window: time window in which a timed drive counted; None for an untimed drive, or if not
            recorded.
    """

    device: Mapping[str, Any]
    policy: Mapping[str, Any]
    precondition: str
    count_from_request: int
    timed: bool
    window: CountingWindow | None = None

    @staticmethod
    def of_text(text: str, path: Path) -> Recorded:
        """Return the facts in the metadata of a file.

        Raises:
            WriteampError: the facts are not JSON, have another version, or are incomplete; or they
                name a user's policy in Python. It is not imported, as a trace must not run code.
        """
        try:
            table = json.loads(text)
        except (ValueError, RecursionError) as error:  # also for thousands of digits or brackets
            raise _broken(path, f"are not JSON ({one_line(error)})") from None
        if not isinstance(table, dict):
            raise _broken(path, "are not a JSON object")
        version = table.pop("version", None)
        if version != _VERSION:
            raise WriteampError(
                f"{path}: is a recording of version {version!r}; this writeamp reads {_VERSION}"
            )
        for key, (is_valid, valid) in _DOMAINS.items():
            if not is_valid(table.get(key)):
                raise _broken(path, f"have {key} {table.get(key)!r}, valid is {valid}")
        for kind, key in _PYTHON.items():
            spec = table["policy"].get(key)
            if spec is not None and custom.is_users(kind, spec):
                raise _broken(
                    path, f"have {key} {spec!r}, but a trace may name only built-in {kind}"
                )
        values: dict[str, Any] = {key: table.get(key) for key in _DOMAINS}
        if values["window"] is not None:
            values["window"] = CountingWindow(**values["window"])
        return Recorded(**values)

    def to_text(self) -> str:
        """Return the facts as the text that `of_text` reads."""
        return json.dumps({"version": _VERSION, **asdict(self)})


def _broken(path: Path, why: str) -> WriteampError:
    return WriteampError(
        f"{path}: the metadata of the recording ({RECORDING_KEY}) {why}; "
        "record the trace again, or write it without these metadata"
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_policy(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("manager"), str):
        return False
    specs = (value.get("victims"), value.get("wear_leveling"))
    return (
        all(spec is None or isinstance(spec, str) for spec in specs)
        and _is_count(value.get("seed"))
        and set(value) <= set(_POLICY)
    )


def _is_window(value: object) -> bool:
    return value is None or (
        isinstance(value, dict)
        and sorted(value) == sorted(_WINDOW)
        and all(_is_count(number) and number < 2**63 for number in value.values())
        and value["from_ns"] <= value["until_ns"]
    )


# Valid values of each key, as a function and in words.
_DOMAINS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "device": (lambda value: isinstance(value, dict), "an object"),
    "policy": (_is_policy, f"an object of {', '.join(_POLICY)}"),
    "precondition": (lambda value: isinstance(value, str), "text"),
    "count_from_request": (_is_count, "a whole number"),
    "timed": (lambda value: isinstance(value, bool), "true or false"),
    "window": (
        _is_window,
        f"null, or an object of {', '.join(_WINDOW)} with from_ns at most until_ns",
    ),
}

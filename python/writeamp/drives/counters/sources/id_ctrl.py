"""Identity of NVMe drives: `nvme id-ctrl` and `nvme list`, as JSON or text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.drives.counters.document import Document, objects, text_of, whole
from writeamp.drives.counters.facts import CounterFacts, CounterSource
from writeamp.drives.counters.printed import entries
from writeamp.text import hashed_serial

_NAME = "nvme id-ctrl"
_KEYS = frozenset({"mn", "sn", "fr"})
_MOST_DRIVES = 10_000


def _matches(document: Document) -> bool:
    log = document.json
    if isinstance(log, dict) and isinstance(log.get("Devices"), list):
        return True
    return entries(document).keys() >= _KEYS


def _read(document: Document) -> Iterator[CounterFacts]:
    log = document.json
    if isinstance(log, dict) and isinstance(log.get("Devices"), list):
        yield from _listed(log["Devices"])
        return
    found = {key: said[0].value for key, said in entries(document).items()}
    yield _facts(found, "mn", "fr", "sn", whole(_digits(found.get("tnvmcap"))))


def _digits(value: Any) -> Any:
    return value.split()[0] if isinstance(value, str) and value.strip() else value


def _facts(
    log: Mapping[str, Any], model: str, firmware: str, serial: str, capacity_bytes: int | None
) -> CounterFacts:
    return CounterFacts(
        source=_NAME,
        model=text_of(log.get(model)),
        firmware=text_of(log.get(firmware)),
        serial=hashed_serial(text_of(log.get(serial))),
        capacity_bytes=capacity_bytes or None,
    )


def _listed(devices: list[Any]) -> Iterator[CounterFacts]:
    """Yield the drives of `nvme list`; one with several namespaces stands there once."""
    seen: dict[Any, tuple[dict[str, Any], str, str, str, int]] = {}
    for device in objects(devices[:_MOST_DRIVES]):
        for controller in objects(device.get("Subsystems")):
            for one in objects(controller.get("Controllers")):
                size_bytes = sum(
                    whole(space.get("PhysicalSize")) or 0
                    for space in objects(one.get("Namespaces"))
                )
                _add(seen, one, "Firmware", size_bytes)
        if "ModelNumber" in device:
            _add(seen, device, "Firmware", whole(device.get("PhysicalSize")) or 0)
    if not seen:
        yield CounterFacts(source=_NAME)
    for log, model, firmware, serial, size_bytes in seen.values():
        yield _facts(log, model, firmware, serial, size_bytes)


def _add(
    seen: dict[Any, tuple[dict[str, Any], str, str, str, int]],
    log: dict[str, Any],
    firmware: str,
    size_bytes: int,
) -> None:
    identity = (text_of(log.get("ModelNumber")), text_of(log.get("SerialNumber")))
    before = seen.get(identity)
    total = size_bytes + (before[-1] if before else 0)
    seen[identity] = (log, "ModelNumber", firmware, "SerialNumber", total)


SOURCE = CounterSource(_NAME, _matches, _read, specificity=0)

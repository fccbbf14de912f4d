"""Logs inside a document of JSON that other programs made, such as monitors and inventories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_DEVICE_NAME = re.compile(r"(?:/dev/)?(?:nvme\d+(?:n\d+)?|sd[a-z]{1,2}|disk\d+|a?da\d+)")
_DEVICE_KEYS = ("device", "dev", "disk", "name", "path", "DevicePath")
_OF_SMARTCTL = frozenset({"smartctl", "ata_smart_attributes", "nvme_smart_health_information_log"})
# Keys that a log has all of.
_KEYS_OF_LOGS = (
    *({key} for key in sorted(_OF_SMARTCTL)),
    {"critical_warning", "data_units_written"},
    {"Physical media units written"},
    {"physical_media_units_written"},
)
_MOST_NODES = 20_000


def nested_logs(root: Any) -> list[tuple[dict[str, Any], str]]:
    """Return the logs inside a document, with the device they are of, or "".

    A document that is a log has none. A single log of nvme-cli is left where it is, as the model
    and the serial number may stand beside it.
    """
    found = [] if _is_log(root) else list(_logs_below(root))
    if len(found) == 1 and not found[0][0].keys() & _OF_SMARTCTL:
        return []
    return found


def _logs_below(root: Any) -> Iterator[tuple[dict[str, Any], str]]:
    nodes = [(root, "")]
    for _ in range(_MOST_NODES):
        if not nodes:
            return
        node, device = nodes.pop()
        if _is_log(node):
            yield node, device
        elif isinstance(node, dict):
            said = next((node[key] for key in _DEVICE_KEYS if _is_device(node.get(key))), device)
            nodes += [(value, key if _is_device(key) else said) for key, value in node.items()][
                ::-1
            ]
        elif isinstance(node, list):
            nodes += [(one, device) for one in reversed(node)]


def _is_log(node: Any) -> bool:
    return isinstance(node, dict) and any(keys <= node.keys() for keys in _KEYS_OF_LOGS)


def _is_device(name: Any) -> bool:
    return isinstance(name, str) and _DEVICE_NAME.fullmatch(name) is not None

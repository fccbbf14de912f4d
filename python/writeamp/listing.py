"""Function `listed`: all registered names, as rows by kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, TypeAlias

from writeamp import custom, traces
from writeamp.devices.data_sheet import DataSheet
from writeamp.devices.profile import profile, profile_names
from writeamp.errors import unknown
from writeamp.extensions import extensions, loaded
from writeamp.registry import EngineKind, Entry, Param, engine_entries

Row: TypeAlias = dict[str, Any]


def _of_engine(kind: EngineKind) -> Callable[[], list[Row]]:
    return lambda: [
        *(_engine_row(entry) for entry in engine_entries(kind)),
        *(
            _custom_row(policy)
            for custom_kind in custom.KINDS
            if custom_kind == kind
            for policy in custom.listed(custom_kind)
        ),
    ]


def _custom_row(policy: custom.ListedPolicy) -> Row:
    return {
        "name": policy.name,
        "summary": policy.summary,
        "example": policy.name,
        "defaults": policy.defaults,
        "parameters": [
            f"{name} must be given" if default is None else f"{name}={default} by default"
            for name, default in policy.defaults.items()
        ],
    }


def _engine_row(entry: Entry) -> Row:
    return {
        "name": entry.name,
        "summary": entry.summary,
        "example": entry.example,
        "defaults": {param.name: param.default or None for param in entry.params},
        "parameters": [_param(p) for p in entry.params],
    }


def _param(param: Param) -> str:
    names = " or ".join((param.name, *param.aliases))
    default = f"={param.default} by default" if param.default else " must be given"
    return f"{names}{default} ({param.help}: {param.domain})"


def _plain_row(name: str, summary: str) -> Row:
    return {"name": name, "summary": summary, "example": name, "defaults": {}, "parameters": []}


def _device_row(name: str) -> Row:
    device_profile = profile(name)
    sheet = device_profile.data_sheet
    return _plain_row(name, device_profile.summary) | {
        "sources": dict(device_profile.sources),
        "data_sheet": None if sheet is None else sheet.to_dict(),
        "rated_erases": device_profile.shape.rated_erases,
        "parameters": [] if sheet is None else [_promised(sheet)],
    }


def _promised(sheet: DataSheet) -> str:
    return (
        f"data sheet of {sheet.product}, {sheet.state}: sequential reads "
        f"{sheet.sequential_read_mb_s:,.0f} and writes {sheet.sequential_write_mb_s:,.0f} MB/s, "
        f"random reads {sheet.random_read_iops:,.0f} and writes {sheet.random_write_iops:,.0f} a "
        "second"
    )


def _models() -> list[Row]:
    from writeamp.models._registry import MODELS  # noqa: PLC0415 (slow)

    return [_plain_row(model.name, model.summary) for model in MODELS.values()]


def _formats() -> list[Row]:
    from writeamp.traces import column_format  # noqa: PLC0415 (slow)

    return [
        *(
            _plain_row(trace_format.name, trace_format.summary)
            for trace_format in traces.FORMATS.values()
        ),
        _plain_row("columns:…", column_format.SUMMARY),
    ]


def _of_others(listed: Callable[[], list[tuple[str, str]]]) -> list[Row]:
    """Return rows made from the pairs of name and summary that an entry point returns."""
    return [_plain_row(name, summary) for name, summary in listed()]


_OWN: dict[str, Callable[[], list[Row]]] = {
    "managers": _of_engine("managers"),
    "victims": _of_engine("victims"),
    "workloads": _of_engine("workloads"),
    "detectors": _of_engine("detectors"),
    "wear_levelers": _of_engine("wear_levelers"),
    "models": _models,
    "formats": _formats,
    "devices": lambda: [_device_row(name) for name in profile_names()],
}
_ADDED = {
    kind: partial(_of_others, listed)
    for kind, listed in loaded(extensions("writeamp.lists").values(), FunctionType).items()
}
KINDS = _OWN | _ADDED | _OWN


def listed(kind: str | None = None) -> dict[str, list[Row]]:
    """List the registered managers, victim policies, workloads, models, formats and devices.

    Args:
        kind: one kind, such as "victims"; all by default.

    Returns:
        The rows of each kind: dictionaries with `name`, `summary`, `example`, `defaults` and
        `parameters`, a list of sentences. Rows of devices also have `sources` and `data_sheet`.

    Raises:
        WriteampError: an unknown kind.

    >>> import writeamp as wa
    >>> [row["name"] for row in wa.listed("wear_levelers")["wear_levelers"]]
    ['youngest-free', 'static', 'dual-pool']
    """
    if kind is not None and kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    return {name: rows() for name, rows in KINDS.items() if kind in (None, name)}

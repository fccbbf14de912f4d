"""Generate tables on the pages of docs/: declarations of entries, and measurements.

A table is between two comments, `table of the registry: NAME` and `end of the registry: NAME`. The
comments of a measured table name a benchmark instead, and its newest results file has the table.
`make generate` writes the tables.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from writeamp.devices.profile import profile_names
from writeamp.drives.counters.families import families
from writeamp.drives.doctor.finding import KINDS
from writeamp.drives.doctor.registry import checks
from writeamp.learn.blackbox.model_kinds import NAMES, check_installed, model_kinds
from writeamp.registry import EngineKind, engine_entries
from writeamp.traces.registry import FORMATS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benches" / "results"
PROFILES = ROOT / "python/writeamp/devices/profiles"
REGISTRY = "the registry"
PLACEMENTS = "benches/placements.py"
TABLE = re.compile(
    r"(<!-- table of ([\w/. ]+: [\w ,-]+) -->\n).*?(<!-- end of \2 -->)",
    re.DOTALL,
)
# Pattern of the description of sizes in bytes, which many parameters repeat.
_SIZES = re.compile(r", as 512, 4k, .*$")


def written(page: str) -> str:
    """Return a page with updated tables."""
    return TABLE.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], page)


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; `|` in cells is replaced, because it would end them."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |\n" for line in lines)


def _entries(kind: EngineKind) -> str:
    """Return a row for each entry of a kind; block managers have their default victim policies."""
    columns, own = ["name", "description"], engine_entries(kind)
    rows = [[f"`{entry.name}`", entry.summary] for entry in own]
    if kind == "managers":
        columns.append("own victims")
        for row, entry in zip(rows, own, strict=True):
            row.append(f"`{entry.declared['default_victims']}`")
    return _rows(columns, rows)


def _parameters(kind: EngineKind) -> str:
    """Return a row for each parameter of each entry of a kind."""
    rows = [
        [
            f"`{entry.name}`",
            " or ".join(f"`{name}`" for name in (param.name, *param.aliases)),
            f"`{param.default}`" if param.default else "must be given",
            _SIZES.sub("", param.domain),
            param.help,
        ]
        for entry in engine_entries(kind)
        for param in entry.params
        if not param.common
    ]
    return _rows(["of", "parameter", "default", "values", "meaning"], rows)


def _compared(kind: EngineKind, *names: str) -> str:
    """Return a row for each parameter of related entries, with all their defaults."""
    entries = [entry for name in names for entry in engine_entries(kind) if entry.name == name]
    defaults = [{param.name: param.default for param in entry.params} for entry in entries]
    params = {param.name: param for entry in reversed(entries) for param in entry.params}
    order = dict.fromkeys(param.name for entry in entries for param in entry.params)
    rows = [
        [
            f"`{name}`",
            *(f"`{own[name]}`" if name in own else "–" for own in defaults),
            params[name].domain,
            params[name].help,
        ]
        for name in order
    ]
    return _rows(["parameter", *(f"`{name}`" for name in names), "values", "meaning"], rows)


def _families() -> str:
    """Return a row for each family of drives: kind of answer, attributes and source."""
    rows = []
    for family in families():
        flash = [rule for rule in family.writes if rule.side == "flash"]
        answer = "measured" if flash else "estimated" if family.estimates else "none"
        is_known = any(rule.unit or rule.shared or "pages" in rule.part for rule in flash)
        if family.refusal or (flash and not is_known):
            answer = "none"
        elif family.has_partial_flash:
            answer = "lower bound"
        elif {rule.part for rule in flash} == {"tlc", "slc"}:
            answer = "measured; a lower bound if the counter of SLC is missing"
        elif family.reports:
            answer = "reported, in an unknown scale"
        ids = ["/".join(map(str, rule.ids)) for rule in family.writes]
        rows.append([family.name, answer, ", ".join(ids), family.source])
    return _rows(["family", "answer", "attributes", "source"], rows)


def _checks() -> str:
    """Return a row for each check of the doctor: its inputs, the fault and the advice."""
    rows = [
        [
            f"`{check.id}`",
            check.severity,
            ", ".join(KINDS[kind] for kind in check.of),
            check.message,
            check.advice,
            check.source,
        ]
        for check in checks()
    ]
    columns = ["finding", "severity", "inputs", "fault", "how to fix it", "source"]
    return _rows(columns, rows)


def _formats() -> str:
    """Return a row for each trace format."""
    rows = [
        [
            f"`{trace_format.name}`",
            f"`{trace_format.columns}`",
            trace_format.units,
            trace_format.detection,
        ]
        for trace_format in FORMATS.values()
    ]
    return _rows(["name", "row", "units", "detected by"], rows)


def _profiles() -> str:
    """Return a row for each device profile."""
    files = [PROFILES / f"{name}.toml" for name in profile_names()]
    tables = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in files}
    rows = [[f"`{name}`", table["summary"], table["source"]] for name, table in tables.items()]
    return _rows(["profile", "drive", "from"], rows)


def _models() -> str:
    """Return a row for each kind of black-box model; needs writeamp-papers."""
    for name in NAMES:
        check_installed(name)
    rows = [[f"`{name}`", kind.summary] for name, kind in model_kinds().items()]
    return _rows(["name", "description"], rows)


def _measured(benchmark: str, section: str) -> str:
    """Return the table of a section of a benchmark's newest results."""
    newest = max(RESULTS.glob(f"*-{Path(benchmark).stem}-*.md"))
    _, _, text = newest.read_text("utf-8").partition(f"\n## {section}\n\n")
    table, _, _ = text.partition("\n\n")
    if not table:
        raise SystemExit(f"{newest} has no table in a section '{section}'")
    return f"{table}\n"


_KINDS: tuple[EngineKind, ...] = ("managers", "victims", "wear_levelers", "detectors", "workloads")
TABLES: dict[str, Callable[[], str]] = {
    **{f"{REGISTRY}: {kind}": partial(_entries, kind) for kind in _KINDS},
    **{f"{REGISTRY}: parameters of {kind}": partial(_parameters, kind) for kind in _KINDS},
    f"{REGISTRY}: wolf, wolf-interval, fdp-frequency": partial(
        _compared, "managers", "wolf", "wolf-interval", "fdp-frequency"
    ),
    f"{REGISTRY}: families of SATA drives": _families,
    f"{REGISTRY}: checks of the doctor": _checks,
    f"{REGISTRY}: black-box models": _models,
    f"{REGISTRY}: trace formats": _formats,
    f"{REGISTRY}: device profiles": _profiles,
    f"{PLACEMENTS}: every manager": partial(_measured, PLACEMENTS, "Each manager's own victims"),
    f"{PLACEMENTS}: the best without hints": partial(
        _measured,
        PLACEMENTS,
        "`wolf-interval` beside the best of the others, under any victim policy",
    ),
    f"{PLACEMENTS}: both victim policies": partial(
        _measured, PLACEMENTS, "Greedy victims (cost-benefit in brackets)"
    ),
}


def generated() -> dict[Path, str]:
    """Return all pages with generated tables, with their text."""
    texts = {page: page.read_text("utf-8") for page in sorted((ROOT / "docs").glob("*.md"))}
    return {page: written(text) for page, text in texts.items() if TABLE.search(text)}

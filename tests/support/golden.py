"""Golden counters: what one seed gives, everywhere and from one version to the next.

A change here changes every published figure: make it only on purpose, and say so in CHANGELOG.md.
To write the file anew: `.venv/bin/python tests/support/golden.py`; with `WRITEAMP_POLICY=name`,
lines of that entry are added, and none is changed.
"""

from __future__ import annotations

import json
import sys

import writeamp as wa
from places import ROOT
from registered import ONLY, alone, fewest_blocks
from writeamp.devices.geometry import LAYOUTS
from writeamp.registry import engine_entries as every

GOLDEN = ROOT / "tests" / "data" / "golden.json"
# Forms of entries that their examples are not: a workload, a manager and victims.
FORMS = [
    # What `sfs` was before it took its published form.
    ("uniform", "sfs:scale=log,unit=page", "greedy"),
    ("zipf:s=0.99", "sfs:scale=log,unit=page", "cost-benefit"),
    ("zipf:s=0.99", "sfs", "cost-hotness"),
    ("zipf:s=0.99", "sfs:scale=log", "cost-hotness"),
    ("zipf:s=0.99", "sfs:unit=page,start=hottest", "greedy"),
    ("zipf:s=0.99", "sepgc", "cost-hotness"),
    ("zipf:s=0.99", "sepgc", "cost-benefit:age=closed,power=0.5"),
    ("zipf:s=0.99", "sepgc", "cost-benefit:age=closed"),
    ("zipf:s=0.99", "sepgc", "cost-benefit:power=0.5"),
    ("zipf:s=0.99", "oracle:streams=4,spacing=linear", "greedy"),
    ("zipf:s=0.99", "dac:regions=4,residence=0.5", "greedy"),
    ("zipf:s=0.99", "warcip:penalty=age,start=shortest", "greedy"),
    # Uniform writes all go to one stream or group.
    ("hot-cold:f=0.2,r=0.8", "hcwf", "greedy"),
    ("groups:sizes=1/1,freq=1/9", "wolf:weight=0.2,allocation=closed-form", "greedy"),
]


def counters() -> dict[str, list[int]]:
    """Return host, gc and erase counts of one short run of every entry."""
    found = {}
    for layout in LAYOUTS:
        managers = [m for m in alone("managers") if layout in m.declared["layouts"]]
        runs = [("uniform", "single", v.example, 128) for v in alone("victims")]
        runs += [("uniform", m.example, "greedy", fewest_blocks(m, 128)) for m in managers]
        runs += [(w.example, "sepgc", "cost-benefit", 128) for w in alone("workloads")]
        runs += [(*form, 512) for form in FORMS if is_asked_for(form) and serves(form, layout)]
        for workload, manager, victims, blocks in runs:
            result = wa.simulate(
                "eagletree",
                workload,
                blocks=blocks,
                pages_per_block=20,
                layout=layout,
                manager=manager,
                victims=victims,
                seed=20,
                writes=30_000,
                warmup=1_000,
            )
            counts = [result.host_pages, result.causes["gc"], result.erases]
            found[f"{layout} {manager} {victims} {workload}"] = counts
    return found


def is_asked_for(form: tuple[str, str, str]) -> bool:
    """Return whether it is a form of the one entry that is to be tested, if that is one."""
    return ONLY is None or ONLY in (spec.split(":")[0] for spec in form)


def serves(form: tuple[str, str, str], layout: str) -> bool:
    """Return whether the manager of a form serves a layout."""
    name = form[1].split(":")[0]
    return any(m.name == name and layout in m.declared["layouts"] for m in every("managers"))


def changed(found: dict[str, list[int]], golden: dict[str, list[int]]) -> list[str]:
    """Return the runs that count something else than they did."""
    return [run for run, counts in found.items() if golden.get(run, counts) != counts]


if __name__ == "__main__":
    found, golden = counters(), json.loads(GOLDEN.read_text())
    if ONLY is not None:
        if moved := changed(found, golden):
            sys.exit(f"{moved[0]} does not give its golden counters any more")
        found = golden | found
    lines = (f"{json.dumps(run)}: {json.dumps(counts)}" for run, counts in found.items())
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")

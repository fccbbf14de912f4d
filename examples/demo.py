"""`make demo`: how much would an SSD amplify the writes of PostgreSQL?

Replays the block trace that this project captured from PostgreSQL (examples/README.md) under
several garbage-collection policies, prints a table and draws demo.png.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

import writeamp as wa
from writeamp.cli import options
from writeamp.cli.answer import RowPrinter
from writeamp.plots import PolicyResult, save, wa_by_policy

TRACE = Path(__file__).with_name("postgres-tpcb.parquet")
PICTURE = Path("demo.png")
OP = 0.10
PASSES = 5
POLICIES = [
    ("single", "greedy"),
    ("single", "cost-benefit"),
    ("single", "d-choices:d=10"),
    ("single", "windowed-greedy:window=64"),
    ("single", "fifo"),
    ("single", "random"),
    ("sepgc", "greedy"),
    ("sepgc", "cost-benefit"),
]


def main() -> None:
    """Run the demo, print its tables and draw its picture."""
    console = Console()
    trace = wa.traces.read(TRACE)
    facts = wa.traces.info(trace)
    pages = wa.traces.to_pages(trace)
    console.print(
        f"PostgreSQL's own block trace: {facts['writes']:,} writes, "
        f"{facts['bytes_written'] / 2**30:.1f} GiB on {facts['unique_bytes_written'] / 2**30:.2f} "
        f"GiB of data, replayed {PASSES} times on a full drive with op {OP:.0%} = (T-U)/U."
    )

    def run(policy: tuple[str, str]) -> wa.Result:
        manager, victims = policy
        return wa.simulate(trace=pages, op=OP, manager=manager, victims=victims, repeat=PASSES)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, POLICIES))
    results.sort(key=lambda result: result.wa)
    theory = theory_of(results[0])
    console.print(table(results, theory))
    draw(results, theory, facts)
    console.print(f"Picture: {PICTURE}\n")
    side_by_side(console, pages)


def theory_of(result: wa.Result) -> list[tuple[str, float]]:
    """Return models and their WA for uniform writes on a drive as full as the simulated one."""
    return [(row.model.replace(", uniform writes", ""), row.wa) for row in result.uniform_theory]


def table(results: list[wa.Result], theory: list[tuple[str, float]]) -> Table:
    """Build the table: simulated policies first, then theory for uniform writes."""
    rows = Table(
        title="How much an SSD amplifies these writes", box=box.SIMPLE_HEAD, pad_edge=False
    )
    rows.add_column("manager, victim policy", no_wrap=True)
    for column in ("WA", "95% CI", "spread", "GC", "steady"):
        rows.add_column(column, justify="right", no_wrap=True)
    for result in results:
        assert result.spread is not None
        low, high = result.ci
        rows.add_row(
            str(result.plan.policy),
            f"{result.wa:.3f}",
            f"±{(high - low) / 2:.3f}",
            f"{result.spread.wa_spread:.3f}",
            f"{result.causes['gc'] / 1e6:.1f} M",
            "yes" if result.steady else "no",
        )
    rows.add_section()
    for name, value in theory:
        rows.add_row(f"theory: {name}", f"{value:.3f}")
    rows.caption = (
        "spread: range of WA on drives one block smaller, equal and larger; "
        f"theory: uniform writes at {results[0].held_in_words}"
    )
    return rows


def side_by_side(console: Console, pages: wa.traces.PageTrace) -> None:
    """Print the answers of all sources for one policy, and why they differ."""
    console.print("All sources of an answer compared, for single, greedy (writeamp answer):")
    printer = RowPrinter()
    answer = wa.answer(trace=pages, op=OP, repeat=PASSES, row=printer.row)
    for section in answer.card().parts:
        console.print("")
        options.print_part(section)
    console.print(
        "\nTo add your own drive: writeamp answer --trace … --counters before.json "
        "--counters after.json.\nSave each file with `nvme smart-log -o json` or `smartctl -j -x` "
        "(docs/real-drives.md)."
    )


def draw(results: list[wa.Result], theory: list[tuple[str, float]], facts: dict[str, Any]) -> None:
    """Draw one bar for each policy, by cause."""
    rows = [PolicyResult(str(r.plan.policy), r.wa, r.causes, *r.ci) for r in results]
    device = results[0].device
    figure = wa_by_policy(
        rows,
        theory,
        title="PostgreSQL (TPC-B) on a simulated SSD",
        subtitle=f"op = (T-U)/U = {device.op:.3f} · {device.geometry.blocks:,} blocks of "
        f"{device.pages_per_block} pages · {facts['writes']:,} writes, {PASSES} passes\n"
        f"theory: uniform writes at {results[0].held_in_words}",
    )
    save(figure, PICTURE)


if __name__ == "__main__":
    main()

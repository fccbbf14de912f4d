"""`writeamp explore`: small drives step by step, on a page for the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.report_option import without_report
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.explore.settings import ExploreSettings
from writeamp.files.output import check_target, replacing
from writeamp.settings.compared import PoliciesSettings

_MOST_DRIVES = 2


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("explore")(without_report(with_settings(explore)))


def explore(
    policies: PoliciesSettings,
    asked: ExploreSettings,
    *,
    out: Annotated[
        Path, typer.Option("--out", help="Page to write, an .html file.", metavar="FILE")
    ],
    json: options.Json = False,
) -> None:
    """Show small drives step by step in the browser, and ten chapters on why flash amplifies.

    One manager or two, side by side on the same writes, on one page that needs no network.

    Example: writeamp explore --workload hot-cold:f=0.1,r=0.9 --managers single,hcwf-swap --out
    explore.html
    """
    if out.suffix.lower() != ".html":
        raise WriteampError(f"--out writes a page; {str(out)!r} must end in .html")
    check_target(out, "page")
    from writeamp.devices.device import device  # noqa: PLC0415 (slow)
    from writeamp.devices.policy import Policy  # noqa: PLC0415 (slow)
    from writeamp.explore.page import explore_page  # noqa: PLC0415 (slow)
    from writeamp.explore.recording import record  # noqa: PLC0415 (slow)

    pairs = policies.combinations().pairs
    if len(pairs) > _MOST_DRIVES:
        raise WriteampError(
            f"{len(pairs)} drives are asked for, and the page shows {_MOST_DRIVES} side by side; "
            "name at most two managers, or one with two victim policies"
        )
    drive = device(blocks=asked.blocks, pages_per_block=asked.pages_per_block, op=asked.op)
    with Bar("recording"):
        recorded = [
            record(
                Policy.of(manager, victims, policies.wear_leveling),
                drive,
                asked.workload,
                writes=asked.writes,
                seed=asked.seed,
            )
            for manager, victims in pairs
        ]
        made = explore_page(recorded)
    with replacing(out, "page") as file:
        file.write(made)
    if json:
        options.print_json(
            {
                "page": str(out),
                "bytes": len(made),
                "drives": [one.facts() for one in recorded],
            }
        )
        return
    for one in recorded:
        stdout.print(
            f"{one.name}: WA {one.wa:.3f} over {one.host_pages:,} host writes", markup=False
        )
    stdout.print(f"{out}: {len(made):,} bytes; open it in a browser", markup=False)

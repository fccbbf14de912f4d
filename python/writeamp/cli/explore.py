"""`writeamp explore`: page for the browser that shows small drives step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.report_option import without_report
from writeamp.cli.setting_options import with_settings
from writeamp.explorer.settings import ExploreSettings
from writeamp.settings.compared import ShownPoliciesSettings


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("explore")(without_report(with_settings(explore)))


def explore(
    policies: ShownPoliciesSettings,
    settings: ExploreSettings,
    *,
    out: Annotated[
        Path, typer.Option("--out", help="Page to write, an .html file.", metavar="FILE")
    ] = Path("explore.html"),
    json: options.Json = False,
) -> None:
    """Show small drives step by step on a page, with ten chapters on write amplification.

    The page shows one drive, or two side by side under the same writes, such as two block managers.
    It works offline.

    Example: writeamp explore

    Example: writeamp explore --workload zipf:s=0.99 --managers single,hcwf-swap --out hcwf.html
    """
    from writeamp.explorer.functions import check_page  # noqa: PLC0415 (slow)
    from writeamp.explorer.functions import explore as explored  # noqa: PLC0415

    check_page(out)
    with Bar("recording"):
        exploration = explored(**vars(policies), **vars(settings))
    exploration.save(out)
    if json:
        options.print_json({"page": str(out), **exploration.to_dict()})
        return
    drives = " and ".join(f"{drive.name} (WA {drive.wa:.3f})" for drive in exploration.drives)
    writes = f"{settings.writes:,} host writes"
    stdout.print(f"Wrote {out}; open it in a browser. It shows {drives} over {writes}.")

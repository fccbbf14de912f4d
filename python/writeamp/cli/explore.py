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
from writeamp.explorer.settings import ExploreSettings
from writeamp.settings.compared import PoliciesSettings


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
    from writeamp.explorer.functions import check_page  # noqa: PLC0415 (slow)
    from writeamp.explorer.functions import explore as explored  # noqa: PLC0415

    check_page(out)
    with Bar("recording"):
        found = explored(**vars(policies), **vars(asked))
    found.save(out)
    if json:
        options.print_json({"page": str(out), **found.to_dict()})
        return
    for one in found.drives:
        stdout.print(
            f"{one.name}: WA {one.wa:.3f} over {one.host_pages:,} host writes", markup=False
        )
    stdout.print(f"{out}: {len(found.page):,} bytes; open it in a browser", markup=False)

"""Function `reproduce`: the package `writeamp_papers`, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from writeamp.errors import WriteampError
from writeamp.extensions import PAPERS_MISSING
from writeamp.files.output import AnyPath
from writeamp.runners import Runner


def reproduce(
    paper: str,
    *,
    plots: AnyPath | None = None,
    full: bool = False,
    resume: AnyPath | None = None,
    traces: AnyPath | None = None,
    step: Callable[[str], None] | None = None,
    runner: Runner | None = None,
) -> Any:
    """Compute a paper's published values anew, and compare them.

    Args:
        paper: name of the paper, such as "park2017".
        plots: folder to draw the paper's figures into.
        full: drives of full size and long runs (minutes).
        resume: folder that keeps measurements, for papers that can resume.
        traces: folder with published traces, for papers that can use them.
        step: called with a few words on what is computed now.
        runner: who does the simulations; by default threads of this process.

    Returns:
        `writeamp_papers.Reproduction`: `items` with `published`, `ours` and `verdict`; `figures`,
        `unexpected` (sentences on differences that are not explained), `skipped`, `unfinished`.

    Raises:
        WriteampError: the package `writeamp-papers` is not installed, or an unusable input.
        Interrupted: Ctrl-C; its `finished` is the `Reproduction` of the parts that are done.

    >>> import writeamp as wa
    >>> wa.reproduce("park2017").unexpected  # doctest: +SKIP
    []
    """
    try:
        papers = import_module("writeamp_papers")
    except ModuleNotFoundError as error:
        if error.name != "writeamp_papers":
            raise
        raise WriteampError(PAPERS_MISSING) from None
    return papers.reproduce(
        paper, plots=plots, full=full, resume=resume, traces=traces, step=step, runner=runner
    )

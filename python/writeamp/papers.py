"""Function `reproduce`, which needs the package `writeamp_papers`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from writeamp.errors import WriteampError
from writeamp.extensions import PAPERS_MISSING
from writeamp.files.output import AnyPath
from writeamp.runners import Progress, Runner, check_callbacks


def reproduce(
    paper: str,
    *,
    plots: AnyPath | None = None,
    full: bool = False,
    resume: AnyPath | None = None,
    traces: AnyPath | None = None,
    step: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> Any:
    """Recompute a paper's published values and compare the computed values with the print.

    Args:
        paper: name of the paper, such as "park2017".
        plots: folder in which the paper's figures are saved as PNG files; None computes none.
        full: use larger drives, up to the paper's size, and longer runs (minutes to hours).
        resume: folder in which measurements are saved and from which they are reused; only for
            "huang2011".
        traces: folder with published traces, to replay as well; only for "huang2011".
        step: called with a description of each step when it starts.
        progress: called with the number of runs of the step that are finished, and of all.
        runner: runs the simulations; by default threads of this process.

    Returns:
        `writeamp_papers.Reproduction`: `items` with `published`, `ours` and `verdict`; `figures`,
        `unexpected` (sentences on differences that are not in the list of known ones, or that have
        changed), `skipped`, `unfinished`.

    Raises:
        WriteampError: the package `writeamp-papers` is not installed, or an invalid input.
        Interrupted: Ctrl-C; its `finished` is the `Reproduction` of the finished steps.

    >>> import writeamp as wa
    >>> wa.reproduce("park2017").unexpected  # doctest: +SKIP
    []
    """
    check_callbacks(progress)
    try:
        papers = import_module("writeamp_papers")
    except ModuleNotFoundError as error:
        if error.name != "writeamp_papers":
            raise
        raise WriteampError(PAPERS_MISSING) from None
    return papers.reproduce(
        paper,
        plots=plots,
        full=full,
        resume=resume,
        traces=traces,
        step=step,
        progress=progress,
        runner=runner,
    )

"""Scoreboard of real drives: steady WA that twins predict, beside WA that counters measured.

    make scoreboard

Twins are learnt from some phases of published counters (tests/data/real-drives) and predict the
others. The script writes docs/real-drive-scoreboard.md and its picture; it takes 6 to 8 minutes on
two cores, and less if the user's cache has the simulated candidates.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from real_drive_figure import figure_of
from real_drive_trials import COUNTERS, ROOT, SCHEMES, Outcome, label_of, load_name, outcomes

from writeamp.learn.twin.phases.checked import CheckedPhase, TwinCheck
from writeamp.learn.twin.phases.counted import CountedPhase
from writeamp.learn.twin.phases.table import CountedDrive, read_drives
from writeamp.learn.twin.phases.windows import PhaseWindows
from writeamp.plots import save

PAGE = ROOT / "docs/real-drive-scoreboard.md"
PICTURE = ROOT / "docs/images/real-drive-scoreboard.png"
# Aims: least share of intervals that contain the measured WA, and most median half width.
LEAST_INSIDE, MOST_HALF_WIDTH = 0.8, 0.05
# Most phases that are named in a cell.
MOST_NAMES = 3

TOP = """# Real drives: predicted and measured WA
{answer}

| twin learnt from | predictions | median error | 90th percentile | measured WA inside the 90% \
interval | median half width | fifths inside | meets both aims |
|---|---|---|---|---|---|---|---|
{summary}

![Predicted over measured WA of each phase, with 90% intervals](images/real-drive-scoreboard.png)

The counters are those of SSD-iq (PVLDB 18(11), 2025): a Micron 7450 MAX 800 GB and a Solidigm \
D7-P5520 1.92 TB under stated loads. The twins are those of [`writeamp twin fit`](twin-phases.md). \
`make scoreboard` computes this page.

- *Error* is predicted over measured WA, minus 1; its median and 90th percentile are without sign.
- *Half width* is that of the 90% interval, relative to the prediction.
- *Fifths* are parts of a phase with a fifth of its host bytes each. The first ones test how WA \
rises after the fill.
- *Aims*: at least {least_inside:.0%} of the measured WA are inside, and the median half width \
is at most {most_half_width:.0%}.
- Predictions are not independent: only {measured} measured phases are predicted, each by several \
twins. Their assumed model error of {model_error:.0%} was chosen by these phases, too.
- [Fills](#fills) are reported apart, because they are easy to predict. [Phases without a \
prediction](#phases-without-a-prediction) do not count.

"""

READING = """## What this means
- **One load does not separate spare space from policies.** Different pairs of both give the same \
WA under uniform writes and a different one under zipf, or the reverse. So a twin of one load has \
wide intervals for the other. Learn from the load that you want to predict, or from both.
- **A fill must be measured.** The drive writes parity and metadata beside data, and the WA of a \
sequential fill shows how much. A twin of a sanitized drive without a fill assumes none, so its \
other predictions are wrong by that factor.
- **The factor of a fill belongs to its span.** The column *by its own fills* has the error if the \
WA of the fill before the phase is unknown.

### Loads learnt from and loads predicted
| learnt from | predicted | predictions | median error | 90th percentile | inside | median half \
width |
|---|---|---|---|---|---|---|
{by_load}

### Outside the interval
| drive | phase | learnt from | measured | predicted | 90% interval | error |
|---|---|---|---|---|---|---|
{outside}

"""

PREDICTIONS = """## Learnt from {scheme}
| drive | phase | learnt from | measured | predicted | 90% interval | error | inside | fifths \
inside | error by its own fills |
|---|---|---|---|---|---|---|---|---|---|
{rows}

"""

BOTTOM = """## Fills
A twin predicts that fills have the mean WA of the fills that it was learnt from. Of {fills} \
predictions, {fills_inside} contain the measured WA; the median error is {fill_error}, the largest \
{worst_fill}. These are the fills of the drives:

| drive | phase | load | measured | predicted by all twins | inside |
|---|---|---|---|---|---|
{fill_rows}

## Phases without a prediction
| drive | phase | load | measured | why |
|---|---|---|---|---|
{without}

## Predicted phases
WA is measured from the first row at or after 60% of the host bytes of a phase to its last row. \
The bounds are its 90% interval, from the steps of the counter.

| drive | phase | name above | measured | bounds |
|---|---|---|---|---|
{phases}
"""


def page_of(drives: Sequence[CountedDrive], results: Sequence[Outcome]) -> str:
    """Return the Markdown page."""
    tests = [phase for outcome in results for phase in outcome.tests]
    fills = [phase for outcome in results for phase in outcome.fills]
    fill_errors = [abs(phase.steady.error or 0.0) for phase in fills]
    answer = (
        f"Twins of two real SSDs made {len(tests)} predictions of the steady WA in phases that "
        f"they were not learnt from. {_sentence(tests)} {_share(results, is_learnt=True)} "
        f"{_share(results, is_learnt=False)}"
    )
    top = TOP.format(
        answer=answer,
        summary=_lines(_summaries(drives, results)),
        least_inside=LEAST_INSIDE,
        most_half_width=MOST_HALF_WIDTH,
        model_error=PhaseWindows.model_error,
        measured=len({(phase.phase.drive, phase.phase.name) for phase in tests}),
    )
    reading = READING.format(
        by_load=_lines(_by_load(results)),
        outside=_lines(
            row[:-3]
            for outcome in results
            for phase, row in _predictions(outcome)
            if not phase.steady.holds
        ),
    )
    middle = "".join(
        PREDICTIONS.format(scheme=scheme, rows=_lines(rows))
        for scheme in SCHEMES
        if (rows := [row for outcome in _of(results, scheme) for _, row in _predictions(outcome)])
    )
    bottom = BOTTOM.format(
        fills=len(fills),
        fills_inside=sum(bool(phase.steady.holds) for phase in fills),
        fill_error=f"{np.median(fill_errors):.1%}",
        worst_fill=f"{max(fill_errors):.1%}",
        fill_rows=_lines(_fill_rows(drives, fills)),
        without=_lines(_without(drives, results)),
        phases=_lines(_measured_rows(drives, tests)),
    )
    return (top + reading + middle + bottom).rstrip() + "\n"


def _sentence(tests: Sequence[CheckedPhase]) -> str:
    summary = summary_of(tests)
    return (
        f"The median error is {summary['median_error']:.1%}, the 90th percentile "
        f"{summary['p90_error']:.1%}, and {summary['held'] / len(tests):.0%} of the 90% intervals "
        "contain the measured WA."
    )


def _share(results: Sequence[Outcome], *, is_learnt: bool) -> str:
    """Return the errors of predictions by whether the load was learnt from in other phases."""
    summary = summary_of(tests_by_load(results, is_learnt=is_learnt))
    when = "in another phase" if is_learnt else "in no phase"
    return (
        f"Where the twin was learnt from the load {when}, the median error of "
        f"{summary['tests']} predictions is {summary['median_error']:.1%}, and the 90th "
        f"percentile {summary['p90_error']:.1%}."
    )


def summary_of(tests: Iterable[CheckedPhase]) -> dict[str, float]:
    """Return errors and coverage of predictions; see `TwinCheck.summary`."""
    return TwinCheck("", "", tuple(tests)).summary


def _of(results: Sequence[Outcome], scheme: str) -> list[Outcome]:
    return [outcome for outcome in results if outcome.trial.scheme == scheme]


def _lines(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _summaries(
    drives: Sequence[CountedDrive], results: Sequence[Outcome]
) -> Iterator[tuple[str, ...]]:
    for scheme in SCHEMES:
        of_scheme = _of(results, scheme)
        for drive in drives:
            own = [outcome for outcome in of_scheme if outcome.trial.drive is drive]
            for has_zones, name in ((False, drive.name), (True, f"{drive.name}, zones")):
                tests = [
                    test
                    for outcome in own
                    for test in outcome.tests
                    if has_zones is (test.phase.load.zones is not None)
                ]
                yield from _summary(f"{scheme}, {name}", tests)
    for name, is_learnt in (("the predicted load, too", True), ("other loads only", False)):
        yield from _summary(f"*{name}*", tests_by_load(results, is_learnt=is_learnt))
    yield from _summary("**all**", [test for outcome in results for test in outcome.tests])


def tests_by_load(results: Iterable[Outcome], *, is_learnt: bool) -> list[CheckedPhase]:
    """Return the predictions of loads that the twin was learnt from in other phases, or not."""
    return [
        test
        for outcome in results
        for test in outcome.tests
        if is_learnt == (test.phase.pattern in {load.pattern for load in outcome.trial.learnt})
    ]


def _summary(name: str, tests: Sequence[CheckedPhase]) -> Iterator[tuple[str, ...]]:
    if not tests:
        return
    summary = summary_of(tests)
    inside, half_width = summary["held"] / len(tests), summary["median_half_width"]
    yield (
        name,
        f"{len(tests)}",
        f"{summary['median_error']:.1%}",
        f"{summary['p90_error']:.1%}",
        f"{inside:.0%}",
        f"{half_width:.1%}",
        f"{summary['fifths_held']} of {summary['fifths']}",
        "yes" if inside >= LEAST_INSIDE and half_width <= MOST_HALF_WIDTH else "no",
    )


def _by_load(results: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    """Yield errors and coverage by the loads learnt from and the load predicted."""
    kinds: dict[tuple[str, str], list[CheckedPhase]] = {}
    for outcome in results:
        learnt = sorted({load.pattern for load in outcome.trial.learnt})
        for phase in outcome.tests:
            kinds.setdefault((" and ".join(learnt), phase.phase.pattern), []).append(phase)
    for (learnt_from, predicted), tests in sorted(kinds.items()):
        summary = summary_of(tests)
        yield (
            learnt_from,
            predicted,
            f"{len(tests)}",
            f"{summary['median_error']:.1%}",
            f"{summary['p90_error']:.1%}",
            f"{summary['held']} of {len(tests)}",
            f"{summary['median_half_width']:.1%}",
        )


def _predictions(outcome: Outcome) -> Iterator[tuple[CheckedPhase, tuple[str, ...]]]:
    drive = outcome.trial.drive
    learnt = outcome.trial.learnt
    learnt_from = "; ".join(label_of(drive, load) for load in learnt)
    if len(learnt) > MOST_NAMES:
        learnt_from = f"the other {len(learnt)}"
    for phase in outcome.tests:
        measured, predicted, error = (
            phase.steady.measured,
            phase.steady.predicted,
            phase.steady.error,
        )
        if measured is None or predicted is None or error is None:
            continue
        held = [window.holds for window in phase.fifths if window.holds is not None]
        alone = phase.by_twin_alone
        yield (
            phase,
            (
                drive.name,
                label_of(drive, phase.phase),
                learnt_from,
                f"{measured.wa:.4f}",
                f"{predicted.median:.4f}",
                f"{predicted.low:.4f} to {predicted.high:.4f}",
                _signed(error),
                "yes" if phase.steady.holds else "**no**",
                f"{sum(held)} of {len(held)}",
                "" if alone is None else _signed(alone / measured.wa - 1),
            ),
        )


def _signed(error: float) -> str:
    return f"{round(error, 3) + 0.0:+.1%}"


def _fill_rows(
    drives: Sequence[CountedDrive], fills: Sequence[CheckedPhase]
) -> Iterator[tuple[str, ...]]:
    for drive in drives:
        for phase in (phase for phase in drive.phases if phase.load.is_fill):
            own = [
                fill.steady
                for fill in fills
                if (fill.phase.drive, fill.phase.name) == (drive.name, phase.name)
            ]
            was = [window.predicted.median for window in own if window.predicted is not None]
            yield (
                drive.name,
                f"`{phase.name}`",
                label_of(drive, phase),
                _measured(phase)[0],
                f"{min(was):.4f} to {max(was):.4f}" if was else "",
                f"{sum(bool(window.holds) for window in own)} of {len(own)}",
            )


def _without(
    drives: Sequence[CountedDrive], results: Sequence[Outcome]
) -> Iterator[tuple[str, ...]]:
    """Yield the loads that no twin predicts, with the reason."""
    for drive in drives:
        own = [outcome for outcome in results if outcome.trial.drive is drive]
        tested = {test.phase.name for outcome in own for test in outcome.tests}
        for checked in own[0].phases if own else ():
            phase = checked.phase
            if phase.name not in tested and not phase.load.is_fill:
                reason = checked.reason or ""
                yield drive.name, f"`{phase.name}`", load_name(phase), _measured(phase)[0], reason


def _measured_rows(
    drives: Sequence[CountedDrive], tests: Sequence[CheckedPhase]
) -> Iterator[tuple[str, ...]]:
    names = {(test.phase.drive, test.phase.name) for test in tests}
    for drive in drives:
        for phase in drive.phases:
            if (drive.name, phase.name) in names:
                yield drive.name, f"`{phase.name}`", label_of(drive, phase), *_measured(phase)


def _measured(phase: CountedPhase) -> tuple[str, str]:
    if phase.steady is None:
        return "", ""
    low, high = phase.steady.bounds
    return f"{phase.steady.wa:.4f}", f"{low:.4f} to {high:.4f}"


def main() -> None:
    begun = time.perf_counter()
    drives = read_drives(COUNTERS)
    results = outcomes(drives)
    PAGE.write_text(page_of(drives, results), "utf-8")
    save(figure_of(drives, results), PICTURE)
    print(f"wrote {PAGE.name} after {time.perf_counter() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()

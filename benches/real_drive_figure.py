"""Picture of the scoreboard of real drives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from real_drive_trials import SCHEMES, Outcome, label_of

from writeamp.learn.twin.phases.checked import CheckedPhase
from writeamp.learn.twin.phases.table import CountedDrive
from writeamp.plots.spec import Line, Mark, Panel, PanelChart
from writeamp.plots.style import INK, error_bars, series_color


def figure_of(drives: Sequence[CountedDrive], results: Sequence[Outcome]) -> PanelChart:
    """Return a figure of predicted over measured WA by phase, a panel for each drive."""
    return PanelChart(
        title="Write amplification of real drives, predicted over measured",
        subtitle="steady WA of phases that the twin was not learnt from, with 90% intervals",
        x_label="",
        y_label="",
        panels=tuple(panel for drive in drives for panel in _panels(drive, results)),
        columns=1,
        own_axes=True,
    )


def _panels(drive: CountedDrive, results: Sequence[Outcome]) -> Iterator[Panel]:
    """Yield a panel of the random loads of a drive, and one of its zones, if predicted."""
    own = [outcome for outcome in results if outcome.trial.drive is drive]
    for has_zones, title in ((False, drive.name), (True, f"{drive.name}, zones")):
        tests = [
            (outcome.trial.scheme, test)
            for outcome in own
            for test in outcome.tests
            if has_zones is (test.phase.load.zones is not None)
        ]
        if tests:
            yield _panel(title, drive, tests)


def _panel(title: str, drive: CountedDrive, tests: Sequence[tuple[str, CheckedPhase]]) -> Panel:
    phases = {test.phase.name: test.phase for _, test in tests}
    places = {phase.name: at for at, phase in enumerate(drive.phases) if phase.name in phases}
    order = sorted(phases, key=places.__getitem__)
    counts = Counter(test.phase.name for _, test in tests)
    drawn = dict.fromkeys(order, 0)
    lines: list[Line] = []
    for at, scheme in enumerate(SCHEMES):
        x, middle, low, high = [], [], [], []
        for test in (test for scheme_of_test, test in tests if scheme_of_test == scheme):
            measured, predicted = test.steady.measured, test.steady.predicted
            if measured is None or predicted is None:
                continue
            name = test.phase.name
            drawn[name] += 1
            x.append(order.index(name) + 0.8 * (drawn[name] / (counts[name] + 1) - 0.5))
            middle.append(predicted.median / measured.wa)
            low.append(predicted.low / measured.wa)
            high.append(predicted.high / measured.wa)
        color = series_color(at)
        lines += [
            error_bars(x, low, high, color),
            Line(x, middle, color, 0.0, label=f"learnt from {scheme}", marker="circle"),
        ]
    return Panel(
        title,
        tuple(lines),
        levels=(Mark(1.0, INK, "solid", "predicted = measured"),),
        y_label="predicted ÷ measured WA",
        from_zero=False,
        x_names=tuple(_short(label_of(drive, phases[name])) for name in order),
    )


def _short(label: str) -> str:
    """Return a label in lines that are short enough for names of an axis."""
    return label.replace("-shuffle", "").replace("zones of ", "").replace(", ", "\n")

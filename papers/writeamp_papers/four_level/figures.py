"""Figures 5 to 11 of paper 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from writeamp.plots.spec import Line, Marker, Panel, PanelChart
from writeamp.plots.style import WA_LABEL, series_color
from writeamp_papers.four_level.loads import SIZES, Access

_MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond", "triangle")
_KIB = 1024

_Errors = Mapping[Access, Mapping[str, float]]
# By name of the series: a value for each sub-test.
_BySeries = Mapping[str, Sequence[float]]


def percentage_errors(errors: _Errors, methods: Sequence[str], subtitle: str) -> PanelChart:
    """Describe the absolute percentage error |PEN| over the access size, one line per method."""
    panels = []
    for is_random in (False, True):
        for share in (1.0, 0.5):
            lines = []
            for index, method in enumerate(methods):
                worst = [
                    max(
                        errors[Access(size, is_random, share, aligned)][method]
                        for aligned in (True, False)
                    )
                    for size in SIZES
                ]
                # A logarithmic axis has no 0, so an error of 0 is drawn at the axis's lower end.
                lines.append(
                    Line(
                        _kib(),
                        [max(value, _LEAST_PEN) for value in worst],
                        series_color(index),
                        label=method,
                        marker=_MARKERS[index],
                    )
                )
            panels.append(Panel(_title(share, is_random=is_random), tuple(lines)))
    return PanelChart(
        title="Error of page programs counted at Ready/Busy pins, from the drive's own count",
        subtitle=subtitle,
        x_label="size of an access (KiB)",
        y_label="absolute error |PEN| (%), larger one\nof aligned and unaligned",
        panels=tuple(panels),
        columns=2,
        x_ticks=_kib(),
        x_log=True,
        y_log=True,
    )


_LEAST_PEN = 1e-4


def micro_benchmarks(
    wa: Mapping[tuple[str, Access], float], drives: Sequence[str], subtitle: str
) -> PanelChart:
    """Describe WA over the access size, one panel per drive and share of writes."""
    panels = []
    for share in (0.5, 1.0):
        for name in drives:
            lines = []
            for index, is_random in enumerate((True, False)):
                for aligned in (True, False):
                    lines.append(
                        Line(
                            _kib(),
                            [wa[name, Access(size, is_random, share, aligned)] for size in SIZES],
                            series_color(index),
                            dash="solid" if aligned else "dash",
                            label=f"{'random' if is_random else 'sequential'}, "
                            f"{'aligned' if aligned else 'not aligned'}",
                            marker=_MARKERS[index],
                        )
                    )
            panels.append(Panel(f"{name.upper()}, {share:.0%} writes", tuple(lines)))
    return PanelChart(
        title="Micro-benchmarks on drives in the steady state of random writes",
        subtitle=subtitle,
        x_label="size of an access (KiB)",
        y_label=f"{WA_LABEL}\n(flash bytes / host bytes)",
        panels=tuple(panels),
        columns=len(drives),
        x_ticks=_kib(),
        x_log=True,
        y_log=True,
    )


def by_sub_test(
    title: str,
    subtitle: str,
    wa: _BySeries,
    write_mb_s: _BySeries,
    printed: Mapping[str, Mapping[int, float]],
) -> PanelChart:
    """Describe WA and write bandwidth over the sub-test number, with the paper's values of WA."""
    of_wa, of_bandwidth = [], []
    for index, name in enumerate(wa):
        color = series_color(index)
        tests = list(range(1, len(wa[name]) + 1))
        of_wa += [
            Line(tests, wa[name], color, label=name, marker="circle"),
            Line(
                list(printed[name]),
                list(printed[name].values()),
                color,
                width_pt=0,
                marker="ring",
            ),
        ]
        of_bandwidth.append(Line(tests, write_mb_s[name], color, label=name, marker="circle"))
    return PanelChart(
        title=title,
        subtitle=subtitle,
        x_label="sub-test",
        y_label="",
        panels=(
            Panel(f"{WA_LABEL} (flash bytes / host bytes)", tuple(of_wa)),
            Panel("Write bandwidth (MB/s)", tuple(of_bandwidth)),
        ),
        columns=2,
        own_y=True,
    )


def _kib() -> tuple[float, ...]:
    return tuple(size / _KIB for size in SIZES)


def _title(share: float, *, is_random: bool) -> str:
    return f"{'random' if is_random else 'sequential'}, {share:.0%} writes"

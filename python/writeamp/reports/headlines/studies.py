"""Headlines of studies: sweeps, curves over op, and volumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.reports.headlines.runs import cannot_run
from writeamp.reports.values import interval, items, number, rows, shown, table, texts, words
from writeamp.results.numbers import four_digits, interval_in_words, plural
from writeamp.traces.words import NO_WRITERS

_Document = Mapping[str, Any]


def of_op_curve(document: _Document) -> str:
    """Return the WA at both ends of a curve over op."""
    points = [
        (op, wa)
        for point in rows(document, "points")
        if (op := number(point, "op")) is not None and (wa := number(point, "wa")) is not None
    ]
    if not points:
        return ""
    (least, wa_there), (most, wa_at_most) = min(points), max(points)
    if len(points) == 1:
        return f"WA {four_digits(wa_there)} at op {least:.4g}."
    return (
        f"From op {least:.4g} to {most:.4g}, WA goes from {four_digits(wa_there)} to "
        f"{four_digits(wa_at_most)}."
    )


def of_blame(document: _Document) -> str:
    """Return the writer with the most flash writes, and the drive's writes after each change."""
    tags = [(number(row, "flash_bytes") or 0.0, row) for row in rows(document, "tags")]
    wa, total = number(document, "wa"), sum(flash for flash, _ in tags)
    if wa is None or not total:
        return ""
    writers = [pair for pair in tags if words(pair[1], "tag") not in NO_WRITERS]
    flash, most = max(writers or tags, key=lambda pair: pair[0])
    changes = [
        f"{changed} {how}"
        for key, how in (
            ("wa_without", "without it"),
            ("wa_own_stream", "with a stream of its own for it"),
        )
        if (changed := _steady_wa(most, key, f"{key}_steady"))
    ]
    would = f"; it would be {' and '.join(changes)}" if changes else ""
    return (
        f"{words(most, 'tag')} causes {flash / total:.0%} of the flash writes, with "
        f"{number(most, 'host_share') or 0:.0%} of the host's{_saved(most)}. "
        f"WA is {_steady_wa(document, 'wa', 'steady')}{would}."
    )


def _saved(tag: _Document) -> str:
    """Return the share of the flash writes that the drive saves without a tag, as a clause."""
    saved = number(tag, "flash_saved_share")
    if saved is None:
        return ""
    about = "about " if tag.get("wa_without_steady") is False else ""
    return (
        f"; without it, the drive writes {about}{abs(saved):.0%} {'less' if saved >= 0 else 'more'}"
    )


def _steady_wa(document: _Document, key: str, steady_key: str) -> str:
    """Return WA, rounded if it is not steady; "" without WA."""
    wa = number(document, key)
    if wa is None:
        return ""
    return f"{wa:.2f} (not steady)" if document.get(steady_key) is False else four_digits(wa)


def of_shard(document: _Document) -> str:
    """Return the outcome of a shard, and how to see the result of all shards."""
    runs = number(document, "runs")
    if runs is None:
        return ""
    failed = sum(number(document, name) or 0 for name in ("failed", "failed_before"))
    outcome = "is done"
    if failed:
        outcome = f"has ended, but {failed:.0f} of its {plural(int(runs), 'run')} failed"
    return (
        f"Shard {words(document, 'shard')} {outcome}. Its results are in "
        f"{words(document, 'out')}. When all shards are done, the same command without --shard, "
        "and with --keep for each of their folders, shows the result."
    )


def of_sweep(document: _Document) -> str:
    """Return the outcome of a sweep's points, and the best of a search or both ends of WA."""
    points, done, failed = (number(document, key) for key in ("points", "done", "failed"))
    if points is None or done is None or failed is None:
        return ""
    here = number(document, "skipped") or 0
    best = table(document, "best")
    chosen = ", ".join(f"{name} {shown(value)}" for name, value in best.items())
    ends = of_groups(table(document, "extremes"))
    return (
        (f"{ends} " if ends else "")
        + f"{points - failed:,.0f} of {plural(int(points), 'point')} have a result"
        + (f" ({here:,.0f} of them from earlier runs)" if here else "")
        + (f"; {failed:,.0f} failed" if failed else "")
        + (f". Best: {chosen}" if chosen else "")
        + f". They are in {words(document, 'out')}."
    )


def of_prediction_sweep(document: _Document) -> str:
    """Return the range of each model's predictions over a sweep."""
    by_model: dict[str, list[float]] = {}
    for point in rows(document, "sweep"):
        for model in rows(point, "models"):
            value = number(model, "wa") if "wa" in model else number(model, "op")
            if value is not None:
                by_model.setdefault(words(model, "model"), []).append(value)
    quantity = "op" if "target_wa" in document else "WA"
    ranges = (
        f"{four_digits(values[0])} to {four_digits(values[-1])} ({name})"
        for name, values in by_model.items()
    )
    return f"{quantity} from the first to the last point: {', '.join(ranges)}." if by_model else ""


def of_curves(document: _Document) -> str:
    """Return the lowest and the highest mean of the lines of a sweep."""
    x = words(document, "x")
    return _extremes(
        _title(words(document, "y")),
        [
            (value, ", ".join(filter(None, (words(line, "hue"), f"{x} {shown(point.get('x'))}"))))
            for line in rows(document, "series")
            for point in rows(line, "points")
            if (value := number(point, "y")) is not None
        ],
    )


def of_heat_maps(document: _Document) -> str:
    """Return the lowest and the highest mean of the cells."""
    x, y = words(document, "x"), words(document, "y")
    x_values, y_values = items(document.get("x_values")), items(document.get("y_values"))
    cells = [
        (value, f"{x} {shown(at_x)}, {y} {shown(at_y)}")
        for facet in rows(document, "maps")
        for at_y, line in zip(y_values, items(facet.get("values")), strict=False)
        for at_x, cell in zip(x_values, items(line), strict=False)
        if (value := number({"": cell}, "")) is not None
    ]
    return _extremes(_title(words(document, "color")), cells)


def of_groups(document: _Document) -> str:
    """Return the lowest and the highest mean WA of a sweep's settings."""
    parameters = texts(document, "parameters")
    return _extremes(
        "WA",
        [
            (wa, ", ".join(f"{name} {shown(row.get(name))}" for name in parameters))
            for row in rows(document, "rows")
            if (wa := number(row, "wa")) is not None
        ],
    )


def _extremes(quantity: str, values: Sequence[tuple[float, str]]) -> str:
    if not values:
        return ""
    (least, at_least), (most, at_most) = (
        choice(values, key=lambda pair: pair[0]) for choice in (min, max)
    )
    return (
        f"Lowest {quantity}: {four_digits(least)} ({at_least}); highest: {four_digits(most)} "
        f"({at_most})."
    )


def _title(column: str) -> str:
    return "WA" if column == "wa" else column.replace("_", " ")


def of_pareto(document: _Document) -> str:
    """Return the number of choices that no other choice beats in every objective."""
    choices = rows(document, "choices")
    front = [choice for choice in choices if words(choice, "standing") == "front"]
    objectives = " and ".join(
        _title(words(objective, "column")) for objective in rows(document, "objectives")
    )
    return (
        f"{len(front)} of {plural(len(choices), 'choice')} are on the Pareto front of "
        f"{objectives}: no other choice is better in all of them."
    )


def of_sensitivity(document: _Document) -> str:
    """Return the setting that explains most of the variation."""
    indices = [
        (value, words(index, "axis"))
        for choice in rows(document, "sensitivity")
        for index in rows(choice, "indices")
        if words(index, "measure") == "first_order"
        and (value := number(index, "value")) is not None
    ]
    if not indices:
        return ""
    share, axis = max(indices)
    return f"{axis} explains {share:.0%} of the variation of {_title(words(document, 'y'))}."


def of_volumes_run(document: _Document) -> str:
    """Return the manager with the lowest WA over all volumes."""
    managers = [
        (wa, row)
        for row in rows(document, "managers")
        if (wa := number(row, "overall_wa")) is not None
    ]
    if not managers:
        return ""
    wa, best = min(managers, key=lambda pair: pair[0])
    name, volumes = words(best, "manager"), int(number(document, "volumes") or 0)
    have = int(number(document, "compared_volumes") or volumes)
    of = f"{f'{have} of ' if have < volumes else ''}{plural(volumes, 'volume')}"
    quantity, of = ("WA", f"{of} on one drive") if document.get("together") else ("overall WA", of)
    bounds = interval(best, "overall_wa")
    within = f" ({interval_in_words(*bounds, '.3f')})" if bounds else ""
    few = _with_fewest(managers, volumes)
    saving, baseline = number(best, "saving"), words(document, "baseline")
    text = f"{quantity} of {of}: {four_digits(wa)}{within} under {name}"
    cannot = cannot_run(rows(document, "managers"), "overall_wa")
    if len(managers) == 1:
        return f"{text[0].upper()}{text[1:]}.{cannot}"
    if name == baseline or saving is None:
        return f"Lowest {text}.{few}{cannot}"
    bounds = interval(best, "saving")
    within = f" ({interval_in_words(*bounds, '.1%')})" if bounds else ""
    of_baseline = f"{saving:.1%}{within} of the page programs of {baseline}"
    return f"Lowest {text}, which saves {of_baseline}.{few}{cannot}"


def _with_fewest(managers: Sequence[tuple[float, _Document]], volumes: int) -> str:
    """Return the manager that ran on the fewest volumes, as a sentence, or "" if all ran on all."""
    counts = [
        (count, words(row, "manager"))
        for _, row in managers
        if (count := number(row, "volumes")) is not None
    ]
    fewest, name = min(counts, default=(volumes, ""))
    if fewest >= volumes:
        return ""
    return f" {name} runs on only {fewest:.0f} of the {volumes:,} volumes."


def of_volumes_made(document: _Document) -> str:
    """Return the number of requests and volumes that a trace was made of."""
    return _requests(document, "path")


def of_volumes_split(document: _Document) -> str:
    """Return the number of requests and volumes that were split."""
    return _requests(document, "out")


def _requests(document: _Document, key: str) -> str:
    requests, volumes = number(document, "requests"), number(document, "volumes")
    if requests is None or volumes is None:
        return ""
    return (
        f"{plural(int(requests), 'request')} of {plural(int(volumes), 'volume')} are in "
        f"{words(document, key)}."
    )


def of_volumes(document: _Document) -> str:
    """Return the amount that volumes write."""
    volumes, writes = number(document, "volumes"), number(document, "writes")
    if volumes is None or writes is None:
        return ""
    a_day = number(document, "drive_writes_per_day")
    each_day = "" if a_day is None else f": {a_day:.3g} times their written pages a day"
    return f"{plural(int(volumes), 'volume')} with {plural(int(writes), 'write')}{each_day}."


def of_reproduction(document: _Document) -> str:
    """Return how many published values the computed values match."""
    readings = rows(document, "readings")
    default = next((row for row in readings if row.get("default") is True), None)
    matches, comparable = (number(default or {}, key) for key in ("matches", "comparable"))
    if matches is None or comparable is None:
        return ""
    unexpected = len(texts(document, "unexpected"))
    others = f"; {unexpected} differ in a way that is not listed" if unexpected else ""
    return f"{matches:.0f} of {comparable:.0f} comparable values of the paper match{others}."

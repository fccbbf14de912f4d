"""Values and specs to try: what is valid, at the edges of it, and what nobody would write."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st
from writeamp.registry import EngineKind, engine_entries

_KINDS: tuple[EngineKind, ...] = (
    "victims",
    "managers",
    "workloads",
    "detectors",
    "wear_levelers",
)
_DEEPEST = 2

EDGES = st.sampled_from(
    [
        *("0", "-0", "1", "-1", "2", "0.5", "1e-9", "1e-300", "5e-324", "1e308", "1e309", "1e9"),
        *("2147483648", "4294967295", "4294967296", "9223372036854775807", "1e18", "1e30"),
        *("18446744073709551615", "18446744073709551616", "9" * 400, "9" * 5000, "0.1e", "0x10"),
        *("4k", "2MiB", "1GiB", "4kB", "0.5k", "1e9G"),
        *("nan", "inf", "-inf", "NaN", "1_0", "１", " 1 ", "", "auto", "never", "oracle", "None"),
    ]
)
JUNK = st.one_of(
    EDGES,
    st.text(max_size=8),
    st.sampled_from(["\x1b[31m", "[bold]x[/bold]", "a\nb", "\t", "(" * 300, "a" * 3000, "é\u202e"]),
)
SHARES = st.one_of(
    st.floats(0, 1).map(repr), st.sampled_from(["0.1", "0.28", "0.9", "1e-6", "0.999999"])
)


def specs(kind: EngineKind, depth: int = 0) -> st.SearchStrategy[str]:
    """Specs of a registry: examples, parameters by their domains and beyond, and damaged ones."""
    entries = engine_entries(kind)
    examples = st.sampled_from([text for entry in entries for text in (entry.small, entry.example)])
    made = st.sampled_from(entries).flatmap(lambda entry: _given(entry.name, entry.params, depth))
    if depth >= _DEEPEST:
        return examples
    return st.one_of(examples, made, made, made.flatmap(_damaged))


def any_spec() -> st.SearchStrategy[str]:
    """Specs of every registry, also where another is asked for."""
    return st.sampled_from(_KINDS).flatmap(specs)


def _given(name: str, params: tuple[Any, ...], depth: int) -> st.SearchStrategy[str]:
    def written(pairs: list[tuple[str, str]]) -> str:
        inside = ",".join(f"{key}={value}" for key, value in pairs)
        if not inside:
            return name
        return f"{name}:{inside}" if depth == 0 else f"{name}({inside})"

    required = [param for param in params if not param.default]
    optional = [param for param in params if param.default]
    chosen = (
        st.lists(st.sampled_from(optional), max_size=4, unique_by=lambda param: param.name)
        if optional
        else st.just([])
    )
    return chosen.flatmap(
        lambda some: st.tuples(
            *(
                st.tuples(st.just(param.name), _values(param.values, depth))
                for param in [*required, *some]
            )
        ).map(lambda pairs: written(list(pairs)))
    )


def _values(domain: dict[str, Any], depth: int) -> st.SearchStrategy[str]:
    return st.one_of(_valid(domain, depth), _valid(domain, depth), _valid(domain, depth), EDGES)


def _valid(domain: dict[str, Any], depth: int) -> st.SearchStrategy[str]:
    kind = domain["kind"]
    if kind in ("whole", "bytes"):
        least, most = domain["least"], domain["most"]
        edges = st.sampled_from([least, min(least + 1, most), most])
        return st.one_of(edges, st.integers(least, min(most, least + 200))).map(str)
    if kind == "number":
        least = -10.0 if domain["least"] is None else domain["least"]
        most = max(least, 10.0) if domain["most"] is None else domain["most"]
        edges = [least, most, math.nextafter(least, math.inf), math.nextafter(most, -math.inf)]
        return st.one_of(st.floats(least, most), st.sampled_from(edges)).map(repr)
    if kind == "word":
        return st.sampled_from(domain["words"])
    if kind == "spec":
        return specs(domain["registry"], depth + 1)
    if kind == "list":
        return st.lists(_valid(domain["of"], depth), min_size=1, max_size=4).map("/".join)
    one, other = domain["of"]
    return st.one_of(_valid(one, depth), _valid(other, depth))


def _damaged(text: str) -> st.SearchStrategy[str]:
    """Texts with a piece left out, doubled or put in."""
    places = st.integers(0, len(text))
    return st.tuples(
        places, places, st.sampled_from(["", ":", "=", ",", "(", ")", "/", "é", "\0x"])
    ).map(lambda cut: text[: min(cut[:2])] + cut[2] + text[max(cut[:2]) :])

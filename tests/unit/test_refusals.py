"""Refusals of the library: settings outside their domains, and contradictory ones.

The options of the command line are made from the same settings; `test_cli_errors.py` has a case of
each kind of option.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import Field
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from writeamp.fields.domains import Domain, Flag, Number, OneOf, RatioText, Whole, WholeOr
from writeamp.settings.experiment import VERBS, setting_places

CALLS: dict[str, Callable[..., object]] = {
    "simulate": wa.simulate,
    "compare": wa.compare,
    "endurance": wa.endurance,
}
pytestmark = pytest.mark.usefixtures("plain_messages")

KINDS = (Whole, WholeOr, Number, RatioText, OneOf, Flag)
REQUIRED: dict[str, dict[str, Any]] = {
    "simulate": {},
    "compare": {"managers": "single"},
    "endurance": {"w_max": 10},
}


def refusal(verb: str, settings: dict[str, Any]) -> str:
    """Return the one sentence by which a verb refuses settings; `compare` has several managers."""
    given = dict(settings)
    if verb == "compare" and "manager" in given:
        given["managers"] = given.pop("manager")
    with pytest.raises(wa.WriteampError) as refused:
        CALLS[verb](**(REQUIRED[verb] | given))
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence


def settings_of(verb: str) -> dict[str, Field[Any]]:
    """Return the settings of a verb whose domain is of one of these kinds."""
    found = {
        name: kind.__dataclass_fields__[field]  # type: ignore[attr-defined]
        for name, (kind, field) in setting_places(verb).items()
        if name != "threads"  # in whose place functions take a runner
    }
    return {name: one for name, one in found.items() if isinstance(one.metadata["domain"], KINDS)}


def outside(domain: Domain) -> Iterator[Any]:
    """Yield values that are near a domain but outside of it, and some that are near none."""
    match domain:
        case Whole():
            yield from (domain.least - 1, domain.most + 1, domain.least + 0.5, str(domain.least))
            yield from ("many", True, math.nan, math.inf, 1e300)
        case WholeOr():
            yield from (f"{domain.word}s", *outside(domain.number))
        case Number():
            near = (at + by for at in (0, 1) for by in (-0.1, 0, 0.1))
            yield from (value for value in near if not domain.holds(value))
            yield from ("much", True, math.nan, math.inf)
        case RatioText():
            yield from (0, -0.1, "much", True, math.nan, math.inf)
        case OneOf():
            yield from (f"{domain.words[0]}s", "", 3)
        case Flag():
            yield from (1, "true")
    yield [[1]]


@pytest.mark.parametrize("verb", VERBS)
def test_a_value_outside_the_domain_of_its_setting_is_refused_by_name(verb: str) -> None:
    for name, setting in settings_of(verb).items():
        # Where nothing is the default, it asks for that.
        nothing = [] if setting.default is None else [None]
        for value in (*outside(setting.metadata["domain"]), *nothing):
            sentence = refusal(verb, {name: value})
            assert re.search(rf"\b{name}\b", sentence), value
            assert "must" in sentence or "valid" in sentence, value


def test_the_walk_meets_every_kind_of_domain() -> None:
    settings = [one for verb in VERBS for one in settings_of(verb).values()]
    assert {type(one.metadata["domain"]) for one in settings} == set(KINDS)


# Settings, and words that the sentence must hold: what was wrong, and what would be right.
DRIVES: list[tuple[dict[str, Any], list[str]]] = [
    ({"op": 0}, ["op", "above 0"]),
    ({"op": math.inf}, ["op", "finite"]),
    ({"fill": 1}, ["fill", "above 0 and below 1"]),
    ({"fill": 1.5}, ["fill", "above 0 and below 1"]),
    ({"spare_factor": 1}, ["spare_factor", "above 0 and below 1"]),
    ({"op": 0.1, "fill": 0.9}, ["op", "fill", "only one"]),
    ({"op": 0.1, "spare_factor": 0.1}, ["op", "spare_factor", "only one"]),
    ({"blocks": 64, "logical_blocks": 50}, ["blocks", "logical_blocks", "only one"]),
    ({"blocks": 1, "op": 0.1}, ["single", "1 block", "at least 2"]),
    ({"blocks": 1, "fill": 0.5}, ["single", "1 block", "at least 2"]),
    (
        {"blocks": 1, "pages_per_block": 16, "fill": 0.5, "manager": "sepgc"},
        ["sepgc", "at least 3"],
    ),
    ({"blocks": 9, "op": 0.01, "manager": "sepgc"}, ["sepgc", "too small"]),
    ({"blocks": 64, "pages_per_block": 1}, ["pages_per_block", "at least 2"]),
    ({"blocks": 4e9, "pages_per_block": 1024}, ["physical pages", "32-bit"]),
    ({"logical_blocks": 4e9, "pages_per_block": 64}, ["logical_pages", "4294967295"]),
    ({"blocks": 33e6, "pages_per_block": 128}, ["GiB", "available"]),
    ({"blocks": 64, "pages_per_block": 16, "op": 1e9}, ["op is 1e+09", "as a percentage"]),
    ({"logical_blocks": 100, "op": 1e308}, ["op", "1e+308"]),
    ({"layout": "tower"}, ["layout", "flat", "striped"]),
    ({"device": "samsun"}, ["device", "samsun", "generic", "eagletree"]),
    ({"device": "eagletree", "blocks": 100}, ["multiple", "8"]),
]
# On a drive of 64 blocks of 16 pages.
POLICIES: list[tuple[dict[str, Any], list[str]]] = [
    ({"manager": "wolff"}, ["block manager", "wolff", "single"]),
    ({"manager": "hcwf:d=0"}, ["d=0", "from 1"]),
    ({"manager": "hcwf:d=2147483648"}, ["d=2147483648", "from 1 to 65536"]),
    ({"manager": "hcwf-swap:d_swap=1e9"}, ["d_swap=1e9", "from 1 to 65536"]),
    ({"manager": "hcwf-swap:d_swap=0"}, ["d_swap=0", "from 1"]),
    ({"manager": "hcwf:d=3", "victims": "greedy"}, ["hcwf", "not both"]),
    ({"manager": "hcwf:detector=blom"}, ["detector 'blom'", "did you mean 'bloom'"]),
    ({"manager": "hcwf:detector=bloom(window=0)"}, ["window=0", "above 0"]),
    ({"device": "eagletree", "manager": "hcwf", "layout": "striped"}, ["hcwf", "striped-per-lun"]),
    ({"blocks": 2, "pages_per_block": 4, "fill": 0.5, "manager": "hcwf"}, ["hcwf", "2 block(s)"]),
    ({"wear_leveling": "dual"}, ["wear leveller", "did you mean 'dual-pool'"]),
    ({"wear_leveling": "static:threshold=0"}, ["threshold=0", "from 1"]),
    ({"wear_leveling": "youngest-free:reserve=1e6"}, ["too small", "single"]),
    ({"victims": "greddy"}, ["victim policy", "greddy", "did you mean 'greedy'"]),
    ({"victims": "d-choices:d=0"}, ["d=0", "from 1"]),
    ({"victims": "d-choices:d=4e9"}, ["d=4e9", "from 1 to 65536"]),
    ({"victims": "d-choices:d=2.5"}, ["d=2.5", "whole number"]),
    ({"victims": "d-choices:e=3"}, ["parameter", "'e'", "valid: d"]),
    ({"victims": "d-choices:"}, ["d-choices:", "key=value"]),
    ({"victims": "greedy:d=3"}, ["no parameters", "'d'", "did you mean d-choices:d=10?"]),
    ({"workload": "unifrom"}, ["workload", "did you mean 'uniform'"]),
    ({"workload": "hot-cold"}, ["hot-cold", "f="]),
    ({"workload": "hot-cold:f=1,r=0.5"}, ["f=1", "below 1"]),
    ({"workload": "hot-cold:f=0.1,r=2"}, ["r=2", "from 0 to 1"]),
    ({"workload": "hot-cold:f=0.00001,r=0.9"}, ["f=", "at least one hot"]),
    ({"workload": "zipf:s=-1"}, ["s=-1", "above 0"]),
    ({"workload": "uniform:trim=0.9999999999999999"}, ["trim=", "from 0 to 0.99"]),
    ({"workload": "mix:sizes=1/1,weights=1"}, ["2 sizes", "1 weights"]),
    ({"workload": "mix:sizes=(1,weights=1"}, ["parenthes"]),
    ({"workload": "mix:sizes=1/1,weights=1e308/1e308"}, ["mix", "finite"]),
    ({"workload": "phases:writes=0,of=uniform"}, ["writes", "above 0"]),
    ({"workload": "groups:sizes=1/1,freq=1/x"}, ["freq=x", "list of numbers"]),
    ({"workload": "groups:sizes=1/1,freq=1"}, ["2 sizes", "1 frequencies"]),
    ({"workload": "groups:sizes=1/1,freq=0/0"}, ["freq=0/0", "above 0"]),
    ({"workload": "groups:sizes=1/1,freq=1/9,swap=0/1"}, ["swap=", "needs swap_at="]),
    ({"workload": "drift:f=0.1,r=0.9,period=0"}, ["period=0", "from 1"]),
    ({"workload": "drift:f=0.1,r=0.9,period=9,steps=10"}, ["steps=10", "from 1 to 9"]),
    ({"workload": "database:updates=oltp"}, ["workload 'oltp'", "uniform"]),
    ({"workload": "tpcc:clusters=0/0,tail_share=0"}, ["tpcc", "no page to update"]),
    ({"precondition": "half"}, ["precondition", "full", "none"]),
    ({"mapping": "as-is"}, ["mapping", "need a trace"]),
    ({"trace_format": "msr"}, ["--format", "need a trace"]),
    ({"trace": "no-such.csv"}, ["no-such.csv", "No such file"]),
]


@pytest.mark.parametrize("verb", VERBS)
def test_a_drive_that_cannot_be_is_refused(verb: str) -> None:
    for settings, words in DRIVES:
        holds(refusal(verb, settings), words)


@pytest.mark.parametrize("verb", VERBS)
def test_a_policy_or_load_that_cannot_be_is_refused(verb: str) -> None:
    for settings, words in POLICIES:
        holds(refusal(verb, {"blocks": 64, "pages_per_block": 16} | settings), words)


@pytest.mark.parametrize(
    ("verb", "settings", "words"),
    [
        ("simulate", {"writes": 100, "warmup": 100}, ["warmup", "100"]),
        ("simulate", {"warmup": 5}, ["warmup", "writes"]),
        ("simulate", {"repeat": 2}, ["repeat", "trace"]),
        ("compare", {"repeat": 2}, ["repeat", "trace"]),
        ("simulate", {"trace": "t", "workload": "uniform"}, ["workload", "trace", "only one"]),
        ("endurance", {"trace": "t", "workload": "uniform"}, ["workload", "trace", "only one"]),
        ("endurance", {"w_max": None}, ["w_max", "missing"]),
        ("endurance", {"spare_share": 0.5}, ["not spare", "fewer spare blocks", "larger op"]),
        (
            "endurance",
            {"op": 0.1, "spare_share": 0.08, "manager": "sepgc", "blocks": 64},
            ["sepgc", "too small"],
        ),
        ("endurance", {"blocks": 33e6}, ["drive(s) at a time", "GiB", "available"]),
        ("endurance", {"blocks": 64, "w_max": 4e9, "replicas": 50}, ["records of 50", "GiB"]),
    ],
)
def test_a_run_that_cannot_be_is_refused(
    verb: str, settings: dict[str, Any], words: list[str]
) -> None:
    holds(refusal(verb, settings), words)


ROW = "128166385295514663,hm,0,Write,4096,4096,2833\n"
TRACES = {
    "good": ROW * 20,
    "many": "".join(ROW.replace("4096,", f"{i * 4096},", 1) for i in range(50)),
    "far": (ROW * 20).replace("4096,4096", "9056014336,4096"),
    "only_reads": ROW.replace("Write", "Read"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("only_reads", {}, ["no writes"]),
        ("good", {"trace_device": "sda"}, ["sda", "hm"]),
        ("good", {"pages_per_block": 4096}, ["only 1 distinct", "pages_per_block"]),
        ("far", {"blocks": 20, "mapping": "as-is"}, ["far", "73"]),
        ("many", {"blocks": 2}, ["many", "50 distinct pages", "7 pages"]),
    ],
)
def test_a_trace_that_a_drive_cannot_serve_is_refused(
    verb: str, name: str, settings: dict[str, Any], words: list[str], tmp_path: Path
) -> None:
    given = {"op": 0.1, "pages_per_block": 4, "trace": traced(name, tmp_path)}
    holds(refusal(verb, given | {"trace_format": "msr"} | settings), words)


def test_a_trace_that_is_shorter_than_its_run_asks_for_repeats(tmp_path: Path) -> None:
    given = {"op": 0.1, "pages_per_block": 4, "trace_format": "msr", "writes": 1e6}
    holds(refusal("simulate", given | {"trace": traced("many", tmp_path)}), ["repeat="])


SEARCHES = {
    "op": lambda **asked: wa.required_op(2.0, **asked),
    "curve": lambda **asked: wa.wa_over_op("op=0.1:0.5:3", **asked),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_of_many_runs_bounds_the_draws_of_each_collection(
    search: Callable[..., object],
) -> None:
    drive = {"logical_blocks": 200, "pages_per_block": 64, "replicas": 1}
    with pytest.raises(
        wa.WriteampError, match=r"draws 65536 blocks .* at most 4000 draws, or greedy"
    ):
        search(victims="d-choices:d=65536", **drive)


def traced(name: str, folder: Path) -> Path:
    path = folder / name
    path.write_text(TRACES[name])
    return path


def holds(sentence: str, words: list[str]) -> None:
    assert [word for word in words if word.lower() not in sentence.lower()] == [], sentence

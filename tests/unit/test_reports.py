"""Pages of `--report`: what they hold, how they are read back, and what is refused."""

from __future__ import annotations

import json
import operator
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_options import COMMANDS

from charts import bars, row
from in_process import document, run
from places import ROOT
from reported import (
    ANSWER,
    BEFORE_AFTER,
    CHECK,
    COUNTERS,
    DOCTOR,
    FLEET,
    HISTORY,
    HOSTILE,
    LATENCIES,
    LIFETIME,
    reported,
)
from writeamp.differences.difference import diff
from writeamp.errors import WriteampError
from writeamp.reports.embedding import report_in, report_of, without_serials
from writeamp.reports.headlines.answers import of_answer
from writeamp.reports.headlines.headline import SENTENCES
from writeamp.reports.html import report_page
from writeamp.reports.markdown import markdown
from writeamp.reports.report import Report
from writeamp.reports.sections import SECTIONS, sections_of
from writeamp.reports.sections.advice import advice
from writeamp.reports.sections.run_drawings import latencies

DRIVE = "--blocks 64 --pages-per-block 16 --op 0.3 --writes 20000 --warmup 5000"
MOST_BYTES = 1_000_000


def in_words(report: Any) -> str:
    return markdown(report, sections_of(report))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of one run."""
    path = tmp_path_factory.mktemp("page") / "run.html"
    done = run("simulate", f"{DRIVE} --workload hot-cold:f=0.1,r=0.9 --report {path}")
    assert done.status == 0, done.err
    return path


def test_a_page_is_small_and_asks_for_nothing(page: Path) -> None:
    text = page.read_text()
    assert len(text) < MOST_BYTES
    assert "://" not in text
    assert "connect-src" not in text
    assert "default-src 'none'" in text


def test_the_document_comes_back_as_json_prints_it(page: Path) -> None:
    back = document("report", str(page))
    again = document("simulate", f"{DRIVE} --workload hot-cold:f=0.1,r=0.9")
    of_the_clock = {"elapsed_s", "host_pages_per_s"}
    assert {k: v for k, v in back.items() if k not in of_the_clock} == {
        k: v for k, v in again.items() if k not in of_the_clock
    }


def test_the_command_comes_back_without_the_option(page: Path) -> None:
    report = report_in(page)
    assert report.verb == "simulate"
    assert report.command_line.startswith("writeamp simulate --blocks 64")
    assert "--report" not in report.command_line


def test_a_page_reads_as_markdown(page: Path) -> None:
    status, out, err = run("report", str(page))
    assert (status, err) == (0, "")
    assert out.startswith("# writeamp simulate\n\n**WA ")
    for heading in (
        "How to reduce it",
        "Write amplification by cause",
        "Over time",
        "Blocks at the end",
    ):
        assert f"## {heading}" in out


def test_a_page_names_intervals_by_their_kind() -> None:
    real = {"way": "real drive, since new", "wa": 2.9, "wa_ci95": [2.8, 3.0]}
    bounded = {"way": "real drive, between snapshots", "wa": 2.93, "wa_bounds": [2.84, 3.04],
               "interval": "bounds of counters"}  # fmt: skip
    named = [row | {"interval": "95% CI"} for row in ANSWER["rows"]]
    candidates = {"wa_ci90": [2.849, 2.861], "candidates": []}
    row = {"manager": "single", "victims": "greedy", "wa": 2.9, "wa_ci95": [2.8, 3.0]}
    pages = {
        "run": {"wa": 2.9, "wa_ci95": [2.8, 3.0]},
        "run of a profile": {"wa": 2.9, "wa_ci95": [2.8, 3.0], **candidates},
        "answer": ANSWER,
        "answer of a drive": ANSWER | {"rows": [bounded, *named]},
        "older answer of a drive": ANSWER | {"rows": [real, *ANSWER["rows"]]},
        "rows of a profile": {"rows": [row | candidates, row | candidates], "loads": []},
    }
    kinds = r"95% CI|95% interval of the candidates|bounds(?= 2\.8 to 3\.1)"
    found = {}
    for name, document_of_page in pages.items():
        of_page = Report("answer", (), document_of_page)
        captions = re.findall(r"lines are their (.*?)[;.]", report_page(of_page).decode())
        found[name] = {*re.findall(kinds, in_words(of_page).partition("##")[0]), *captions}
    assert found == {
        "run": {"95% CI"},
        "run of a profile": {"95% interval of the candidates"},
        "answer": {"95% CI"},
        "answer of a drive": {"bounds", "95% CI", "95% CI or bounds of counters"},
        "older answer of a drive": {"95% CI", "interval"},
        "rows of a profile": {"95% interval of the candidates"},
    }


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.__name__)
def test_every_section_is_shown_for_a_document_of_the_tests(section: Any, page: Path) -> None:
    documents = (ANSWER, BEFORE_AFTER, CHECK, COUNTERS, DOCTOR, FLEET, HISTORY, LIFETIME)
    timed = Report("simulate", (), {"timed": True}, LATENCIES)
    assert any(map(section, (report_in(page), timed, *map(reported, documents))))


def test_theory_of_uniform_writes_stands_beside_uniform_writes_alone(
    page: Path, tmp_path: Path
) -> None:
    uniform = tmp_path / "uniform.html"
    assert run("simulate", f"{DRIVE} --workload uniform:trim=0.1 --report {uniform}").status == 0
    assert "WA by theory" in run("report", str(uniform)).out
    told = run("report", str(page)).out
    assert "WA by theory" not in told
    assert "writeamp answer --blocks 64" in told


def test_a_timed_page_draws_latencies_and_has_no_theory(tmp_path: Path) -> None:
    path = tmp_path / "timed.html"
    drive = "--blocks 64 --pages-per-block 16 --op 0.3 --writes 2000"
    assert run("simulate", f"{drive} --timed --report {path}").status == 0
    text = path.read_text()
    assert "latency (ms)" in text or "latency (µs)" in text
    for words in ("WA by theory", "What if", "<form"):
        assert words not in text
    stored = report_in(path).more
    assert stored["latencies"]["directions"][0]["label"] == "writes"
    # Data that is damaged is not drawn.
    for key, value in (("counts", [1.0]), ("mean_us", []), ("counts", [0.0, 0.0])):
        direction = LATENCIES["latencies"]["directions"][0] | {key: value}
        damaged = {"latencies": {"directions": [direction]}}
        assert latencies(Report("simulate", (), {}, damaged)) is None


def test_pages_by_cause_add_up_to_wa_though_a_cache_merges_writes() -> None:
    causes = {"host": 80, "gc": 30, "padding": 10}
    found = {"wa": 1.2, "steady": True, "causes": causes, "host_pages": 100}
    page = in_words(reported(found))
    assert "0.3 of them move pages in garbage collection, 0.1 have other causes" in page
    assert re.search(r"\ball\b\D+120\D+1\.2\D+100", page)


def test_a_page_without_other_drawings_has_the_picture_of_the_result(tmp_path: Path) -> None:
    path = tmp_path / "allocate.html"
    asked = "--sizes 0.5,0.5 --frequencies 0.1,0.9 --fill 0.7"
    assert run("allocate", f"{asked} --report {path}").status == 0
    text = path.read_text()
    # Once for wide windows and once for narrow ones.
    assert text.count("<svg") == text.count('<div class="chart ') == 2
    assert text.index("<svg") < text.index("<table")
    # Drawings of a page that draws its result are not repeated, and serials are hashed in them.
    figure = bars(row("S4EVNX0M123456"))
    sections = sections_of(replace(reported(COUNTERS), picture=figure))
    assert "picture" in [section.name for section in sections]
    assert "S4EVNX0M123456" not in str(
        without_serials(replace(reported(COUNTERS), picture=figure)).picture
    )
    drawn = replace(Report("simulate", (), {"timed": True}, LATENCIES), picture=figure)
    assert "picture" not in [section.name for section in sections_of(drawn)]


def test_markdown_speaks_of_no_drawing_that_it_does_not_have(page: Path) -> None:
    told = run("report", str(page)).out
    for words in (
        "thick line",
        "Bytes written by each layer",
        "Darker cells",
        "sliders",
        "The page computes",
    ):
        assert words not in told, words
    assert "Erases of a block:" in told
    assert "the thick line is the mean" in page.read_text()


def test_figures_of_a_page_have_its_colours_and_their_values_as_tooltips(page: Path) -> None:
    figures = re.findall(r"<svg.*?</svg>", page.read_text(), re.DOTALL)
    words = [re.match(r'<svg role="img" aria-label="([^"]+)"', one) for one in figures]
    names = [
        "Bytes written at each layer",
        "Write amplification over time",
        "Histogram of valid pages of a block",
        "Map of the erases of each block",
        "Curves of write amplification over op",
    ]
    # Each is drawn for wide windows, then for phones, which have no pointer for tooltips.
    assert [one and one[1] for one in words] == [name for name in names for _ in (0, 1)]
    assert not any("<title>" in one for one in figures[1::2])
    causes, over_time, histogram, _, what_if = figures[::2]
    assert re.search("<title>flash\n.*\nwritten by the host: 1.0000\n", causes)
    assert ">mean of an interval: " in over_time
    assert re.search(r"<title>\d+: \d+ blocks</title>", histogram)
    assert len(re.findall("<polyline data-curve", what_if)) == 2
    ids = re.findall(' id="([^"]*)"', "".join(figures))
    assert len(set(ids)) == len(ids) > 0
    assert set(re.findall('(?:url\\(#|href="#)([^)"]+)', "".join(figures))) == set(ids)
    for one in figures:
        assert "<style" not in one, "it would hold in the whole page"
        assert "var(--ink,#222222)" in one.lower()
        # Its title is the section's heading, or stands in its caption.
        assert ">Bytes written" not in one
        assert ">Histogram" not in one


def test_a_suggested_command_writes_no_file_and_has_no_option_twice() -> None:
    twice = reported(COUNTERS, "--json", "--plot", "a.svg", "--plot=b.svg", verb="simulate")
    assert twice.with_options("--series", "--json") == "writeamp simulate --series --json"
    around = reported(COUNTERS, "/dev/sda", "--", "fio", "--json", verb="run")
    assert around.with_options("--json") == "writeamp run /dev/sda --json -- fio --json"


def test_the_command_that_tries_changes_has_options_of_answer_only(tmp_path: Path) -> None:
    of_run, of_answer = (
        {flag: option for option in COMMANDS[verb].params for flag in option.opts}
        for verb in ("simulate", "answer")
    )
    of_run |= {
        flag: option for option in COMMANDS["simulate"].params for flag in option.secondary_opts
    }
    # A search for op has another document, and the page of a scaled drive has no such command.
    missing = of_run.keys() - of_answer.keys() - {"--target-wa", "--sweep", "--capacity"}
    assert missing >= {"--time", "--host-bytes", "--no-timed", "--csv"}
    words = [
        word
        for flag in sorted(missing)
        for word in ([flag] if of_run[flag].is_flag else [flag, "1"])
    ]
    line = f"{DRIVE} --workload uniform".split()
    run_of = reported(
        {"causes": {}, "op": 0.3, "pages_per_block": 16}, *line, *words, verb="simulate"
    )
    section = advice(run_of)
    assert section is not None
    assert section.command == f"writeamp answer {' '.join(line)}"
    assert advice(replace(run_of, command=(*run_of.command, "--capacity=1TB"))) is None
    assert run("answer", f"{' '.join(line)} --quick").status == 0


def test_what_is_printed_stays_what_it_is(tmp_path: Path) -> None:
    plain = run("predict", "--op 0.15")
    beside = run("predict", f"--op 0.15 --report {tmp_path}/page.html")
    assert beside == plain
    assert document("predict", f"--op 0.15 --report {tmp_path}/page.html")["op"] == 0.15


NO_RESULT = ("examples", "explore", "list", "measure watch", "report", "top", "trace convert")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_verb_with_a_result_has_the_option(name: str) -> None:
    named = {one.name for one in COMMANDS[name].params}
    finds_nothing = name in NO_RESULT
    assert ("report" in named) == ("json" in named and not finds_nothing)


def test_every_body_that_prints_json_hands_it_over() -> None:
    # `print_json` alone would leave the page out, and nobody would notice.
    alone = [
        path.name
        for path in (ROOT / "python/writeamp/cli").glob("*.py")
        if "options.print_json(" in path.read_text()
    ]
    assert sorted(alone) == [
        "examples.py",
        "explore.py",
        "listing.py",
        "report.py",
        "top.py",
        "trace.py",
    ]


def test_two_pages_are_compared(page: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.html"
    done = run("simulate", f"{DRIVE} --workload uniform --seed 2 --report {other}")
    assert done.status == 0, done.err
    found = diff(page, other)
    assert "workload" in {one.key for one in found.settings}
    both = tmp_path / "both.html"
    assert run("diff", f"{page} {other} --report {both}").status == 0
    told = run("report", str(both)).out
    assert "WA of A and B" in both.read_text()
    assert "moved by garbage collection" in told
    assert "WA of B is" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--report out.txt", ["--report", "out.txt", ".html"]),
        ("--report /nowhere/out.html", ["report", "/nowhere/out.html"]),
        ("--plot {same} --report {same}", ["the same file"]),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_first(
    tmp_path: Path, arguments: str, words: list[str]
) -> None:
    given = arguments.format(same=tmp_path / "same.html")
    status, out, err = run("simulate", f"{DRIVE} {given}")
    assert (status, out) == (2, "")
    assert all(word in err for word in words), err
    assert list(tmp_path.iterdir()) == []


def test_an_input_is_not_replaced(page: Path) -> None:
    before = page.read_bytes()
    status, _, err = run("diff", f"{page} {page} --report {page}")
    assert status == 2
    assert "is the input" in err
    assert page.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "contains no result"),
        (b"<p>another page</p>", "contains no result"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b'<script type="application/json" id="writeamp-report">{</script>', "damaged"),
        (b'<script type="application/json" id="writeamp-report">[]</script>', "damaged"),
        (
            b'<script type="application/json" id="writeamp-report">{"form":9}</script>',
            "format is 9",
        ),
        (b'<script type="application/json" id="writeamp-report">{"form":1}</script>', "damaged"),
    ],
)
def test_what_is_no_page_of_ours_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(content)
    status, out, err = run("report", f"{path} --json")
    assert (status, out) == (2, "")
    assert words in err
    assert "page.html is not a page written by --report" in err


_KEYS = sorted(
    {*ANSWER, *CHECK, *DOCTOR, *COUNTERS, *FLEET, *HISTORY, *LIFETIME, "causes", "gc", "host"}
    | {"wa_ci95", "wa_bounds", "verdict", "relative", "years_low", "model", "drives", "host_pages"}
    | {key for keys, _ in SENTENCES for key in keys}
)
_NUMBERS = st.sampled_from([0, -1, 2, 1e-320, 1e308, 10**300]) | st.floats(0, 10)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(_KEYS) | st.text(), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
_MORE_KEYS = st.dictionaries(st.sampled_from(_KEYS), _JSON, max_size=8)
_OF_A_KIND = st.sampled_from([keys for keys, _ in SENTENCES]).flatmap(
    lambda keys: st.fixed_dictionaries(dict.fromkeys(sorted(keys), _JSON))
)


@settings(max_examples=60)
@given(st.builds(operator.or_, _OF_A_KIND, _MORE_KEYS) | _MORE_KEYS, st.booleans())
def test_a_document_of_any_shape_is_shown(found: dict[str, Any], is_run: bool) -> None:
    verb = "simulate" if is_run else "answer"
    report = replace(reported(found, verb=verb), more={"over_time": found, "wear": found})
    assert report_of(report_page(report), "page").document == found
    assert in_words(report)


@pytest.mark.parametrize(
    "found", [ANSWER, BEFORE_AFTER, CHECK, DOCTOR, COUNTERS, FLEET, HISTORY, LIFETIME]
)
def test_text_of_others_is_shown_and_not_obeyed(found: dict[str, Any]) -> None:
    page = report_page(reported(found, "--trace", HOSTILE)).decode()
    assert "<img" not in page
    assert "onerror=&quot;" in page
    assert page.count("</script>") == page.count("<script")


def test_serial_numbers_are_hashed_wherever_they_stand() -> None:
    serial = COUNTERS["serial"]
    found = reported(
        COUNTERS | {"notes": [f"drive {serial}"]}, f"/dev/disk/{serial}.json", verb="measure"
    )
    page = report_page(without_serials(found)).decode()
    assert serial not in page
    assert page.count("sha256:") > 2


def test_an_answer_leads_with_what_is_trusted_and_what_helps() -> None:
    theory, _, simulate, virtual = ANSWER["rows"]
    real = {"way": "real drive, between snapshots", "wa": 2.2, "wa_bounds": [2.14, 2.27]}
    changing = simulate | {"steady": False}
    trim, larger = (
        {"change": change, "wa": wa} for change, wa in (("TRIM: 10%", 1.93), ("op 2", 2))
    )
    cost = ": each page that the host writes costs"
    simulated = f"WA 2.855 (95% CI 2.848 to 2.862){cost} 2.855 page programs."
    of_bytes = "each byte that the host writes costs 2.2 bytes of flash"
    of_drive = "WA 2.2 (bounds 2.1 to 2.3) of the real drive, between snapshots"
    for rows, advice_of, sentence in (
        ([theory, simulate, virtual], [larger, trim], f"{simulated} TRIM would give 1.93."),
        ([simulate], [trim | {"steady": False}, larger], f"{simulated} Op 2 would give 2."),
        ([theory, changing], [], f"{simulated.replace('):', '), not steady:')}"),
        ([theory], [], f"WA 2.41 by formula: markov{cost} 2.41 page programs."),
        ([changing, real], [], f"{of_drive}: {of_bytes}."),
        ([], [], "No source has a WA; the table states why."),
    ):  # fmt: skip
        assert of_answer({"rows": rows, "advice": advice_of}) == sentence
    both = of_answer({"rows": [simulate, real], "advice": [trim]})
    assert both.startswith(of_drive)
    assert "The simulation of this load has a WA of 2.855 (95% CI" in both
    assert both.endswith("In the simulation, TRIM would give 1.93.")


def test_bounds_of_counters_are_no_statistical_interval() -> None:
    page = COUNTERS | {"warnings": ["page size: mixed"]}
    told = in_words(reported(page, verb="measure counters"))
    assert "1.8 (between 1.7 and 1.8 by its counters)" in told
    assert "95%" not in told
    assert told.index("page size: mixed") < told.index("```")
    alike = in_words(reported(COUNTERS | {"wa_low": 1.75, "wa_high": 1.75001}, verb="measure"))
    assert "costs 1.75 bytes of flash. It is measured" in alike


def test_findings_begin_with_the_worst() -> None:
    told = in_words(reported(DOCTOR, verb="doctor"))
    assert told.index("Error, looped") < told.index("Note, no-direct")
    assert "1 measured, 3.7 corrected" in told


def test_markdown_of_a_report_obeys_no_text_of_others() -> None:
    told = in_words(reported(ANSWER | {"workload": "a|b `c` <i> #d"}))
    assert "a\\|b \\`c\\` \\<i\\> \\#d" in told


def test_a_page_cannot_hold_what_is_no_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        report_page(reported({"wa": float("nan")}))


def test_a_page_is_read_from_anywhere_but_a_folder(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match="cannot read"):
        report_in(tmp_path)
    assert json.dumps(report_of(report_page(reported({"wa": 1.5})), "x").document) == '{"wa": 1.5}'

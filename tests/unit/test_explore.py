"""Recordings of small drives, chapters of them, and pages, which obey no text of others."""

from __future__ import annotations

from pathlib import Path

import pytest

import in_process
from writeamp.devices.device import device
from writeamp.devices.policy import Policy
from writeamp.explorer.chapters import chapters, recordings
from writeamp.explorer.recording import KINDS, record
from writeamp.pages.embedded import data_element, data_in
from writeamp.pages.frame import page
from writeamp.text import html_text

SMALL = "--blocks 16 --pages-per-block 8 --writes 200"


def test_the_victim_is_the_candidate_with_the_greatest_score() -> None:
    for one in recordings().values():
        chosen = [event[1:] for event in one.events if KINDS[event[0]] == "victim"]
        assert len(chosen) == len(one.choices) > 100
        for (block, choice), (measure, scores) in zip(chosen, one.choices, strict=True):
            assert choice == one.choices.index((measure, scores), choice)
            assert scores[0] == (block, max(score for _, score in scores)), one.name


def test_write_amplification_is_that_of_the_engines_counters() -> None:
    drive = device(blocks=24, pages_per_block=16, op=0.2)
    found = record(Policy("sepgc", "greedy", None), drive, "uniform", writes=900, seed=3)
    programs = found.counters["host"] + found.counters["gc"]
    assert found.host_pages == 900
    # Nothing is copied during the fill, of which each page is programmed once.
    assert found.wa == (programs - drive.logical_pages) / 900


def test_chapters_follow_on_each_other_with_numbers_of_their_recordings() -> None:
    recorded = recordings()
    told = chapters(recorded)
    assert len(told) == 10
    assert not any("{" in one.text for one in told)
    by_name = {one.name: one.wa for one in recorded.values()}
    assert by_name["HCWF with swaps"] < by_name["HCWF"] < by_name["one frontier"]
    assert by_name["Wolf"] < by_name["cost-benefit"] < by_name["two frontiers"]
    assert by_name["op 0.4"] < by_name["greedy"] < by_name["FIFO"]


def test_the_hot_group_of_wolf_has_about_twice_the_blocks_that_its_pages_fill() -> None:
    # As its chapter says: the group that was opened last for each block owns it.
    wolf = recordings()["wolf"]
    owner: dict[int, int] = {}
    for kind, *values in wolf.events:
        if KINDS[kind] == "open":
            owner[values[0]] = values[1]
        elif KINDS[kind] == "erase":
            owner.pop(values[0], None)
    assert 3 <= min(list(owner.values()).count(group) for group in set(owner.values())) <= 5


def test_the_page_holds_the_drives_that_were_asked_for(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = f"{SMALL} --managers single,sepgc --victims fifo --workload uniform --out {page}"
    found = in_process.document("explore", asked)
    assert [one["manager"] for one in found["drives"]] == ["single", "sepgc"]
    made = page.read_bytes()
    assert found["bytes"] == len(made) < 3_000_000
    own = data_in(made.decode(), "recordings")["yours-2"]
    assert (own["manager"], own["victims"], own["blocks"]) == ("sepgc", "fifo", 16)


def test_without_options_two_drives_that_differ_are_on_a_page_in_this_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    done = in_process.run("explore", "")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Wrote explore.html; open it in a browser. ")
    data = data_in((tmp_path / "explore.html").read_text(encoding="utf-8"), "recordings")
    own = [data[name] for name in ("yours-1", "yours-2")]
    assert [one["manager"] for one in own] == ["single", "sepbit"]


def test_a_page_that_would_be_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("writeamp.explorer.page._MOST_BYTES", 1_000_000)
    asked = f"{SMALL} --managers single --out {tmp_path / 'page.html'}"
    assert "fewer writes" in in_process.refusal("explore", asked)
    assert list(tmp_path.iterdir()) == []


HOSTILE = '</script><img src=x onerror="alert(1)"><!--<script>\u2028&amp;'


def test_data_of_others_ends_no_element_and_comes_back() -> None:
    value = {"model": HOSTILE, HOSTILE: [1, 0.1, None, True]}
    element = data_element("result", value)
    assert element.count("<") == 2, "its own two tags"
    assert data_in(f"<p>{element}</p>", "result") == value


def test_data_of_another_name_is_not_found() -> None:
    with pytest.raises(KeyError):
        data_in(data_element("one", 1), "other")


@pytest.mark.parametrize("content", ["{", "NaN", "[Infinity]"])
def test_what_is_no_json_is_refused(content: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        data_in(f'<script type="application/json" id="x">{content}</script>', "x")


def test_what_a_script_says_is_no_data() -> None:
    with pytest.raises(KeyError):
        data_in('<script id="x">1</script>', "x")


def test_a_number_that_json_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        page("title", "", data={"x": float("nan")})


def test_text_is_escaped_also_in_the_title() -> None:
    made = page(HOSTILE, f"<p>{html_text(HOSTILE)}</p>").decode()
    assert "<img" not in made
    assert made.count("</script") == 0


def test_a_page_allows_its_own_scripts_alone() -> None:
    made = page("title", "", scripts=["let a = 1;"]).decode()
    assert "script-src 'sha256-" in made
    assert "script-src 'none'" in page("title", "").decode()

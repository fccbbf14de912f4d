"""Page of `writeamp explore` in a browser: states, scenes, and ways to drive it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import in_process
from browser import PHONE, chromium, opened, overflow_px, serious
from patience import await_value
from writeamp.devices.device import device
from writeamp.devices.policy import Policy
from writeamp.explorer.recording import Recording, record
from writeamp.pages.frame import source
from writeamp.registry import engine_entries

__all__ = ["chromium"]

SCENES = [*(f"chapter-{number}" for number in range(1, 11)), "yours"]
REDUCER = source("writeamp.explorer", "reducer.js")
# What the reducer makes of a recording: its map, its valid pages, erases, programs by cause.
REDUCED = """(recording) => {
  REDUCER
  const drive = newDrive(recording);
  for (const event of recording.events) reduce(drive, event, recording);
  const valid = drive.state.flatMap((state, page) => (state === VALID ? [page] : []));
  return [drive.map, valid, drive.erases, drive.programs, drive.hostPages];
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page that the issue of a student's would have."""
    made = tmp_path_factory.mktemp("explore") / "explore.html"
    asked = f"--workload hot-cold:f=0.1,r=0.9 --managers single,hcwf-swap --out {made}"
    assert in_process.run("explore", asked).status == 0
    return made


@pytest.fixture(scope="module")
def tab(chromium: Any, page: Path) -> Iterator[Any]:
    """Open the page once; no error may have come up when the tests are done."""
    with opened(chromium, page) as tab:
        yield tab


def recorded(manager: str, workload: str, leveling: str | None = None) -> Recording:
    """Return a recording of a drive that has room for any manager."""
    drive = device(blocks=96, pages_per_block=8, op=0.5)
    policy = Policy(manager, None, leveling)
    return record(policy, drive, workload, writes=2500, seed=2)


def reduced(tab: Any, document: dict[str, Any], reducer: str = REDUCER) -> Any:
    """Return what the reducer of the page, or another, makes of a recording."""
    return tab.evaluate(REDUCED.replace("REDUCER", reducer), document)


def counted(one: Recording) -> list[Any]:
    """Return what the engine itself says at the end of a recording."""
    unmapped = 2**32 - 1
    document = one.document()
    return [
        [-1 if page == unmapped else page for page in one.map],
        sorted(page for page in one.map if page != unmapped),
        one.erase_counts,
        [one.counters[cause] for cause in document["causes"]],
        one.counters["host_pages"],
    ]


MANAGERS = [entry.example for entry in engine_entries("managers")]


@pytest.mark.parametrize("manager", [*MANAGERS, "wolf:detector=bloom,interval=0.01,hold=2"])
def test_the_states_of_the_page_end_where_the_engine_does(tab: Any, manager: str) -> None:
    one = recorded(manager, "hot-cold:f=0.2,r=0.8")
    assert reduced(tab, one.document()) == counted(one)


@pytest.mark.parametrize(
    ("workload", "leveling"), [("uniform:trim=0.2", None), ("zipf:s=1", "static:threshold=2")]
)
def test_trims_and_wear_levelling_are_followed(
    tab: Any, workload: str, leveling: str | None
) -> None:
    one = recorded("sepgc", workload, leveling)
    kinds = {kind for kinds in one.steps() for kind in kinds}
    assert "unmap" in kinds or one.counters["wear_leveling"] > 0
    assert reduced(tab, one.document()) == counted(one)


@pytest.mark.parametrize("kind", ["program", "erase"])
def test_an_event_that_is_missing_is_noticed(tab: Any, kind: str) -> None:
    one = recorded("single", "uniform")
    kinds = [kind for kinds in one.steps() for kind in kinds]
    document = one.document()
    last = len(kinds) - 1 - kinds[::-1].index(kind)
    del document["events"][last]
    assert reduced(tab, document) != counted(one)


@pytest.mark.parametrize(
    "fault",
    [
        ("drive.state[last.from] = INVALID", "0"),
        ("drive.map[logical] = page", "drive.map[logical] = page + 1"),
        ("drive.state[page] = FREE", "0"),
        ("drive.erases[first] += 1", "0"),
        ("drive.programs[cause] += 1", "drive.programs[0] += 1"),
    ],
)
def test_a_fault_of_the_reducer_is_noticed(tab: Any, fault: tuple[str, str]) -> None:
    one = recorded("hcwf-swap", "hot-cold:f=0.2,r=0.8")
    assert fault[0] in REDUCER
    assert reduced(tab, one.document(), REDUCER.replace(*fault)) != counted(one)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_scenes_are_readable_by_all(chromium: Any, page: Path, scheme: str) -> None:
    for scene in ("chapter-2", "chapter-10") if scheme == "dark" else SCENES[::5]:
        with opened(chromium, page, color_scheme=scheme) as tab:
            tab.evaluate(f"location.hash = '{scene}'")
            tab.wait_for_selector(f"#{scene} #player svg.drive")
            assert serious(tab) == [], scene


def test_every_scene_fits_on_a_phone(chromium: Any, page: Path) -> None:
    with opened(chromium, page, viewport=PHONE) as tab:
        for scene in SCENES:
            tab.evaluate(f"location.hash = '{scene}'")
            tab.wait_for_selector(f"#{scene} #player svg.drive")
            assert overflow_px(tab) == 0, scene


def shown(tab: Any) -> str:
    """Return all that the player shows."""
    found: str = tab.inner_html("#drives")
    return found


def test_steps_go_back_to_where_they_came_from(chromium: Any, page: Path) -> None:
    with opened(chromium, page) as tab:
        tab.evaluate("location.hash = 'chapter-10'")
        tab.wait_for_selector("#chapter-10 #player svg.drive")
        seen = [shown(tab)]
        for _ in range(30):
            tab.keyboard.press("ArrowRight")
            seen.append(shown(tab))
        assert len(set(seen)) == len(seen)
        for before in seen[-2::-1]:
            tab.click("#back")
            assert shown(tab) == before


def test_keys_and_buttons_do_the_same(chromium: Any, page: Path) -> None:
    with opened(chromium, page) as tab:
        for key, button in (("ArrowRight", "forward"), ("w", "write"), ("n", "collection")):
            tab.click("#restart")
            tab.click(f"#{button}")
            by_button = shown(tab)
            tab.click("#restart")
            tab.evaluate("document.activeElement.blur()")
            tab.keyboard.press(key)
            assert shown(tab) == by_button, key
        assert "victim" in by_button


def test_playing_goes_on_until_the_scene_ends_and_can_be_paused(chromium: Any, page: Path) -> None:
    with opened(chromium, page) as tab:
        tab.evaluate("found('speed').value = 9")
        tab.click("#play")
        # The page's security policy refuses tab.wait_for_function, which evaluates a text.
        await_value(lambda: tab.evaluate("!playing && write === scene.write + scene.plays"))
        tab.keyboard.press("-")
        tab.click("#play")
        assert tab.inner_text("#play") == "Pause"
        tab.click("#play")
        before = shown(tab)
        tab.wait_for_timeout(100)
        assert shown(tab) == before


def test_colours_say_what_the_legend_says(chromium: Any, page: Path) -> None:
    with opened(chromium, page) as tab:
        tab.evaluate("location.hash = 'yours'")
        for colouring in ("origin", "owner", "heat", "age"):
            tab.select_option("#colouring", colouring)
            tab.fill("#place", "1200")
            classes = tab.evaluate(
                "[...document.querySelectorAll('#drives .page')].map((one) => one.classList[1])"
            )
            legend = tab.evaluate(
                "[...document.querySelectorAll('#legend .page')].map((one) => one.classList[1])"
            )
            assert set(classes) <= set(legend), colouring

"""Share of the rated TBW: of known models, of --rated-tbw, and unknown for all others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from in_process import document, refusal, run
from smart_documents import answer_to, ata, intel
from writeamp.reports.headlines.headline import headline

EVO = "Samsung SSD 970 EVO 1TB"


def nvme(
    model: str, written_tb: float, *, serial: str = "S1", used: int | None = 10
) -> dict[str, Any]:
    """Return smartctl's JSON of an NVMe drive of 1 TB whose host has written so many TB."""
    return {
        "device": {"protocol": "NVMe"},
        "model_name": model,
        "serial_number": serial,
        "user_capacity": {"bytes": 1_000_204_886_016},
        "local_time": {"time_t": 1_750_000_000},
        "nvme_smart_health_information_log": {
            "critical_warning": 0,
            **({} if used is None else {"percentage_used": used}),
            "power_on_hours": 10_000,
            "data_units_written": round(written_tb * 1e12 / 512_000),
        },
    }


def saved(folder: Path, name: str, log: dict[str, Any]) -> str:
    (folder / name).write_text(json.dumps(log))
    return str(folder / name)


def test_a_model_of_the_table_has_a_share_and_its_source(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.json", nvme(EVO, 150))
    counted = document("measure counters", path)
    assert counted["rated_tbw"] == 600
    assert counted["share_used"] == pytest.approx(0.25)
    assert counted["rated_source"].startswith("https://")
    assert counted["warranty_years"] == 5
    assert "The host has written 25% of the rated 600 TB." in headline(counted)
    life = document("lifetime", path)
    keys = ("rated_tbw", "share_used", "rated_source", "warranty_years")
    assert [life[key] for key in keys] == [counted[key] for key in keys]
    assert headline(life).endswith(
        "The host has written 25% of the rated 600 TB; the rest lasts 3.42 years at this rate."
    )
    assert life["years_to_rated_tbw"] == pytest.approx(3 * 10_000 / 24 / 365)
    for verb in ("measure counters", "lifetime"):
        shown = " ".join(run(verb, path).out.split())
        assert "rated TBW used │ 25% of 600 TB, warranty 5 years" in shown
    (frame,) = [answer.to_frame() for answer in wa.measure.counters(path)]
    assert frame["share_used"].to_list() == pytest.approx([0.25])


def test_an_unknown_model_has_a_share_by_the_option_only(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.json", nvme("Some Drive 1TB", 150))
    for verb in ("measure counters", "lifetime"):
        without = document(verb, path)
        assert without["rated_tbw"] is without["share_used"] is without["rated_source"] is None
        assert "rated" not in headline(without)
        option = document(verb, f"{path} --rated-tbw 1.2PB")
        assert option["share_used"] == pytest.approx(0.125)
        assert option["rated_source"] == "--rated-tbw"
        assert option["warranty_years"] is None
    known = saved(tmp_path, "b.json", nvme(EVO, 150))
    over = document("measure counters", f"{known} --rated-tbw 100")
    assert (over["rated_tbw"], over["share_used"]) == (100, pytest.approx(1.5))


def test_an_interval_has_no_share(tmp_path: Path) -> None:
    paths = [saved(tmp_path, f"{day}.json", intel(1000 * day, 2000 * day, day)) for day in (1, 2)]
    assert "share_used" not in document("measure diff", " ".join(paths))
    refusal("measure diff", f"{' '.join(paths)} --rated-tbw 600", "--rated-tbw")
    assert wa.measure.diff(*paths).rated_tbw is None


def test_a_contradicted_host_counter_has_no_share() -> None:
    # Flash writes below the host's, of a family that does not compress: one count is wrong.
    log = intel(60_000, 6_000)
    log["model_name"], log["user_capacity"]["bytes"] = "INTEL SSDSC2BX800G4", 800_166_076_416
    answer = answer_to(log)
    assert [check.name for check in answer.checks if check.verdict == "fail"] != []
    assert (answer.rated_tbw, answer.share_used) == (5300, None)
    assert "an unknown share of 5,300 TB" in dict(answer.card().rows)["rated TBW used"]
    # Device statistics that differ from the attribute.
    crucial = ata(
        "CT1000MX500SSD1", {246: 2 * 10**9}, sectors=5 * 10**9, capacity=1_000_204_886_016
    )
    assert answer_to(crucial).share_used is None
    agreeing = ata(
        "CT1000MX500SSD1", {246: 2 * 10**9}, sectors=2 * 10**9, capacity=1_000_204_886_016
    )
    assert answer_to(agreeing).share_used == pytest.approx(2e9 * 512 / 360e12)


def test_without_percentage_used_the_rating_decides(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.json", nvme(EVO, 150, used=None))
    life = document("lifetime", path)
    assert life["method"] == "rated TBW"
    assert life["years"] == life["years_to_rated_tbw"] == pytest.approx(3 * 10_000 / 24 / 365)
    assert life["percentage_used"] is life["years_low"] is None
    assert headline(life).startswith("The host has written 25% of the rated 600 TB; the rest lasts")
    unused, by_hours = life["warnings"]
    assert unused.endswith("used). Years are those until the rated TBW is written")
    assert by_hours.endswith("years assume a drive that is always on")
    later = nvme(EVO, 160, used=None) | {"local_time": {"time_t": 1_750_000_000 + 100 * 86_400}}
    both = document("lifetime", f"{path} {saved(tmp_path, 'b.json', later)}")
    assert both["years"] == pytest.approx(440 / 0.1 / 365)
    over = document("lifetime", f"{path} --rated-tbw 100TB")
    assert (over["years"], headline(over)) == (0, "The host has written 150% of the rated 100 TB.")
    worn = saved(tmp_path, "c.json", nvme(EVO, 60, serial="S2"))
    lives = document("lifetime", f"{path} {worn} --rated-tbw 600")
    assert [each["percentage_used"] for each in lives["lifetimes"]] == [None, 10]
    assert "none is known to wear out within a year; the first is" in headline(lives)
    unrated = saved(tmp_path, "d.json", nvme("Other 1TB", 1, used=None))
    assert "Pass the rated endurance (--rated-tbw)" in refusal("lifetime", unrated)
    new = nvme(EVO, 1, used=None)
    del new["nvme_smart_health_information_log"]["power_on_hours"]
    assert "there is no rate of host writes" in refusal("lifetime", saved(tmp_path, "e.json", new))


def test_several_drives_have_their_own_ratings_or_are_of_one_model(tmp_path: Path) -> None:
    saved(tmp_path, "a.json", nvme(EVO, 900, serial="A"))
    saved(tmp_path, "b.json", nvme(EVO, 60, serial="B"))
    fleet = document("measure fleet", str(tmp_path))
    assert (fleet["drives_with_rating"], fleet["beyond_rated_tbw"]) == (2, 1)
    assert sorted(drive["share_used"] for drive in fleet["drives"]) == pytest.approx([0.1, 1.5])
    assert "; 1 beyond the rated TBW;" in headline(fleet)
    shown = run("measure fleet", str(tmp_path)).out
    assert shown.index("150%") < shown.index("10%", shown.index("most used TBW first"))
    doubled = wa.measure.fleet([tmp_path], rated_tbw=1200)
    assert sorted(drive.share_used or 0 for drive in doubled.drives) == pytest.approx([0.05, 0.75])
    paths = f"{tmp_path}/a.json {tmp_path}/b.json"
    assert "rated TBW used" in run("lifetime", paths).out
    lives = document("lifetime", f"{paths} --rated-tbw 1800")["lifetimes"]
    assert sorted(life["share_used"] for life in lives) == pytest.approx([60 / 1800, 0.5])
    other = saved(tmp_path, "c.json", nvme("Other 1TB", 1, serial="C"))
    for verb, sources in (
        ("measure counters", f"{paths} {other}"),
        ("lifetime", f"{paths} {other}"),
        ("measure fleet", str(tmp_path)),
    ):
        sentence = refusal(verb, f"{sources} --rated-tbw 600", "2 models", EVO, "Other 1TB")
        assert "--rated-tbw" in sentence


@pytest.mark.parametrize("rated", ["0", "-5", "nan", "0TB", "600XB", "inf"])
def test_a_rating_is_above_0(tmp_path: Path, rated: str) -> None:
    path = saved(tmp_path, "a.json", nvme(EVO, 150))
    for verb in ("measure counters", "measure fleet", "lifetime"):
        refusal(verb, f"{path} --rated-tbw={rated}", "must be above 0")


def test_a_load_has_no_rating() -> None:
    load = "--workload uniform --device tlc-client --daily-writes 100GB --rated-tbw 600"
    refusal("lifetime", load, "--rated-tbw is the rating of a real drive")

"""Text of others, wherever it is shown: a screen, a picture or a page obeys nothing in it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest

import writeamp as wa
from in_process import Done, run
from writeamp.plots import save
from writeamp.plots.spec import Line, LineChart
from writeamp.text import printable

# An escape sequence, markup of two kinds, a line break, a change of direction, a bell, C1.
NASTY = "\x1b[31mred [bold]b[/] :smile: <b>x</b>\nnext \u202eevil\u2066 \x07\x9b2J"
SHOWN = r"\x1b[31mred [bold]b[/] :smile: <b>x</b>\nnext \u202eevil\u2066 \x07\x9b2J"
_OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]"
)
DRIVE = "--pages-per-block 16 --op 0.3"


def shows(done: Done, *words: str) -> None:
    """Check that words can be read, over however many lines of a table, and nothing is obeyed."""
    screen = done.out + done.err
    assert not _OBEYED.search(screen), repr(screen)
    letters = "".join(re.sub("[│┃]", "", screen).split())
    for word in words:
        assert "".join(word.split()) in letters, screen


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trace_of(devices: list[str], name: str) -> None:
    """Write a trace of a hundred pages, a device for each name."""
    rows = [(i, i % len(devices), "write", i % 100 * 4096, 4096) for i in range(2000)]
    frame = pl.DataFrame(rows, schema=wa.traces.SCHEMA, orient="row")
    wa.traces.write(wa.traces.Trace(frame, "made", "made", devices), name)


class TestOnAScreen:
    def test_names_of_devices(self, folder: Path) -> None:
        trace_of([NASTY], "t.parquet")
        shows(run("trace info", "t.parquet"), SHOWN)
        out = json.loads(run("trace info", "t.parquet --json").out)
        assert out["devices"] == [NASTY]

    def test_hosts_of_a_text_trace_and_the_notes_on_them(self, folder: Path) -> None:
        host = NASTY.replace("\n", "")
        line = f"128166372003061629,{host},0,Write,0,4096,0\n"
        Path("t.csv").write_text(line * 3, "utf-8")
        shows(run("trace info", "t.csv"), SHOWN.replace(r"\n", ""))
        shows(run("trace convert", "t.csv t.spc"), SHOWN.replace(r"\n", ""))

    def test_a_wrong_row(self, folder: Path) -> None:
        Path("t.csv").write_text(f"1,h,0,{NASTY[:8]},0,4096,0\n", "utf-8")
        done = run("trace info", "t.csv --format msr")
        shows(done, "t.csv:1")
        assert done.status == 2

    def test_names_of_files(self, folder: Path) -> None:
        name = NASTY.replace("/", "|")
        trace_of(["sda"], f"{name}.parquet")
        words = SHOWN.replace("/", "|")
        shows(run("trace info", f"'{name}.parquet'"), words)
        shows(run("simulate", f"--trace '{name}.parquet' {DRIVE} --repeat 4"), words)
        for verb in ("trace info", "simulate --trace", "simulate", "simulate --device"):
            done = run(verb, f"'{name}.toml'")
            shows(done, "writeamp:")
            assert (done.status, done.err.count("\n")) == (2, 1)

    def test_names_of_devices_in_profiles(self, folder: Path) -> None:
        shipped = Path(wa.__file__).parent / "devices" / "profiles" / "generic.toml"
        name = NASTY.replace("/", "|").replace("\n", "")
        Path(f"{name}.toml").write_bytes(shipped.read_bytes())
        arguments = f"--device '{name}.toml' --blocks 64 {DRIVE} --writes 20000"
        shows(run("simulate", arguments), SHOWN.replace("/", "|").replace(r"\n", ""))
        shows(run("compare", f"--managers single {arguments} --replicas 1"))

    @pytest.mark.parametrize(
        "arguments", ["--device '{}'", "--manager '{}'", "--workload '{}'", "--{}", "--seed '{}'"]
    )
    def test_what_was_typed(self, folder: Path, arguments: str) -> None:
        done = run("simulate", arguments.format(NASTY.replace(" ", "")))
        shows(done, "writeamp:")
        assert (done.status, done.err.count("\n")) == (2, 1)


class TestInPictures:
    title = f"$x$ $ {NASTY} <a href='javascript:alert(1)'>l</a> \udcff ${{x$ </script>"

    def figure(self) -> LineChart:
        line = Line([0.0, 1.0], [1.0, 2.0], "#000000", label=self.title)
        level = Line([0.0, 1.0], [2.0, 2.0], "#000000", label="plain\nbroken by us")
        return LineChart(self.title, self.title, "x", "y\n(z)", (line, level))

    @pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "html"])
    def test_every_kind_is_drawn(self, folder: Path, suffix: str) -> None:
        save(self.figure(), f"out.{suffix}")
        assert Path(f"out.{suffix}").stat().st_size > 1000

    def test_an_svg_is_well_formed_and_shows_the_words(self, folder: Path) -> None:
        save(self.figure(), "out.svg")
        texts = ["".join(one.itertext()) for one in ET.parse("out.svg").iter() if "text" in one.tag]
        assert any(r"$x$ $ \x1b[31mred" in text and r"\nnext \u202eevil" in text for text in texts)
        assert any(text == "broken by us" for text in texts)

    def test_a_page_has_no_markup_but_its_own(self, folder: Path) -> None:
        save(self.figure(), "out.html")
        page = Path("out.html").read_text("utf-8")
        assert not _OBEYED.search(page)
        values, axes, code = 1, 1, 1
        assert page.count("<script") == page.count("</script>") == values + axes + code
        for markup in ("<a href", "<b>x"):
            assert markup not in page


def test_what_can_be_read_is_left_alone() -> None:
    for text in ("plain", "µ-disk №1", "日本語\u3000名", "naïve\xa0é", r"C:\temp"):
        assert printable(text) == text

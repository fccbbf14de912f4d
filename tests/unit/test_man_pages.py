"""Man pages and shell completions that a wheel installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from test_options import COMMANDS

from in_process import WRITEAMP
from places import ROOT
from writeamp.__main__ import _STATUS
from writeamp.cli import BAD_INPUT, boundary, serve
from writeamp.cli.verbs import verbs

sys.path.insert(0, str(ROOT / "scripts"))
from man_pages import STATUSES, roff, write_pages

SHARE = ROOT / "packaging/data/share"
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("man") / "man1"
    write_pages(folder)
    return {path.stem: path.read_text("utf-8") for path in folder.glob("*.1")}


def test_every_command_and_group_has_a_page(pages: dict[str, str]) -> None:
    names = {name.replace(" ", "-") for name in (*COMMANDS, *verbs())}
    assert set(pages) == {"writeamp", *(f"writeamp-{name}" for name in names)}


def test_every_page_has_all_sections_and_an_example(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        sections = re.findall(r"^\.SH (.*)$", text, re.MULTILINE)
        further = ("COMMANDS", "EXIT STATUS")
        assert [section for section in sections if section not in further] == SECTIONS, name
        assert re.search(r"^\.SH EXAMPLES\n\.nf\n\\fB.*writeamp.*\\fR$", text, re.MULTILINE)
        assert r"\fB\-\-cite\fR" in text


def test_the_page_of_the_program_has_the_exit_statuses(pages: dict[str, str]) -> None:
    listed = {int(status) for line in STATUSES for status in re.findall("[0-9]+", line)}
    own = {boundary.SOME_FAILED, BAD_INPUT, serve._LIMIT_NOT_MET, boundary.FAULT}
    assert listed == {0, *own, *_STATUS.values()}
    items = re.findall(
        r"^\.TP\n(.*)$", pages["writeamp"].partition(".SH EXIT STATUS")[2], re.MULTILINE
    )
    assert items == [*STATUSES]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option_of_its_command(name: str, pages: dict[str, str]) -> None:
    text = pages[f"writeamp-{name.replace(' ', '-')}"].replace(r"\-", "-")
    flags = [flag for option in COMMANDS[name].params for flag in option.opts if flag[0] == "-"]
    assert flags
    assert [flag for flag in flags if rf"\fB{flag}\fR" not in text] == []


def test_pages_refer_to_pages_that_there_are(pages: dict[str, str]) -> None:
    for text in pages.values():
        referred = re.findall(r"\\fB(\S+)\\fR\(1\)", text.replace(r"\-", "-"))
        assert set(referred) <= set(pages)


def test_no_line_is_a_request_that_its_text_became(pages: dict[str, str]) -> None:
    requests = {
        request
        for text in pages.values()
        for request in re.findall(r"^[.'][^ \n]*", text, re.MULTILINE)
    }
    assert requests == {".TH", ".SH", ".SS", ".B", ".PP", ".TP", ".nf", ".fi"}


def test_text_becomes_no_request_and_no_escape() -> None:
    assert roff(".toml") == r"\&.toml"
    assert roff("'a'\n--op \\[x]") == r"\(aqa\(aq \-\-op [x]"


CHECKERS = {
    "mandoc": ("mandoc", "-Tlint", "-Wwarning"),
    "groff": ("groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-Wbreak", "-z"),
}


@pytest.mark.parametrize("program", CHECKERS)
def test_programs_accept_the_pages(program: str, pages: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    paths = [tmp_path / f"{name}.1" for name in pages]
    for path in paths:
        path.write_text(pages[path.stem], "utf-8")
    command = [*CHECKERS[program], *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Without a date, a page is the same in each build.
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "date" not in line]
    assert lines == []


def test_wheel_and_sdist_take_the_files_of_the_folder_share() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["maturin"]
    assert ROOT / settings["data"] / "data/share" == SHARE
    # Without the folder, maturin could not build the sdist.
    assert {"path": f"{settings['data']}/**/*", "format": "sdist"} in settings["include"]


def test_bash_completes_with_the_file_that_a_wheel_installs() -> None:
    script = (
        f"source '{SHARE}/bash-completion/completions/writeamp'; COMP_WORDS=(writeamp simu)\n"
        "COMP_CWORD=1; _writeamp_completion writeamp; echo ${COMPREPLY[@]}"
    )
    path = f"{WRITEAMP.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["simulate"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("zsh/site-functions/_writeamp", ["#compdef writeamp", "complete_zsh"]),
        ("fish/vendor_completions.d/writeamp.fish", ["--command writeamp ", "complete_fish"]),
    ],
)
def test_other_shells_have_completions_as_well(path: str, words: list[str]) -> None:
    text = (SHARE / path).read_text("utf-8")
    assert [word for word in [*words, "_WRITEAMP_COMPLETE="] if word not in text] == []

"""Every page of `--report` has the numbers of the terminal, and suggests commands that run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from in_process import Done, run
from places import ROOT
from writeamp.reports.embedding import report_in
from writeamp.reports.headlines.headline import headline
from writeamp.reports.markdown import markdown
from writeamp.reports.sections import sections_of

sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
import making
from lines import LINES

# Verbs without a page; and those that take minutes, or need a target drive, another program or the
# network.
_WITHOUT = {"examples", "list", "report", "trace convert", "explore", "top", "measure watch"}
_ELSEWHERE = {
    "reproduce", "twin fit", "twin check", "serve", "measure save", "measure all", "trace record",
    "live", "trace fetch",
}  # fmt: skip
_VERBS = sorted(LINES.keys() - _WITHOUT - _ELSEWHERE)
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    before = Path.cwd()
    folder = tmp_path_factory.mktemp("samples")
    making.make(folder, _output)
    yield folder
    os.chdir(before)


def _output(line: str) -> str:
    return _run(line).out


def _run(line: str) -> Done:
    *names, arguments = line.split(" ", 1 if line.split(maxsplit=1)[0] not in _GROUPS else 2)
    return run(" ".join(names), arguments)


_GROUPS = {verb.split()[0] for verb in LINES if " " in verb}


@pytest.mark.parametrize("verb", _VERBS)
def test_a_page_has_every_number_of_the_terminal(
    verb: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    pages = 0
    for at, line in enumerate(dict.fromkeys(LINES[verb])):
        folder = tmp_path / str(at)
        folder.mkdir()
        os.chdir(folder)
        words = _with_files(f"--report page.html {line}", samples)
        done = run(verb, words)
        if not Path("page.html").exists():
            assert done.status != 0, (line, "wrote no page")
            continue
        pages += 1
        report = report_in(Path("page.html"))
        sentence = headline(report.document)
        assert sentence, (line, "has no headline")
        shown = " ".join(line for line in done.out.splitlines() if not line.startswith("next: "))
        assert " ".join(sentence.split()) in " ".join(done.out.split()), done.out
        page = markdown(report, sections_of(report)).replace("\\", "")
        commands = {section.command for section in sections_of(report)} - {None}
        for command in sorted(map(str, commands)):
            again = _run(command.removeprefix("writeamp "))
            assert again.status == done.status, (command, again.err)
        missing = set(_NUMBER.findall(shown)) - set(_NUMBER.findall(page))
        assert not missing, (line, missing)
    assert pages, done


def _with_files(line: str, samples: Path) -> str:
    """Return a line in which `@ROLE` is a file of that role; one of several is named in turn."""
    named: dict[str, int] = {}

    def named_file(word: str) -> str:
        role, _, beginning = word[1:].partition(":")
        places = sorted((samples / role).glob(f"{beginning}*"))
        at = named[word] = named.get(word, -1) + 1
        place = places[at % len(places)]
        copy = Path(f"{role}{len(named)}{at}{''.join(place.suffixes[-2:])}")
        (shutil.copytree if place.is_dir() else shutil.copy)(place, copy)
        return str(copy)

    words = shlex.split(line)
    return shlex.join(named_file(word) if word.startswith("@") else word for word in words)

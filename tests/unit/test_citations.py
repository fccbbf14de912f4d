"""Citations: by verb, as BibTeX and text, and in CITATION.cff."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from test_options import COMMANDS

import in_process
import writeamp as wa
from places import ROOT
from writeamp import citations
from writeamp.citations import PAPERS, papers_behind

ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n((?:  \w+ = \{.*\},\n)+)\}$", re.MULTILINE)


def keys(text: str) -> list[str]:
    return [key for _, key, _ in ENTRY.findall(text)]


def names(verb: str) -> list[str]:
    return [paper.name for paper in papers_behind(verb)]


def test_the_program_cites_itself_and_the_five_papers() -> None:
    done = in_process.run("--cite", "")
    assert (done.status, done.err) == (0, "")
    assert keys(done.out)[0] == "writeamp"
    assert len(set(keys(done.out))) == 1 + len(PAPERS) == 6
    assert wa.__version__ in done.out


@pytest.mark.parametrize(
    ("verb", "papers"),
    [
        ("predict", ["park2017"]),
        ("allocate", ["dayan2015"]),
        ("meanfield", ["verschoren2019"]),
        ("endurance", ["dayan2015", "verschoren2019"]),
        ("simulate", ["park2017", "dayan2015", "verschoren2019"]),
        ("volumes run", ["dayan2015", "verschoren2019"]),
        ("explore", ["dayan2015", "verschoren2019"]),
        ("lifetime", ["dayan2015", "verschoren2019"]),
        ("sweep run", ["park2017", "dayan2015", "verschoren2019"]),
        ("serve", ["dayan2015", "four-level"]),
        ("blackbox train", ["huang2011"]),
        ("measure", ["four-level"]),
        ("measure rb", ["four-level"]),
        ("measure counters", []),
        ("list", []),
        ("reproduce", [paper.name for paper in PAPERS]),
    ],
)
def test_a_verb_cites_the_papers_behind_it(verb: str, papers: list[str]) -> None:
    assert names(verb) == papers
    assert in_process.run(verb, "--cite").out == wa.cite(verb) + "\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_to_cite_before_it_asks_for_more(name: str) -> None:
    done = in_process.run(name, "--cite")
    assert (done.status, done.err) == (0, "")
    assert keys(done.out)[0] == "writeamp"


def test_the_table_names_commands_that_there_are() -> None:
    groups = {name.split()[0] for name in COMMANDS}
    assert {verb for paper in PAPERS for verb in paper.verbs} <= {*COMMANDS, *groups}


@pytest.mark.parametrize("verb", ["simulat", "", "  ", 5, ["simulate"], None.__class__])
def test_an_unknown_verb_is_refused(verb: object) -> None:
    with pytest.raises(wa.WriteampError, match=r"unknown verb|verb is"):
        wa.cite(verb)  # type: ignore[arg-type]


def test_outside_of_entries_every_line_is_a_comment() -> None:
    rest = ENTRY.sub("", wa.cite())
    assert "@" not in rest
    assert all(line.startswith("% ") for line in rest.splitlines() if line)
    # Braces that do not match would swallow the next entry.
    assert all(fields.count("{") == fields.count("}") for _, _, fields in ENTRY.findall(wa.cite()))


def test_the_address_is_cited_once_its_owner_has_filled_it_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Installed:
        def get_all(self, _name: str) -> list[str]:
            return [f"Repository, {address}", "Issues, https://example.org/issues"]

    monkeypatch.setattr("importlib.metadata.metadata", lambda _name: Installed())
    address = "https://example.org/writeamp"
    assert f"url = {{{address}}}" in wa.cite("list")
    address = f"https://example.org/{citations.PLACEHOLDER}/writeamp"
    assert "url" not in wa.cite("list")


def test_the_citation_file_has_what_its_format_requires() -> None:
    document = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert document["cff-version"] == "1.2.0"
    assert document["type"] == "software"
    assert document["message"]
    assert document["title"]
    assert document["authors"] == [{"name": citations.AUTHOR}]
    package = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    assert document["version"] == package["version"]
    assert document["license"] == ["MIT", "Apache-2.0"]
    for reference, paper in zip(document["references"], PAPERS, strict=True):
        assert reference["type"] in ("article", "conference-paper")
        assert reference["title"] == paper.title
        assert reference["year"] == paper.year
        authors = [(one["given-names"], one["family-names"]) for one in reference["authors"]]
        assert authors == list(paper.authors)
        assert re.fullmatch(r"10\.\d{4,9}/\S+", reference.get("doi", "10.1234/x"))

"""Sources of counters: which one reads a document, and the table of printed logs."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from drive_logs import LOGS
from pastes import DOCUMENTS
from places import ROOT
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.sources import by_specificity, sources
from writeamp.drives.counters.sources.printed_logs import sources_of
from writeamp.errors import WriteampError

CASES = ROOT / "tests" / "data" / "cases" / "drives"
ACME = {
    "name": "nvme acme vs-smart-add-log",
    "label": "Acme log",
    "specificity": 40,
    "counters": [
        {"side": "host", "unit": "byte", "keys": ["host_{bytes,octets}"]},
        {"side": "flash", "unit": "GiB", "keys": ["flash_gib"], "rounding": "down"},
    ],
    "worn": [{"keys": ["erases_*"]}],
    "notes": ["Acme counts since the last format"],
}


@pytest.mark.parametrize("name", LOGS)
def test_the_order_of_sources_does_not_decide_which_reads(name: str) -> None:
    document = Document(name, LOGS[name])
    read_by = {
        next(one.name for one in tried if one.matches(document))
        for seed in range(5)
        for tried in [by_specificity(random.Random(seed).sample(sources(), len(sources())))]
    }
    assert len(read_by) == 1


@cache
def names_of_readers() -> set[str]:
    """Return the names of the sources that read the documents of the tests."""
    texts = (text.encode() for text in DOCUMENTS.values())
    files = (path.read_bytes() for path in CASES.rglob("*") if path.is_file())
    documents = (Document("log", content) for content in (*LOGS.values(), *texts, *files))
    found = (next((one for one in sources() if one.matches(each)), None) for each in documents)
    return {one.name for one in found if one is not None}


@pytest.mark.parametrize("name", [one.name for one in sources()])
def test_every_source_reads_a_document_of_the_tests(name: str) -> None:
    assert name in names_of_readers(), "add a document to tests/support/drive_logs.py"


def test_the_names_of_sources_are_unique() -> None:
    assert len({one.name for one in sources()}) == len(sources())


def test_a_table_alone_reads_the_log_of_a_new_vendor() -> None:
    text = "host octets : 2147483648\nflash gib : 3\nerases min : 5\nerases maximum : 9\n"
    (source,) = sources_of({"log": [ACME]})
    document = Document("acme", text.encode())
    assert source.matches(document)
    assert not source.matches(Document("other", b"host writes : 2147483648\n"))
    (facts,) = source.read(document)
    assert [(one.side, one.amount().low) for one in facts.counters] == [
        ("host", 2 << 30),
        ("flash", 3 << 30),
    ]
    assert [(one.low, one.high, one.most, one.part) for one in facts.erases] == [(5, 9, 9, "all")]
    assert facts.notes == ("Acme counts since the last format",)


def _counter(**changes: Any) -> dict[str, Any]:
    return {"counters": [{"side": "host", "unit": "byte", "keys": ["a"]} | changes]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"specifity": 3}, "unknown key 'specifity'"),
        ({"specificity": "high"}, "specificity must be a whole number, not 'high'"),
        ({"label": 7}, "label must be text, not 7"),
        ({"reader": "Acme"}, "unknown reader 'Acme'"),
        ({"reports": "("}, "reports is not a regular expression"),
        ({"notes": [7]}, "notes must be a list of texts, not [7]"),
        ({"counters": []}, "needs counters, signs or text"),
        ({"counters": [7]}, "counters must be a list of tables, not [7]"),
        ({"worn": [{"part": "qlc", "keys": ["a"]}]}, "unknown part 'qlc'"),
        ({"signs": [{"value": "0x"}]}, "lacks keys"),
        (_counter(side="drive"), "unknown side 'drive'"),
        (_counter(unit="33 MiB"), "unknown unit '33 MiB'"),
        (_counter(rounding="even"), "unknown rounding 'even'"),
        (_counter(values="octal"), "unknown values 'octal'"),
        (_counter(shared="A"), "either a unit or the name of a shared unit"),
        (_counter(keys="a"), "keys must be a list of texts, not 'a'"),
    ],
)
def test_a_table_with_an_invalid_value_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(WriteampError) as caught:
        list(sources_of({"log": [ACME, ACME | changes]}))
    assert str(caught.value).startswith("logs.toml: log 2: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("key", ["name", "label", "specificity"])
def test_a_table_without_a_needed_key_is_refused(key: str) -> None:
    with pytest.raises(WriteampError, match=f"logs.toml: log 1: lacks {key}"):
        list(sources_of({"log": [{name: value for name, value in ACME.items() if name != key}]}))

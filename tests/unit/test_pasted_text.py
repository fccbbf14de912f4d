"""Text as people paste it has the values of the clean document, or a true reason."""

from __future__ import annotations

import pytest
from pastes import DOCUMENTS, PASTES
from places import ROOT
from smart_documents import answer_to, ata, text_of_ata
from writeamp.measure.counters.answer import life_answer
from writeamp.measure.counters.document import Document
from writeamp.measure.counters.pasted.text import plain_text
from writeamp.measure.counters.reading import read_snapshot, snapshots_in
from writeamp.measure.counters.sources.smartctl_text import raw_value

DRIVES = ROOT / "tests" / "data" / "cases" / "drives"
MICRON = DRIVES / "15-micron5200-net-test.txt"


def values(content: str | bytes) -> list[tuple[object, ...]]:
    """Return what the answers to a document say."""
    raw = content.encode() if isinstance(content, str) else content
    found = [life_answer(one) for one in snapshots_in(Document("a paste", raw))]
    return [
        (one.wa, one.wa_low, one.wa_high, one.kind, one.host, one.facts.model, one.facts.serial,
         one.facts.capacity_bytes, one.facts.power_on_hours, one.facts.percentage_used,
         one.facts.taken_at)
        for one in found
    ]  # fmt: skip


CLEAN = {name: values(text) for name, text in DOCUMENTS.items()}


@pytest.mark.parametrize("name", PASTES)
def test_a_paste_has_the_values_of_the_clean_document(name: str) -> None:
    assert {of: values(PASTES[name](text)) for of, text in DOCUMENTS.items()} == CLEAN


def test_a_clean_text_is_left_as_it_is() -> None:
    for text in DOCUMENTS.values():
        assert [line.rstrip() for line in plain_text(text).split("\n")] == [
            line.replace("\u202f", " ").rstrip(" <-") for line in text.split("\n")
        ]


@pytest.mark.parametrize("prefix", ["    ", "\t", "> ", ">> ", "| "])
def test_quoted_and_indented_text_has_the_wa_of_the_text(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in MICRON.read_text().splitlines())
    found = answer_to(text)
    assert found.wa == pytest.approx(1.115032, rel=1e-6)
    assert found.facts.model == "Micron_5200_MTFDDAK960TDD"


def test_a_text_in_a_systems_log_is_read() -> None:
    found = life_answer(read_snapshot(DRIVES / "30-sonic-syslog-prefix.txt"))
    assert found.facts.model == "ATP AF480GSTJA-AW2"
    assert (found.facts.percentage_used, found.facts.power_on_hours) == (1, 4321)
    assert found.to_dict()["host_bytes"] == 1_234_567 * 512_000


@pytest.mark.parametrize("path", sorted(DRIVES.glob("20*.txt")), ids=lambda path: path.name[:3])
def test_thousands_whose_separators_were_lost_are_read(path: object) -> None:
    found = life_answer(read_snapshot(str(path)))
    assert found.facts.capacity_bytes == 240_057_409_536
    assert {one.name: one.verdict for one in found.checks}["erases x capacity"] == "ok"


TWO = "".join(
    text_of_ata(
        ata(model, {225: host, 233: (0, 95), 243: 2 * host}) | {"serial_number": model[-2:]}
    )
    for model, host in (("INTEL SSDSC2KB480G8", 10**6), ("INTEL SSDSC2KB960G7", 10**5))
)


@pytest.mark.parametrize("name", PASTES)
def test_two_drives_in_one_paste_stay_two(name: str) -> None:
    assert values(PASTES[name](TWO)) == values(TWO)
    assert len(values(TWO)) == 2


def test_logs_of_two_machines_line_by_line_stay_two() -> None:
    texts = [text_of_ata(ata("INTEL SSDSC2KB480G8", {225: count, 243: 3 * count}, hours=count))
             for count in (5000, 7000)]  # fmt: skip
    lines = [one.splitlines() for one in texts]
    mixed = "".join(f"host1: {a}\nhost2: {b}\n" for a, b in zip(*lines, strict=True))
    assert values(mixed) == [*values(texts[0]), *values(texts[1])]


HEAD = "SMART/Health Information (NVMe Log 0x02)\nModel Number:          X\n"
BROKEN = [
    # A terminal or a mail program may have broken the number, or another number follows.
    "Percentage Used:       1%\nData Units Written:    98244\n501 [50.3 TB]\n",
    "Percentage Used:       1%\nData Units Written:    98,244,501\n12 [50.3 TB]\n",
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_number_that_may_be_two_is_none(text: str) -> None:
    found = answer_to(HEAD + text)
    assert found.to_dict()["host_bytes"] is None
    assert "which is no count" in found.reason


WHOLE = [
    "Percentage Used: 1%\nData Units Written:   98,244\n,501 [50.3 TB]\n",
    "Percentage Used: 1%\nData Units Written:   98,244,5\n01 [50.3 TB]\n",
    "Percentage Used: 1%\nData Units Written:   98 244\n501 [50,3 TB]\n",
    "Percentage Used: 1%\nData Units Written:\n     98,244,501 [50.3 TB]\n",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_broken_number_that_can_only_be_one_is_whole(text: str) -> None:
    assert answer_to(HEAD + text).to_dict()["host_bytes"] == 98_244_501 * 512_000


def test_a_raw_value_in_groups_may_be_words_and_is_none() -> None:
    assert [raw_value(one) for one in ("21 640 090 130", "9 20 9", "100 200")] == [None, 9, None]


def test_a_row_that_is_cut_within_its_number_is_not_taken_for_a_smaller_one() -> None:
    text = (
        MICRON.read_text()
        .replace("21640090130", "216400\n90130")
        .replace("676121749", "6761\n21749")
    )
    found = answer_to(text)
    assert found.wa is None
    assert "broken over two lines" in found.reason

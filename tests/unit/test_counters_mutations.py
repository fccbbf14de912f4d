"""Damaged documents of every source get a sentence, or an answer that follows from them."""

from __future__ import annotations

import json
import math
import os
import random
from fractions import Fraction

import pytest

from drive_logs import LOGS, SMART_TEXT
from mutations import mutated
from places import ROOT
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.reading import documents_in, snapshots_of
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.saved_file import TAKEN, SnapshotOrigin, packed, taken_document
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import WriteampError

# The same as in a smartctl document, whose table other tests read in depth.
_SMARTCTL = {
    "device": {"protocol": "ATA"},
    "model_name": "INTEL SSDSC2KB960G8",
    "user_capacity": {"bytes": 960_197_124_096},
    "ata_smart_attributes": {
        "table": [
            {"id": number, "name": "", "value": 90, "raw": {"value": raw}}
            for number, raw in ((225, 60_000), (243, 90_000))
        ]
    },
    "local_time": {"time_t": 1_700_000_000},
}
_SAVED = {
    TAKEN: taken_document(
        SnapshotOrigin(1.7e9, "/dev/nvme0", {}, ("a log that the drive has not",))
    ),
    "smart.json": SMART_TEXT.encode(),
    "ocp.json": LOGS["ocp-text"],
}
_CASES = ROOT / "tests" / "data" / "cases" / "drives"
_PRINTED = [
    (_CASES / name).read_bytes()
    for name in ("19-cdi-kingston-a400.txt", "18-hpe-ssacli.txt", "12-sandisk-plus-openwrt.txt")
]
_DOCUMENTS = [*LOGS.values(), json.dumps(_SMARTCTL).encode(), packed(_SAVED), *_PRINTED]
_MUTATIONS = int(os.environ.get("WRITEAMP_TEST_MUTATIONS", "1000"))


def _assert_follows(answer: DriveCounters, facts: CounterFacts) -> None:
    """Assert that a write amplification is flash over host of the counters that were read."""
    json.dumps(answer.to_dict(), allow_nan=False)
    if answer.wa is None:
        assert answer.reason
        return
    assert math.isfinite(answer.wa)
    assert answer.wa_low <= answer.wa <= answer.wa_high
    assert facts.compresses or answer.wa_high >= 1
    if answer.host is not None and answer.flash is not None:
        assert Fraction(answer.wa) == pytest.approx(answer.flash.nominal / answer.host.nominal)


def _assert_answered(content: bytes) -> list[Snapshot]:
    """Assert that a document gets a sentence or an answer; return its snapshots."""
    try:
        snapshots = snapshots_of("x", documents_in(Document("x", content)))
        for one in snapshots:
            _assert_follows(life_answer(one), one.facts)
    except WriteampError:
        return []
    return snapshots


def test_damaged_documents_get_a_sentence_or_what_follows_from_them() -> None:
    source = random.Random(33)
    before: list[Snapshot] = []
    answered = 0
    for place in range(_MUTATIONS):
        original = _DOCUMENTS[place % len(_DOCUMENTS)]
        content = mutated(original, _DOCUMENTS, source)
        try:
            snapshots = _assert_answered(content)
            if before and snapshots:
                interval = interval_answer(before[0], snapshots[0])
                json.dumps(interval.to_dict(), allow_nan=False)
        except Exception as error:
            error.add_note(f"mutation {place}: {content[:2000]!r}")
            raise
        before = snapshots or before
        answered += bool(snapshots)
    # Most mutations leave something to be read, so that readers are tested and not the refusal.
    assert answered > _MUTATIONS / 3


def test_every_undamaged_document_is_read() -> None:
    for content in _DOCUMENTS:
        assert _assert_answered(content)

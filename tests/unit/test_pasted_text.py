"""Text as people paste it has the values of the clean document, or a true reason."""

from __future__ import annotations

import json

import pytest

from drive_logs import BACKBLAZE, EXPORTER_TEXT, LOGS
from pastes import DOCUMENTS, PASTES
from places import ROOT
from smart_documents import answer_to, ata, text_of_ata, verdict
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.pasted.text import plain_text
from writeamp.drives.counters.reading import read_snapshot, snapshots_in
from writeamp.drives.counters.sources.smartctl_text import raw_value
from writeamp.errors import WriteampError

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


# Pastes in which something is not sure, and what the refusal says.
REFUSED = {("time and host", "seagate log"): "not a snapshot of a drive"}


@pytest.mark.parametrize("name", PASTES)
def test_a_paste_has_the_values_of_the_clean_document(name: str) -> None:
    for of, text in DOCUMENTS.items():
        paste = PASTES[name](text)
        if (name, of) in REFUSED:
            with pytest.raises(WriteampError, match=REFUSED[name, of]):
                values(paste)
        else:
            assert values(paste) == CLEAN[of], of


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
    assert verdict(found, "erases x capacity") == "ok"


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
    assert "which is not a count" in found.reason


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
    # Without a broken row there is a ratio, but not the check against the host's counter.
    found = answer_to(MICRON.read_text().replace("21640090130", "216400\n90130"))
    assert found.host is None
    assert any(one.startswith("whole numbers") for one in found.warnings)


def cut_warnings(text: str) -> list[str]:
    return [one for one in answer_to(text).warnings if one.startswith("end of the text")]


ROWS = "=== START OF INFORMATION SECTION ===\nDevice Model:     INTEL SSDSC2KB960G8\n" + "".join(
    f"{number} Name 0x0032 100 100 000 Old_age Always - {raw}\n"
    for number, raw in ((9, 12_000), (242, 7), (243, 90_000), (225, 60_000))
)
CUT = {
    "a row": ROWS,
    "a quoted row": "".join(f"> {line}\n" for line in ROWS.splitlines()),
    "a coloured row": ROWS.replace("60000", "\x1b[1m60000"),
    "a row of a log": "".join(f"Jun  1 10:00:00 h s[1]: {line}\n" for line in ROWS.splitlines()),
    "a field": "SMART/Health Information (NVMe Log 0x02)\nModel Number: X\nPercentage Used: 1%\n"
    "Data Units Written:    98,244\n",
    "a key": "critical_warning : 0\npercentage_used : 4%\nData Units Written : 3906250\n",
    "power-on hours": "data_units_written : 3906250\npower_on_hours : 1,234\n",
    "percentage used": "data_units_written : 3906250\npercentage_used : 12\n",
    "two halves": LOGS["ocp-text"].decode().partition("  Max")[0],
    "hexadecimal": LOGS["seagate"].decode(),
    "a sample": EXPORTER_TEXT.partition("smartctl_device_bytes")[0],
    "a sample with an exponent": 'smartctl_device_bytes_written{device="nvme0"} 2e+12\n',
    "a row of CSV": BACKBLAZE.rpartition("2024-01-02")[0],
    "the last of several drives": ROWS + ROWS.replace("60G8", "80G8"),
}


@pytest.mark.parametrize("name", CUT)
def test_a_value_that_may_be_cut_at_the_end_has_a_warning(name: str) -> None:
    whole = CUT[name]
    snapshots = snapshots_in(Document("a paste", whole.removesuffix("\n").encode()))
    (warning,) = (one for one in life_answer(snapshots[-1]).warnings if "end of the text" in one)
    assert "digits are missing" in warning
    for one in snapshots_in(Document("a paste", whole.encode())):
        assert not any("end of the text" in warning for warning in life_answer(one).warnings)


def test_the_row_that_was_cut_within_its_number_has_a_warning() -> None:
    text = (DRIVES / "15b-cut-inside-last-number.txt").read_text()
    assert answer_to(text).wa == pytest.approx(1.000115, rel=1e-6)
    (warning,) = cut_warnings(text)
    assert "77775 (attribute 248)" in warning


def test_a_last_row_that_is_not_divided_has_no_warning() -> None:
    assert cut_warnings(ROWS + "180 Name 0x0032 100 100 000 Old_age Always - 60000") == []
    assert cut_warnings(ROWS.removesuffix("60000\n") + "60000 ") == []
    assert cut_warnings(json.dumps(ata("INTEL SSDSC2KB480G8", {225: 5000, 243: 9000}))) == []


def test_an_interval_from_a_text_that_may_be_cut_has_a_warning() -> None:
    texts = [ROWS.removesuffix("\n"), ROWS.replace("60000", "70000").replace("90000", "99000")]
    before, after = (snapshots_in(Document(one, one.encode()))[0] for one in texts)
    (warning,) = (one for one in interval_answer(before, after).warnings if "end of the" in one)
    assert "60000 (attribute 225)" in warning


HOSTILE = {
    "quotes": "> " * 60_000,
    "lines of quotes": ">\n" * 30_000,
    "spaces": " " * 1_000_000,
    "escapes": "\x1b[" * 100_000 + "\x1b]" * 100_000,
    "backspaces": "a\b" * 20_000,
    "bars": "| " * 100_000,
    "digits": "1" * 1_000_000,
    "lists in lists": "a\n" * 70 + "[\n" * 20_000,
    "equal signs": "= " * 100_000 + "=3D",
    "tags": "<a " * 100_000 + "&amp;" * 10_000,
    "times": "10:00:00 \n" * 3000,
    "prompts": "a@b" * 30_000 + "\n" + "nvme " * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_time_of_a_hostile_text_grows_with_its_length_only(name: str) -> None:
    # A pattern that backtracks takes hours for these.
    with pytest.raises(WriteampError, match="not a snapshot of a drive"):
        values(HOSTILE[name])
    assert values(MICRON.read_text() + "\n" + HOSTILE[name])[0][0] == pytest.approx(1.115, rel=1e-3)


ATTRIBUTES = [
    (246, "Total_LBAs_Written", 100, "64583213504"),
    (247, "Host Pages", 100, "2022103456"),
    (248, "FTL-Pages", 100, "8734120983"),
    (202, "Percent_Lifetime_Remain", 81, "19"),
    (9, "Power_On_Hours", 100, "21214 (2y, 5m, 2d, 22h)"),
]
# Of OpenMediaVault, Proxmox, unRAID and a spreadsheet: the head and the order of the columns.
WEB_TABLES = {
    "omv": ("ID\tAttribute name\tFlags\tValue\tWorst\tTreshold\tRaw value",
            "{0}\t{1}\t0x0032\t{2}\t1\t0\t{3}"),
    "proxmox": ("ID\tAttribute\tValue\tNormalized\tThreshold\tWorst", "{0}\t{1}\t{3}\t{2}\t0\t100"),
    "unraid": ("#\tATTRIBUTE NAME\tFLAG\tVALUE\tWORST\tFAILED\tRAW VALUE",
               "{0}\t{1}\t0x0032\t{2}\t1\tNever\t{3}"),
    "spreadsheet": ("ID#;ATTRIBUTE_NAME;VALUE;RAW_VALUE", "{0};{1};{2};{3}"),
}  # fmt: skip
MODEL_FIELDS = {
    "omv": "Device Model:\tCT1000MX500SSD1",
    "proxmox": "Device Model: CT1000MX500SSD1",
    "unraid": "Device model:\tCT1000MX500SSD1\nSerial number:\tS1",
    "spreadsheet": "Device Model:;CT1000MX500SSD1",
}


@pytest.mark.parametrize("name", WEB_TABLES)
def test_a_table_of_a_web_page_is_read_by_its_head(name: str) -> None:
    head, form = WEB_TABLES[name]
    rows = [form.format(*one) for one in ATTRIBUTES]
    found = answer_to("\n".join([MODEL_FIELDS[name], head, *rows, ""]))
    assert found.wa == pytest.approx(1 + 8734120983 / 2022103456)
    assert found.facts.model == "CT1000MX500SSD1"
    assert found.facts.percentage_used == 19
    assert found.facts.power_on_hours == 21214


def test_a_table_without_a_raw_value_is_not_read() -> None:
    with pytest.raises(WriteampError, match="not a snapshot of a drive"):
        values("ID,Attribute,Value,Worst\n246,Total_LBAs_Written,100,100\n")


def test_both_sides_of_a_diff_are_two_moments_of_one_drive() -> None:
    old = DOCUMENTS["micron 5200"]
    new = old.replace("77775447", "79775447")
    lines = zip(old.splitlines(), new.splitlines(), strict=True)
    diff = "@@ -1,30 +1,30 @@\n" + "".join(
        f" {one}\n" if one == other else f"-{one}\n+{other}\n" for one, other in lines
    )
    assert values(diff) == [*values(old), *values(new)]


@pytest.mark.parametrize("by", ".,'?_")
def test_a_raw_value_with_several_separators_is_one_number(by: str) -> None:
    assert raw_value(f"64{by}583{by}213{by}504") == 64_583_213_504


def test_a_raw_value_that_is_not_surely_one_number_is_the_reason() -> None:
    text = DOCUMENTS["intel s4510"]
    (row,) = (one for one in text.splitlines() if one.startswith("243"))
    found = answer_to(text.replace(row, row.rstrip("0123456789") + "1 634 567"))
    assert found.wa is None
    assert "the raw value of attribute 243 may hold several numbers" in found.reason


def test_one_count_of_a_sum_is_named_with_the_one_that_lacks() -> None:
    found = answer_to(DOCUMENTS["micron 5200"].replace("\n248 ", "\n148 "))
    assert found.reason == (
        "attribute 247 counts host pages only; the count of background pages is missing or not "
        "readable"
    )


def test_device_statistics_alone_say_hours_and_life_used() -> None:
    found = answer_to(
        "=== START OF INFORMATION SECTION ===\nDevice Model:     FOO 1\n"
        "0x01  0x010  4           31668  ---  Power-on Hours\n"
        "0x07  0x008  1               6  N--  Percentage Used Endurance Indicator\n"
    )
    assert (found.facts.power_on_hours, found.facts.percentage_used) == (31668, 6)


def test_braces_of_a_wiki_are_no_json() -> None:
    text = DOCUMENTS["micron 5200"]
    assert values("{{bc|\n" + text + "}}\n") == values(text)

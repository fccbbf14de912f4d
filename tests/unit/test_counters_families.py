"""Families of ATA drives: by real models or a user's file, and the units of their counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import in_process
from smart_documents import answer_to, ata
from writeamp.drives.counters.families import families, family_of

GIB = 1 << 30

MODELS = [
    ("Micron_5100_MTFDDAK960TCC", "Micron 5100"),
    ("Micron_5200_MTFDDAK1T9TDD", "Micron 5100"),
    ("Micron_5300HC_MTFDDAK1T9TDS", "Micron 5100"),
    ("Micron_5400_MTFDDAK480TGA", "Micron 5100"),
    ("MTFDDAK480TDS", "Micron 5100"),
    ("Micron_M500DC_MTFDDAK480MBB", "Micron 5100"),
    ("Micron_M510DC_MTFDDAK960MBP", "Micron 5100"),
    ("Micron_M600_MTFDDAK256MBF", "Crucial and Micron client"),
    ("Micron_1100_MTFDDAK256TBN", "Crucial and Micron client"),
    ("Micron 1100 SATA 256GB", "Crucial and Micron client"),
    ("MTFDDAV256TDL-1AW1ZABHA", "Crucial and Micron client"),
    ("MTFDDAK256TBN-1AR1ZABHA", "Crucial and Micron client"),
    ("Crucial_CT250MX200SSD1", "Crucial and Micron client"),
    ("CT1000MX500SSD4", "Crucial and Micron client"),
    ("CT240BX500SSD1", "Crucial and Micron client"),
    ("Crucial_CT480M500SSD1", "Crucial and Micron client"),
    ("SSDSCKJB240G7R", "Dell-certified Intel"),
    ("SSDSC2KB960G8R", "Dell-certified Intel"),
    ("SSDSC2KG019T8R", "Dell-certified Intel"),
    ("SSDSC2KB480GZR", "Dell-certified Intel"),
    ("SSDSC2KB240G8L", "Lenovo-certified Intel"),
    ("INTEL SSDSC2KB019T8L", "Lenovo-certified Intel"),
    ("INTEL SSDSC2CT180A4", "Intel with SandForce"),
    ("INTEL SSDSC2CW180A3", "Intel with SandForce"),
    ("INTEL SSDSC2BW240A4", "Intel with SandForce"),
    ("INTEL SSDSC2BF180A5H", "Intel with SandForce"),
    ("INTEL SSDSCKGW180A4", "Intel with SandForce"),
    ("INTEL SSDMCEAC120B3", "Intel with SandForce"),
    ("INTEL SSDSC2KW256G8", "Intel 540s"),
    ("INTEL SSDSCKKF512G8 SATA 512GB", "Intel 540s"),
    ("INTEL SSDSCKKI256G8", "Intel 540s"),
    ("INTEL SSDSC2BP480G4", "Intel and Solidigm data centre"),
    ("INTEL SSDSC2BA400G3", "Intel and Solidigm data centre"),
    ("INTEL SSDSC2BX800G4", "Intel and Solidigm data centre"),
    ("INTEL SSDSC2KB480G8", "Intel and Solidigm data centre"),
    ("SOLIDIGM SSDSC2KB076TZ", "Intel and Solidigm data centre"),
    ("INTEL SSDSC1NB800G4", "Intel and Solidigm data centre"),
    ("INTEL SSDSCKHB340G4", "Intel and Solidigm data centre"),
    ("INTEL SSDSA2CW160G3", "Intel X25"),
    ("SAMSUNG MZ7LN256HCHP-000L7", "Samsung, OEM client"),
    ("SAMSUNG MZNLN256HMHQ-000H1", "Samsung, OEM client"),
    ("SAMSUNG MZ7TY256HDHP-000L7", "Samsung, OEM client"),
    ("SAMSUNG MZ7LH480HAHQ-00005", "Samsung"),
    ("SAMSUNG MZ7KM960HAHP-00005", "Samsung"),
    ("SAMSUNG MZ7L3480HCHQ-00A07", "Samsung"),
    ("Samsung SSD 860 EVO 500GB", "Samsung"),
    ("ZA240NM10001", "Seagate IronWolf 110"),
    ("XA1920LE10063", "Seagate IronWolf 110"),
    ("XF1230-1A0480", "Seagate Nytro XF1230"),
    ("ZA500NM10002", "Seagate BarraCuda 120"),
    ("Seagate BarraCuda 120 SSD ZA1000CM10003", "Seagate BarraCuda 120"),
    ("Seagate BarraCuda Q1 SSD ZA480CV10001", "Seagate BarraCuda 120"),
    ("Seagate FireCuda 120 SSD ZA1000GM10001", "Seagate BarraCuda 120"),
    ("WDC PC SA530 SDASN8Y256G1002", "WD and SanDisk PC SA530"),
    ("WDC  WDS500G2B0A-00SM50", "WD Blue"),
    ("WD Blue SA510 2.5 1000GB", "WD Blue"),
    ("WDC WDS240G2G0B-00EPW0", "WD Blue"),
    ("SanDisk SD9SN8W512G1122", "WD Blue"),
    ("SanDisk SDSSDH3 1T00", "WD Blue"),
    ("SanDisk SDSSDX120GG25", "SandForce"),
    ("SanDisk SDSSDXPS480G", "SanDisk with Marvell"),
    ("SanDisk SDSSDHII480G", "SanDisk with Marvell"),
    ("SanDisk SSD PLUS 240GB", "SanDisk with Marvell"),
    ("SanDisk SD7SB6S256G1122", "SanDisk with Marvell"),
    ("SanDisk X300 MSATA 128GB", "SanDisk with Marvell"),
    ("SanDisk SD8SB8U512G1122", "SanDisk X400"),
    ("SanDisk X400 M.2 2280 128GB", "SanDisk X400"),
    ("SDLF1DAR-480G-1HA1", "SanDisk CloudSpeed"),
    ("OCZ-VECTOR150", "OCZ with Barefoot 3, and Intrepid"),
    ("OCZ-VERTEX460A", "OCZ with Barefoot 3, and Intrepid"),
    ("OCZ-VERTEX3", "SandForce"),
    ("OCZ-AGILITY3", "SandForce"),
    ("OCZ-AGILITY4", None),
    ("OCZ-TRION100", None),
    ("M.2 (S80) 3ME4", "Innodisk"),
    ("SATADOM-ML 3ME3", "Innodisk"),
    ("InnoDisk Corp. - mSATA 3ME", "Innodisk"),
    ("KINGSTON SA400S37240G", "Phison"),
    ("KINGSTON SEDC500M960G", "Phison"),
    ("KINGSTON SKC600MS1024G", "Silicon Motion"),
    ("KINGSTON SHSS37A240G", "Phison"),
    ("KINGSTON SV300S37A120G", "SandForce"),
    ("KINGSTON SHFS37A120G", "SandForce"),
    ("KINGSTON SKC300S37A240G", "SandForce"),
    ("KINGSTON SUV500MS120G", "Kingston UV"),
    ("ADATA SU800", "Silicon Motion"),
    ("ADATA SP900", "SandForce"),
    ("ADATA SX930", None),
    ("TS32GMTS400", "Silicon Motion"),
    ("TS240GSSD220S", "Silicon Motion"),
    ("TS256GSSD340", None),
    ("TS128GSSD720", "SandForce"),
    ("HP SSD S700 250GB", "Silicon Motion"),
    ("SuperMicro SSD", "Supermicro SuperDOM"),
    ("HFS480G32FEH-BA10A", "SK hynix SE5xxx"),
    ("SK hynix SC311 SATA 256GB", "SK hynix SC311"),
    ("HFS256G39MND-3510A", "SK hynix client"),
    ("SFSA160GM2AK2TO-I-8C-22K-STD", "Swissbit"),
    ("TOSHIBA THNSN8960PCSE", "Toshiba HK4R"),
    ("TOSHIBA THNSNJ256GCSU", None),
    ("PLEXTOR PX-128M5Pro", "Toshiba HK4R and Plextor"),
    ("APPLE SSD SM0256F", "Apple"),
    ("M.2 SSD 512GB S1SGX", None),
    ("WDC WD40EFRX-68N32N0", None),
    ("ST4000VN008-2DR166", None),
]
MINE = """
[[family]]
name = "Mine"
models = '^ACME 1'
host = [{ id = 241, unit = "32 MiB" }]
flash = [{ id = 233, unit = "GiB" }]
source = "writeamp measure calibrate"
"""


@pytest.mark.parametrize(("model", "family"), MODELS)
def test_a_model_is_of_its_family_and_the_special_goes_before_the_general(
    model: str, family: str | None
) -> None:
    found = family_of(model, None, "F1", ())
    if family is None:
        assert found is None
    else:
        assert found.name.startswith(family)


def test_every_family_has_a_drive_that_reaches_it() -> None:
    reached = {one.name for model, _ in MODELS if (one := family_of(model, None, "F1", ()))}
    others = {
        "OCZ with Barefoot 3, firmware 2.0",
        "Phison under names of many makers, by its firmware",
        "ATP Superior and aMLC",
        "SSSTC ER2 and ER3",
    }
    assert {one.name for one in families()} - reached == others


def test_a_name_of_many_makers_is_of_a_family_only_with_its_firmware_and_attributes() -> None:
    known = family_of("SATA SSD", None, "SBFM61.3", {231, 233, 241})
    assert known.name.startswith("Phison under names")
    assert family_of("SATA SSD", None, "V0609A0", {231, 233, 241}) is None
    assert family_of("SATA SSD", None, "SBFM61.3", {231, 241}) is None


def test_the_hosts_family_reads_a_drive_only_if_no_model_does() -> None:
    attributes = {241: 1000, 233: 2000, 246: 32 * 10**6, 247: 10**6, 248: 10**6}
    found = answer_to(ata(None, attributes, family="Phison Driven SSDs"))
    assert found.facts.family.startswith("Phison")
    found = answer_to(ata("CT500MX500SSD1", attributes, family="Phison Driven SSDs"))
    assert found.facts.family.startswith("Crucial")


# Model, attributes, WA, definition, host bytes.
UNITS: list[tuple[str, dict[int, Any], float, str, int]] = [
    (
        "Micron_5300_MTFDDAK480TDS",
        {246: 32 * 10**8, 247: 10**8, 248: 10**8},
        2,
        "pages",
        3200 * 512,
    ),
    ("CT1000MX500SSD1", {246: 128 * 10**8, 247: 10**8, 248: 2 * 10**8}, 3, "pages", 12_800 * 512),
    ("INTEL SSDSC2KB480G8", {225: 10**6, 241: 10**6, 243: 3 * 10**6}, 3, "bytes", 1 << 25),
    ("INTEL SSDSC2BW240A4", {225: 32 * 10**6, 249: 800_000}, 0.8, "bytes", 32 << 25),
    ("INTEL SSDSC2KW256G8", {241: 32 * 10**6, 249: 2 * 10**6}, 2, "bytes", 32 << 25),
    ("SAMSUNG MZ7LN256HCHP-000L7", {241: 10**9, 249: 953}, 2.0, "bytes", 1000 * 512),
    ("ZA240NM10001", {241: 10**6, 233: 15 * 10**5}, 1.5, "bytes", GIB),
    ("XF1230-1A0480", {241: 10**6, 234: 15 * 10**5}, 1.5, "bytes", GIB),
    ("ZA500CM10003", {241: 10**6, 233: 2 * 10**6}, 2, "bytes", GIB),
    ("WDC WDS500G2B0A", {241: 10**6, 233: 10**6, 234: 10**6}, 2, "tlc+slc", GIB),
    ("OCZ-VECTOR150", {241: 10**6, 249: 12 * 10**5}, 1.2, "bytes", GIB),
    ("M.2 (S80) 3ME4", {241: 10**6, 225: 0, 233: 2 * 10**6}, 2, "bytes", 1 << 25),
    ("KINGSTON SKC400S371T", {241: 10**6, 233: 2 * 10**6}, 2, "bytes", GIB),
    ("TS32GMTS400", {241: 10**6, 245: 10**6, 246: 10**6}, 2, "tlc+slc", 1 << 25),
    ("OCZ-VERTEX3", {241: 10**6, 233: 7 * 10**5}, 0.7, "bytes", GIB),
    ("SuperMicro SSD", {241: 10**6, 233: 2 * 10**6}, 2, "bytes", GIB),
    ("HFS480G32FEH-BA10A", {235: 10**6, 241: 2 * 10**6}, 2, "bytes", GIB),
    ("ATP SATA III 2.5", {235: 10**9, 241: 2 * 10**9}, 2, "bytes", 1000 * 512),
    ("SFSA160GM2AK2TO", {241: 10**9, 243: 0, 235: 2 * 10**9, 237: 0}, 2, "bytes", 1000 * 512),
]


@pytest.mark.parametrize(("model", "attributes", "wa", "definition", "millionth"), UNITS)
def test_host_and_flash_are_read_in_the_units_of_the_family(
    model: str, attributes: dict[int, Any], wa: float, definition: str, millionth: int
) -> None:
    found = answer_to(ata(model, attributes, capacity=None))
    assert found.kind == "measured"
    assert found.wa == pytest.approx(wa, rel=2e-3)
    assert found.wa_definition == definition
    assert found.to_dict()["host_bytes"] == millionth * 10**6
    assert found.wa_low <= found.wa <= found.wa_high


HOSTS = [
    ("SSDSCKJB240G7R", {225: 10**6, 233: 10**6, 241: 10**6, 243: 5 * 10**6}, 10**6 << 25),
    ("SSDSC2KB240G8L", {241: 10**6, 243: 5 * 10**6}, None),
    ("INTEL SSDSC2BB240G4", {225: 10**6, 241: 10**6}, 10**6 << 25),
    ("INTEL SSDSA2CW160G3", {225: 10**6}, 10**6 << 25),
    ("WDC PC SA530 SDASN8Y256G1002", {241: 10**6, 233: 10**6, 234: 10**6}, None),
    ("SK hynix SC311 SATA 256GB", {241: 10**9, 249: 10**6}, 512 * 10**9),
    ("HFS256G39MND-3510A", {241: 10**6, 249: 10**6}, None),
    ("SSSTC ER2-GD480", {241: 10**6, 243: 2 * 10**6}, None),
    ("TOSHIBA THNSN8960PCSE", {241: 10**6}, 10**6 << 25),
    ("KINGSTON SUV500MS120G", {241: 10**6, 233: 2 * 10**6}, None),
    ("SanDisk X400 M.2 2280 128GB", {241: 10**9}, 512 * 10**9),
    ("APPLE SSD SM0256F", {175: 10**6}, 10**6 << 20),
    ("M.2 SSD 512GB S1SGX", {241: 10**6, 245: 10**6}, None),
    ("SDLF1DAR-480G-1HA1", {32: 130, 33: 121, 233: 5000}, None),
]


@pytest.mark.parametrize(("model", "attributes", "host"), HOSTS)
def test_a_family_without_a_known_flash_counter_has_no_wa_but_a_reason(
    model: str, attributes: dict[int, Any], host: int | None
) -> None:
    found = answer_to(ata(model, attributes))
    says_its_own = {32, 33} & attributes.keys()
    assert (found.wa, found.kind) == (None, "reported" if says_its_own else "none")
    assert found.reason
    assert found.to_dict()["host_bytes"] == host


def test_a_family_of_the_users_file_gives_wa_where_the_table_knows_no_unit(tmp_path: Path) -> None:
    drive = tmp_path / "drive.json"
    drive.write_text(json.dumps(ata("ACME 100", {241: 32_000, 233: 2_500})))
    families = tmp_path / "mine.toml"
    families.write_text(MINE)
    without = json.loads(in_process.run("measure counters", f"{drive} --json").out)
    assert without["wa"] is None
    assert "--families" in without["reason"]
    told = in_process.run("measure counters", f"{drive} --families {families} --json")
    assert json.loads(told.out)["wa"] == pytest.approx(2_500 / 1_000, rel=1e-3)
    again = json.loads(in_process.run("measure counters", f"{drive} --json").out)
    assert again["wa"] is None, "the file holds for one command"


def test_a_family_of_the_users_file_goes_before_that_of_the_table(tmp_path: Path) -> None:
    drive = tmp_path / "drive.json"
    drive.write_text(json.dumps(ata("CT500MX500SSD1", {241: 32_000, 233: 2_500, 246: 9, 247: 1})))
    families = tmp_path / "mine.toml"
    families.write_text(MINE.replace("^ACME 1", "^CT500MX500"))
    told = json.loads(
        in_process.run("measure counters", f"{drive} --families {families} --json").out
    )
    assert told["wa"] == pytest.approx(2.5, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MINE.replace("source =", "sauce ="), "unknown key 'sauce'"),
        ("a = " + "[" * 5000, "nested too deeply"),
        (MINE.replace('name = "Mine"\n', ""), "family 1: lacks name"),
        (MINE.replace("'^ACME 1'", "'^ACME ('"), "not a regular expression"),
        (MINE.replace("32 MiB", "33 MiB"), "unknown unit '33 MiB'"),
        (MINE.replace("id = 241", "id = 1000"), "1 to 255"),
        (MINE.replace("id = 241", "number = 241"), "such as { id"),
        (MINE.replace("[{ id = 241", "[7, { id = 241"), "such as { id"),
        (MINE.replace('"Mine"', "7"), "name must be text"),
        ("[family]\nname = 1\n", "[[family]] tables"),
        ("family = [", "cannot read the families"),
        ("", "[[family]] tables"),
    ],
)
def test_a_file_that_is_not_of_families_is_refused(tmp_path: Path, text: str, words: str) -> None:
    drive, families = tmp_path / "drive.json", tmp_path / "mine.toml"
    drive.write_text(json.dumps(ata("ACME 100", {241: 32_000})))
    families.write_text(text)
    assert words in in_process.refusal("measure counters", f"{drive} --families {families}")

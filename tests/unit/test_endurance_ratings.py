"""Rated endurance: each rating is quoted, names are exact, and no drive has two ratings."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from writeamp.devices.endurance import EnduranceRating, endurance_rating, endurance_ratings

WORDS = {"three": 3, "five": 5, "ten": 10}
# (model, capacity in GB or None, TBW) of drives whose counters the tests of counters read.
RATED = [
    ("Seagate BarraCuda 120 SSD ZA1000CM10003", 1000.2, 600),
    ("Samsung SSD 970 EVO 1TB", 1000.2, 600),
    ("Samsung SSD 970 EVO Plus 250GB", 250.06, 150),
    ("Samsung SSD 850 PRO 1TB", 1024.2, 150),
    ("samsung ssd 860 evo 500gb", None, 300),
    ("WDC  WDS500G2B0A-00SM50", 500.1, 200),
    ("WDC WDS240G2G0A-00JH30", 240.07, 80),
    ("CT1000MX500SSD1", 1000.2, 360),
    ("SAMSUNG MZQLB1T9HAJR-00007", 1920.4, 1.3 * 1.92 * 365 * 3),
    ("Micron_7400_MTFDKCB3T2TFC", 3200.6, 3 * 3.2 * 365 * 5),
]
# Near misses: another product, another capacity, a made-up prefix or suffix, more spare space.
UNRATED = [
    ("Samsung SSD 970 EVO Plus Super 250GB", 250.06),
    ("Samsung SSD 970 EVO", 1000.2),
    ("Samsung SSD 970 EVO 1TB", 500.1),
    ("Samsung SSD 970 EVO 1TB", 960.2),
    ("X SSD 850 PRO 128GB", 128.0),
    ("Samsung SSD 850 PRO 128GB ", 120.0),
    ("CT1000MX500SSD10", 1000.2),
    ("CT1000BX500", 1000.2),
    ("Seagate BarraCuda 120 SSD ZA1000CM10002", 1000.2),
    ("INTEL SSDSC2BX800G4R", 800.2),
    ("SAMSUNG MZQLB1T9HAJR", 1920.4),
    ("", 1000.2),
    (None, 1000.2),
]


def numbers_in(quote: str) -> set[float]:
    """Return the numbers of a quotation: as printed, of petabytes as TB, and of words."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", quote)
    found = {float(text) for text in re.findall(r"\d+(?:\.\d+)?", plain)}
    found |= {round(1000 * float(text), 6) for text in re.findall(r"(\d+(?:\.\d+)?) ?PB", plain)}
    return found | {years for word, years in WORDS.items() if word in quote.lower()}


def unquoted(rating: EnduranceRating) -> list[str]:
    """Return the values of a rating that its quotation does not have."""
    values = {
        "tbw": rating.tbw if rating.dwpd is None else rating.dwpd,
        "warranty_years": rating.warranty_years,
        "dwpd_years": rating.dwpd_years,
    }
    numbers = numbers_in(rating.quote)
    return [key for key, value in values.items() if value is not None and value not in numbers]


def names_the_drive(rating: EnduranceRating) -> bool:
    """Return whether a quotation has the model's code or its capacity, as GB or TB."""
    text = re.sub(r"(\d)/(?=[\d.]+ ?TB)", r"\1TB/", rating.quote)
    scales = {"GB": 1, "TB": 1000}
    sizes = re.findall(r"(\d+(?:\.\d+)?) ?(GB|TB)", text)
    capacities = [float(size) * scales[unit] for size, unit in sizes]
    codes = [re.split(r"[ _]", name.rstrip("-*"))[-1] for name in rating.models]
    is_sized = any(abs(size - rating.capacity_gb) <= 0.03 * size for size in capacities)
    return is_sized or any(len(code) > 6 and code in text for code in codes)


@pytest.mark.parametrize("rating", endurance_ratings(), ids=lambda rating: rating.models[0])
def test_each_rating_is_quoted_from_a_page(rating: EnduranceRating) -> None:
    assert re.fullmatch(r"https?://[\w.-]+\.\w+/\S+", rating.source)
    assert unquoted(rating) == []
    assert all("  " not in name and name == name.strip() for name in rating.models)
    assert 20 <= rating.tbw <= 20_000
    # The page of Micron's 7400 has the ends of its range of capacities only.
    assert names_the_drive(rating) or rating.models[0].startswith("Micron_7400")


def test_a_value_that_is_not_quoted_is_noticed() -> None:
    rating = endurance_ratings()[0]
    assert unquoted(replace(rating, tbw=rating.tbw + 1)) == ["tbw"]
    assert unquoted(replace(rating, warranty_years=4)) == ["warranty_years"]
    assert not names_the_drive(replace(rating, capacity_gb=3000))
    assert 10_950 in numbers_in("Up to 10.95 PBW")
    assert 1200 in numbers_in("1,200TB")


def test_no_model_has_two_ratings() -> None:
    names = [name.casefold() for rating in endurance_ratings() for name in rating.models]
    assert all("*" not in name[:-1] for name in names)
    assert len(names) == len(set(names))
    prefixes = [name[:-1] for name in names if name.endswith("*")]
    longer = [(prefix, name) for prefix in prefixes for name in names if name.startswith(prefix)]
    assert [name for prefix, name in longer if name != f"{prefix}*"] == []


@pytest.mark.parametrize(("model", "capacity_gb", "tbw"), RATED)
def test_drives_of_the_tests_have_their_rating(
    model: str, capacity_gb: float | None, tbw: float
) -> None:
    capacity_bytes = None if capacity_gb is None else round(capacity_gb * 1e9)
    rating = endurance_rating(model, capacity_bytes)
    assert rating is not None
    assert rating.tbw == pytest.approx(tbw)


@pytest.mark.parametrize(("model", "capacity_gb"), UNRATED)
def test_near_misses_have_no_rating(model: str | None, capacity_gb: float) -> None:
    assert endurance_rating(model, round(capacity_gb * 1e9)) is None

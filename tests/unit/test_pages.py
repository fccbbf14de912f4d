"""Pages hold data and text of others, and obey none of it."""

from __future__ import annotations

import pytest

from writeamp.pages.embedded import data_element, data_in
from writeamp.pages.escaping import text
from writeamp.pages.frame import page

HOSTILE = '</script><img src=x onerror="alert(1)"><!--<script>\u2028&amp;'


def test_data_of_others_ends_no_element_and_comes_back() -> None:
    value = {"model": HOSTILE, HOSTILE: [1, 0.1, None, True]}
    element = data_element("result", value)
    assert element.count("<") == 2, "its own two tags"
    assert data_in(f"<p>{element}</p>", "result") == value


def test_data_of_another_name_is_not_found() -> None:
    with pytest.raises(KeyError):
        data_in(data_element("one", 1), "other")


@pytest.mark.parametrize("content", ["{", "NaN", "[Infinity]"])
def test_what_is_no_json_is_refused(content: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        data_in(f'<script type="application/json" id="x">{content}</script>', "x")


def test_what_a_script_says_is_no_data() -> None:
    with pytest.raises(KeyError):
        data_in('<script id="x">1</script>', "x")


def test_a_number_that_json_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        page("title", "", data={"x": float("nan")})


def test_text_is_escaped_also_in_the_title() -> None:
    made = page(HOSTILE, f"<p>{text(HOSTILE)}</p>").decode()
    assert "<img" not in made
    assert made.count("</script") == 0


def test_a_page_allows_its_own_scripts_alone() -> None:
    made = page("title", "", scripts=["let a = 1;"]).decode()
    assert "script-src 'sha256-" in made
    assert "script-src 'none'" in page("title", "").decode()

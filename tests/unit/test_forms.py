"""One meaning of `WRITEAMP_TEST_FULL`, which `tests/support/forms.rs` holds for Rust."""

from __future__ import annotations

import pytest

from forms import asks_for_the_whole


@pytest.mark.parametrize("value", [None, "", "0"])
def test_nothing_and_zero_ask_for_the_short_form(value: str | None) -> None:
    assert not asks_for_the_whole(value)


@pytest.mark.parametrize("value", ["1", "yes", "00"])
def test_anything_else_asks_for_the_whole(value: str) -> None:
    assert asks_for_the_whole(value)

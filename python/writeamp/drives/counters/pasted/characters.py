"""Characters that terminals and editors put into a text: escapes, spaces, dashes."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from functools import lru_cache

# Control sequences, strings for the terminal, and the other escapes.
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]{0,8}[0-~]?"
)
_FORWARD = re.compile(r"(?:\x1b\[|\x9b)(\d{0,3})C")
_MOVED = re.compile(r"(?:\x1b\[|\x9b)[\d;]{0,16}[Hf]")
# Escape sequences in the spelling of `cat -v`, of shells and of JSON.
_SPELLED = re.compile(r"(?:\\x1[bB]|\\0?33|\\e|\\u001[bB]|\^\[|\u241b)\[[\d;]{0,32}[A-Za-z]")
# Colours whose escape character was lost; only where the end of a colour was found.
_BARE = re.compile(r"\[(?:[\d;]{0,16}m|K)")
_ENDS_OF_BARE = ("[0m", "[m", "[00m")
_LINE_END = re.compile("\r\r?\n|[\r\v\f\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
# UTF-8 that was decoded as Windows-1252: a lead byte and its continuation.
_MISREAD = re.compile(
    "[\u00c2-\u00ef][\u0080-\u00bf\u0152-\u0178\u0192\u02c6\u02dc\u2013-\u2122]{1,2}"
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
# Spaces, dashes, and characters of no width.
_BY_CATEGORY = {"Zs": " ", "Pd": "-", "Cf": ""}
_LOOKALIKES = {
    **dict.fromkeys("│┃║", "|"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    "−": "-",
    "↵": "",
}


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return the ASCII character that a character looks like, "" for none, or itself."""
    if character in _LOOKALIKES:
        return _LOOKALIKES[character]
    category = unicodedata.category(character)
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    # The wide forms of ASCII, as input methods for Chinese and Japanese make them.
    is_wide = "\uff01" <= character <= "\uff5e"
    return chr(ord(character) - 0xFEE0) if is_wide else character


def with_plain_characters(text: str) -> str:
    """Return a text with plain line ends, spaces and dashes, and without escape sequences."""
    if not text.isascii():
        if _MISREAD.search(text):
            text = _MISREAD.sub(_read_again, text)
        text = _BEYOND_ASCII.sub(lambda found: _plain(found[0]), text)
    text = _without_escapes(text)
    if _LINE_END.search(text):
        text = _LINE_END.sub("\n", text)
    if "\b" in text:
        text = _with_backspaces(text)
    return _CONTROL.sub("", text) if _CONTROL.search(text) else text


def _read_again(found: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            return found[0].encode(encoding).decode()
    return found[0]


def _without_escapes(text: str) -> str:
    if "\x1b" in text or "\x9b" in text:
        text = _FORWARD.sub(lambda found: " " * min(int(found[1] or 1), 200), text)
        text = _ESCAPE.sub("", _MOVED.sub("\n", text))
    if "[" in text and any(one in text for one in ("\\", "^[", "\u241b")):
        text = _SPELLED.sub("", text)
    return _BARE.sub("", text) if any(one in text for one in _ENDS_OF_BARE) else text


def _with_backspaces(text: str) -> str:
    shown: list[str] = []
    for character in text:
        if character != "\b":
            shown.append(character)
        elif shown and shown[-1] != "\n":
            shown.pop()
    return "".join(shown)

"""Removal of markup around pasted text: escapes, HTML, fences, tables, string quotes."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from writeamp.drives.counters.pasted.prefixes import filled_lines

# Control sequences, terminal strings, and other escapes.
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]{0,8}[0-~]?"
)
_FORWARD = re.compile(r"(?:\x1b\[|\x9b)(\d{0,3})C")
_MOVED = re.compile(r"(?:\x1b\[|\x9b)[\d;]{0,16}[Hf]")
# Escape sequences as spelled by `cat -v`, shells and JSON.
_SPELLED = re.compile(r"(?:\\x1[bB]|\\0?33|\\e|\\u001[bB]|\^\[|\u241b)\[[\d;]{0,32}[A-Za-z]")
# Colour codes that lost their escape character. They are removed only if the text has a code that
# ends a colour.
_BARE = re.compile(r"\[(?:[\d;]{0,16}m|K)")
_ENDS_OF_BARE = ("[0m", "[m", "[00m")
_LINE_END = re.compile("\r\r?\n|[\r\v\f\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
# UTF-8 that was decoded as Windows-1252: a lead byte and its continuation.
_MISREAD = re.compile(
    "[\u00c2-\u00ef][\u0080-\u00bf\u0152-\u0178\u0192\u02c6\u02dc\u2013-\u2122]{1,2}"
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
# Replacements of spaces, dashes, and characters without width, by Unicode category.
_BY_CATEGORY = {"Zs": " ", "Pd": "-", "Cf": ""}
_LOOKALIKES = {
    **dict.fromkeys("│┃║", "|"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    "−": "-",
    "↵": "",
}
_BREAK = re.compile(r"<(?:br|hr|/p|/div|/tr|/li|/pre)(?:\s[^<>\n]{0,300})?/?>\n?", re.IGNORECASE)
_SECTION = re.compile(r"(?:<[\w:-]{1,40}>)?<!\[CDATA\[|\]\]>(?:</[\w:-]{1,40}>)?")
_CELL_END = re.compile(r"</t[dh]>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|b|blockquote|body|code|div|em|font|h[1-6]|head|html|i|kbd|li|mark|ol|p|pre|samp|"
    r"small|span|strong|table|tbody|td|th|thead|tr|tt|u|ul)(?:\s[^<>\n]{0,300})?/?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")
# Tags of forums and Jira.
_FORUM_TAG = re.compile(
    r"\[/?(?:b|code|color|font|i|noformat|pre|quote|size|spoiler|u)(?:=[^\[\]\n]{0,80})?\]"
    r"|\{(?:code|noformat|quote|color|panel)(?::[^{}\n]{0,80})?\}",
    re.IGNORECASE,
)
# Arrow after a line, and the remark behind it.
_REMARK = re.compile(
    r"[ \t]+(?:<{1,20}[-=]{1,20}|<{3,40}|\u2190|\u2b05)[^\n\"]{0,200}$", re.MULTILINE
)
_LINE_MARKS = frozenset("$|\\\u00b6\u23ce")
_MOST = 0.9
_ENCODED = re.compile(r"(?:=[0-9A-F]{2})+")
_SOFT_BREAK = re.compile(r"=[ \t]{0,80}\n(?:[ \t]{0,8}>[ \t]?)?")
_SURELY_ENCODED = ("=3D", "=C2=A0", "=E2=80")
_AT_LINE_END = re.compile(r"=(?:20|09|)$", re.MULTILINE)
_FENCE = re.compile(
    r"^[ \t]{0,40}(?:`{3,}|~{3,})[ \t]{0,8}(?:[\w+-]{0,20}[ \t]{0,8}$)?", re.MULTILINE
)
_FENCE_BEHIND = re.compile(r"(?:`{3,}|~{3,})[ \t]{0,8}$", re.MULTILINE)
_CODE_LINE = re.compile(r"^([ \t]{0,40})`([^`\n]{1,400})`[ \t]{0,8}$", re.MULTILINE)
_CODE_JSON = re.compile(r"^`(?=[{\[])|(?<=[}\]])`$", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_ESCAPED = re.compile(r"\\([_*\[\]()#+.!|>~`-])")
_RULE = re.compile(r"[-+=:| \t─┼├┤┬┴┌┐└┘╭╮╰╯]+")
_FEW_CELLS = 5
# JSON or Python string on a line of its own.
_STRING_LINE = re.compile(
    r"""^[ \t]{0,80}(?:"((?:[^"\\\n]|\\.){0,100000})"|'((?:[^'\\\n]|\\.){0,2000})'),?[ \t]{0,8}$""",
    re.MULTILINE,
)
# Line of a log with key=value fields, and the message in it.
_MESSAGE = re.compile(
    r"^[ \t]{0,40}\w{1,40}=[^\n]{0,400}?\b"
    r'(?:msg|message|MESSAGE)="((?:[^"\\\n]|\\.){0,2000})"[^\n]{0,200}$',
    re.MULTILINE,
)
_PYTHON_STRING = re.compile(r"""[ \t\n]*b?(['"])(.*)\1\s*$""", re.DOTALL)
_SPELLED_END = re.compile(r"\\r\\n|\\n|\\r")
_ID = ("id", "id#", "#")
_NAME = ("attribute", "attribute name", "attribute_name", "name")
_RAW = ("raw", "raw value", "raw_value", "rawvalue")
_NORMALIZED = ("normalized", "normalised", "normalized value")
_VALUE = ("value", "current", "cur")
_FIELD = re.compile(
    r"^[ \t]*(Model Family|Device Model|Serial Number|Firmware Version|User Capacity|"
    r"Rotation Rate)[ \t]*(?::[ \t]*[,;]?|[,;\t])[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_FEWEST_COLUMNS = 4
_MOST_LINE = 400


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return the ASCII character that a character resembles, "" if invisible, or itself."""
    if character in _LOOKALIKES:
        return _LOOKALIKES[character]
    category = unicodedata.category(character)
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    # Full-width ASCII from Chinese and Japanese input methods.
    is_wide = "\uff01" <= character <= "\uff5e"
    return chr(ord(character) - 0xFEE0) if is_wide else character


def with_plain_characters(text: str) -> str:
    """Return a text with plain line ends, spaces and dashes, and without escape sequences."""
    if not text.isascii():
        if _MISREAD.search(text):
            text = _MISREAD.sub(_decoded_again, text)
        text = _BEYOND_ASCII.sub(lambda match: _plain(match[0]), text)
    text = _without_escapes(text)
    if _LINE_END.search(text):
        text = _LINE_END.sub("\n", text)
    if "\b" in text:
        text = _with_backspaces(text)
    return _CONTROL.sub("", text) if _CONTROL.search(text) else text


def _decoded_again(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            return match[0].encode(encoding).decode()
    return match[0]


def _without_escapes(text: str) -> str:
    if "\x1b" in text or "\x9b" in text:
        text = _FORWARD.sub(lambda match: " " * min(int(match[1] or 1), 200), text)
        text = _ESCAPE.sub("", _MOVED.sub("\n", text))
    if "[" in text and any(mark in text for mark in ("\\", "^[", "\u241b")):
        text = _SPELLED.sub("", text)
    return _BARE.sub("", text) if any(end in text for end in _ENDS_OF_BARE) else text


def _with_backspaces(text: str) -> str:
    shown: list[str] = []
    for character in text:
        if character != "\b":
            shown.append(character)
        elif shown and shown[-1] != "\n":
            shown.pop()
    return "".join(shown)


def without_html(text: str) -> str:
    """Return a text without tags of HTML, forums and Jira, and without entities."""
    if ("<" in text and _TAG.search(text)) or "<br" in text.lower():
        text = _TAG.sub("", _CELL_END.sub("  ", _BREAK.sub("\n", text)))
    if "&" in text and _ENTITY.search(text):
        text = with_plain_characters(html.unescape(text))
    if "[CDATA[" in text:
        text = _SECTION.sub("", text)
    # Forum tags have a closing tag; Jira tags close themselves.
    if "[/" in text or "}" in text:
        text = _FORUM_TAG.sub("", text)
    return text


def without_quoted_printable(text: str) -> str:
    """Return the decoded text of a mail in quoted-printable form."""
    if "=" not in text or not _is_quoted_printable(text):
        return text
    return _ENCODED.sub(_of_octets, _SOFT_BREAK.sub("", text))


def _is_quoted_printable(text: str) -> bool:
    # A value after "=" may look like an encoded byte, as in "units=12345", so other signs are
    # required.
    if any(code in text for code in _SURELY_ENCODED):
        return True
    return len(_AT_LINE_END.findall(text)) == text.count("=")


def _of_octets(match: re.Match[str]) -> str:
    octets = bytes.fromhex(match[0].replace("=", ""))
    return with_plain_characters(octets.decode(errors="replace"))


def without_markdown(text: str) -> str:
    """Return a text without fences, code marks, bold text and escaped characters."""
    if "```" in text or "~~~" in text:
        text = _FENCE_BEHIND.sub("", _FENCE.sub("", text))
    if "`" in text:
        text = _CODE_JSON.sub("", _CODE_LINE.sub(r"\1\2", text))
    if "**" in text:
        text = _BOLD.sub(r"\1", text)
    return _ESCAPED.sub(r"\1", text) if "\\_" in text else text


def without_tables(text: str) -> str:
    """Return a text with two spaces between the cells of table rows."""
    if "|" not in text:
        return text
    return "\n".join(_row(line) if "|" in line else line for line in text.split("\n"))


def _row(line: str) -> str:
    plain = line.strip()
    is_framed = len(plain) > 1 and plain[0] == plain[-1] == "|"
    if not is_framed and plain.count(" | ") < _FEW_CELLS:
        return line
    if _RULE.fullmatch(plain):
        return ""
    cells = [text for cell in plain.split("|") if (text := cell.strip())]
    if len(cells) == 2:
        key, value = cells
        return f"{key.rstrip(': ')}: {value.lstrip(': ')}"
    return "  ".join(cells)


def without_string_quotes(text: str) -> str:
    """Return the lines of a text that is printed as strings of JSON, Python or a shell."""
    if text.lstrip()[:1] == '"' and text.strip().count("\n") == 0:
        text = _STRING_LINE.sub(_of_string, text)
    lines = text.count("\n") + 1
    if len(_SPELLED_END.findall(text)) > 2 * lines:
        text = match[2] if (match := _PYTHON_STRING.match(text)) else text
        text = _SPELLED_END.sub("\n", text).replace("\\t", "\t").replace('\\"', '"')
    if '"' not in text and "'" not in text:
        return text
    filled = filled_lines(text)
    for lines_of in (_STRING_LINE, _MESSAGE):
        strings = len(lines_of.findall(text))
        if strings >= 2 and strings * 2 >= filled:
            text = lines_of.sub(_of_string, text)
    return text


def _of_string(match: re.Match[str]) -> str:
    try:
        text = json.loads(f'"{match[1]}"') if match[1] is not None else match[2].replace("''", "'")
    except ValueError:
        text = match[1]
    return str(text).rstrip("\n")


def without_line_ends(text: str) -> str:
    """Return a text without arrows at line ends, or a mark such as "$" at the ends of all lines."""
    if "<" in text or "\u2190" in text or "\u2b05" in text:
        text = _REMARK.sub("", text)
    lines = [line.rstrip() for line in text.split("\n")]
    filled = [line for line in lines if line]
    mark = filled[0][-1] if filled else ""
    if mark not in _LINE_MARKS or sum(line[-1] == mark for line in filled) < _MOST * len(filled):
        return text
    return "\n".join(line.removesuffix(mark).rstrip() for line in lines)


def without_web_tables(text: str) -> str:
    """Return a text with web tables of attributes converted to the columns of smartctl.

    A table is recognized by a head with columns for number, attribute and raw value. Proxmox names
    the raw value "Value" and has "Normalized" next to it.
    """
    lines = text.split("\n")
    heads = [place for place, line in enumerate(lines) if _columns(line)]
    if not heads:
        return text
    for first, last in zip(heads, [*heads[1:], len(lines)], strict=True):
        columns = _columns(lines[first])
        for place in range(first + 1, last):
            lines[place] = _row_of_web_table(lines[place], lines[first], columns) or lines[place]
        lines[first] = ""
    return _FIELD.sub(lambda match: f"{match[1].title()}: ", "\n".join(lines))


def _columns(head: str) -> tuple[int, int, int, int] | None:
    """Return the columns of number, name, normalized and raw value; None if one is missing."""
    if len(head) > _MOST_LINE or not any(separator in head for separator in "\t,;"):
        return None
    names = [cell.strip().lower() for cell in head.split(_separator(head))]
    if len(names) < _FEWEST_COLUMNS:
        return None
    value, raw = _place(names, _VALUE), _place(names, _RAW)
    normalized = _place(names, _NORMALIZED)
    if normalized >= 0:
        value, raw = normalized, raw if raw >= 0 else value
    columns = (_place(names, _ID), _place(names, _NAME), value, raw)
    return None if -1 in columns else columns


def _place(names: Sequence[str], spellings: Sequence[str]) -> int:
    return next((place for place, name in enumerate(names) if name in spellings), -1)


def _separator(head: str) -> str:
    return max("\t,;", key=head.count)


def _row_of_web_table(
    line: str, head: str, columns: tuple[int, int, int, int] | None
) -> str | None:
    cells = [cell.strip() for cell in line.split(_separator(head))]
    if columns is None or len(line) > _MOST_LINE or len(cells) <= max(columns):
        return None
    number, name, value, raw = (cells[place] for place in columns)
    if not re.fullmatch(r"\d{1,3}", number) or not re.fullmatch(r"\d{1,3}", value) or not raw:
        return None
    return f"{number} {'_'.join(name.split()) or '-'} 0x0000 {value} --- --- - {raw}"

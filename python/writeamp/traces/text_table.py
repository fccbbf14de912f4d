"""Table in a text: its separator, column names, rows, and lines that are not rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# Separators in order of preference: in tables with tabs, commas in fields are rare; in tables with
# commas, spaces in fields are common.
SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe", " ": "space"}
_COMMENT = "#"
# Fewest columns of a table of requests: an offset, a length and an operation.
_FEWEST_COLUMNS = 3
# Least share of the lines that must have the most common number of fields.
_FITTING = 0.9
_NOT_IN_SPECS = re.compile(r"[,:=/\"']")
_NUMBER = re.compile(r"[+-]?(\d[\d.]*(e[+-]?\d+)?|0x[0-9a-f]+)", re.IGNORECASE)


@dataclass(frozen=True)
class TextTable:
    """Rows of a text and the names of their columns.

    Attributes:
        separator: one character; a space matches any run of spaces and tabs.
        rows: fields of each row; all rows have the same number of fields.
        names: names of the columns; empty without names.
        has_header: whether the names are in the first row; otherwise they are in a comment.
        skip: number of lines before the rows and their header.
        has_comments: whether lines begin with `#`.
    """

    separator: str
    rows: list[list[str]]
    names: list[str]
    has_header: bool
    skip: int
    has_comments: bool

    @property
    def is_quoted(self) -> bool:
        """Whether most fields of the first row are in double quotes."""
        fields = next(iter(self.rows), self.names)
        quoted = [field for field in fields if len(field) > 1 and field[0] == field[-1] == '"']
        return len(quoted) * 2 > len(fields)

    def column(self, at: int) -> list[str]:
        """Return the fields of a column; columns count from 0."""
        return [row[at] for row in self.rows]

    def name(self, at: int) -> str:
        """Return the name of a column; empty if it has none."""
        return self.names[at] if self.names else ""

    def reference(self, at: int) -> str:
        """Return a spec's reference to a column: its name if possible, else its number."""
        name = self.name(at)
        is_usable = name and not _NOT_IN_SPECS.search(name) and not is_number(name)
        if self.has_header and is_usable and self.names.count(name) == 1:
            return name
        return str(at + 1)

    def settings(self, references: Sequence[str]) -> list[str]:
        """Return the parts of a spec that describe the layout of the text."""
        is_by_number = all(reference.isdecimal() for reference in references)
        return [
            *([f"separator={SEPARATORS[self.separator]}"] if self.separator != "," else []),
            *([f"comment={_COMMENT}"] if self.has_comments else []),
            *([f"skip={self.skip}"] if self.skip else []),
            *(["header=yes"] if self.has_header and is_by_number else []),
        ]


def table_of(text: str) -> TextTable | None:
    """Return the table of a text; None if too few lines have the same number of fields."""
    # Tabs are not stripped: a tab at the beginning of a line follows an empty field.
    lines = [(at, line.strip(" \r")) for at, line in enumerate(text.split("\n")) if line.strip()]
    comments = [line.lstrip(_COMMENT) for _, line in lines if line.startswith(_COMMENT)]
    content = [(at, line) for at, line in lines if not line.startswith(_COMMENT)]
    for separator in SEPARATORS if content else ():
        split = [fields_of(line, separator) for _, line in content]
        width, _ = Counter(map(len, split)).most_common(1)[0]
        if separator == " " and _is_header(split[:2]) and len(split[0]) < width:
            # File names in the last column may contain spaces, so more fields are accepted.
            width = len(split[0])
            split = [fields[:width] for fields in split]
        first = next(at for at, fields in enumerate(split) if len(fields) == width)
        rows = [fields for fields in split if len(fields) == width]
        if width < _FEWEST_COLUMNS or len(rows) < _FITTING * (len(split) - first):
            continue
        has_header = _is_header(rows)
        commented = (fields_of(line, separator) for line in comments)
        return TextTable(
            separator=separator,
            rows=rows[1:] if has_header else rows,
            names=rows[0]
            if has_header
            else next((names for names in commented if len(names) == width), []),
            has_header=has_header,
            skip=content[first][0] if first else 0,
            has_comments=bool(comments),
        )
    return None


def fields_of(line: str, separator: str) -> list[str]:
    """Return the fields of a line, without blanks around the fields."""
    return (
        line.split()
        if separator == " "
        else [part_text.strip() for part_text in line.split(separator)]
    )


def is_number(text: str) -> bool:
    """Return whether a field is a number, in decimal or as 0x1f."""
    return _NUMBER.fullmatch(text) is not None


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has the column names: only words, above rows with numbers.

    One name may be empty, such as that of the index in files of pandas.
    """
    names = [name for name in rows[0] if name]
    return (
        len(names) >= len(rows[0]) - 1
        and all(re.search("[A-Za-z]", name) and not is_number(name) for name in names)
        and (len(rows) == 1 or any(is_number(field) for field in rows[1]))
    )

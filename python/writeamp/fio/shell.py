"""Commands of a shell script, with the variables that it sets; no command is run.

A variable is known if the script assigns the same text to it on every path to the command. All
others, such as parameters and command output, stay unexpanded.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# Shell substitutions with a value that is only known at run time.
OPEN_WORD = re.compile(r"\$[A-Za-z_0-9@*#?$!{(-]|`|\{\{")
_MARK = re.compile(r"<<(?!<)(-?)\s*(?:'([^']+)'|\"([^\"]+)\"|\\?([A-Za-z_]\w*))")
# `${name[@]}`: all elements of an array, as separate words even in quotes. A shell joins those of
# `[*]` in quotes to one word, but here `[*]` is treated like `[@]`.
_ARRAY = re.compile(r"\"?\$\{(\w+)\[[@*]\]\}\"?")
_OPEN_ARRAY = re.compile(r"\s*(?:\w+\s+)?(?:-\w+\s+)?[A-Za-z_]\w*\+?=\([^)]*")
_REFERENCE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?[-=][^}]{0,1000})?\})")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
# Variables that are incremented or read: their value changes after an assignment.
_STEPPED = re.compile(
    r"\b(\w+)=[\"']?\$\(\(|\b(\w+)\+=|\(\(\s*(\w+)\s*(?:\+\+|--|[-+*/]?=[^=])|\blet\s+[\"']?(\w+)"
    r"|\bread\s+(?:-\w+\s+)*(\w+)|\bgetopts\s+\S+\s+(\w+)"
)
_OPENING, _CLOSING = {"if", "case", "while", "until", "for", "select", "{"}, {"fi", "esac", "done"}
_PASSED_OVER = {"then", "do", "else", "elif", "!", "time", "in"}
_DECLARING = {"export", "local", "readonly", "declare", "typeset"}
# Programs that run the text of an argument as commands.
_RUNNING = {"ssh", "eval", "pdsh", "clush", "watch", "su"}
_PASSING_ON = {"cat", "tee", "sed", "envsubst", "sudo"}
_MOST_JOINED_LINES = 100
# Limit of the depth of nested commands, as in $(…) and `bash -c`. The time to read them may double
# with each level.
_DEEPEST = 8
# Longest text that is split into words, in characters, as shlex takes quadratic time in the length
# of a word.
_LONGEST_TO_SPLIT = 32 << 10


class ShellCommand(NamedTuple):
    """Command of a shell script: a program with its arguments.

    Attributes:
        words: words without quotes.
        is_repeated: whether it is in a loop.
        is_sure: whether it runs independently of conditions.
        document: text on its standard input, if the script contains it, or None.
        exported: environment variables of the command.
        is_in_background: whether the script continues while it runs.
    """

    words: tuple[str, ...]
    is_repeated: bool
    is_sure: bool
    document: str | None
    exported: dict[str, str]
    is_in_background: bool = False


class _HereDocument(NamedTuple):
    """Here-document: its lines, and whether variables are expanded in it."""

    text: str
    is_literal: bool


@dataclass
class _ShellBlock:
    """Conditional block or loop, with the variables before it and the variables changed in it."""

    saved: dict[str, str]
    changed: set[str] = field(default_factory=set)
    is_loop: bool = False
    is_condition: bool = False


def documents_of(text: str) -> list[str]:
    """Return the here-documents of a script."""
    return [document.text for _, documents in _lines(text) for document in documents]


def commands_of(text: str) -> Iterator[ShellCommand]:
    """Yield the simple commands of a script, in order."""
    yield from _ScriptReader(text).commands()


class _ScriptReader:
    """Reader of a script that tracks the values of its variables."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values: dict[str, str] = {}
        self._exported: set[str] = set()
        self._blocks: list[_ShellBlock] = []
        self._stepped = {name for groups in _STEPPED.findall(text) for name in groups if name}

    def commands(self) -> Iterator[ShellCommand]:
        yield from self._commands(self._text)

    def _commands(self, text: str, depth: int = 0) -> Iterator[ShellCommand]:
        if depth > _DEEPEST:
            return
        for line, documents in _lines(text):
            waiting = list(documents)
            piped: str | None = None
            segments = _scan(line)[0]
            array = ""
            for place, (connector, raw) in enumerate(segments):
                after = segments[place + 1][0] if place + 1 < len(segments) else ""
                opened = [waiting.pop(0) for _ in range(min(len(waiting), len(_MARK.findall(raw))))]
                document = (
                    self._filled(opened[-1]) if opened else piped if connector == "|" else None
                )
                replaced = self._replaced(_MARK.sub(" ", raw))
                if array and connector == "(":
                    self._set_array(array, replaced)
                    array = ""
                    continue
                for inner in _substituted(replaced):
                    yield from self._commands(inner, depth + 1)
                words = self._keywords(_split(replaced))
                is_sure = connector not in {"&&", "||"}
                if words and after == "(" and _ASSIGNMENT.fullmatch(words[-1]):
                    array = words[-1]
                scripts = _scripts_in(words)
                for inner in scripts:
                    yield from self._commands(inner, depth + 1)
                if scripts:
                    continue
                self._assign(words, is_sure=is_sure and after != "(")
                if words:
                    command = self._command(words, document, is_sure=is_sure)
                    yield command._replace(is_in_background=after == "&")
                passes_on = bool(words) and words[0] in _PASSING_ON and after == "|"
                piped = document if passes_on else None

    def _command(self, words: list[str], document: str | None, *, is_sure: bool) -> ShellCommand:
        is_repeated = any(block.is_loop for block in self._blocks)
        is_sure = is_sure and not any(block.is_condition for block in self._blocks)
        exported = {name: self._values[name] for name in self._exported if name in self._values}
        own = list(words)
        while own and (match := _ASSIGNMENT.fullmatch(own[0])):
            exported[match[1]] = match[3]
            own.pop(0)
        return ShellCommand(tuple(own), is_repeated, is_sure, document, exported)

    def _keywords(self, words: list[str]) -> list[str]:
        """Return words without shell keywords, which open and close blocks."""
        while words:
            word = words[0]
            if word in _OPENING:
                is_loop = word in {"while", "until", "for", "select"}
                is_condition = word in {"if", "case"}
                self._blocks.append(
                    _ShellBlock(dict(self._values), is_loop=is_loop, is_condition=is_condition)
                )
                if word in {"for", "select"}:
                    self._begin_loop(words)
                    return []
                if word == "case":
                    return []
            elif word in _CLOSING or word == "}":
                self._close()
            elif word in {"else", "elif"} and self._blocks:
                self._values = dict(self._blocks[-1].saved)
            elif word not in _PASSED_OVER:
                return words
            words = words[1:]
        return words

    def _begin_loop(self, words: list[str]) -> None:
        """Set the variable of a loop; its value is known if the loop has a single value."""
        if len(words) > 1:
            only = words[3] if len(words) == 4 and words[2] == "in" else "*"
            self._set(words[1], None if re.search(r"[*?\[{]", only) else only)

    def _close(self) -> None:
        if not self._blocks:
            return
        block = self._blocks.pop()
        saved = {name: text for name, text in block.saved.items() if name not in block.changed}
        self._values = saved
        if self._blocks:
            self._blocks[-1].changed |= block.changed

    def _assign(self, words: list[str], *, is_sure: bool) -> None:
        """Apply the assignments of a command that has no other effect."""
        if not words:
            return
        rest = words[1:] if words[0] in _DECLARING else words
        if words[0] == "export":
            self._exported |= {word.partition("=")[0] for word in rest}
        assignments = [_ASSIGNMENT.fullmatch(word) for word in rest if not word.startswith("-")]
        if words[0] not in _DECLARING and not all(assignments):
            return
        for assignment in assignments:
            if assignment is not None:
                is_text = is_sure and not assignment[2] and not OPEN_WORD.search(assignment[3])
                self._set(assignment[1], assignment[3] if is_text else None)

    def _set(self, name: str, text: str | None) -> None:
        if text is None or name in self._stepped or OPEN_WORD.search(text):
            self._values.pop(name, None)
        else:
            self._values[name] = text
        if self._blocks and self._values.get(name) != self._blocks[-1].saved.get(name):
            self._blocks[-1].changed.add(name)

    def _set_array(self, assignment: str, elements: str) -> None:
        """Set the elements of an array, or append to them."""
        name, adds, _ = assignment.partition("+=")
        name = f"{name.partition('=')[0]}[@]"
        earlier = self._values.get(name) if adds else ""
        self._set(name, None if earlier is None else f"{earlier} {elements}".strip())

    def _replaced(self, raw: str) -> str:
        """Return the text of a command with variables expanded outside of '...'."""
        raw = _ARRAY.sub(lambda match: self._values.get(f"{match[1]}[@]", match[0]), raw)
        parts = re.split(r"('[^']*')", raw)
        # An apostrophe within "..." does not quote.
        if raw.count('"') and any(piece.count('"') % 2 for piece in parts[::2]):
            return _REFERENCE.sub(self._value, raw)
        return "".join(
            piece if place % 2 else _REFERENCE.sub(self._value, piece)
            for place, piece in enumerate(parts)
        )

    def _value(self, match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return self._values.get(name, f"${{{name}}}" if match[2] else f"${name}")

    def _filled(self, document: _HereDocument) -> str:
        if document.is_literal:
            return document.text
        return _REFERENCE.sub(self._value, document.text).replace("\\$", "$")


def _lines(text: str) -> Iterator[tuple[str, list[_HereDocument]]]:
    """Yield each line, joined with its continuation lines, and the here-documents after it."""
    lines = text.splitlines()
    ends = {line.lstrip("\t") for line in lines}
    last_section = max((n for n, line in enumerate(lines) if line.lstrip()[:1] == "["), default=-1)
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        joined = 0
        while place < len(lines) and joined < _MOST_JOINED_LINES:
            if line.endswith("\\") and not line.endswith("\\\\"):
                line = f"{line[:-1]} {lines[place].lstrip()}"
            elif _OPEN_ARRAY.fullmatch(line):
                line += " " + re.sub(r"(^|\s)#.*", "", lines[place])
            elif _closes(line, lines[place : place + _MOST_JOINED_LINES]):
                line = f"{line}\n{lines[place]}"
            else:
                break
            place, joined = place + 1, joined + 1
        documents = []
        for mark in _MARK.finditer(line):
            end = len(lines)
            if (mark[2] or mark[3] or mark[4]) in ends:
                end = next((n for n in range(place, end) if _ends(lines[n], mark)), end)
            # In a shell, a here-document without end extends to the end of the script.
            if end < len(lines) or place <= last_section:
                body = [line.lstrip("\t") if mark[1] else line for line in lines[place:end]]
                is_literal = mark[4] is None or f"\\{mark[4]}" in mark[0]
                documents.append(_HereDocument("\n".join(body) + "\n", is_literal))
                place = end + 1
        yield line, documents


def _ends(line: str, mark: re.Match[str]) -> bool:
    return (line.lstrip("\t") if mark[1] else line) == (mark[2] or mark[3] or mark[4])


def _closes(line: str, following: list[str]) -> bool:
    """Return whether the open quote of a line is closed on a following line."""
    quote = _scan(line)[1]
    return quote != "" and any(quote in line for line in following)


def _scan(line: str) -> tuple[list[tuple[str, str]], str]:
    """Return the commands of a line with their connectors, and the quote that stays open."""
    commands: list[tuple[str, str]] = []
    connector, start, place, quote, depth = "", 0, 0, "", 0
    while place < len(line):
        char = line[place]
        if char == "\\" and quote != "'":
            place += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif line.startswith("$(", place) or (depth and char == "("):
            depth += 1
            place += char == "$"
        elif depth:
            depth -= char == ")"
        elif char == "#" and (place == 0 or line[place - 1] in " \t;&|("):
            end = line.find("\n", place)
            commands.append((connector, line[start:place]))
            connector, start, place = ";", len(line), len(line) if end < 0 else end
            start = place
        elif char in ";&|()\n" and not _is_redirection(line, place):
            double = line[place : place + 2]
            length = 2 if double in {"&&", "||", ";;"} else 1
            commands.append((connector, line[start:place]))
            connector, start = line[place : place + length], place + length
            place = start - 1
        place += 1
    commands.append((connector, line[start:]))
    return commands, quote


def _substituted(text: str) -> Iterator[str]:
    """Yield the outermost commands whose output a text uses, without arithmetic."""
    closing, done = _closing_parentheses(text), 0
    for match in re.finditer(r"`([^`]*)`|\$\((?!\()", re.sub(r"'[^']*'", _blank, text)):
        if match.start() < done:
            continue
        if match[1] is not None:
            yield text[match.start(1) : match.end(1)]
        elif match.end() - 1 in closing:
            done = closing[match.end() - 1]
            yield text[match.end() : done]


def _closing_parentheses(text: str) -> dict[int, int]:
    """Return the position of the closing parenthesis by the position of the opening one."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for place, char in enumerate(text):
        if char == "(":
            opened.append(place)
        elif char == ")" and opened:
            closing[opened.pop()] = place
    return closing


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _scripts_in(words: list[str]) -> list[str]:
    """Return the texts that a command such as `bash -c` or `ssh` runs as scripts."""
    own = [word for word in words if word not in {"sudo", "nohup", "time", "exec"}]
    if own[:1] == ["eval"]:
        return [" ".join(own[1:])]
    behind_c = [
        text
        for shell, option, text in zip(words, words[1:], words[2:], strict=False)
        if re.fullmatch(r"-[a-z]*c", option) and re.search(r"(^|/)(\w*sh|su|root)$", shell)
    ]
    of_program = [word for word in own[1:] if " " in word] if own[:1] and own[0] in _RUNNING else []
    return behind_c or of_program


def _is_redirection(line: str, place: int) -> bool:
    """Return whether an ampersand belongs to 2>&1 or &>file."""
    return line[place] == "&" and (
        line[place - 1 : place] == ">" or line[place + 1 : place + 2] == ">"
    )


def _split(text: str) -> list[str]:
    """Return the words of a command; a command substitution stays one word."""
    # Possessive quantifiers ensure that unclosed text is scanned only once.
    text = re.sub(r"\$\(\(?\s*+([^\s()]*+)(?:[^()]++|\([^()]*+\))*+\)?\)", r"$(\1)", text)
    text = re.sub(r"`\s*+([^\s`]*+)[^`]*+`", r"$(\1)", text)
    if len(text) > _LONGEST_TO_SPLIT:
        return text.split()
    try:
        return shlex.split(text)
    except ValueError:  # an unclosed quote
        return text.split()

"""Pastes of clean documents, as mail, terminals, log collectors and web pages show them."""

from __future__ import annotations

import html
import json
import quopri
import re
import textwrap
from collections.abc import Callable

from drive_logs import LOGS
from places import ROOT
from smart_documents import ata, text_of_ata

_DRIVES = ROOT / "tests" / "data" / "cases" / "drives"


def _case(name: str) -> str:
    return (_DRIVES / name).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")


_SATA = ata("INTEL SSDSC2KB480G8", {225: 10**6, 233: (0, 93), 243: 3 * 10**6}, used=7)
# Twenty clean documents: of SATA, SAS and NVMe, of smartctl, nvme-cli and exporters.
DOCUMENTS: dict[str, str] = {
    "micron 5200": _case("15-micron5200-net-test.txt"),
    "sandisk plus": _case("12-sandisk-plus-openwrt.txt"),
    "smi": _case("12b-smi-no-246.txt"),
    "intel s4510": textwrap.dedent(_case("16b-hpe-intel-s4510-with-model.txt")),
    "kingston a400": _case("19b-kingston-a400-as-smartctl.txt"),
    "phison": re.sub(r"\n\n", "\n", _case("20e-utf8-bom-crlf.txt")),
    "x25-m": _case("23-x25m-single-spaces.txt"),
    "850 pro": _case("25-packet-850pro/a.txt"),
    "mx500 spaces": _case("33-mx500-spaces-msk.txt"),
    "sas": _case("29-osm-sas-80pct.txt"),
    "apple": _case("31-apple-m1-macos.txt"),
    "adata": _case("11-adata-falcon-spanish-dots.txt").partition("\n")[2],
    "spcc": _case("03-spcc-4tb-nvme-cli2.txt"),
    "evo 970": _case("08-evo970-nvmecli1.txt"),
    "brief": text_of_ata(_SATA),
    "smartctl json": json.dumps(_SATA, indent=1) + "\n",
    "intel log": LOGS["intel-text"].decode(),
    "seagate log": LOGS["seagate"].decode(),
    "ocp json": json.dumps(json.loads(LOGS["ocp-v2"]), indent=2) + "\n",
    "exporter": LOGS["exporter"].decode(),
}

Mutation = Callable[[str], str | bytes]


def _lines(change: Callable[[str], str]) -> Mutation:
    return lambda text: "".join(f"{change(line)}\n" for line in text.splitlines())


def _ahead(prefix: str) -> Mutation:
    return _lines(lambda line: prefix + line)


def _stamped(prefix: str, head: str = "") -> Mutation:
    """Return a mutation that puts a time and a source in front of each line, `%02d` a second."""

    def mutated(text: str) -> str:
        lines = text.splitlines()
        return head + "".join(prefix % (at % 60) + line + "\n" for at, line in enumerate(lines))

    return mutated


def _coloured(text: str) -> str:
    return re.sub(r"\d+", lambda found: f"\x1b[1;32m{found[0]}\x1b[0m", text)


def _spaces(character: str) -> Mutation:
    return lambda text: text.replace(" ", character)


def _thousands(separator: str) -> Mutation:
    """Return a mutation that prints separated thousands otherwise."""
    grouped = re.compile(r"(?<![\w.,-])\d{1,3}(?:[,. ]\d{3})+(?= bytes| \[| \(|\n)")
    return lambda text: grouped.sub(lambda found: re.sub(r"\D", separator, found[0]), text)


def _quoted_printable(text: str) -> bytes:
    return quopri.encodestring(text.replace("  ", "\u00a0 ").encode(), quotetabs=False)


def _html(text: str) -> str:
    return f"<p>It says:</p>\n<pre>{html.escape(text)}</pre>\n<p>What now?</p>\n"


def _html_lines(text: str) -> str:
    lines = html.escape(text).replace(" ", "&nbsp;").splitlines()
    return "<div>" + "<br>".join(lines) + "<br></div>"


def _soft_wrapped(width: int, prefix: str = "") -> Mutation:
    """Return a mutation that breaks lines between words, as mail programs do."""

    def mutated(line: str) -> str:
        found: list[str] = []
        while len(line) > width and " " in line.lstrip()[: width - 1]:
            cut = line.rindex(" ", 0, width)
            if not line[:cut].strip():
                break
            found.append(line[:cut].rstrip())
            line = line[cut + 1 :].lstrip()
        return f"\n{prefix}".join([*found, line])

    return _lines(lambda line: prefix + mutated(line))


def _hard_wrapped(width: int) -> Mutation:
    """Return a mutation that breaks lines at a column, as terminals do."""
    return _lines(
        lambda line: "\n".join(line[at : at + width] for at in range(0, len(line) or 1, width))
    )


def _table(text: str) -> str:
    def row(line: str) -> str:
        return "| " + " | ".join(one for one in re.split(r"\s{2,}|(?<=:)\s+", line.strip())) + " |"

    return "".join(f"{row(line)}\n" if line.strip() else "\n" for line in text.splitlines())


def _ansible(text: str) -> str:
    said = json.dumps({"stdout": text.rstrip("\n"), "stdout_lines": text.splitlines()}, indent=4)
    return f"TASK [smart] ****\nok: [host1] => {said}\n"


def _journal_json(text: str) -> str:
    entries = ({"_HOSTNAME": "h", "MESSAGE": line} for line in text.splitlines())
    return "".join(json.dumps(one) + "\n" for one in entries)


def _numbered(text: str) -> str:
    return "".join(f"{at:6}\t{line}\n" for at, line in enumerate(text.splitlines(), 1))


def _diff(sign: str) -> Mutation:
    """Return a mutation that shows the text as a file of a diff that only adds or only removes."""

    def mutated(text: str) -> str:
        lines = text.splitlines()
        head = f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,{len(lines)} @@\n"
        return head + "".join(f"{sign}{line}\n" for line in lines)

    return mutated


def _counted(form: str) -> Mutation:
    """Return a mutation that puts the numbers of the lines in front of them, as a format has it."""
    return lambda text: "".join(
        f"{form.format(at)}{line}\n" for at, line in enumerate(text.splitlines(), 1)
    )


def _with_zero_width(text: str) -> str:
    return re.sub(r"(\d)(?=\d)", "\\1\u200b", text)


def _typographic(text: str) -> str:
    return text.replace("-", "\u2013").replace("'", "\u2019").replace('"', "\u201d")


PASTES: dict[str, Mutation] = {
    "quoted": _ahead("> "),
    "quoted twice": _ahead(">> "),
    "quoted thrice with spaces": _ahead("> > > "),
    "quoted with bars": _ahead("| "),
    "indented": _ahead("    "),
    "indented by a tab": _ahead("\t"),
    "quoted and indented": _ahead(">     "),
    "fenced": lambda text: f"Here it is:\n```\n{text}```\nthanks\n",
    "fenced with tildes": lambda text: f"~~~ text\n{text}~~~\n",
    "fence on the line": lambda text: f"```{text.rstrip()}```",
    "coloured": _coloured,
    "erased lines": lambda text: (
        "\x1b]0;root@h: ~\x07\x1b[?25l"
        + "".join(f"\x1b[2K\x1b[G{line}\x1b[0m\n" for line in text.splitlines())
    ),
    "colours spelled": lambda text: re.sub(r"\d+", r"^[[31m\g<0>^[[0m", text),
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "cr": lambda text: text.replace("\n", "\r"),
    "cr cr lf": lambda text: text.replace("\n", "\r\r\n"),
    "progress": lambda text: f"reading   1%\rreading  50%\rreading 100%\r{text}",
    "syslog": _stamped("Jun  1 10:00:%02d host1 smartd[123]: "),
    "syslog with a year": _stamped("2026 Jun  7 20:25:%02d.272090 sw1 NOTICE root: "),
    "rfc 5424": _stamped("<14>1 2026-06-01T10:00:%02d.003Z host1 smart 77 - - "),
    "journal": _stamped("Jun 01 10:00:%02d host1 sh[9]: ", "-- Logs begin at Mon 2026-06-01. --\n"),
    "journal iso": _stamped("2026-06-01T10:00:%02d+0200 host1 smart[77]: "),
    "docker": _stamped("2026-06-01T10:00:%02d.123456789Z "),
    "cri": _stamped("2026-06-01T10:00:%02d.123456789Z stdout F "),
    "time and host": _stamped("Jun  1 10:00:%02d host1 "),
    "kernel": _stamped("[  12.0000%02d] "),
    "compose": _ahead("smart-1  | "),
    "kubectl": _ahead("[pod/smart-x7/smart] "),
    "pdsh": _ahead("host1: "),
    "journal json": _journal_json,
    "prompt": lambda text: f"root@h:~# smartctl -x /dev/sda\n{text}root@h:~# \n",
    "prompt of windows": lambda text: f"PS C:\\Users\\a> .\\smartctl.exe -x /dev/sda\n{text}",
    "quoted-printable": _quoted_printable,
    "html": _html,
    "html lines": _html_lines,
    "list of strings": lambda text: json.dumps(text.splitlines()),
    "list of strings, a line each": lambda text: json.dumps(text.splitlines(), indent=1),
    "string of json": json.dumps,
    "smartctl output": lambda text: json.dumps({"smartctl": {"output": text.splitlines()}}),
    "ansible": _ansible,
    "soft wrap": _soft_wrapped(76),
    "quoted soft wrap": _soft_wrapped(72, "> "),
    "narrow soft wrap of fields": lambda text: re.sub(
        r"(?m)^((?:Device Model|Model Number): .*\S) (\S*\d\S*)$", "\\1\n\\2", text
    ),
    "hard wrap": _hard_wrapped(80),
    "quoted hard wrap": lambda text: _ahead("> ")(str(_hard_wrapped(80)(text))),
    "no-break spaces": _spaces("\u00a0"),
    "zero width": _with_zero_width,
    "typographic": _typographic,
    "table": _table,
    "thousands by ?": _thousands("?"),
    "thousands lost": lambda text: _thousands("\u00a0")(text).encode("cp1251", "replace"),  # type: ignore[union-attr]
    "thousands thin": _thousands("\u2009"),
    "thousands by '": _thousands("’"),
    "utf-16 without mark": lambda text: text.encode("utf-16-le"),
    "latin-1": lambda text: ("caf\u00e9 \u00b0\n" + text).encode("latin-1", "replace"),
    "misread": lambda text: _thousands("\u00a0")(text).encode().decode("cp1252", "replace"),  # type: ignore[union-attr]
    "numbered": _numbered,
    "numbered with bars": _counted("{:>4} \u2502 "),
    "numbered with spaces": _counted("{:>4} "),
    "numbered with letters": _counted("L{}: "),
    "numbered by grep": _counted("logs/sda.txt:{}:"),
    "diff that adds": _diff("+"),
    "diff that removes": _diff("-"),
    "old side of a diff": _ahead("< "),
    "logging of python": _stamped("2026-06-01 10:00:%02d,123 - INFO - "),
    "klog": _stamped("I0601 10:00:%02d.123456    2211 smart.go:12] "),
    "apache": _stamped("[Mon Jun 01 10:00:%02d 2026] "),
    "american date": _stamped("06/01/2026 10:00:%02d AM "),
    "chat": _stamped("10:00:%02d < jane> "),
    "named by grep": _ahead("smart.txt:"),
    "added in a diff": _ahead("+"),
    "bar of a pane": _lines(lambda line: f"{line:110}\u2502"),
    "line ends shown": _lines(lambda line: f"{line}$"),
    "messages of logfmt": _lines(lambda line: f"level=info msg={json.dumps(line)}"),
    "double spaced": lambda text: text.replace("\n", "\n\n"),
    "markdown escapes": lambda text: text.replace("_", "\\_"),
}

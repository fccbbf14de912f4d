"""Citations of writeamp and of the papers behind its verbs, as BibTeX and as plain text.

`make generate` writes CITATION.cff from the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from writeamp._engine import __version__
from writeamp.errors import unknown
from writeamp.extensions import extensions

AUTHOR = "The writeamp developers"
TITLE = "writeamp: prediction, simulation and measurement of the write amplification of SSDs"
# The account in the repository's address until its owner fills in `[project.urls]`.
PLACEHOLDER = "OWNER"
_SIMULATING = (
    "answer", "blame", "compare", "endurance", "explore", "lifetime", "simulate", "sweep",
    "volumes",
)  # fmt: skip


@dataclass(frozen=True)
class CitedPaper:
    """Published paper.

    Attributes:
        name: name of the paper in `writeamp reproduce`.
        authors: given name (or initials, if the paper prints these) and family name of each author.
        published_in: proceedings; "" for a preprint.
        purpose: use of the paper in writeamp.
        verbs: verbs that use it, such as "predict" or "measure rb".
        pages: first and last page, or "" if unknown.
        doi: digital object identifier, or "" if unknown.
        arxiv: number of the preprint, or "".
    """

    name: str
    authors: tuple[tuple[str, str], ...]
    title: str
    published_in: str
    year: int
    purpose: str
    verbs: tuple[str, ...]
    pages: str = ""
    doi: str = ""
    arxiv: str = ""

    @property
    def text(self) -> str:
        """The citation in one line."""
        names = [f"{first} {family}" for first, family in self.authors]
        where = f"In: {self.published_in}" if self.published_in else f"arXiv:{self.arxiv}"
        place = [where, f"pages {self.pages}" if self.pages else "", str(self.year)]
        doi = f" doi:{self.doi}" if self.doi else ""
        return (
            f"{', '.join(names[:-1])} and {names[-1]}. {self.title}. "
            f"{', '.join(filter(None, place))}.{doi}"
        )

    @property
    def bibtex(self) -> str:
        """The entry of BibTeX; its key is the first author and the year."""
        fields = {
            "author": " and ".join(f"{family}, {first}" for first, family in self.authors),
            # The second braces keep the capitals.
            "title": f"{{{self.title}}}",
            "booktitle": self.published_in,
            "year": str(self.year),
            "pages": self.pages.replace("-", "--"),
            "doi": self.doi,
            "eprint": self.arxiv,
            "archiveprefix": "arXiv" if self.arxiv else "",
        }
        kind = "inproceedings" if self.published_in else "misc"
        return _entry(kind, f"{self.authors[0][1].lower()}{self.year}", fields)


PAPERS = (
    CitedPaper(
        "park2017",
        (("Changhyun", "Park"), ("Seongjin", "Lee"), ("Youjip", "Won"), ("Soohan", "Ahn")),
        "Practical Implication of Analytical Models for SSD Write Amplification",
        "Proceedings of the 8th ACM/SPEC International Conference on Performance Engineering "
        "(ICPE '17)",
        2017,
        "formulas of WA under uniform writes",
        ("answer", "compare", "predict", "reproduce", "simulate", "sweep"),
        doi="10.1145/3030207.3030219",
    ),
    CitedPaper(
        "huang2011",
        (("H. Howie", "Huang"), ("Shan", "Li"), ("Alex", "Szalay"), ("Andreas", "Terzis")),
        "Performance Modeling and Analysis of Flash-based Storage Devices",
        "2011 IEEE 27th Symposium on Mass Storage Systems and Technologies (MSST)",
        2011,
        "black-box models of drives",
        ("blackbox", "reproduce"),
    ),
    CitedPaper(
        "dayan2015",
        (("Niv", "Dayan"), ("Luc", "Bouganim"), ("Philippe", "Bonnet")),
        "Modelling and Managing SSD Write-amplification",
        "",
        2015,
        "block manager wolf, and division of spare space between groups of pages",
        ("allocate", "reproduce", "serve", *_SIMULATING),
        arxiv="1504.00229",
    ),
    CitedPaper(
        "verschoren2019",
        (("R.", "Verschoren"), ("B.", "Van Houdt")),
        "How to improve the performance of the d-choices garbage collection algorithm in "
        "flash-based SSDs",
        "13th EAI International Conference on Performance Evaluation Methodologies and Tools "
        "(VALUETOOLS)",
        2020,
        "block manager hcwf, its mean field, PE fairness and endurance",
        ("meanfield", "reproduce", *_SIMULATING),
        pages="180-187",
        doi="10.1145/3388831.3388833",
    ),
    CitedPaper(
        "four-level",
        (("Hui", "Sun"), ("Xiao", "Qin"), ("Fei", "Wu"), ("Changsheng", "Xie")),
        "Measuring and Analyzing Write Amplification Characteristics of Solid State Disks",
        "2013 IEEE 21st International Symposium on Modelling, Analysis and Simulation of Computer "
        "and Telecommunication Systems (MASCOTS)",
        2013,
        "measurement of WA from Ready/Busy pins, and a virtual drive that checks it",
        ("measure rb", "reproduce", "serve"),
        doi="10.1109/MASCOTS.2013.29",
    ),
)


def cite(verb: str | None = None) -> str:
    """Return what to cite: writeamp, and the papers behind a verb.

    Args:
        verb: a verb, such as "simulate" or "measure rb"; by default all papers are returned.

    Returns:
        Entries of BibTeX. A comment before each entry has the same citation as plain text.

    Raises:
        WriteampError: the verb is unknown.

    >>> print(cite("blackbox").splitlines()[-6])
    @inproceedings{huang2011,
    """
    papers = PAPERS if verb is None else papers_behind(verb)
    parts = [_software()]
    parts += [f"% For its {paper.purpose}: {paper.text}\n{paper.bibtex}" for paper in papers]
    return "\n\n".join(parts)


def papers_behind(verb: str) -> Sequence[CitedPaper]:
    """Return the papers that a verb, or one of its own verbs, uses."""
    words = verb.split() if isinstance(verb, str) else []
    verbs = ["reproduce", *extensions("writeamp.verbs")]
    if not words or words[0] not in verbs:
        raise unknown("verb", verb, sorted(set(verbs)))
    return [
        paper
        for paper in PAPERS
        # "measure" has the papers of "measure rb", and "volumes run" those of "volumes".
        if any(all(a == b for a, b in zip(words, use.split())) for use in paper.verbs)  # noqa: B905
    ]


def _software() -> str:
    home = _home_page()
    fields = {
        "author": f"{{{AUTHOR}}}",
        "title": f"{{{TITLE}}}",
        "note": f"Version {__version__}",
        "url": home,
    }
    text = f"{AUTHOR}. {TITLE}. Version {__version__}. {home}".rstrip()
    return f"% The software: {text}\n{_entry('misc', 'writeamp', fields)}"


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    return f"@{kind}{{{key},\n{''.join(lines)}}}"


def _home_page() -> str:
    """Return the address of the repository, or "" if its owner has not filled it in."""
    from importlib.metadata import PackageNotFoundError, metadata  # noqa: PLC0415 (slow)

    try:
        urls = metadata("writeamp").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    homes = [url.partition(", ")[2] for url in urls if url.startswith("Repository, ")]
    return next((home for home in homes if f"/{PLACEHOLDER}/" not in home), "")

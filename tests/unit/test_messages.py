"""Help, errors, warnings and notes in plain words, with the value and valid forms.

The lists of bad and good input in other files are held to the same words by `plain_messages`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_options import COMMANDS
from test_refusals import KINDS, outside

import messages
from writeamp.cli import boundary, options
from writeamp.cli.setting_options import declared
from writeamp.cli.verbs import verbs
from writeamp.errors import WriteampError
from writeamp.fields.domains import RatioText
from writeamp.listing import listed
from writeamp.text import shown

HELD = "plain_messages"
# Files with lists of input that is refused, warned of or noted.
LISTS = (
    "test_arguments.py", "test_blackbox_verbs.py", "test_cli_errors.py", "test_compare_many.py",
    "test_extensions.py", "test_notes.py", "test_old_names.py", "test_predict.py",
    "test_python_messages.py", "test_refusals.py", "test_traces_errors.py", "test_units.py",
)  # fmt: skip
# Domains whose `check` is the whole check.
CHECKED = set(KINDS) - {RatioText}
# The ways in which a message names what is valid.
VALID = re.compile(r"\bmust\b|\bvalid\b|\bgive\b|\bsuch as\b|\bat (least|most)\b")


def test_flagged_words_are_found_in_our_own_words_only() -> None:
    assert messages.faults_of("the trace tells nothing of its clock") == ["tells", "nothing of"]
    assert messages.faults_of("workload 'tells' is None; valid: /knows/it, is-no.csv") == []


def test_a_message_with_flagged_words_is_collected() -> None:
    with messages.collected() as found:
        options.warn("nobody knows")
        options.note("what is said")
        boundary.say("somebody said so")
        with pytest.raises(WriteampError):
            raise WriteampError("the file says so")
    assert len([one for one in found if messages.faults_of(one)]) == 4


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_bad_input_are_held_to_plain_words(name: str) -> None:
    assert f'usefixtures("{HELD}")' in (Path(__file__).parent / name).read_text("utf-8")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_is_plain(name: str) -> None:
    command = COMMANDS[name]
    texts = [command.help or "", *(getattr(one, "help", None) or "" for one in command.params)]
    assert {text: faults for text in texts if (faults := messages.faults_of(text))} == {}


def test_summaries_are_plain() -> None:
    rows = [verb.summary for verb in verbs().values()]
    rows += [row["summary"] for kind in listed(None).values() for row in kind]
    assert {text: faults for text in rows if (faults := messages.faults_of(text))} == {}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_an_error_on_an_option_states_the_value_and_what_is_valid(name: str) -> None:
    for word, field in declared(COMMANDS[name].callback).items():
        domain = field.metadata["domain"]
        # Other domains have tests of their own.
        for value in outside(domain) if type(domain) in CHECKED else ():
            with pytest.raises(WriteampError) as refused:
                domain.check(word, value)
            sentence = str(refused.value)
            assert shown(value) in sentence or str(value) in sentence, sentence
            assert VALID.search(sentence), sentence
            assert messages.faults_of(sentence) == [], sentence

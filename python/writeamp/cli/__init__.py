"""The `writeamp` command: root options, exit statuses. Each subcommand has a module."""

from __future__ import annotations

import sys

import typer

from writeamp.cli import boundary
from writeamp.cli.verbs import Verbs
from writeamp.errors import PolicyError, WriteampError

BAD_INPUT = 2
INTERRUPTED = 130

_HELP = """Predict, simulate, measure and explain the write amplification (WA) of flash SSDs.

Warnings, and at most three notes, go to stderr; --verbose prints all notes.

Example: writeamp answer --workload zipf:s=0.99 --op 0.1
"""

app = typer.Typer(
    name="writeamp",
    cls=Verbs,
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from writeamp._engine import __version__  # noqa: PLC0415 (slow)

        print(f"writeamp {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Read the options that precede the subcommand."""


def main() -> None:
    """Run the command line; a failure prints one sentence and sets the exit status."""
    try:
        with boundary.interrupts_kept():
            boundary.prepare_streams()
            boundary.check_arguments()
            status = app(standalone_mode=False)
            sys.stdout.flush()
        if status == INTERRUPTED:
            raise KeyboardInterrupt  # typer has turned Ctrl-C into this status
    except (WriteampError, typer.TyperException) as error:
        sentence = str(error)
        if isinstance(error, typer.TyperException):
            sentence = " ".join(error.format_message().split())  # may have several lines
            if sentence.startswith("Missing option"):
                from writeamp.cli.application import example_of  # noqa: PLC0415 (slow)

                sentence += example_of(getattr(error, "ctx", None))
        status = BAD_INPUT
        if isinstance(error, PolicyError):
            boundary.report_policy(error)
        if sentence:  # empty if a subcommand without arguments has printed its help
            boundary.say(sentence)
    except MemoryError:
        boundary.say("out of memory; use a smaller drive or trace")
        status = BAD_INPUT
    except (KeyboardInterrupt, boundary.PartlyDone) as stopped:
        boundary.say(f"interrupted; {str(stopped) or 'nothing was written'}")
        status = INTERRUPTED
    except BrokenPipeError:
        # The program that reads the output has ended, as in `writeamp list | head`. Python must not
        # write to the pipe again at exit.
        boundary.drop_output()
        status = 1
    except OSError as error:
        where = error.filename or "the output"
        boundary.say(f"cannot use {where}: {error.strerror or error}")
        status = BAD_INPUT
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the engine is a BaseException
        boundary.report_fault(error)
        status = boundary.FAULT
    sys.exit(status or 0)

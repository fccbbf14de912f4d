"""The `writeamp` command: one file per verb, registered below."""

from __future__ import annotations

import os
import sys

import typer

from writeamp._engine import __version__
from writeamp.cli import (
    allocate,
    compare,
    endurance,
    listing,
    meanfield,
    predict,
    reproduce,
    simulate,
    trace,
)
from writeamp.errors import WriteampError

BAD_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="writeamp",
    help="Predict, simulate and explain the write amplification of flash SSDs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"writeamp {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Predict, simulate and explain the write amplification of flash SSDs."""


simulate.register(app)
compare.register(app)
endurance.register(app)
meanfield.register(app)
predict.register(app)
allocate.register(app)
trace.register(app)
reproduce.register(app)
listing.register(app)


def main() -> None:
    """Run the command line; every foreseeable failure is one sentence and a status."""
    # A terminal that cannot show a character shows another; that is no reason to stop.
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
        if status == INTERRUPTED:
            raise KeyboardInterrupt  # which typer turns into this status
    except (WriteampError, typer.TyperException) as error:
        sentence = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        status = BAD_INPUT
        if sentence:  # help that was asked for by giving no arguments has been printed already
            print(f"writeamp: {' '.join(sentence.split())}", file=sys.stderr)
    except MemoryError:
        print("writeamp: out of memory; use a smaller drive or trace", file=sys.stderr)
        status = BAD_INPUT
    except KeyboardInterrupt:
        print("writeamp: interrupted; nothing was written", file=sys.stderr)
        status = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`writeamp list | head`); Python must not flush into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except OSError as error:
        where = error.filename or "the output"
        print(f"writeamp: cannot use {where}: {error.strerror or error}", file=sys.stderr)
        status = BAD_INPUT
    sys.exit(status or 0)

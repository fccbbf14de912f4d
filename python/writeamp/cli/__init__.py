"""The `writeamp` command: exit statuses. The root options and each subcommand have a module."""

from __future__ import annotations

import sys

from writeamp.cli import boundary
from writeamp.errors import PolicyError, WriteampError

BAD_INPUT = 2
INTERRUPTED = 130


def main() -> None:
    """Run the command line; a failure prints one sentence and sets the exit status."""
    try:
        with boundary.interrupts_kept():
            boundary.prepare_streams()
            boundary.check_arguments()
            status = _run()
            sys.stdout.flush()
        if status == INTERRUPTED:
            raise KeyboardInterrupt  # typer has turned Ctrl-C into this status
    except WriteampError as error:
        status = BAD_INPUT
        if isinstance(error, PolicyError):
            boundary.report_policy(error)
        if sentence := str(error):
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


def _run() -> int | None:
    # The most frequent call of scripts needs no parser, whose import takes 50 ms.
    if sys.argv[1:] == ["--version"]:
        boundary.print_version()
        return None
    from writeamp.cli.root import run  # noqa: PLC0415 (slow)

    return run()

"""Commands in an interpreter that looks like that of Windows: a program that prints JSON.

It lacks what Python has on Linux only, as far as writeamp uses it. It shows that writeamp asks for
the system before it uses any of that; it does not show that writeamp runs on Windows.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import select
import signal
import sys

# Imported first, because these packages use the modules that are removed below.
import distributed  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import optuna  # noqa: F401
import polars  # noqa: F401
import prometheus_client  # noqa: F401
import psutil  # noqa: F401
import pytest  # noqa: F401
import scipy.optimize
import scipy.stats  # noqa: F401
import skops.io  # noqa: F401
import typer  # noqa: F401

MODULES = ("fcntl", "resource", "termios", "tty", "pwd", "grp")
OF_OS = (
    "O_CLOEXEC O_DIRECT O_DIRECTORY O_NOFOLLOW O_NONBLOCK chown fchmod fchown geteuid getuid "
    "killpg mkfifo pidfd_open posix_fallocate pread preadv sched_getaffinity set_blocking "
    "statvfs sysconf"
)
OF_SIGNAL = "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 SIGUSR2"


def remove() -> None:
    """Remove what Windows lacks."""
    sys.modules.update(dict.fromkeys(MODULES))  # type: ignore[arg-type] # None fails the import
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL), (select, "poll")):
        for name in names.split():
            delattr(module, name)
    sys.platform = "win32"


def not_imported() -> list[str]:
    """Import every module of writeamp, and return the errors."""
    import writeamp  # noqa: PLC0415 (after the removal)

    errors = []
    for module in pkgutil.walk_packages(writeamp.__path__, "writeamp."):
        if module.name.endswith("._nbdkit"):  # nbdkit loads it
            continue
        try:
            importlib.import_module(module.name)
        except (ImportError, AttributeError) as error:
            errors.append(f"{module.name}: {error}")
    return errors


def main() -> None:
    """Run the command lines of the arguments."""
    remove()
    errors = not_imported()
    import in_process  # noqa: PLC0415 (after the removal)

    done = {line: in_process.run(*line.split(" ", 1)) for line in sys.argv[1:]}
    print(json.dumps({"errors": errors, "done": done}))


if __name__ == "__main__":
    main()

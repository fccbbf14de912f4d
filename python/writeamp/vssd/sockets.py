"""Unix sockets of servers: claimed names, and connected clients."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from writeamp.errors import WriteampError

# What Linux takes for the name of a socket, without the NUL at its end.
_LONGEST_BYTES = 107
# In a line of /proc/net/unix: the state, and what it is of a connected socket.
_STATE_FIELD, _CONNECTED = 5, "03"


def claim(path: Path) -> None:
    """Remove a socket that nobody listens at any more; refuse anything else that is there.

    Raises:
        WriteampError: somebody listens there, it is no socket, or its name cannot be one's.
    """
    if "\0" in str(path):
        raise WriteampError(f"{str(path)!r} is no file name, it holds a NUL")
    if len(str(path).encode()) > _LONGEST_BYTES:
        raise WriteampError(
            f"the path of socket {path} has more than {_LONGEST_BYTES} bytes, the most that Linux "
            "allows; give a shorter path"
        )
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise WriteampError(
                f"socket {path} is in no folder: there is no {path.parent}"
            ) from None
        return
    except OSError as error:
        raise WriteampError(f"cannot use socket {path}: {error.strerror}") from None
    if not stat.S_ISSOCK(mode):
        raise WriteampError(f"{path} exists and is no socket; choose another name")
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise WriteampError(f"cannot use socket {path}: {error.strerror}") from None
    raise WriteampError(f"a server listens at {path} already; stop it, or choose another socket")


def has_clients(path: Path) -> bool:
    """Return whether a client is connected to the server at a socket."""
    lines = os.fsdecode(Path("/proc/net/unix").read_bytes()).splitlines()
    here = [line.split() for line in lines if line.endswith(f" {path}")]
    return any(fields[_STATE_FIELD] == _CONNECTED for fields in here)

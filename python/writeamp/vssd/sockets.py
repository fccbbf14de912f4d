"""The name of a Unix socket to serve at: free, or left behind by a server that is gone."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

from writeamp.errors import WriteampError

# What Linux takes for the name of a socket, without the NUL at its end.
_LONGEST_BYTES = 107


def claim(path: Path) -> None:
    """Remove a socket that nobody listens at any more; refuse anything else that is there.

    Raises:
        WriteampError: somebody listens there, it is no socket, or its name cannot be one's.
    """
    if "\0" in str(path):
        raise WriteampError(f"{str(path)!r} is no file name, it holds a NUL")
    if len(str(path).encode()) > _LONGEST_BYTES:
        raise WriteampError(
            f"socket {path} has a name of more than {_LONGEST_BYTES} bytes, which Linux does not "
            "take; use a shorter one, or a folder nearer to the root"
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

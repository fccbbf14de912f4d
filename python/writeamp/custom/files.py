"""Classes loaded from Python files.

Each file becomes a module by itself.
"""

from __future__ import annotations

import errno
import hashlib
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from writeamp.custom.names import NOUNS, RAISED, CustomClass, Kind, check_class
from writeamp.errors import WriteampError, policy_error, unknown
from writeamp.fields.domains import shown
from writeamp.files.inputs import read_bytes

MOST_BYTES = 4 << 20


def class_in(kind: Kind, path: str, name: str) -> CustomClass:
    """Return a class of a file.

    Raises:
        WriteampError: there is no such file or class in it, or it is of another kind.
        PolicyError: the file raises an exception as it is imported.
    """
    noun = NOUNS[kind]
    try:
        found = Path(path).resolve(strict=True)
        stamp = found.stat().st_mtime_ns
        if found.is_fifo():  # which the import would open again
            raise OSError(errno.EINVAL, "it is a pipe, not a regular file")
        read_bytes(found, MOST_BYTES, "Python file")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise WriteampError(f"cannot read {noun} {shown(path)}: {why}") from None
    module = _loaded(str(found), stamp, path)
    own = [
        key
        for key, one in vars(module).items()
        if isinstance(one, type) and one.__module__ == module.__name__
    ]
    if not hasattr(module, name):
        raise unknown(f"class of {path}", name, own or ["none"])
    return check_class(kind, getattr(module, name), f"{name} of {path}")


@cache
def _loaded(path: str, _stamp: int, given: str) -> ModuleType:
    """Return a file as a module; one that has changed is loaded again."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = f"writeamp_own_{Path(path).stem.replace('.', '_')}_{digest}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(Path(path).parent))  # what lies beside it, as Python does for scripts
    try:
        spec.loader.exec_module(module)
    except WriteampError:
        raise
    except RAISED as error:
        message = " ".join(str(error).split())
        raise policy_error(
            f"{given} raised {type(error).__name__}{': ' if message else ''}{message} as it was "
            "imported",
            error,
        ) from error
    finally:
        sys.path.remove(str(Path(path).parent))
    return module

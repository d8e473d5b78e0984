"""Opens files in folders that a child writes to, where a name may have become something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_plain(path: Path, mode: str = "rb") -> BinaryIO:
    """Open a regular file of one name, "rb" or "ab" (made where it is not there).

    Raises OSError for a symbolic or hard link, a pipe or a device: through one the child could have us read or write a
    file that it cannot, or wait for ever.
    """
    flags = os.O_RDONLY if mode == "rb" else os.O_WRONLY | os.O_APPEND | os.O_CREAT
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(descriptor)
        raise OSError(f"{path} is not a plain file")
    return os.fdopen(descriptor, mode)

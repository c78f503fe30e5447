"""A verified copy of the archive, made in one step."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from loom.archive.errors import WriteFailed


def back_up(connection: sqlite3.Connection, target: Path) -> Path:
    """Copy the whole database, as of now, to `target` (mode 0600, its folder 0700) and check the copy.

    A number is put behind the name when there is such a file already: no backup is ever overwritten. Gives the path
    of the copy. Raises WriteFailed when the copy does not check out, OSError or sqlite3.Error when it cannot be made.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _new_file(target)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as copy:
            # In one step: the stepwise backup starts over at every write and never ends beside a busy writer.
            connection.backup(copy, pages=-1)
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            # A copy in one file: nobody has to think of a log beside it.
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    if verdict != "ok":
        path.unlink(missing_ok=True)
        raise WriteFailed(
            f"The backup {path} does not check out ({verdict}) and was removed.",
            "`loom check` says what is wrong with the archive.",
        )
    return path


def _new_file(target: Path) -> Path:
    number = 1
    path = target
    while True:
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            number += 1
            path = target.with_name(f"{target.stem}-{number}{target.suffix}")
            continue
        try:
            os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
        return path

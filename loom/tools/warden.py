"""loom's side of the warden: the process that ends commands when loom itself is killed. See `warden_process`."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from loom.tools import warden_process
from loom.tools.warden_process import MARK

__all__ = ["MARK", "Warden", "new_mark", "the_warden"]


def new_mark() -> str:
    """A value of MARK that no other command has."""
    return uuid.uuid4().hex


@dataclass(slots=True)
class Warden:
    """One process for all commands of this loom, started with the first of them and again should it be gone.

    Where it cannot be started commands run all the same, and end as far as the system itself ends them with loom.
    """

    _process: subprocess.Popen[bytes] | None = None
    _read: int = -1
    _write: int = -1

    def start(self) -> None:
        """Have the process running. Costs a few ms the first time, nothing after."""
        if self._process is not None and self._process.poll() is None:
            return
        self._close()
        # Both ends stay open here: a write to a warden that is gone then fails nowhere, and is read by nobody. The end
        # of file comes all the same, since it is the writers that count.
        self._read, self._write = os.pipe()
        # A pipe that nobody reads must hold up neither loom nor a command.
        os.set_blocking(self._write, False)
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", warden_process.__file__],
                stdin=self._read,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                # Not the mark of a command that this loom may itself be part of.
                env={name: value for name, value in os.environ.items() if name != MARK},
                start_new_session=True,
            )

    def tell_of_itself(self, mark: str) -> Callable[[], None]:
        """What a new process calls between fork and exec to be watched from its first moment: `mark` is in the
        environment that it will have, and it leads a group of its own."""
        write = self._write

        # Nothing here takes or imports any lock: one of another thread would never be let go.
        def tell() -> None:
            with suppress(OSError):
                os.write(write, b"+ %d %s\n" % (os.getpid(), mark.encode()))

        return tell

    def forget(self, group: int) -> None:
        """The command is over."""
        with suppress(OSError):
            os.write(self._write, b"- %d\n" % group)

    def _close(self) -> None:
        for descriptor in (self._read, self._write):
            if descriptor >= 0:
                os.close(descriptor)
        self._process, self._read, self._write = None, -1, -1


the_warden = Warden()
"""One for the program: what it watches for is the end of the process."""

"""loom on a real terminal: a pseudo-terminal whose other side the test holds."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from loom.tui.widgets.key_guard import QUIET_SECONDS
from tests.support.signals import hear_signals

PATIENCE = 120.0
"""Seconds after which a test that waits is wrong; never how long anything should take."""
READY = "for commands"
"""Stands in the empty composer, its first character under the cursor."""
_STEERING = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78])")


def _take_terminal() -> None:
    hear_signals()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class PtyProgram:
    """`python -m loom …` in a session and on a controlling terminal of its own."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        columns: int = 110,
        rows: int = 36,
        before: Sequence[str] = (),
    ) -> None:
        """`before` is a program that loom is run by (`nohup`)."""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "loom", *arguments],
            env=dict(environment),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - a few calls, no lock
        )
        self._slave = slave
        """Kept open, so that the terminal's modes can be asked for when the program is gone."""
        self._raw = bytearray()
        self._plain = bytearray()
        self._tail = b""
        self._more = threading.Condition()
        self._ended = False
        self._stop, self._stopped = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self.close()

    def close(self) -> None:
        """Close the window: the terminal is gone."""
        if self._master < 0:
            return
        # A read that waits would keep it open.
        os.write(self._stopped, b"x")
        self._reader.join()
        for descriptor in (self._slave, self._master, self._stop, self._stopped):
            os.close(descriptor)
        self._slave = self._master = -1

    def _read(self) -> None:
        data = b"begin"
        while data:
            readable, _, _ = select.select([self._master, self._stop], [], [])
            data = b""
            if self._stop not in readable:
                with contextlib.suppress(OSError):
                    data = os.read(self._master, 65_536)
            with self._more:
                self._raw += data
                self._take(data)
                self._ended = not data
                self._more.notify_all()

    def _take(self, data: bytes) -> None:
        plain = _STEERING.sub(b"", self._tail + data)
        # What begins with an escape and is not taken out is not whole yet.
        at = plain.rfind(b"\x1b")
        at = len(plain) if at < 0 else at
        self._plain += plain[:at]
        self._tail = plain[at:]

    @property
    def drawn(self) -> str:
        """Everything that was ever written to the terminal, without what steers it."""
        with self._more:
            return self._plain.decode("utf-8", "replace")

    @property
    def raw(self) -> bytes:
        with self._more:
            return bytes(self._raw)

    def until(self, *words: str, after: int = 0) -> None:
        """Wait until one of these was drawn behind `after` characters of `drawn`."""
        self.until_so(lambda: any(word in self.drawn[after:] for word in words), " or ".join(words))

    def until_bytes(self, count: int) -> None:
        """Wait until so many bytes were written, or the program has ended."""
        self.until_so(lambda: len(self._raw) >= count or self.process.poll() is not None, f"{count} bytes")

    def until_so(self, so: Callable[[], bool], what: str) -> None:
        """Wait until this holds, looked at whenever something is drawn and five times a second."""
        # Seconds in which nothing is drawn count whole; a program that draws all the while has five times as many.
        waited, end = 0.0, time.monotonic() + 5 * PATIENCE
        while not so():
            with self._more:
                if self._ended or not self._more.wait(0.2):
                    waited += 0.2
            if waited > PATIENCE or time.monotonic() > end or (self.process.poll() is not None and not so()):
                raise AssertionError(f"waited in vain for {what}; the last that was drawn: {self.drawn[-1500:]!r}")

    def ready(self) -> None:
        """Wait until something can be written."""
        self.until(READY)

    def press(self, keys: str | bytes) -> None:
        os.write(self._master, keys if isinstance(keys, bytes) else keys.encode())

    def say(self, text: str) -> None:
        self.press(f"{text}\r")

    def tick(self) -> None:
        """Wait until the seconds that the status line counts have gone on by one, so that the keyboard was quiet."""
        began = self._seconds()
        self.until_so(lambda: self._seconds() > began + 1, "another second")

    def _seconds(self) -> int:
        counted = re.findall(r"(\d+) s · Esc", self.drawn[-20_000:])
        return int(counted[-1]) if counted else -1

    def answer(self, key: str) -> None:
        """Answer a dialog that is on the screen, once the keyboard was quiet for as long as it wants."""
        time.sleep(2 * QUIET_SECONDS)
        self.press(key)

    def say_yes(self) -> None:
        """Answer the question that is on the screen."""
        self.until("yes, once")
        self.tick()
        self.press("y")

    def send(self, which: signal.Signals) -> None:
        self.process.send_signal(which)

    def wait(self) -> int:
        """The exit code."""
        return self.process.wait(PATIENCE)

    @property
    def modes_now(self) -> list[object]:
        """The terminal's modes as they are."""
        return list(termios.tcgetattr(self._slave))


def environment_for(home: Path, **more: str) -> dict[str, str]:
    """The environment of a loom that finds no key and no server but those given, and its terminal's own size."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.endswith(("_API_KEY", "_BASE_URL"))
        and not key.startswith(("LOOM_", "TEXTUAL"))
        and key not in ("COLUMNS", "LINES")
    }
    return {**env, "LOOM_HOME": str(home), "TERM": "xterm-256color", **more}

"""The terminal as Textual drives it, and what happens when it is no longer there.

A closed window sends SIGHUP; but a program that ignores it (`nohup`), or that is not the terminal's own, only finds
that reading gives nothing for ever and that writing fails. Textual's writer thread ends with that, and whoever draws
next waits for it for ever: the program would live on, unseen, with its session held.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from threading import Event
from typing import IO, TYPE_CHECKING, cast

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste
from textual.message import Message

from loom.cowork.ending import silence
from loom.tui.typed_ahead import as_keys, take_typed_ahead
from loom.tui.typed_text import MARKS, TypedText, pasted

if TYPE_CHECKING:
    from textual.app import App


LOOK_SECONDS = 0.05
"""How often is looked whether the program ends before it hears a key."""
_WAIT_SECONDS = 0.1
"""How long is waited for a key before it is looked whether the program ends."""
_PASTE_SECONDS = 0.01
"""How long is waited for the rest of a paste, which the terminal writes in one go."""
_READ_BYTES = 65_536
_MOST_BYTES = 8_000_000
"""A paste that is longer is read in pieces."""


class TerminalLost(Message):
    """Nobody can see or press anything any more."""


class Terminal(LinuxDriver):
    """Textual's driver, which says `TerminalLost` to the app instead of getting stuck."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._typed_ahead = ""
        self._heard = Event()
        # It has all that the driver's writer asks of a file.
        self._file = _Drawing(cast(IO[str], self._file), self.lose)  # type: ignore[assignment]

    @property
    def is_there(self) -> bool:
        """Whether the terminal still answers."""
        return os.isatty(self.fileno)

    def _sigcont_application(self, *_: object) -> None:
        if self._auto_restart and not self._must_signal_resume and self._key_thread is not None:
            # It was SIGSTOP, of which no program hears: what Textual would start a second time is still running, and
            # the end would wait for a thread that waits for keys which the other one took.
            self.suspend_application_mode()
        super()._sigcont_application()

    def start_application_mode(self) -> None:
        ahead = take_typed_ahead(self.fileno)
        if ahead is not None:
            self._typed_ahead += ahead[0]
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if ahead is not None:
            self.attrs_before = ahead[1]

    def hear(self) -> None:
        """There is somebody to press keys for now: what was typed before comes first. Until then keys wait in the
        terminal."""
        self._heard.set()

    def run_input_thread(self) -> None:
        while not self._heard.wait(LOOK_SECONDS):
            if self.exit_event.is_set():
                return
        typed, self._typed_ahead = self._typed_ahead, ""
        if typed:
            for event in XTermParser(self._debug).feed(as_keys(typed)):
                self.process_message(event)
        try:
            self._read_keys()
        except OSError:
            self.lose()

    def _read_keys(self) -> None:
        """Read as Textual does, but for what `TypedText` makes of it."""
        parser, typed = XTermParser(self._debug), TypedText()
        ends = False
        while not ends:
            ends = self.exit_event.is_set()
            readable, _, _ = select.select([self.fileno], [], [], _WAIT_SECONDS)
            if readable and (text := typed.take(self._read(typed))):
                for event in parser.feed(text):
                    self.process_message(event)
            for event in parser.tick():
                self.process_message(event)

    def _read(self, typed: TypedText) -> bytes:
        """What there is to read; of a paste all that comes in one go, which tells where it ends."""
        more = os.read(self.fileno, _READ_BYTES)
        read = bytearray(more)
        while more and len(read) < _MOST_BYTES and (typed.in_paste or any(mark in read for mark in MARKS)):
            readable, _, _ = select.select([self.fileno], [], [], _PASTE_SECONDS)
            more = os.read(self.fileno, _READ_BYTES) if readable else b""
            read += more
        return bytes(read)

    def process_message(self, message: Message) -> None:
        super().process_message(pasted(message) if isinstance(message, Paste) else message)

    def lose(self) -> None:
        """Say that nobody is there."""
        self._app.post_message(TerminalLost())


class _Drawing:
    """A file whose writes never fail: what cannot be drawn is not, and `lost` is told once."""

    def __init__(self, file: IO[str], lost: Callable[[], None]) -> None:
        self._file = file
        self._lost = lost

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError:
            self._give_up()

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        silence()
        self._lost()

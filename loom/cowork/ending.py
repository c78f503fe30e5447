"""What ends the program from outside: `kill`, a closed terminal, Ctrl+C where it is a signal, a reader that is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndingSignals:
    """While it is entered, in a running event loop, these signals call `end` in it instead of ending the program.

    What runs is then stored and given up as at any other end. One that the program was started to ignore (`nohup`)
    stays ignored.
    """

    def __init__(self, end: Callable[[signal.Signals], None]) -> None:
        self._end = end
        self._taken: list[signal.Signals] = []
        self.received: signal.Signals | None = None
        """The first of them that came."""

    @property
    def exit_code(self) -> int | None:
        """128 + the signal's number, as a shell says it; None when none came."""
        return None if self.received is None else 128 + self.received

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for each in SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:
                loop.add_signal_handler(each, self._receive, each)
                self._taken.append(each)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        loop = asyncio.get_running_loop()
        for each in self._taken:
            loop.remove_signal_handler(each)

    def _receive(self, which: signal.Signals) -> None:
        self.received = self.received or which
        self._end(which)


def silence() -> None:
    """Let standard output and errors go nowhere from now on: whoever read them is gone. What Python still holds for
    them cannot fail at the end of the program then."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)

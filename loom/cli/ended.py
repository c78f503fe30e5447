"""`kill` and a closed terminal end a command as Ctrl+C does, so that it removes what it had laid down for itself."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ending:
    """While it is entered, in the main thread, these signals raise KeyboardInterrupt. One that the program was started
    to ignore (`nohup`) stays ignored."""

    def __init__(self) -> None:
        self.exit_code = 128 + signal.SIGINT
        """Of a command that KeyboardInterrupt ended, as a shell says it: 128 + the signal's number."""
        self._before = {each: signal.getsignal(each) for each in _SIGNALS}

    def __enter__(self) -> Self:
        for each, before in self._before.items():
            if before is not signal.SIG_IGN:
                signal.signal(each, self._receive)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)

    def _receive(self, number: int, _: FrameType | None) -> None:
        self.exit_code = 128 + number
        # What is being tidied up is not to be broken off by a second one.
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

"""What was typed before the program had the terminal.

Until then the terminal is as the shell left it: it echoes, keeps lines, and turns the carriage return of Enter into a
line feed, which in a program that has the terminal is another key (Ctrl+J, a new line).
"""

from __future__ import annotations

import os
import termios
from typing import Any

_MOST = 65_536

Modes = list[Any]
"""What `termios.tcgetattr` gives."""


def take_typed_ahead(descriptor: int) -> tuple[str, Modes] | None:
    """What was typed on the terminal, and its modes as they were. From now on it hands every key on as it comes, so
    that Enter is Enter. None where there is no terminal."""
    try:
        before = termios.tcgetattr(descriptor)
        modes = termios.tcgetattr(descriptor)
        modes[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
        modes[3] &= ~(termios.ECHO | termios.ICANON)
        # A read gives what there is, and nothing when there is nothing.
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 0, 0
        termios.tcsetattr(descriptor, termios.TCSANOW, modes)
        typed = b""
        while data := os.read(descriptor, _MOST):
            typed += data
    except (termios.error, OSError):
        return None
    return typed.decode("utf-8", "replace"), before


def as_keys(typed: str) -> str:
    """The same as a program that has the terminal would have got it: one line that ends is a line and Enter. Several
    may be a paste, which the terminal could not mark yet: nothing of it is sent by itself."""
    line = typed.removesuffix("\n")
    return f"{line}\r" if line != typed and "\n" not in line else typed

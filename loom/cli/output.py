"""What a command prints, where standard output can be closed, full, or without a reader."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper

from loom.errors import LoomError

_NOWHERE = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)
"""How the null device is opened for input, output and errors. Output, so that writing to it fails: whoever closed it
hears that nothing was printed. Errors, so that it does not: nobody could be told."""


class OutputError(LoomError):
    """What a command found cannot be printed."""


def prepare_streams() -> None:
    """Make all three standard streams usable.

    One that was closed by whoever started the program gets its number back: the next file that loom opens (a lock, a
    database) would have it otherwise, and what is written to the stream would go into that file. A character that
    output or errors cannot spell becomes its number.
    """
    for number, flags in enumerate(_NOWHERE):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.set_inheritable(os.open(os.devnull, flags), True)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_line(line: str) -> None:
    """Print a line; raises as `write_out`."""
    write_out((line, "\n"))


def write_out(pieces: Iterable[str]) -> None:
    """Print the pieces, now.

    Raises OutputError, or BrokenPipeError where the reader has gone (`loom sessions | head`): nothing is wrong then.
    """
    try:
        sys.stdout.writelines(pieces)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritten(error) from error


def say(line: str) -> None:
    """Print a line on standard error. Where that cannot be, nobody can be told."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _silence(2)


def unwritten(error: OSError) -> OutputError:
    """The error of standard output that took not everything, in words. What Python still holds for it goes nowhere."""
    _silence(1)
    return OutputError(f"Standard output cannot be written: {error.strerror or error}.", "Not everything was printed.")


def _silence(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)

"""The warden: a small process beside loom that ends loom's commands when loom is gone, however loom went.

It is run as a program of its own (`python -I -S warden_process.py`), imports nothing of loom, and reads one line for
each change from its standard input:

    + GROUP MARK    a command runs: its process group, and the value of LOOM_COMMAND in its environment
    - GROUP         it is over

Only loom holds the other end of that pipe, so its end of file is the end of loom. What ran then is asked to end
(SIGTERM), and after GRACE made to (SIGKILL): first the group, then, where there is a /proc to ask, whatever left the
group (`setsid`, a daemon) and still has the mark. A process that cleared its environment or runs as somebody else
is out of reach.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path

MARK = "LOOM_COMMAND"
"""The variable that every command and all that it starts have in their environment."""

GRACE = 2.0
"""Seconds between the request to end and the end."""

_BETWEEN = 0.05
_ROUNDS = 20
"""Looks at what is left after SIGKILL: something may have been started while the last look was taken."""


def marked(marks: set[str]) -> list[int]:
    """The processes that have one of these marks; none where there is no /proc."""
    wanted = [f"{MARK}={mark}".encode() for mark in marks]
    if not wanted:
        return []
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = entry.read_bytes().split(b"\0")
        except OSError:  # gone meanwhile, or somebody else's
            continue
        if any(each in variables for each in wanted):
            found.append(int(entry.parent.name))
    return found


def end(groups: Collection[int], marks: set[str]) -> None:
    """End these groups, and all that has one of these marks. Returns when nothing of them is left to be seen, or
    nothing more can be done."""
    left = _send(groups, marks, signal.SIGTERM)
    until = time.monotonic() + GRACE
    while left and time.monotonic() < until:
        time.sleep(_BETWEEN)
        left = _send(groups, marks, None)
    for _ in range(_ROUNDS):
        if not _send(groups, marks, signal.SIGKILL):
            return
        time.sleep(_BETWEEN)


def _watch() -> dict[int, str]:
    """Read until loom is gone; the groups that ran then, with their marks."""
    running: dict[int, str] = {}
    for line in sys.stdin:
        match line.split():
            case ["+", group, mark]:
                running[int(group)] = mark
            case ["-", group]:
                running.pop(int(group), None)
    return running


def _send(groups: Collection[int], marks: set[str], which: signal.Signals | None) -> bool:
    """Send the signal (None only looks) to every group and marked process; False when there is none."""
    number = 0 if which is None else which.value
    reached = [_reached(os.killpg, group, number) for group in groups]
    reached += [_reached(os.kill, pid, number) for pid in marked(marks)]
    return any(reached)


def _reached(send: Callable[[int, int], None], target: int, number: int) -> bool:
    try:
        send(target, number)
    except OSError:  # gone, or somebody else's
        return False
    return True


if __name__ == "__main__":
    # What ends a terminal's programs is not meant for the one that tidies up after them.
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    left_running = _watch()
    end(left_running.keys(), set(left_running.values()))

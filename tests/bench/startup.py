"""Measures from exec to the first useful text on a real terminal: python -m tests.bench.startup [--rounds N].

Beside loom, in turn in the same run: Python that does nothing, and a Textual program of one label, below which nothing
that is made of Textual can come.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.sessions import create_session
from loom.archive.workspaces import Workspace
from loom.locations import Locations
from tests.bench.table import median, show

COLUMNS, ROWS = 100, 32
PATIENCE = 60.0
_LABEL = (
    "from textual.app import App\nfrom textual.widgets import Label\n"
    "class One(App):\n    def compose(self):\n        yield Label('useful')\nOne().run()"
)


@dataclass(frozen=True, slots=True)
class Program:
    """Something to start, and the text by which it is useful."""

    name: str
    command: Sequence[str]
    text: bytes
    home: Path | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds until the text came, and the most memory that the process had then, in MB."""

    seconds: float
    memory: float


def start(program: Program) -> Start:
    """One start, ended as soon as the text is there. Raises RuntimeError if it never comes."""
    began = time.perf_counter()
    child, screen = pty.fork()
    if child == 0:
        if program.home is not None:
            os.environ["LOOM_HOME"] = str(program.home)
        os.environ["TERM"] = "xterm-256color"
        os.execv(program.command[0], program.command)
    try:
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        _read_until(screen, program.text)
        return Start(time.perf_counter() - began, _peak_memory(child))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(screen)


def _read_until(screen: int, text: bytes) -> None:
    seen = b""
    end = time.monotonic() + PATIENCE
    while text not in seen:
        ready, _, _ = select.select([screen], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            raise RuntimeError(f"{text!r} did not come: {seen[-2000:]!r}")
        try:
            seen += os.read(screen, 65536)
        except OSError as error:
            raise RuntimeError(f"It ended before {text!r} came: {seen[-2000:]!r}") from error


def _peak_memory(process: int) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


async def _make_sessions(home: Path, workspace: Path, count: int) -> None:
    path = Locations(home, home / "config.toml").archive
    store = await ConversationStore.open(path)
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for number in range(count):
            create_session(
                connection, Workspace(str(workspace), None), "offline", "x" * 20_000, title=f"session {number}"
            )
    newest = await store.create_session(workspace, "offline", "")
    await store.append_turn(newest, "user", "the newest session")
    await store.close()


def measure(programs: Sequence[Program], rounds: int) -> list[list[str]]:
    """Rows of the table: medians over the rounds, one start of each program a round."""
    for program in programs:
        start(program)  # the files are in the page cache from here on
    starts: dict[str, list[Start]] = {program.name: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            starts[program.name].append(start(program))
    floor = median([s.seconds for s in starts[programs[1].name]])
    rows = []
    for name, seen in starts.items():
        took = median([s.seconds for s in seen])
        memory = sorted(s.memory for s in seen)[len(seen) // 2]
        rows.append([name, f"{took / 1000:,.0f}", f"{took / floor:.2f}", f"{memory:.0f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sessions", type=int, default=10_000)
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        empty, full, workspace = Path(folder, "empty"), Path(folder, "full"), Path(folder, "workspace")
        for place in (empty, full):
            place.mkdir(mode=0o700)
        workspace.mkdir()
        asyncio.run(_make_sessions(full, workspace, parsed.sessions))
        loom = (sys.executable, "-m", "loom", "cowork", "-w", str(workspace))
        programs = [
            Program("Python that prints a word", (sys.executable, "-c", "print('useful')"), b"useful"),
            Program("Textual, one label", (sys.executable, "-c", _LABEL), b"useful"),
            Program("loom, an empty archive: the composer", loom, b"for commands", empty),
            Program(f"loom, {parsed.sessions:,} sessions: the picker", loom, b"the newest session", full),
        ]
        rows = measure(programs, parsed.rounds)
    show(
        f"From exec to the first useful text, medians of {parsed.rounds} starts",
        ["what", "ms", "of Textual's one label", "peak memory, MB"],
        rows,
    )


if __name__ == "__main__":
    main()

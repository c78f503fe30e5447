"""Measures how long keys wait for Python's search for garbage: python -m tests.bench.pauses [--exchanges N].

The program without a terminal, once for each way of looking, in a process of its own: a long session is resumed, gone
up in page by page, talked in, searched, with pauses of two seconds between. Whatever is looked through meanwhile stops
everything.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loom.archive import ConversationStore, NewTurn
from loom.locations import Locations
from loom.tui.app import LoomApp
from loom.tui.garbage import Garbage
from tests.bench.table import show
from tests.support.seat import OFFLINE, Seat

WAYS = ("Python's own: 700, 10, 10", "10,000, 10, 10", "loom's")
ANSWER = "Some **words** with `code`, and\n\n- a list\n- of two\n\n```python\nprint('and a piece of it')\n```\n\n"
PAUSE = 2.0


class Pauses:
    """Milliseconds of each look for garbage."""

    def __init__(self) -> None:
        self.took: list[float] = []
        self._begun = 0.0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._begun = time.perf_counter()
        else:
            self.took.append(1000 * (time.perf_counter() - self._begun))


def _locations(home: Path) -> Locations:
    return Locations(home, home / "config.toml")


async def make(home: Path, exchanges: int) -> None:
    """A session of so many exchanges, for the folder `home`."""
    store = await ConversationStore.open(_locations(home).archive)
    session = await store.create_session(home, "offline", "")
    for number in range(exchanges):
        said = NewTurn(role="user", content=f"message {number}: what is there?")
        await store.append_turns(session, [said, NewTurn(role="assistant", content=ANSWER * 3)])
    await store.close()


async def drive(home: Path) -> None:
    """Uses the program as somebody would, with pauses."""
    app = LoomApp(_locations(home), OFFLINE, home, resume="0")
    async with app.run_test(size=(100, 32)) as pilot:
        seat = Seat(app, pilot, None)  # type: ignore[arg-type] - the clock is the real one here
        await seat.ready()
        for _ in range(2):
            for _ in range(8):
                await pilot.press("pageup")
            await asyncio.sleep(PAUSE)
        for number in range(3):
            await seat.talk(f"message {number}: and now?")
            await asyncio.sleep(PAUSE)
        for _ in range(2):
            await pilot.press("ctrl+f", *"message 7", "enter")
            await asyncio.sleep(PAUSE)
            await pilot.press("escape", *"and on", "ctrl+c")


def run(way: str, home: Path) -> None:
    """One way, in this process; prints the number of looks, the longest and all of them together, in ms."""
    if way != "loom's":
        Garbage.begin = Garbage.rest = lambda _: None  # type: ignore[method-assign]
    if way == WAYS[1]:
        gc.set_threshold(10_000)
    pauses = Pauses()
    gc.callbacks.append(pauses)
    asyncio.run(drive(home))
    longest = sorted(pauses.took)[-3:]
    print(f"{len(pauses.took):,}|{' '.join(f'{ms:.0f}' for ms in reversed(longest))}|{sum(pauses.took):,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exchanges", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.way is not None:
        run(parsed.way, parsed.home)
        return
    rows = []
    for _ in range(parsed.rounds):
        for way in WAYS:
            with tempfile.TemporaryDirectory() as home:
                asyncio.run(make(Path(home), parsed.exchanges))
                command = [sys.executable, "-m", "tests.bench.pauses", "--way", way, "--home", home]
                told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows.append([way, *told.strip().splitlines()[-1].split("|")])
    show(
        f"A session of {parsed.exchanges:,} exchanges: looking for garbage",
        ["way", "looks", "the three longest, ms", "all, ms"],
        rows,
    )
    print("\nLoad (1, 5, 15 minutes):", ", ".join(f"{each:.1f}" for each in os.getloadavg()))


if __name__ == "__main__":
    main()

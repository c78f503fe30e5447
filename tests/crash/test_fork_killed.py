"""Forks are made and their process is killed at random: what was acknowledged is whole, and nothing else is seen."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

from loom.archive import ConversationStore, NewTurn
from loom.archive.check import check
from loom.archive.removal import unfinished

KILLS = int(os.environ.get("LOOM_KILLS", "10"))
SEED = int(os.environ.get("LOOM_SEED", "5"))
TURNS = 400

FORK = """
import asyncio, sys
from loom.archive import ConversationStore, forks

forks.PART_TURNS = 20

async def fork():
    store = await ConversationStore.open(sys.argv[1])
    print("ready", flush=True)
    while True:
        print(await store.fork_session(sys.argv[2]), flush=True)

asyncio.run(fork())
"""


async def test_no_half_of_a_fork_outlives_its_process(tmp_path: Path) -> None:
    path, dice = tmp_path / "home" / "archive.db", random.Random(SEED)
    store = await ConversationStore.open(path)
    source = await store.create_session(tmp_path, "offline", "")
    for first in range(0, TURNS, 40):
        await store.append_turns(
            source, [NewTurn(role="user", content=f"turn {n} " * 20) for n in range(first, first + 40)]
        )
    digests = [turn.digest for turn in await store.get_turns(source, limit=TURNS)]
    acknowledged: set[str] = set()
    for _ in range(KILLS):
        acknowledged |= await asyncio.to_thread(_fork_until_killed, path, source, dice.random() * 0.4)
        report = check(path)
        assert report.sound, (SEED, report.findings, report.unseen)
        other = await ConversationStore.open(path)
        assert other._leftovers.tidying is not None
        await other._leftovers.tidying
        await other.close()
        assert await store._access.read(unfinished) == []
        seen = {found.id for found in await store.list_sessions(include_inactive=True, limit=10_000)} - {source}
        assert acknowledged <= seen
        for fork in seen:
            assert [turn.digest for turn in await store.get_turns(fork, limit=TURNS)] == digests
    await store.close()
    report = check(path)
    assert report.sound, (SEED, report.findings)
    assert [file.name for file in (path.parent / "leases").iterdir()] == ["lock"]


def _fork_until_killed(path: Path, source: str, seconds: float) -> set[str]:
    """The forks that were acknowledged by a process that makes one after another for so long."""
    with subprocess.Popen([sys.executable, "-c", FORK, str(path), source], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
        # A line that was cut off was not read by anybody.
        return {line.strip() for line in child.stdout if line.endswith("\n")}

"""A purging process is killed at random: the session is whole or hidden, the purge goes on, and no other is touched."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

from loom.archive import ConversationStore, NewTurn, UnknownSession
from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.purge import purge
from tests.support.damage import files_with

KILLS = int(os.environ.get("LOOM_KILLS", "10"))
SEED = int(os.environ.get("LOOM_SEED", "5"))
TURNS = 300
TRACES = (b"Quetzalcoatl", b"quetzalcoatl")

PURGE = """
import functools, sys
from pathlib import Path
from loom.archive import purge
from loom.archive.removal import Share

purge.erase = functools.partial(purge.erase, share=Share(turns=10, bytes=1_000_000))
print("ready", flush=True)
print("left:", *purge.purge(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[1]).parent).left, flush=True)
"""


async def test_no_half_of_a_session_looks_whole_and_the_purge_goes_on(tmp_path: Path) -> None:
    path, dice = tmp_path / "home" / "archive.db", random.Random(SEED)
    store = await ConversationStore.open(path)
    kept = await _talk(store, tmp_path, "stays")
    digests = [turn.digest for turn in await store.get_turns(kept, limit=TURNS)]
    phases = {"whole": 0, "half": 0, "gone": 0}
    for place in range(KILLS):
        doomed = await _talk(store, tmp_path, "Quetzalcoatl")
        assert len(await store.search_turns(doomed, "Quetzalcoatl", limit=TURNS)) > 0
        backup = create_backup(path).path
        done = await asyncio.to_thread(_purge_until_killed, path, doomed, dice.random() * 1.5)
        if place % 2:
            other = await ConversationStore.open(path)
            assert other._leftovers.tidying is not None
            await other._leftovers.tidying
            await other.close()
        phase = await _phase(store, path, doomed)
        phases[phase] += 1
        assert phase == "gone" or not done, SEED
        if phase == "gone":
            assert [s.id for s in await store.list_sessions(include_inactive=True)] == [kept]
        else:
            # By whatever was left, as a person repeats it.
            purged = await asyncio.to_thread(purge, path, doomed, path.parent)
            assert purged.left == (), SEED
            assert (purged.went_before is None) == (phase == "whole")
        assert files_with(path.parent, *TRACES) == [], (SEED, place, phase)
        report = check(path)
        assert report.sound, (SEED, report.findings)
        assert [turn.digest for turn in await store.get_turns(kept, limit=TURNS)] == digests
        assert len(await store.search_turns(kept, "stays", limit=TURNS)) == TURNS
        backup.unlink()
    await store.close()
    print(phases)
    assert [file.name for file in (path.parent / "leases").iterdir()] == ["lock"]


async def _phase(store: ConversationStore, path: Path, doomed: str) -> str:
    """How far the purge got; what can be seen must fit it."""
    report = check(path)
    assert not report.unseen, (SEED, report.unseen)
    detail = await store.get_session(doomed)
    if detail is not None:
        assert report.sound, (SEED, report.findings)
        assert detail.is_active and detail.turn_count == TURNS
        return "whole"
    if await store.find_half_purged(doomed) is not None:
        assert [finding.part for finding in report.findings] == ["purge"], (SEED, report.findings)
        try:
            await store.resume_session(doomed)
        except UnknownSession:
            return "half"
        raise AssertionError("half a session is resumed")
    assert report.sound, (SEED, report.findings)
    return "gone"


async def _talk(store: ConversationStore, workspace: Path, words: str) -> str:
    session = await store.create_session(workspace, "offline", f"You are {words}.")
    for first in range(0, TURNS, 50):
        await store.append_turns(
            session,
            [NewTurn(role="user", content=f"{words}, {n}, in src/{words}_{n}.py") for n in range(first, first + 50)],
        )
    return session


def _purge_until_killed(path: Path, session: str, seconds: float) -> bool:
    """Whether it was done before."""
    with subprocess.Popen(
        [sys.executable, "-c", PURGE, str(path), session], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
        said = child.stdout.readline()
        assert said in ("", "left:\n"), said
        return bool(said)

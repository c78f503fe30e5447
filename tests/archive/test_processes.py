"""Several looms write one archive at once: nobody is turned away, nothing is mixed up."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.database import connect, pragma
from tests.archive.test_appends import check_chain

WRITERS = 4
TURNS = 60

WRITE = """
import asyncio, sys
from loom.archive import ConversationStore

async def write(path: str, name: str, session: str, turns: int) -> None:
    store = await ConversationStore.open(path)
    own = await store.create_session(".", "offline", "", title=name)
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(turns):
        await store.append_turn(own, "user", f"{name} {n} " + "x" * 1000)
        await store.append_turn(session, "user", f"{name} {n}")
    await store.close()

asyncio.run(write(*sys.argv[1:4], int(sys.argv[4])))
"""


async def test_four_processes_write_at_once(store: ConversationStore, archive_path: Path, session: str) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(archive_path), f"writer{n}", session, str(TURNS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    errors = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * WRITERS, errors

    shared = await store.get_turns(session, limit=WRITERS * TURNS + 1)
    assert [turn.turn_number for turn in shared] == list(range(1, WRITERS * TURNS + 1))
    for n in range(WRITERS):
        mine = [turn.content for turn in shared if (turn.content or "").startswith(f"writer{n} ")]
        assert mine == [f"writer{n} {i}" for i in range(TURNS)]
    with closing(connect(archive_path, readonly=True)) as connection:
        assert pragma(connection, "integrity_check") == "ok"
        check_chain(shared, connection, session)
        for own in await store.list_sessions(".", limit=10):
            if own.title.startswith("writer"):
                assert own.turn_count == TURNS
                check_chain(await store.get_turns(own.id, limit=TURNS), connection, own.id)

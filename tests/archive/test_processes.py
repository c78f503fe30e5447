"""Several looms write one archive at once: nobody is turned away, nothing is mixed up."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
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
        if n % 3 == 0:
            await store.checkpoint(empty=n % 12 == 0)
    await store.close()

asyncio.run(write(*sys.argv[1:4], int(sys.argv[4])))
"""

COMPETE = """
import asyncio, sys
from loom.archive import ConversationStore

async def write(path: str, session: str) -> None:
    store = await ConversationStore.open(path)
    print("ready", flush=True)
    sys.stdin.readline()
    while await store.get_turn_count(session) < int(sys.argv[4]):
        await store.append_turn(session, "user", sys.argv[3])
    await store.close()

asyncio.run(write(*sys.argv[1:3]))
"""


@contextmanager
def _started_together(code: str, arguments: list[list[str]]) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that all begin at once."""
    with ExitStack() as stack:
        children = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", code, *own],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for own in arguments
        ]
        for child in children:
            stack.callback(child.kill)
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        yield children


async def test_four_processes_write_at_once(store: ConversationStore, archive_path: Path, session: str) -> None:
    arguments = [[str(archive_path), f"writer{n}", session, str(TURNS)] for n in range(WRITERS)]
    with _started_together(WRITE, arguments) as writers:
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


async def test_everybody_gets_a_share(store: ConversationStore, archive_path: Path, session: str) -> None:
    together = 400
    arguments = [[str(archive_path), session, f"writer{n}", str(together)] for n in range(WRITERS)]
    with _started_together(COMPETE, arguments) as writers:
        errors = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * WRITERS, errors
    stored = await store.get_turns(session, limit=2 * together)
    shares = Counter(turn.content for turn in stored)
    # A quarter would be fair. With SQLite's own lock alone, the least of four gets a tenth of it again and again.
    assert min(shares[f"writer{n}"] for n in range(WRITERS)) > together / WRITERS / 3, shares

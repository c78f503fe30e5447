"""The program on a real terminal, killed with -9 while a command of the person's runs."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.check import check
from loom.archive.records import Turn, TurnStatus
from tests.support.checkout import make_checkout
from tests.support.pty_program import PATIENCE, PtyProgram, environment_for

SHELL = "in the workspace; Backspace leaves"
"""Stands in the empty shell."""


async def drafted(home: Path, words: str) -> None:
    """Returns when the draft on the disk holds these words."""
    store = await ConversationStore.open(home / "archive.db")
    try:
        [session] = await store.list_sessions()
        async with asyncio.timeout(PATIENCE):
            while (draft := await store.get_draft(session.id)) is None or words not in str(draft.turns):
                await asyncio.sleep(0.05)
    finally:
        await store.close()


async def stored(home: Path) -> list[Turn]:
    """Every turn of the one session, a draft made an interrupted turn."""
    store = await ConversationStore.open(home / "archive.db")
    try:
        [session] = await store.list_sessions()
        return await store.resume_session(session.id, limit=100)
    finally:
        await store.close()


async def gone(process: str) -> None:
    """Returns when the process has ended."""
    place = Path("/proc") / process / "stat"
    async with asyncio.timeout(PATIENCE):
        while place.exists() and ") Z" not in place.read_text():
            await asyncio.sleep(0.05)


async def test_what_a_command_wrote_is_kept_and_it_ends_with_loom(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    environment = environment_for(home, LOOM_MODEL="offline")
    command = "echo $$ > child; echo begun; sleep 600"
    with PtyProgram(["cowork", "-w", str(workspace)], environment) as loom:
        loom.ready()
        loom.press("!")
        loom.until(SHELL)
        loom.say(command)
        loom.until("running")
        await drafted(home, "begun")
        loom.send(signal.SIGKILL)
        loom.wait()
    await gone((workspace / "child").read_text().strip())
    asked, output = await stored(home)
    assert asked.person_command == command
    assert (output.status, output.tool_call_id) == (TurnStatus.INTERRUPTED, (asked.tool_calls or [{}])[0]["id"])
    assert (output.content or "").startswith("begun\n[cut off: loom was ended while it ran")
    assert check(home / "archive.db").sound
    with PtyProgram(["cowork", "-w", str(workspace), "--resume", "0"], environment) as loom:
        loom.until("cut off: loom was ended while it ran")
        loom.ready()
        after = len(loom.drawn)
        loom.press("!")
        loom.until(SHELL, after=after)
        loom.say("echo and on")
        loom.until("exit 0", after=after)
        loom.press("\x11")
        assert loom.wait() == 0
    turns = await stored(home)
    assert [turn.content for turn in turns[2:]] == [None, "and on\n[exit code 0]"], "nothing is recovered twice"

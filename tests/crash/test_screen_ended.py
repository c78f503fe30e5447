"""The program on a real terminal, ended from outside: what ran is stored, the session free, the terminal as it was."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.records import Session, Turn, TurnStatus
from loom.archive.unsent import Unsent
from loom.cowork.typed import placed
from tests.support.checkout import make_checkout
from tests.support.pty_program import PATIENCE, PtyProgram, environment_for
from tests.support.unsent import left_unsent

IGNORING = [
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])",
]
"""Runs a program as `nohup` does: a closed terminal sends it nothing that counts."""


class Place:
    """A home and a folder to work in, and loom there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = make_checkout(folder / "checkout")

    def loom(self, *more: str, before: list[str] | None = None) -> PtyProgram:
        environment = environment_for(self.home, LOOM_MODEL="offline", LOOM_OFFLINE_DELAY_MS="5")
        return PtyProgram(["cowork", "-w", str(self.workspace), *more], environment, before=before or [])

    async def stored(self) -> tuple[Session, list[Turn], bool]:
        """The session, its turns, and whether nobody has it."""
        store = await ConversationStore.open(self.home / "archive.db")
        try:
            [session] = await store.list_sessions()
            turns = await store.get_range(session.id, 1, session.turn_count)
            return session, turns, await store.get_lease_holder(session.id) is None
        finally:
            await store.close()

    def keeps(self, words: str) -> bool:
        """Whether a file of unsent words has these."""
        return any(words in file.read_text() for file in (self.home / "unsent").glob("*.txt"))

    def unsent(self, session_id: str) -> list[str]:
        return left_unsent(Unsent(self.home / "unsent"), session_id)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path)


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_keeps_everything_and_gives_the_terminal_back(place: Place, which: signal.Signals) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.say("count to 10000")
        loom.until("17, 18")
        loom.press("half a thought")
        loom.until("half a thought")
        loom.send(which)
        assert loom.wait() == 128 + which
        assert loom.modes_now == loom.modes
        assert b"\x1b[?1049l" in loom.raw
        session, turns, free = await place.stored()
        loom.until(f"resume with: loom cowork -w {place.workspace} --resume {session.reference}")
    assert free
    assert [turn.content for turn in turns if turn.role == "user"] == ["count to 10000"]
    assert turns[-1].status is TurnStatus.INTERRUPTED
    assert "1, 2, 3, 4," in (turns[-1].content or "")
    assert place.unsent(session.id) == ["half a thought"]
    with place.loom("--resume", session.reference) as again:
        again.until("half a thought")
        again.until("interrupted")


@pytest.mark.parametrize("before", [[], IGNORING], ids=["hangup", "hangup ignored"])
async def test_a_closed_terminal_keeps_everything(place: Place, before: list[str]) -> None:
    with place.loom(before=before) as loom:
        loom.ready()
        loom.say("count to 10000")
        loom.until("17, 18")
        loom.press("half a thought")
        loom.until("half a thought")
        loom.close()
        assert loom.wait() == 128 + signal.SIGHUP
    session, turns, free = await place.stored()
    assert free
    assert turns[-1].status is TurnStatus.INTERRUPTED
    assert place.unsent(session.id) == ["half a thought"]


def test_after_a_kill_the_cursor_stands_where_it_stood(place: Place) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.press("one two" + "\x1b[D" * 3)
        loom.until_so(lambda: place.keeps(placed("one two", 4)), "the unsent words, and the cursor's place, in a file")
        loom.send(signal.SIGKILL)
        loom.wait()
    with place.loom() as again:
        again.until("one two")
        again.press("and ")
        again.until_so(lambda: place.keeps(placed("one and two", 8)), "the words written where the cursor had stood")
        again.press("\x11")
        assert again.wait() == 0


async def test_a_message_whose_write_had_to_wait_is_there_after_a_kill(place: Place) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.say("count to 3")
        loom.until("1, 2, 3")
        other = sqlite3.connect(place.home / "archive.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        loom.say("words that matter")
        loom.until_so(lambda: place.keeps("words that matter"), "the unsent words in a file")
        loom.send(signal.SIGKILL)
        loom.wait()
        other.close()
    session, turns, _ = await place.stored()
    assert [turn.content for turn in turns if turn.role == "user"] == ["count to 3"]
    assert place.unsent(session.id) == ["words that matter"]
    with place.loom("--resume", session.reference) as again:
        again.until("words that matter")


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGKILL])
async def test_what_a_command_started_ends_with_the_program(place: Place, which: signal.Signals) -> None:
    path = place.workspace / "line"
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    hold = os.open(path, os.O_WRONLY)
    with place.loom() as loom:
        loom.ready()
        loom.say("""run exec 9>line; sh -c 'sh -c "echo up >&9; sleep 1000 & wait" & wait'""")
        loom.say_yes()
        assert heard(end) == b"up\n"
        loom.send(which)
        loom.wait()
    os.close(hold)
    assert heard(end) == b"", "something still holds the line"
    os.close(end)


def heard(end: int) -> bytes:
    """What comes through the pipe next; nothing when nobody holds its other end any more."""
    readable, _, _ = select.select([end], [], [], PATIENCE)
    assert readable, "nothing came"
    return os.read(end, 1_000)


async def test_two_ctrl_c_leave_and_one_does_not(place: Place) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.press("never mind")
        loom.until("never mind")
        loom.press("\x03")
        loom.until("Cleared")
        loom.press("\x03")
        loom.until("Ctrl+C again")
        loom.press("\x03")
        assert loom.wait() == 0
        assert "resume with" not in loom.drawn


async def test_a_signal_in_the_middle_of_the_start_is_honoured(place: Place) -> None:
    with place.loom() as loom:
        loom.until_bytes(1)
        loom.send(signal.SIGTERM)
        assert loom.wait() == 128 + signal.SIGTERM
        assert loom.modes_now == loom.modes


async def test_what_no_disk_took_is_printed_where_it_can_be_copied(place: Place) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.say("count to 3")
        loom.until("1, 2, 3")
        loom.until("T2")
        # The spool's folder is a file, and the archive refuses every turn: as on a disk that is full.
        (place.home / "spool").write_text("")
        with closing(connect(place.home / "archive.db")) as other:
            other.execute(
                "CREATE TRIGGER full BEFORE INSERT ON conversation_turns BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        loom.say("the words that nobody takes")
        loom.until("Not saved")
        shown = len(loom.drawn)
        loom.send(signal.SIGTERM)
        assert loom.wait() == 128 + signal.SIGTERM
        loom.until("could be stored nowhere", after=shown)
        loom.until("the words that nobody takes", after=loom.drawn.rindex("could be stored nowhere"))
        loom.until("resume with: loom cowork", after=shown)

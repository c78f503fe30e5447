"""One at a time, each in its turn, and nobody waits for the dead."""

from __future__ import annotations

import asyncio
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, WriteFailed, access, database
from loom.archive.database import connect
from loom.archive.transactions import transaction
from loom.archive.turnstile import Turnstile
from tests.support.listening import PATIENCE

INSIDE = """
import sys
from pathlib import Path
from loom.archive.turnstile import Turnstile
turnstile = Turnstile(Path(sys.argv[1]))
assert turnstile.enter(60)
print("inside", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.db"


def test_one_is_inside_at_a_time(path: Path) -> None:
    count, most = 0, 0
    rounds = 200

    def write() -> None:
        nonlocal count, most
        turnstile = Turnstile(path)
        for _ in range(rounds):
            assert turnstile.enter(PATIENCE)
            before = count
            most = max(most, before % 2)
            count = before + 1  # two at once would lose one of their steps
            turnstile.leave()
        turnstile.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 4 * rounds


def test_who_comes_too_late_is_turned_away_and_may_come_again(path: Path) -> None:
    first, second = Turnstile(path), Turnstile(path)
    assert first.enter(1)
    assert not second.enter(0.02)
    assert not second.enter(0.02)
    first.leave()
    assert second.enter(PATIENCE)
    # Who was given up while waiting does not hold a place that nobody will leave.
    second.leave()
    assert first.enter(PATIENCE)
    first.close()
    second.close()


def _remove(file: Path) -> None:
    file.unlink()


def _rename(file: Path) -> None:
    file.rename(file.with_name(f"{file.name}.old"))


def _replace(file: Path) -> None:
    _rename(file)
    shutil.copy(file.with_name(f"{file.name}.old"), file)


@pytest.mark.parametrize("harm", [_remove, _rename, _replace])
@pytest.mark.parametrize("harmed", [["queue"], ["lock"], ["queue", "lock"]])
def test_one_is_inside_at_a_time_when_its_files_lost_their_names(
    path: Path, harmed: list[str], harm: Callable[[Path], None]
) -> None:
    old, new = Turnstile(path), Turnstile(path)
    assert old.enter(PATIENCE)
    old.leave()
    for name in harmed:
        harm(path.with_name(f"{path.name}-{name}"))
    assert new.enter(PATIENCE)
    assert not old.enter(0.1)
    new.leave()
    assert old.enter(PATIENCE)
    assert not new.enter(0.1)
    old.close()
    assert new.enter(PATIENCE)
    new.close()


def test_a_folder_that_is_moved_with_the_files_in_it_is_the_same_to_all(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    first, second = Turnstile(tmp_path / "old" / "some.db"), Turnstile(tmp_path / "new" / "some.db")
    assert first.enter(PATIENCE)
    first.leave()
    (tmp_path / "old").rename(tmp_path / "new")
    assert first.enter(PATIENCE)
    assert not second.enter(0.02)
    first.close()
    assert second.enter(PATIENCE)
    second.close()


def test_a_folder_that_is_made_anew_is_the_same_to_all(tmp_path: Path) -> None:
    folder = tmp_path / "some"
    first, second = Turnstile(folder / "some.db"), Turnstile(folder / "some.db")
    folder.mkdir()
    assert first.enter(PATIENCE)
    first.leave()
    shutil.rmtree(folder)
    folder.mkdir()
    assert second.enter(PATIENCE)
    assert not first.enter(0.02)
    second.close()
    assert first.enter(PATIENCE)
    first.close()


def test_its_files_are_private_and_made_when_needed(path: Path) -> None:
    turnstile = Turnstile(path)
    assert list(path.parent.iterdir()) == []
    assert turnstile.enter(1)
    assert {file.name for file in path.parent.iterdir()} == {"some.db-lock", "some.db-queue"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    turnstile.close()


def test_a_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Turnstile(tmp_path / "gone" / "some.db").enter(1)


def test_a_look_at_the_names_that_fails_lets_the_next_one_in(path: Path) -> None:
    one, other = Turnstile(path), Turnstile(path)
    for turnstile in (one, other):
        assert turnstile.enter(1)
        turnstile.leave()
    queue, aside = path.with_name("some.db-queue"), path.with_name("aside")
    queue.rename(aside)
    queue.symlink_to(queue.name)
    with pytest.raises(OSError, match="symbolic links"):
        one.enter(1)
    aside.replace(queue)
    assert other.enter(1)
    other.leave()
    assert one.enter(1)
    for turnstile in (one, other):
        turnstile.close()


def test_one_that_can_start_no_thread_to_wait_in_lets_the_next_one_in(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    holder, one, other = (Turnstile(path) for _ in range(3))
    assert holder.enter(1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError):
            one.enter(1)
    holder.leave()
    assert other.enter(1)
    for turnstile in (holder, one, other):
        turnstile.close()


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_is_left_behind(path: Path) -> None:
    holder, others = Turnstile(path), [Turnstile(path) for _ in range(5)]
    before = _descriptors()
    assert holder.enter(1)
    assert not any(other.enter(0.01) for other in others)
    holder.close()
    last = Turnstile(path)
    # In line behind all that were given up: when it is inside they have been, and have gone.
    assert last.enter(PATIENCE)
    for turnstile in (last, *others):
        turnstile.close()
    for thread in threading.enumerate():
        if thread.name == "loom-queue":
            thread.join(PATIENCE)
    assert _descriptors() == before


def _inside(path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", INSIDE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "inside\n"
    return child


async def test_a_process_that_is_killed_inside_lets_the_next_one_in(store: ConversationStore, session: str) -> None:
    with _inside(store.path) as child:
        waiting = asyncio.create_task(store.append_turn(session, "user", "after the kill"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 0.1)
        child.send_signal(signal.SIGKILL)
        assert await waiting == 1


async def test_a_process_that_is_stopped_inside_does_not_keep_others_waiting_forever(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "WRITING_PATIENCE", 0.1)
    with _inside(store.path) as child:
        child.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(WriteFailed, match="kept the archive locked"):
                await store.append_turn(session, "user", "refused")
        finally:
            child.send_signal(signal.SIGCONT)
            child.kill()
    assert await store.append_turn(session, "user", "kept") == 1
    assert [turn.content for turn in await store.get_turns(session)] == ["kept"]


async def test_a_stopped_process_does_not_keep_anybody_from_closing(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (database, access):
        monkeypatch.setattr(module, "CLOSING_PATIENCE", 0.05)
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.append_turn(session, "user", "kept")
    with _inside(archive_path) as child:
        await store.close()
        child.kill()
    again = await ConversationStore.open(archive_path)
    assert [turn.content for turn in await again.get_turns(session)] == ["kept"]
    await again.close()


async def test_a_cancelled_writer_that_waits_is_still_carried_through(store: ConversationStore, session: str) -> None:
    turnstile = Turnstile(store.path)
    assert turnstile.enter(1)
    waiting = asyncio.create_task(store.append_turn(session, "user", "in line"))
    await asyncio.sleep(0)
    waiting.cancel()
    turnstile.leave()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [turn.content for turn in await store.get_turns(session)] == ["in line"]
    assert await store.append_turn(session, "user", "next") == 2
    turnstile.close()


def test_a_transaction_is_inside_once(archive_path: Path) -> None:
    from loom.archive.migrations import prepare

    prepare(archive_path)
    other = Turnstile(archive_path)
    with closing(connect(archive_path)) as connection:
        with transaction(connection), pytest.raises(RuntimeError), connection.writing(1):
            assert not other.enter(0.01)
            raise RuntimeError
        assert other.enter(PATIENCE)
        other.close()

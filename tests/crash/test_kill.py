"""kill -9 at any moment loses no turn that was acknowledged.

`LOOM_CRASH_KILLS` sets how many children are killed (40 unless it is set), `LOOM_CRASH_SEED` which moments are chosen.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.check import check
from loom.archive.database import connect, pragma
from loom.archive.digests import DIGESTED, GENESIS, digest
from loom.archive.migrations import MIGRATIONS
from tests.crash.writer import digest_of, text_of
from tests.support.older import make_older

KILLS = int(os.environ.get("LOOM_CRASH_KILLS", "40"))
SEED = int(os.environ.get("LOOM_CRASH_SEED", "1"))
MAKE = """
import sys
from pathlib import Path
from loom.archive.migrations import prepare
print(flush=True)
prepare(Path(sys.argv[1]))
"""

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True)
class Said:
    """One acknowledgement: the turn `number` holds the text that child `seed` made at `step`."""

    number: int
    digest: str
    seed: int
    step: int


@contextmanager
def _writer(path: Path, session: str, seed: int, honesty: str = "honest") -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.crash.writer", str(path), session, str(seed), honesty]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def _kill(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGKILL)


def _kill_after(
    child: subprocess.Popen[bytes],
    acknowledgements: int,
    patience: float,
    end: Callable[[subprocess.Popen[bytes]], None] = _kill,
) -> bytes:
    """What the child said until it was killed: some lines, and then a random while, in the middle of what comes.
    `end` is another way to end it."""
    assert child.stdout is not None
    heard = b""
    while heard.count(b"\n") < acknowledgements:
        chunk = os.read(child.stdout.fileno(), 65536)
        if not chunk:
            assert child.stderr is not None
            raise AssertionError(f"the child ended by itself: {child.stderr.read().decode()}")
        heard += chunk
    # The phase of the kill inside of an append: nothing is waited for, the time itself is what varies.
    select.select([], [], [], patience)
    end(child)
    while chunk := os.read(child.stdout.fileno(), 65536):
        heard += chunk
    return heard


def _parse(heard: bytes, seed: int) -> list[Said]:
    lines = heard.decode().split("\n")[:-1]
    return [Said(int(n), d, seed, int(step)) for n, d, step in (line.split() for line in lines)]


def _check(path: Path, session: str, said: list[Said]) -> int:
    """The archive holds all that was said, verbatim, and is whole; how many turns it has."""
    with closing(connect(path, readonly=True)) as connection:
        assert pragma(connection, "integrity_check") == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        rows = connection.execute(
            f"SELECT digest, {', '.join(DIGESTED)} FROM conversation_turns WHERE session_id = ? ORDER BY turn_number",
            (session,),
        ).fetchall()
        (count,) = connection.execute("SELECT turn_count FROM cowork_sessions WHERE id = ?", (session,)).fetchone()
    assert [row[1] for row in rows] == list(range(1, len(rows) + 1))
    assert count == len(rows)
    previous = GENESIS
    for row in rows:
        previous = digest(previous, row[1:])
        assert row[0] == previous
    content = DIGESTED.index("content") + 1
    stored = {row[1]: row[content] for row in rows}
    assert len(set(stored.values())) == len(stored), "a turn was stored twice"
    for word in said:
        assert word.number in stored, f"turn {word.number} was acknowledged and is gone"
        assert digest_of(stored[word.number]) == word.digest
        assert stored[word.number] == text_of(word.seed, word.step)
    return len(rows)


async def _make(path: Path, sessions: int = 1) -> list[str]:
    store = await ConversationStore.open(path)
    made = [await store.create_session(path.parent, "offline", "") for _ in range(sessions)]
    await store.close()
    return made


def test_every_acknowledged_turn_survives_a_kill(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    path = tmp_path / "archive.db"
    (session,) = asyncio.run(_make(path))
    said: list[Said] = []
    for kill in range(KILLS):
        seed = SEED * 1_000_000 + kill
        with _writer(path, session, seed) as child:
            heard = _kill_after(child, chance.choice([0, 1, 1, 5, 20]), chance.random() * chance.choice([0.001, 0.02]))
        said += _parse(heard, seed)
        if kill % 10 == 9 or kill == KILLS - 1:
            _check(path, session, said)
    assert said


def test_two_writers_of_one_session_survive_each_others_kill(tmp_path: Path) -> None:
    chance = random.Random(SEED + 1)
    path = tmp_path / "archive.db"
    (session,) = asyncio.run(_make(path))
    said: list[Said] = []
    for kill in range(max(1, KILLS // 8)):
        first, second = SEED * 2_000_000 + kill * 2, SEED * 2_000_000 + kill * 2 + 1
        with _writer(path, session, first) as one, _writer(path, session, second) as other:
            said += _parse(_kill_after(one, 3, chance.random() * 0.02), first)
            said += _parse(_kill_after(other, 3, chance.random() * 0.02), second)
        _check(path, session, said)


def test_a_kill_while_the_archive_is_made_leaves_none_or_a_whole_one(tmp_path: Path) -> None:
    chance = random.Random(SEED + 2)
    for kill in range(max(1, KILLS // 4)):
        path = tmp_path / str(kill) / "archive.db"
        child = subprocess.Popen([sys.executable, "-c", MAKE, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
        _kill_after(child, 1, chance.random() * 0.03)
        child.communicate()
        (session,) = asyncio.run(_make(path))
        _check(path, session, [])


def test_a_kill_while_an_older_archive_is_migrated_leaves_it_as_it_was_or_new(tmp_path: Path) -> None:
    chance = random.Random(SEED + 3)
    older = tmp_path / "older" / "archive.db"
    texts = [f"turn {n} " + "x" * 500 for n in range(1, 1501)]
    make_older(older, len(MIGRATIONS) - 1, {"kept": [(n // 3, "user", text, n) for n, text in enumerate(texts)]})
    for kill in range(max(1, KILLS // 4)):
        path = tmp_path / str(kill) / "archive.db"
        # By another process: loom's own lets nobody open an archive that it has had open.
        subprocess.run(["cp", "-r", older.parent, path.parent], check=True)
        child = subprocess.Popen([sys.executable, "-c", MAKE, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
        _kill_after(child, 1, chance.random() * 0.3)
        child.communicate()
        with closing(connect(path)) as connection:
            assert pragma(connection, "user_version") in (len(MIGRATIONS) - 1, len(MIGRATIONS))
        asyncio.run(_make(path))
        assert _check(path, "kept", []) == len(texts)
        assert check(path).sound, check(path).findings
        shutil.rmtree(path.parent)


@pytest.mark.parametrize("lie", ["number", "text"])
def test_the_check_would_notice_a_lost_turn(tmp_path: Path, lie: str) -> None:
    path = tmp_path / "archive.db"
    (session,) = asyncio.run(_make(path))
    with _writer(path, session, 7) as child:
        said = _parse(_kill_after(child, 5, 0), 7)
    count = _check(path, session, said)
    false = Said(count + 1, said[0].digest, 7, 0) if lie == "number" else Said(1, digest_of("other"), 7, 0)
    with pytest.raises(AssertionError):
        _check(path, session, [*said, false])


def _half_batches(path: Path, session: str, seed: int) -> int:
    """How many appends of this child were stored in part: its last exchange against what it would have said."""
    with closing(connect(path, readonly=True)) as connection:
        keys = {row[0] for row in connection.execute("SELECT append_key FROM conversation_turns")}
    chance = random.Random(seed)
    step = halves = 0
    while f"{seed}/{step}" in keys:
        size = chance.choice([1, 1, 1, 2, 5])
        halves += not all(f"{seed}/{step + n}" in keys for n in range(size))
        chance.random()
        chance.random()
        step += size
    return halves


@pytest.mark.parametrize("liar", ["acknowledges-first", "batches"])
def test_the_harness_catches_a_store_that_speaks_too_early(tmp_path: Path, liar: str) -> None:
    chance = random.Random(SEED)
    for kill in range(60):
        path = tmp_path / f"{kill}.db"
        (session,) = asyncio.run(_make(path))
        with _writer(path, session, kill, liar) as child:
            said = _parse(_kill_after(child, 3, chance.random() * 0.01), kill)
        try:
            _check(path, session, said)
        except AssertionError:
            return
    raise AssertionError(f"{liar} lost nothing in 60 kills, or the harness does not see it")


def test_the_harness_catches_a_store_that_splits_an_append(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for kill in range(200):
        path = tmp_path / f"{kill}.db"
        (session,) = asyncio.run(_make(path))
        with _writer(path, session, kill, "splits") as child:
            _kill_after(child, chance.choice([1, 5, 9]), chance.random() * 0.01)
        cut = _half_batches(path, session, kill)
        if cut:
            break
    assert cut, "no append was cut in 200 kills, or the harness does not see it"


def test_no_append_of_the_product_is_cut(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for kill in range(max(5, KILLS // 4)):
        path = tmp_path / f"{kill}.db"
        (session,) = asyncio.run(_make(path))
        with _writer(path, session, kill) as child:
            _kill_after(child, chance.choice([1, 5, 9]), chance.random() * 0.01)
        assert _half_batches(path, session, kill) == 0

"""A power cut at any moment loses no turn that was acknowledged.

A shim records each write and sync of a child that appends. A state is what a disk may hold after a cut: everything
that was synced before it, and of what came after an arbitrary part, sectors torn. `LOOM_POWER_STATES` sets how many
are looked at (150 unless it is set), `LOOM_CRASH_SEED` which.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from loom.archive.digests import DIGESTED, GENESIS, digest
from tests.crash.test_kill import ROOT, SEED, _make
from tests.crash.writer import digest_of
from tests.support.damage import copy_file

STATES = int(os.environ.get("LOOM_POWER_STATES", "150"))
TURNS = "60"
SECTOR = 512
ACKNOWLEDGED = "said"

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or not sys.platform.startswith("linux"),
    reason="recording writes needs gcc and LD_PRELOAD",
)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that the child did to a file."""

    what: str
    """W write, T truncate, S sync, U unlink."""
    file: str
    place: int = 0
    data: bytes = b""


def _record(tmp_path: Path, honesty: str) -> tuple[bytes, list[Change], str]:
    """The archive before, what a child did to it, and the session."""
    shim = tmp_path / "recorder.so"
    source = Path(__file__).with_name("recorder.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(source), "-ldl", "-lpthread"], check=True)
    folder, log = tmp_path / "home", tmp_path / "log"
    path = folder / "archive.db"
    (session,) = asyncio.run(_make(path))
    copy_file(path, tmp_path / "before")
    command = [sys.executable, "-m", "tests.crash.writer", str(path), session, str(SEED), honesty, TURNS]
    subprocess.run(
        [*command, str(folder / ACKNOWLEDGED)],
        env={**os.environ, "LD_PRELOAD": str(shim), "LOOM_RECORD_FOLDER": str(folder), "LOOM_RECORD_LOG": str(log)},
        cwd=ROOT,
        check=True,
    )
    return (tmp_path / "before").read_bytes(), _parse(log.read_bytes()), session


def _parse(log: bytes) -> list[Change]:
    changes: list[Change] = []
    at = 0
    while at < len(log):
        end = log.index(b"\n", at)
        what, name, *numbers = log[at:end].decode().split(" ")
        at = end + 1
        data = b""
        if what == "W":
            data = log[at : at + int(numbers[1])]
            at += len(data)
        changes.append(Change(what, name, int(numbers[0]) if numbers else 0, data))
    return changes


def _after(before: bytes, changes: list[Change], cut: int, chance: random.Random) -> dict[str, bytes]:
    """What the files may hold when the power fails right after the first `cut` changes."""
    synced = {change.file: n for n, change in enumerate(changes[:cut]) if change.what == "S"}
    luck = chance.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    files = {"archive.db": bytearray(before)}
    for n, change in enumerate(changes[:cut]):
        held = n <= synced.get(change.file, -1)
        if change.file == ACKNOWLEDGED or (not held and chance.random() >= luck):
            continue
        if change.what == "U":
            files.pop(change.file, None)
        elif change.what == "T":
            file = files.setdefault(change.file, bytearray())
            del file[change.place :]
            file.extend(bytes(change.place - len(file)))
        elif change.what == "W":
            file = files.setdefault(change.file, bytearray())
            for start in range(0, len(change.data), SECTOR):
                if held or luck == 1.0 or chance.random() < 0.9:
                    place, part = change.place + start, change.data[start : start + SECTOR]
                    file.extend(bytes(max(0, place + len(part) - len(file))))
                    file[place : place + len(part)] = part
    return {name: bytes(data) for name, data in files.items()}


def _said(changes: list[Change], cut: int) -> dict[int, str]:
    """Digest of the text by turn number, of all that was acknowledged before the cut."""
    words = b"".join(change.data for change in changes[:cut] if change.file == ACKNOWLEDGED and change.what == "W")
    return {int(number): text for number, text, _ in (line.split() for line in words.decode().splitlines())}


def _lost(folder: Path, files: dict[str, bytes], session: str, said: dict[int, str]) -> int:
    """How many acknowledged turns the state does not hold. Raises AssertionError if what it holds is not whole."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute(
            f"SELECT digest, {', '.join(DIGESTED)} FROM conversation_turns WHERE session_id = ? ORDER BY turn_number",
            (session,),
        ).fetchall()
    previous = GENESIS
    for row in rows:
        previous = digest(previous, row[1:])
        assert row[0] == previous
    content = DIGESTED.index("content") + 1
    held = {row[1]: digest_of(row[content]) for row in rows}
    assert list(held) == list(range(1, len(held) + 1))
    return sum(held.get(number) != text for number, text in said.items())


def _starts_over(changes: list[Change]) -> bool:
    """Whether the log's header was ever written where an older one still stood."""
    length = 0
    for change in changes:
        if change.file != "archive.db-wal":
            continue
        if change.what in "TU":
            length = change.place
        elif change.what == "W":
            if change.place == 0 and length:
                return True
            length = max(length, change.place + len(change.data))
    return False


def _cut(tmp_path: Path, honesty: str, states: int) -> tuple[int, int, int]:
    """How many states lost a turn, how many were not whole, and the most turns that one lost."""
    before, changes, session = _record(tmp_path, honesty)
    assert sum(change.file == ACKNOWLEDGED for change in changes) > 10
    assert any(change.what == "S" and change.file == "archive.db" for change in changes), "no checkpoint was recorded"
    assert _starts_over(changes), "no log was written over from its front"
    chance = random.Random(SEED)
    losing = broken = worst = 0
    for _ in range(states):
        cut = chance.randrange(1, len(changes) + 1)
        files = _after(before, changes, cut, chance)
        try:
            lost = _lost(tmp_path / "state", files, session, _said(changes, cut))
        except (AssertionError, sqlite3.DatabaseError):
            broken += 1
        else:
            losing += lost > 0
            worst = max(worst, lost)
    print(f"{honesty}: {states} power cuts, {losing} lost turns (at most {worst}), {broken} left a broken archive")
    return losing, broken, worst


def test_no_acknowledged_turn_is_lost(tmp_path: Path) -> None:
    assert _cut(tmp_path, "honest", STATES) == (0, 0, 0)


def test_the_harness_catches_a_store_that_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    losing, _, worst = _cut(tmp_path, "normal", max(STATES // 3, 40))
    assert losing > 0
    assert worst > 0

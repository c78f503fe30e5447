"""A check looks the full-text index over whole, however large it is, and takes no more memory for a larger one."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.check import check
from loom.archive.reindex import reindex
from tests.support.small_disk import small_disk

MEGABYTE = 1_000_000
LARGE = 160
"""Megabytes that are in the index beside what it needs: SQLite copies them, and has nothing against them."""

MEASURED = """
import json, resource, sys
from pathlib import Path
from loom.archive.check import check

def most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

small, large = map(Path, sys.argv[1:])
check(small)
before = most()
report = check(large)
print(json.dumps({"grown": most() - before, "sound": report.sound, "unseen": report.unseen,
                  "index": report.standing.get("index"), "findings": [f.part for f in report.findings]}))
"""


async def _indexed(path: Path, *, large: bool = False) -> None:
    """A closed archive of a few turns with its index."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    store = await ConversationStore.open(path)
    session = await store.create_session(path.parent, "offline", "")
    for words in ("the lighthouse", "a lamp", "auth.py and `refreshToken`"):
        await store.append_turn(session, "user", words)
    await store.close()
    reindex(path)
    if large:
        with closing(sqlite3.connect(path)) as intruder:
            insert = "INSERT INTO search_terms_data (id, block) VALUES (?, zeroblob(?))"
            intruder.executemany(insert, (((1 << 40) + n, MEGABYTE) for n in range(LARGE)))
            intruder.commit()


def _checked(*paths: Path, temporary: Path | None = None) -> dict[str, object]:
    """What a program of its own says of the second archive, and how much memory that took beyond the first."""
    environment = os.environ | ({"SQLITE_TMPDIR": str(temporary)} if temporary is not None else {})
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, paths)], env=environment, capture_output=True, text=True, check=True
    )
    said: dict[str, object] = json.loads(done.stdout)
    return said


async def test_a_large_index_is_looked_over_in_little_memory_and_leaves_no_file(tmp_path: Path) -> None:
    small, large = tmp_path / "small" / "archive.db", tmp_path / "large" / "archive.db"
    await _indexed(small)
    await _indexed(large, large=True)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    said = _checked(small, large, temporary=temporary)
    assert said["sound"], said
    assert isinstance(said["grown"], int) and said["grown"] < LARGE * MEGABYTE // 3
    assert list(temporary.iterdir()) == []


async def test_without_room_for_it_the_index_is_not_called_damaged(tmp_path: Path) -> None:
    small, large = tmp_path / "small" / "archive.db", tmp_path / "large" / "archive.db"
    await _indexed(small)
    await _indexed(large, large=True)
    with small_disk(tmp_path / "full", 40 * MEGABYTE):
        said = _checked(small, large, temporary=tmp_path / "full")
    assert said["findings"] == [] and not said["sound"]
    assert said["index"] == "not seen"
    assert isinstance(said["unseen"], list) and "no room" in said["unseen"][0] and "TMPDIR" in said["unseen"][0]


async def test_with_memory_and_room_damage_is_damage_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "home" / "archive.db"
    await _indexed(path)
    assert check(path).sound
    with closing(sqlite3.connect(path)) as intruder:
        intruder.execute("UPDATE search_name_pieces_data SET block = x'00ff00ff' WHERE id > 10")
        intruder.commit()
    assert [finding.part for finding in check(path).findings] == ["index"]


@pytest.mark.parametrize("quick", [False, True])
async def test_an_archive_without_turns_or_index_is_sound(tmp_path: Path, quick: bool) -> None:
    path = tmp_path / "home" / "archive.db"
    path.parent.mkdir(mode=0o700)
    store = await ConversationStore.open(path)
    await store.close()
    assert check(path, quick=quick).sound
    reindex(path)
    assert check(path, quick=quick).sound

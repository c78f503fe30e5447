"""What the index has of a turn changes with its version only: an older index is made anew, or a purge would leave words
of it that this loom does not look for."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.search import SearchEngine
from loom.archive.search.document import TurnRow, entry_of
from loom.archive.search.index import VERSION, columns_of
from loom.attached import HEAD, with_attached
from tests.archive.searching import tell, turn_numbers

CALL = '[{"id": "c", "name": "shell_execute", "arguments": {"command": "grep -rn \\"caf\\u00e9\\" src/auth.py:12"}}]'
TURN = f"{HEAD}turn k3f9 T1, user · 2026-01-15 14:30 +01:00]\n```\nThe servers stand in Zanzibar.\n```"
FILE = f"{HEAD}notes.txt, 6 bytes]\n```\nnutmeg\n```"
TEXTS = (
    "I always said that the running servers were moved to Zanzibar in May; what kind of databases do they have?",
    "refreshToken in src/auth/jwt_client.py:12 fails with E0433, see https://example.org/a?b=1#c and #42, v1.2.3",
    "Größe, café, naïve Straße: Datenbankverbindung, İstanbul, ﬁne, ＣＡＰＳ, x², 3½",
    "日本語のデータベース接続を確認する 数据库连接 한국어 문장 ไทย हिन्दी",
    "🎉 => != && “quoted” `code()` don't l'été e-mail 1,000 0x1F 1e-5 $HOME --flag C++ C# @me",
    '{"deep":{"list":[1,"two",{"three":null}]},"text":"a\\nb"}' + "x" * 70 + "y1" * 3_000,
    with_attached("Is this still so, with the cloves?", f"{TURN}\n\n{FILE}"),
    "Always run the tests first.\r\n\tNever use an ORM.\0 Thanks!",
)
OF_THEM = (15, "558060596aef093e")
"""The version, and what it makes of them. Raise VERSION wherever this changes, and note both here."""


def _row(number: int, role: str, kind: str, content: str | None, calls: str | None, tool: str | None) -> TurnRow:
    return TurnRow(number, "s", number, 1, role, kind, "complete", content, calls, tool, "2026-01-15T13:30:00.000000Z")


def test_what_the_index_has_of_a_turn_changes_with_its_version() -> None:
    rows = [_row(n, "user" if n % 2 else "assistant", "text", text, None, None) for n, text in enumerate(TEXTS, 1)]
    rows.append(_row(20, "assistant", "tool_call", None, CALL, None))
    rows.append(_row(21, "tool", "tool_result", TEXTS[1], None, "shell_execute"))
    made = sha256()
    for row in rows:
        entry = entry_of(row, 1)
        assert entry is not None
        kept = (columns_of(entry), entry.place, entry.at, entry.characters, entry.marks, entry.sketch)
        made.update(repr(kept).encode())
    assert (VERSION, made.hexdigest()[:16]) == OF_THEM


ANOTHER_VERSION = """
import sys
from pathlib import Path
from loom.archive.reindex import reindex
from loom.archive.search import index
index.VERSION += int(sys.argv[2])
reindex(Path(sys.argv[1]))
"""


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as reader:
        (version,) = reader.execute("SELECT version FROM search_progress").fetchone()
    return int(version)


@pytest.mark.parametrize("newer", [1, -1], ids=["newer", "older"])
async def test_a_running_loom_leaves_the_index_to_one_of_another_version(
    store: ConversationStore, session: str, newer: int
) -> None:
    first, second = await tell(store, session, "the lighthouse", "another lighthouse")
    engine = await store._finder._engine()  # the one that the store wakes
    assert await engine.settle()
    command = [sys.executable, "-c", ANOTHER_VERSION, str(store.path), str(newer)]
    await asyncio.to_thread(subprocess.run, command, check=True)
    (third,) = await tell(store, session, "a third lighthouse")
    assert not await engine.settle()
    assert version_of(store.path) == VERSION + newer
    assert set(turn_numbers((await engine.search("lighthouse")).hits)) == {first, second, third}

    started_later = SearchEngine(store.path)
    await started_later.start()
    assert await started_later.settle()
    assert version_of(store.path) == VERSION
    assert set(turn_numbers((await started_later.search("lighthouse")).hits)) == {first, second, third}
    await started_later.close()

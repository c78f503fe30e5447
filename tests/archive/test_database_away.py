"""The database itself removed, replaced or moved while loom has it open: nothing is acknowledged that is not stored,
and all of it goes on when it is back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, sessions
from loom.archive.database import connect
from loom.archive.errors import WriteFailed
from tests.archive.file_harms import AFTER, BEFORE, texts_of
from tests.support.keeper import Keeper


@pytest.mark.parametrize("replaced", [False, True])
async def test_without_the_database_nothing_is_acknowledged_and_all_of_it_goes_on_when_it_is_back(
    archive_path: Path, replaced: bool
) -> None:
    elsewhere = archive_path.with_name("elsewhere.db")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.rename(elsewhere)
        if replaced:
            archive_path.write_bytes(b"another file" * 1000)
        (said,) = keeper.ask("hear")["said"]
        how = "replaced by another file" if replaced else "removed or renamed"
        assert f"was {how} while loom had it open: nothing was stored" in said
        assert keeper.ask("append", session, AFTER) == {"error": said}
        assert keeper.ask("read", session) == {"texts": BEFORE}
        elsewhere.replace(archive_path)
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
    assert await texts_of(archive_path, session) == BEFORE + AFTER


async def test_what_is_refused_without_the_database_is_not_there_when_it_is_back(archive_path: Path) -> None:
    elsewhere = archive_path.with_name("elsewhere.db")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.rename(elsewhere)
        assert "nothing was stored" in keeper.ask("append", session, AFTER[:1])["error"]
        assert "nothing was stored" in keeper.ask("begin")["error"]
        elsewhere.rename(archive_path)
        assert keeper.ask("append", session, AFTER[:1]) == {"numbers": [31]}
        assert keeper.ask("list") == {"sessions": [session]}
    assert await texts_of(archive_path, session) == [*BEFORE, AFTER[0]]


async def test_of_a_write_in_the_middle_of_which_the_database_went_it_is_said_that_nobody_knows(
    store: ConversationStore, session: str
) -> None:
    elsewhere = store.path.with_name("elsewhere.db")
    with closing(connect(store.path)) as connection:
        with pytest.raises(WriteFailed) as refused, connection.writing(1.0):
            sessions.rename_session(connection, session, "a name")
            store.path.rename(elsewhere)
        elsewhere.rename(store.path)
    assert "nothing was stored" not in str(refused.value)
    assert "may be stored" in str(refused.value)
    found = await store.get_session(session)
    assert found is not None and found.title == "a name"


async def test_an_end_while_the_database_is_away_loses_nothing(archive_path: Path) -> None:
    elsewhere = archive_path.with_name("elsewhere.db")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.rename(elsewhere)
        assert keeper.ask("close") == {"closed": True}
    elsewhere.rename(archive_path)
    assert await texts_of(archive_path, session) == BEFORE


async def test_a_folder_that_is_moved_with_everything_in_it_goes_on(archive_path: Path) -> None:
    moved = archive_path.parent.with_name("moved")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.parent.rename(moved)
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
    assert await texts_of(moved / archive_path.name, session) == BEFORE + AFTER

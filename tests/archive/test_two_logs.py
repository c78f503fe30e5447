"""One loom is stopped while the files beside the archive are taken away, and another begins or goes on with others:
what two logs hold is never mixed, and what only one of them holds is kept."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from loom.archive import ArchiveUnavailable, ConversationStore, sessions
from loom.archive.check import check
from loom.archive.database import connect
from tests.archive.file_harms import (
    AFTER,
    BEFORE,
    log_of,
    remove_both,
    remove_index,
    remove_log,
    replace_log_with_a_copy,
    texts_of,
)
from tests.support.keeper import Keeper


@contextmanager
def stopped(archive: Path) -> Iterator[tuple[Keeper, str]]:
    """A loom that has stored BEFORE in a session of its own, and is stopped."""
    with Keeper(archive) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        one.stop()
        yield one, session


async def test_nobody_goes_on_without_the_log_that_a_stopped_one_has(archive_path: Path) -> None:
    with stopped(archive_path) as (one, session):
        remove_log(archive_path)
        with pytest.raises(ArchiveUnavailable, match="Let that loom go on"):
            await ConversationStore.open(archive_path)
        one.go_on()
        assert one.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
    assert await texts_of(archive_path, session) == BEFORE + AFTER


async def test_two_logs_are_never_mixed(archive_path: Path) -> None:
    with stopped(archive_path) as (one, session):
        remove_both(archive_path)
        # Nothing tells a newcomer of the log that has no name.
        with Keeper(archive_path) as other:
            assert "numbers" in other.ask("append", other.ask("begin")["session"], AFTER)
            one.go_on()
            refused = one.ask("append", session, AFTER)
            assert "another loom has begun new ones: nothing was stored" in refused["error"]
            assert "What only this loom has is kept beside the archive" in refused["error"]
            assert one.ask("read", session) == {"texts": BEFORE}
            assert "error" in one.ask("append", session, AFTER)
            assert "numbers" in other.ask("append", other.ask("begin")["session"], AFTER)
            assert one.ask("close") == {"closed": True}
    assert check(archive_path).sound


async def test_one_that_only_watched_goes_on_when_the_other_has_had_all_files_removed(archive_path: Path) -> None:
    with Keeper(archive_path) as one, Keeper(archive_path) as other:
        first, second = one.ask("begin")["session"], other.ask("begin")["session"]
        one.ask("append", first, BEFORE)
        one.stop()
        for harm in (remove_log, remove_index):
            harm(archive_path)
            assert "numbers" in other.ask("append", second, AFTER)
        one.go_on()
        assert one.ask("append", first, AFTER) == {"numbers": list(range(31, 61))}
        assert one.ask("read", second) == {"texts": AFTER + AFTER}
    assert await texts_of(archive_path, first) == BEFORE + AFTER
    assert await texts_of(archive_path, second) == AFTER + AFTER


async def test_one_goes_on_with_a_copy_of_its_log_that_another_has_gone_on_with(archive_path: Path) -> None:
    with stopped(archive_path) as (one, session):
        replace_log_with_a_copy(archive_path)
        with Keeper(archive_path) as other:
            own = other.ask("begin")["session"]
            assert "numbers" in other.ask("append", own, AFTER)
            one.go_on()
            assert one.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
            assert one.ask("read", own) == {"texts": AFTER}
            assert other.ask("append", own, BEFORE) == {"numbers": list(range(31, 61))}
            assert other.ask("read", session) == {"texts": BEFORE + AFTER}
    assert await texts_of(archive_path, session) == BEFORE + AFTER
    assert await texts_of(archive_path, own) == AFTER + BEFORE


async def test_what_was_written_to_a_copy_of_the_log_outlives_both(archive_path: Path) -> None:
    with stopped(archive_path) as (one, session):
        replace_log_with_a_copy(archive_path)
        with Keeper(archive_path) as other:
            own = other.ask("begin")["session"]
            assert "numbers" in other.ask("append", own, AFTER)
        one.go_on()
        assert "removed or replaced" in one.ask("hear")["said"][0]
    assert await texts_of(archive_path, session) == BEFORE
    assert await texts_of(archive_path, own) == AFTER


async def test_nobody_takes_an_earlier_copy_of_the_log_for_it(archive_path: Path) -> None:
    copy = archive_path.with_name("copy")
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        # The log keeps its length when it starts over: an earlier copy is no shorter.
        assert one.ask("checkpoint") == {"whole": True}
        one.ask("append", session, AFTER[:5])
        shutil.copy(log_of(archive_path), copy)
        one.ask("append", session, AFTER[5:10])
        one.stop()
        assert copy.stat().st_size == log_of(archive_path).stat().st_size
        copy.replace(log_of(archive_path))
        with pytest.raises(ArchiveUnavailable, match="Let that loom go on"):
            await ConversationStore.open(archive_path)
        one.go_on()
        assert one.ask("append", session, AFTER[10:]) == {"numbers": list(range(41, 61))}
    assert await texts_of(archive_path, session) == BEFORE + AFTER


@pytest.mark.parametrize("removed_again", [False, True])
async def test_two_logs_are_not_mixed_when_the_other_has_ended_meanwhile(
    archive_path: Path, removed_again: bool
) -> None:
    with stopped(archive_path) as (one, session):
        remove_both(archive_path)
        with Keeper(archive_path) as other:
            own = other.ask("begin")["session"]
            assert "numbers" in other.ask("append", own, AFTER)
            assert other.ask("close") == {"closed": True}
        if removed_again:
            remove_both(archive_path)
        one.go_on()
        assert "kept beside the archive" in one.ask("append", session, AFTER)["error"]
        assert one.ask("close") == {"closed": True}
    assert await texts_of(archive_path, own) == AFTER


async def test_a_copy_that_another_wrote_to_after_it_was_put_aside_is_empty_and_nothing_is_lost(
    archive_path: Path,
) -> None:
    with stopped(archive_path) as (one, session):
        replace_log_with_a_copy(archive_path)
        with closing(connect(archive_path)) as other:
            one.go_on()
            assert "removed or replaced" in one.ask("hear")["said"][0]
            assert one.ask("close") == {"closed": True}
            (kept,) = archive_path.parent.glob("*-replaced-*")
            assert kept.stat().st_size
            with other.writing(10.0):
                sessions.rename_session(other, session, "a name")
            assert kept.stat().st_size == 0
    assert await texts_of(archive_path, session) == BEFORE
    with closing(connect(archive_path, readonly=True)) as found:
        assert found.execute("SELECT title FROM cowork_sessions").fetchall() == [("a name",)]
    assert any("holds nothing that is not in the archive" in remark for remark in check(archive_path).remarks)

"""Names are found by their inside and by a similar spelling, among any number of others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive.database import connect
from loom.archive.migrations import prepare
from loom.archive.search.names import FIRST_READ, MAX_NAMES_WITH, Names
from loom.archive.search.scope import Scope
from loom.archive.search.tail import Tail, TailCache, read_tail
from loom.archive.search.words import names_of, without_lines
from tests.archive.test_search_index import add, index_all

FLOOD = 8 * FIRST_READ
"""Names that have the common pieces."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few names, and behind them many newer ones with the same beginning, and one file cited at many lines."""
    path = tmp_path_factory.mktemp("names") / "archive.db"
    prepare(path)
    with closing(connect(path)) as connection:
        add(connection, "a", "src/retry/backoff_policy.py has retryBudget, see E0433 and src/retry/jitter.py")
        for start in range(0, FLOOD, 50):
            add(connection, "a", " ".join(f"src/retry/case_{n:04}.py" for n in range(start, start + 50)))
        add(connection, "a", " ".join(f"src/retry/jitter.py:{n}" for n in range(300)))
        index_all(connection)
    return path


@pytest.fixture
def connection(archive: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(archive, readonly=True)) as opened:
        yield opened


@pytest.fixture
def names(connection: sqlite3.Connection) -> Names:
    return Names(connection, Tail(), indexed=True)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("retrybugdet", "retrybudget"),
        ("retrybudgt", "retrybudget"),
        ("src/retry/backof_policy.py", "src/retry/backoff_policy.py"),
        ("src/retry/backoff_poilcy.py", "src/retry/backoff_policy.py"),
        ("src/retri/jitter.py", "src/retry/jitter.py"),
        ("src/retry/jiter.py", "src/retry/jitter.py"),
    ],
)
def test_a_mistyped_name_is_known_among_many_that_share_its_beginning(names: Names, typed: str, meant: str) -> None:
    like = names.like(typed, 0.8)
    assert max(like, key=like.__getitem__) == meant


@pytest.mark.parametrize("name", ["zzzzqqqq", "abc", "", "日本語日本語", '"*" OR x', "src/"])
def test_what_is_like_no_name_is_like_none(names: Names, name: str) -> None:
    assert names.like(name, 0.8) == {}


@pytest.mark.parametrize(
    ("fragments", "found"),
    [
        (["backoff"], ["backoff_policy", "backoff_policy.py", "src/retry/backoff_policy.py"]),
        (["retry", "policy"], ["src/retry/backoff_policy.py"]),
        (["ybud"], ["retrybudget"]),
        (["e0433"], ["e0433"]),
        (["backoff", "jitter"], []),
        (["off_pol", "py"], ["backoff_policy.py", "src/retry/backoff_policy.py"]),
        (["polback"], []),
        (["py"], []),
        ([], []),
        (['x" OR "'], []),
    ],
)
def test_names_are_found_by_all_that_stands_inside(names: Names, fragments: list[str], found: list[str]) -> None:
    assert [name for name in names.having(fragments) if not name.startswith("case_")] == found


def test_no_more_names_are_given_than_can_be_looked_up(names: Names) -> None:
    assert len(names.having(["src/retry"])) == MAX_NAMES_WITH


def test_a_file_that_many_lines_are_cited_of_is_one_name(names: Names) -> None:
    assert names.having(["jitter"]) == ["jitter.py", "src/retry/jitter.py"]
    assert without_lines(names_of("at a_b.py:12:3 or 12:30, not v1:2")) == {"a_b.py", "a_b", "12:30", "v1"}


def test_names_of_turns_that_wait_for_the_index_are_known_too(archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    prepare(path)
    with closing(connect(path)) as connection:
        add(connection, "a", "see late_arrival.py:7")
        scope = Scope(connection, session_id=None, workspace=None, named=None)
        names = Names(connection, read_tail(connection, scope, TailCache()), indexed=scope.indexed)
        assert names.having(["arrival"]) == ["late_arrival", "late_arrival.py"]
        assert "late_arrival.py" in names.like("late_arival.py", 0.8)

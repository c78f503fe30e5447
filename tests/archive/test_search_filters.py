"""What filters leave: exactly, whatever the index is asked for first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom.archive import ConversationStore
from loom.archive.reindex import reindex
from loom.archive.search.filters import Filter, filter_of
from loom.archive.search.marks import ROLES, is_of_tool, marks_of, role_of, time_facets, tool_marks
from loom.archive.search.postings import Mark
from loom.archive.search.query import parse
from loom.archive.search.request import Request
from tests.archive.searching import found

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
MOMENTS = st.integers(0, int(NOW.timestamp()) + 300 * 86_400)


def times(before: float | None, after: float | None) -> set[str]:
    (terms,) = Filter(NOW, frozenset(), (), before, after).terms()
    return set(terms)


@settings(max_examples=300, deadline=None)
@given(MOMENTS, st.none() | MOMENTS, st.none() | MOMENTS)
def test_every_turn_between_the_bounds_has_one_of_the_terms(at: int, before: int | None, after: int | None) -> None:
    if before is None and after is None:
        return
    inside = (before is None or at < before) and (after is None or at >= after)
    asked = times(before, after)
    assert len(asked) < 200
    if inside:
        assert asked & time_facets(at)
    far = timedelta(days=1).total_seconds()
    if (before is not None and at > before + far) or (after is not None and at < after - far):
        assert not asked & time_facets(at)


def test_whole_years_and_months_are_asked_for_by_one_term_each() -> None:
    after, before = (datetime(*day, tzinfo=UTC).timestamp() for day in ((2023, 11, 29), (2025, 2, 2)))
    assert times(before, after) == {
        "day:2023-11-29",
        "day:2023-11-30",
        "month:2023-12",
        "year:2024",
        "month:2025-01",
        "day:2025-02-01",
    }
    assert times(after, before) == {"day:none"}


@pytest.mark.parametrize("query", ["after:0000", "before:9999-12-31", "after:9999y", "before:1d after:1h", "tool:, x"])
def test_no_bound_is_too_far(query: str) -> None:
    filtered = filter_of(parse(query), Request(query), NOW)
    assert all(group for group in filtered.terms())


def test_a_tool_is_told_from_others_and_its_marks_from_the_role() -> None:
    marks = marks_of("tool", "tool_result", "text") | tool_marks(["Read File"])
    assert is_of_tool(marks, "read_file")
    assert not is_of_tool(marks, "write_file")
    assert role_of(marks) == "tool"
    assert tool_marks([]) == 0
    only = filter_of(parse("tool:Read_File"), Request(""), NOW)
    assert only.passes(Mark(0, 1, marks))
    assert only.has_tool_of(frozenset({"run_command", "read_file"}))
    assert not only.has_tool_of(frozenset({"write_file"}))
    assert not only.has_tool_of(frozenset())


def test_a_turn_may_be_of_many_tools_and_its_marks_fit_a_column() -> None:
    tools = [f"tool_{i}" for i in range(40)]
    marks = marks_of("assistant", "tool_call", "text") | tool_marks(tools)
    assert all(is_of_tool(marks, tool) for tool in tools)
    assert role_of(marks) == "assistant"
    assert marks < 2**47


def test_roles_of_the_query_and_of_the_caller_must_both_hold() -> None:
    both = filter_of(parse("role:user,tool"), Request("", roles=("tool", "system")), NOW)
    assert [role for role in ROLES if both.passes(Mark(0, 1, marks_of(role, "text", "x")))] == ["tool"]
    none = filter_of(parse("role:user"), Request("", roles=("tool",)), NOW)
    assert not any(none.passes(Mark(0, 1, marks_of(role, "text", "x"))) for role in ROLES)


@pytest.mark.parametrize("query", ["FILE:main.py", "FİLE:main.py", "fıle:main.py"])
def test_a_filter_is_one_in_turkish_capitals_too(query: str) -> None:
    filters = parse(query).filters
    assert (filters.files, filters.session) == (("main.py",), None)


@pytest.mark.parametrize(
    "query",
    ["before:2026-03 before:2026-05 after:2025 after:2024", "before:2026-05 before:2026-03 after:2024 after:2025"],
)
def test_of_two_dates_both_hold(query: str) -> None:
    filtered = filter_of(parse(query), Request(query), NOW)
    march, year = (datetime(*day, tzinfo=UTC).timestamp() for day in ((2026, 3, 1), (2025, 1, 1)))
    assert (filtered.before, filtered.after) == (march, year)


async def test_turns_that_a_clock_dated_years_ahead_are_after_today(store: ConversationStore, session: str) -> None:
    ahead = datetime.now(UTC) + timedelta(days=3 * 366)
    number = await store.append_turn(session, "user", "the lighthouse", created_at=ahead)
    assert await found(store, session, "after:today") == [number]
    assert await found(store, session, "after:today lighthouse") == [number]
    reindex(store.path)
    assert await found(store, session, "after:today") == [number]
    assert await found(store, session, "after:today before:2w") == []

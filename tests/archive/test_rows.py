"""Rows become records by position: columns and fields are in one order."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from loom.archive.records import Session, SessionDetail, Turn, TurnKind, TurnStatus
from loom.archive.rows import SESSION_COLUMNS, TURN_COLUMNS, detail_from_row, session_from_row, turn_from_row

TURN = ("s", 7, 2, "assistant", "tool_call", "partial", None, '[{"id": "c"}]', None, None, 5, "{}", None, '{"a": 1}')
SESSION = (
    "s",
    "ab1c",
    "title",
    "focus",
    '["x", "y"]',
    "/w",
    None,
    "m",
    "begun",
    "active",
    *range(6),
    0.5,
    None,
    None,
    3,
)


@pytest.mark.parametrize(("kind", "columns"), [(Turn, TURN_COLUMNS), (Session, SESSION_COLUMNS)])
def test_fields_are_in_the_order_of_columns(kind: type, columns: str) -> None:
    assert [field.name for field in fields(kind)] == columns.split(", ")


def test_a_turn_is_like_one_that_was_called_for() -> None:
    turn = turn_from_row((*TURN, 0.25, "then", "digest"))
    called = Turn(
        session_id="s",
        turn_number=7,
        exchange=2,
        role="assistant",
        kind=TurnKind.TOOL_CALL,
        status=TurnStatus.PARTIAL,
        content=None,
        tool_calls=[{"id": "c"}],
        tool_call_id=None,
        tool_name=None,
        token_count=5,
        part_json="{}",
        message_meta=None,
        usage={"a": 1},
        cost_usd=0.25,
        created_at="then",
        digest="digest",
    )
    assert (turn, repr(turn)) == (called, repr(called))
    with pytest.raises(FrozenInstanceError):
        turn.content = "other"  # type: ignore[misc]


def test_a_session_has_its_tags_and_may_have_its_texts() -> None:
    session, detail = session_from_row((*SESSION, 1)), detail_from_row((*SESSION, 0, "prompt", "{}"))
    assert (session.tags, session.is_active, session.cost_usd, session.lease_epoch) == (("x", "y"), True, 0.5, 3)
    assert isinstance(detail, SessionDetail)
    assert (detail.is_active, detail.system_prompt, detail.session_state) == (False, "prompt", "{}")

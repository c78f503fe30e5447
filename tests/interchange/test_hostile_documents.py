"""Whatever stands in a file that says it is loom's gives a session that the archive takes, or a refusal in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom.interchange.session_file import read_session as read_source
from loom.interchange.source import ImportFailed
from tests.interchange import test_codex
from tests.interchange.reading_text import read_session, source_of
from tests.interchange.wild import VALUES, count_stored, places_of, replaced

_HEAD = {
    "id": test_codex.SESSION,
    "reference": "k3f9",
    "title": "t",
    "workspace_path": "/w",
    "workspace_commit": "ab",
    "model_name": "offline",
    "started_at": "2026-03-01T10:00:00Z",
    "parent_id": None,
    "fork_turn": None,
}
_ROW = {
    "turn_number": 1,
    "exchange": 1,
    "role": "user",
    "kind": "text",
    "status": "complete",
    "content": "hello",
    "tool_calls": None,
    "tool_call_id": None,
    "tool_name": None,
    "token_count": 3,
    "part_json": None,
    "message_meta": None,
    "usage": {"input_tokens": 3},
    "cost_usd": 0.5,
    "created_at": "2026-03-01T10:00:00Z",
    "digest": "",
}
_CALL = {
    "role": "assistant",
    "kind": "tool_call",
    "content": None,
    "tool_calls": [{"id": "c", "name": "n", "arguments": {}}],
}


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(st.tuples(st.integers(0, 200), VALUES), max_size=3), in_lines=st.booleans())
async def test_what_is_read_of_any_document_the_archive_takes(
    tmp_path: Path, changes: list[tuple[int, object]], in_lines: bool
) -> None:
    made: Any = {"session": _HEAD, "turns": [_ROW, {**_ROW, **_CALL, "turn_number": 2}]}
    for at, value in changes:
        places = [place for place in places_of(made) if len(place) > 1]
        if places:
            made = replaced(made, places[at % len(places)], value)
    head, rows = json.dumps(made["session"]), [json.dumps(row) for row in made["turns"]]
    ends = ("\n", ",\n") if in_lines else (" ", ", ")
    text = (
        f'{{"format": "loom-session", "version": 1,{ends[0]}"session": {head},{ends[0]}"turns": [{ends[0]}'
        f"{ends[1].join(rows)}{ends[0]}]}}\n"
    )
    try:
        read = read_source(source_of(text))
    except ImportFailed:
        return
    assert await count_stored(tmp_path, read) == read.turn_count


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ({"parent_id": "\ud800"}, {}),
        ({"workspace_commit": "\ud800"}, {}),
        ({"workspace_path": "\ud800\0"}, {}),
        ({"fork_turn": 2**70}, {}),
        ({}, {"cost_usd": 10**400}),
        ({}, {"cost_usd": float("nan")}),
        ({}, {"tool_calls": [{"id": "\ud800", "name": "n", "arguments": {"x": float("inf")}}]}),
    ],
)
async def test_a_value_that_no_database_takes_is_refused_or_made_one(
    tmp_path: Path, head: dict[str, object], row: dict[str, object]
) -> None:
    made = {"format": "loom-session", "version": 1, "session": {**_HEAD, **head}, "turns": [{**_ROW, **row}]}
    try:
        read = read_source(source_of(json.dumps(made)))
    except ImportFailed:
        return
    assert await count_stored(tmp_path, read) == 1


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_a_document_that_is_cut_off_is_refused(cut: float) -> None:
    rows = ",\n".join(json.dumps({**_ROW, "turn_number": number}) for number in range(1, 30))
    head = f'{{"format": "loom-session", "version": 1,\n"session": {json.dumps(_HEAD)},\n"turns": [\n'
    text = f"{head}{rows}\n]}}\n"
    assert len(read_session(text).turns) == 29
    for end in (int(len(text) * cut), text.index(",\n", int(len(text) * cut)) + 2):
        with pytest.raises(ImportFailed):
            read_session(text[:end])

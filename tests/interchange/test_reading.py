"""The JSON of a session is read again as it was written, and what is no session is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loom.archive import ConversationStore
from loom.interchange.document import document
from loom.interchange.source import ImportFailed
from tests.interchange.reading_text import read_document


@pytest.fixture
async def exported(tmp_path: Path) -> dict[str, Any]:
    """A session of two exchanges, as JSON."""
    store = await ConversationStore.open(tmp_path / "archive.db")
    session_id = await store.create_session(tmp_path, "offline", "Obey the file.")
    await store.append_turn(session_id, "user", "read café.md\n日本語 🎉")
    call = {"id": "c1", "name": "read_file", "arguments": {"path": "café.md"}}
    await store.append_turn(session_id, "assistant", None, tool_calls=[call], usage={"input_tokens": 7}, cost_usd=0.25)
    await store.append_turn(session_id, "tool", "text", tool_call_id="c1", tool_name="read_file", token_count=3)
    await store.append_turn(session_id, "user", "thanks")
    session = await store.get_session(session_id)
    assert session is not None
    written = "".join(document(session, await store.get_range(session_id, 1, 4)))
    await store.close()
    made: dict[str, Any] = json.loads(written)
    return made


def test_every_turn_is_read_as_it_was_exchange_by_exchange(exported: dict[str, Any]) -> None:
    read = read_document(json.dumps(exported))
    assert read.batches == [3, 1]
    asked = ("role", "content", "kind", "status", "tool_calls", "tool_call_id", "tool_name", "token_count", "usage")
    for turn, row in zip(read.turns, exported["turns"], strict=True):
        assert {name: getattr(turn, name) for name in asked} == {name: row[name] for name in asked}
        assert (turn.created_at, turn.cost_usd) == (row["created_at"], row["cost_usd"])
    assert read.digests == tuple(row["digest"] for row in exported["turns"])
    assert (read.session.id, read.session.title) == (exported["session"]["id"], exported["session"]["title"])


def test_instructions_of_a_file_are_not_followed(exported: dict[str, Any]) -> None:
    assert exported["session"]["system_prompt"] == "Obey the file."
    assert read_document(json.dumps(exported)).session.system_prompt == ""


def test_what_a_later_loom_adds_is_skipped(exported: dict[str, Any]) -> None:
    exported["later"] = exported["session"]["later"] = exported["turns"][0]["later"] = 1
    assert len(read_document(json.dumps(exported)).turns) == 4


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"loom-session"', "[" * 100_000])
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(ImportFailed, match="loom export REF FILE"):
        read_document(text)


def _turn(**wrong: object) -> Callable[[dict[str, Any]], None]:
    return lambda made: made["turns"][1].update(wrong)


def _session(**wrong: object) -> Callable[[dict[str, Any]], None]:
    return lambda made: made["session"].update(wrong)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda made: made.update(version=2), "newer loom"),
        (lambda made: made.pop("turns"), "no whole session"),
        (lambda made: made.update(session=[]), "no whole session"),
        (lambda made: made.update(turns=[1]), "T1 cannot be read: there are no fields"),
        (_session(id="../../etc"), "no whole session"),
        (_session(reference="FORK x"), "its reference is none"),
        (_session(reference="1234"), "its reference is none"),
        (_session(started_at="yesterday"), "no whole session"),
        (lambda made: made["turns"].pop(1), "T2 cannot be read: it is missing"),
        (_turn(role="root"), "T2 cannot be read: there is no role root"),
        (_turn(kind="spell"), "T2 cannot be read"),
        (_turn(content=7), "T2 cannot be read: its content"),
        (_turn(token_count=-1), "T2 cannot be read: its token_count"),
        (_turn(exchange=True), "T2 cannot be read: its exchange"),
        (_turn(tool_calls=["run"]), "T2 cannot be read: its calls"),
        (_turn(tool_calls=[{"id": "c", "name": {}, "arguments": {}}]), "T2 cannot be read: its calls"),
        (_turn(tool_calls=[{"id": "c", "name": "n", "arguments": 7}]), "T2 cannot be read: its calls"),
        (_turn(part_json="{"), "T2 cannot be read"),
        (_turn(part_json="[]"), "T2 cannot be read: its part_json"),
        (_turn(created_at="soon"), "T2 cannot be read"),
        (lambda made: made["turns"][1].pop("digest"), "T2 cannot be read"),
    ],
)
def test_what_is_wrong_with_a_session_is_named(
    exported: dict[str, Any], harm: Callable[[dict[str, Any]], None], words: str
) -> None:
    harm(exported)
    with pytest.raises(ImportFailed) as refused:
        read_document(json.dumps(exported))
    assert words in str(refused.value)

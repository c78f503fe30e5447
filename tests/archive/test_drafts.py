"""A streamed answer outlives a crash, once, as interrupted turns."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, Draft, NewTurn, TurnKind, TurnStatus, UnknownSession
from loom.archive.check import check
from loom.archive.database import connect

STREAMED = (
    NewTurn(role="assistant", content="let me think\0", kind=TurnKind.THINKING),
    NewTurn(role="assistant", content="The answer is 4", part_json='{"part_kind":"text"}', usage={"input_tokens": 3}),
    NewTurn(role="assistant", content=None, kind=TurnKind.TOOL_CALL, tool_calls=[{"id": "c", "arguments": {"é": [1]}}]),
)


@pytest.fixture
async def asked(store: ConversationStore, session: str) -> str:
    await store.append_turn(session, "user", "what is 2 + 2?")
    return session


async def test_a_draft_reads_back_the_same(store: ConversationStore, asked: str) -> None:
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED))
    found = await store.get_draft(asked)
    assert found is not None
    assert found.turns == STREAMED
    assert found.exchange == 1
    assert found.updated_at.endswith("Z")


async def test_a_later_draft_takes_its_place(store: ConversationStore, asked: str) -> None:
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED[:1]))
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED[1:]))
    found = await store.get_draft(asked)
    assert found is not None
    assert found.turns == STREAMED[1:]


async def test_an_empty_draft_is_none(store: ConversationStore, asked: str) -> None:
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED))
    await store.save_draft(Draft(session_id=asked, exchange=1))
    assert await store.get_draft(asked) is None


async def test_the_stored_answer_drops_the_draft_and_a_tool_result_does_not(
    store: ConversationStore, asked: str
) -> None:
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED))
    await store.append_turn(asked, "tool", "of the response before", tool_name="x")
    assert await store.get_draft(asked) is not None
    await store.append_turn(asked, "assistant", "The answer is 4.")
    assert await store.get_draft(asked) is None
    assert await store.recover_draft(asked) == []


async def test_a_crash_leaves_interrupted_turns(store: ConversationStore, asked: str, archive_path: Path) -> None:
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED))
    after = await ConversationStore.open(archive_path)
    found = await after.resume_session(asked)
    assert [turn.content for turn in found] == ["what is 2 + 2?", "let me think\0", "The answer is 4", None]
    assert [turn.status for turn in found[1:]] == [TurnStatus.INTERRUPTED] * 3
    assert [turn.exchange for turn in found] == [1] * 4
    assert found[3].tool_calls == STREAMED[2].tool_calls
    assert found[2].part_json == STREAMED[1].part_json
    assert await after.get_draft(asked) is None
    assert await after.resume_session(asked) == found
    await after.close()


async def test_a_draft_of_no_answer_is_recovered_once(store: ConversationStore, asked: str) -> None:
    note = NewTurn(role="tool", content="half an output", tool_name="shell_execute")
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=(note,)))
    assert len(await store.recover_draft(asked)) == 1
    assert await store.recover_draft(asked) == []
    assert await store.get_turn_count(asked) == 2


async def test_a_draft_is_left_to_the_one_who_is_writing_it(
    store: ConversationStore, other_store: ConversationStore, asked: str
) -> None:
    await store.acquire_lease(asked)
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED))
    assert len(await other_store.resume_session(asked)) == 1
    assert await store.get_draft(asked) is not None
    await store.release_lease(asked)
    assert len(await other_store.resume_session(asked)) == 4


async def test_a_draft_needs_a_session(store: ConversationStore) -> None:
    with pytest.raises(UnknownSession):
        await store.save_draft(Draft(session_id="nowhere", exchange=0, turns=STREAMED))


@pytest.mark.parametrize(
    "damage",
    [
        "turns = substr(turns, 1, 60)",
        "turns = '[5]'",
        "turns = '5'",
        "turns = replace(turns, 'role', 'rope')",
        "turns = replace(turns, '\"assistant', '\"assiztant')",
        "turns = replace(turns, '\"text', '\"test')",
        "turns = CAST(replace(turns, 'me think', x'6dff') AS TEXT)",
        "updated_at = CAST(x'32ff' AS TEXT)",
    ],
)
async def test_a_damaged_draft_keeps_nobody_from_the_session(
    store: ConversationStore, other_store: ConversationStore, asked: str, damage: str
) -> None:
    await store.save_draft(Draft(session_id=asked, exchange=1, turns=STREAMED))
    with closing(connect(store.path)) as connection:
        connection.execute(f"UPDATE drafts SET {damage}")
        (left,) = connection.execute("SELECT substr(CAST(turns AS BLOB), 1, 20) FROM drafts").fetchone()
    seen = await other_store.get_draft(asked)
    assert seen is not None
    first, *recovered = await store.resume_session(asked)
    assert first.content == "what is 2 + 2?"
    assert [turn.status for turn in recovered] == [TurnStatus.INTERRUPTED] * len(seen.turns)
    if recovered[0].kind is TurnKind.NOTE:
        # All that there is of it is kept, and goes to no model.
        assert [turn.role for turn in recovered] == ["system"]
        assert left.decode() in (recovered[0].content or "")
    else:
        assert len(recovered) == len(STREAMED)
    assert await store.get_draft(asked) is None
    assert await store.append_turn(asked, "user", "and 3 + 3?") == len(recovered) + 2
    report = check(store.path)
    assert report.sound, report.findings

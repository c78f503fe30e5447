"""A conversation on the offline model: everything said is kept, in order, before the next thing happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive.records import TurnKind, TurnStatus
from loom.cowork.events import (
    ApprovalAsked,
    Decision,
    ExchangeEnded,
    Notice,
    Outcome,
    QueueChanged,
    StateChanged,
    TextDelta,
    ToolFinished,
    TurnStored,
    UsageChanged,
)
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from tests.cowork.conftest import Start, Talk


def allow(talk: Talk, *, always: bool = False) -> None:
    """Say yes to everything that is asked."""
    yes = Decision(allowed=True, always=always)
    talk.heard.on(ApprovalAsked, lambda asked: talk.session.answer(asked.call_id, yes))


def deny(talk: Talk, reason: str) -> None:
    no = Decision(allowed=False, reason=reason)
    talk.heard.on(ApprovalAsked, lambda asked: talk.session.answer(asked.call_id, no))


async def kinds(talk: Talk) -> list[tuple[str, str, str]]:
    return [(t.role, t.kind.value, t.status.value) for t in await talk.session.transcript()]


async def test_nothing_is_in_the_archive_before_the_first_message(start: Start, bench: Workbench) -> None:
    talk = await start()
    assert talk.session.session is None
    assert await bench.store.list_sessions() == []
    assert talk.heard.of(UsageChanged), "the gauge shows the floor before the first message"


async def test_an_exchange_with_a_reading_tool_is_kept_turn_by_turn(start: Start) -> None:
    talk = await start()
    await talk.say("read README.md")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    found = await kinds(talk)
    assert found[0] == ("user", "text", "complete")
    assert ("assistant", "tool_call", "complete") in found
    assert ("tool", "tool_result", "complete") in found
    assert found[-1] == ("assistant", "text", "complete")
    turns = await talk.session.transcript()
    assert [t.turn_number for t in turns] == list(range(1, len(turns) + 1))
    assert {t.exchange for t in turns} == {1}
    result = next(t for t in turns if t.role == "tool")
    assert "A small program to work on." in (result.content or "")
    assert "".join(e.text for e in talk.heard.of(TextDelta)).endswith(turns[-1].content or "-")


async def test_an_edit_waits_for_a_yes_and_shows_the_diff(start: Start, workspace: Path) -> None:
    talk = await start()
    allow(talk)
    await talk.say('replace "small" with "tiny" in README.md')
    asked = talk.heard.of(ApprovalAsked)[0]
    assert asked.preview.kind == "diff"
    assert "-A small program to work on." in asked.preview.body
    assert "+A tiny program to work on." in asked.preview.body
    assert "tiny" in (workspace / "README.md").read_text()
    state = talk.heard.of(StateChanged)[-1].state
    assert [(f.path, f.action) for f in state.files_touched] == [("README.md", "edited")]


async def test_a_denied_command_runs_nothing_and_the_reason_is_kept(start: Start, workspace: Path) -> None:
    talk = await start()
    deny(talk, "not today")
    await talk.say("run touch made.txt")
    assert not (workspace / "made.txt").exists()
    turns = await talk.session.transcript()
    result = next(t for t in turns if t.kind is TurnKind.TOOL_RESULT)
    assert result.status is TurnStatus.DENIED
    assert "not today" in (result.content or "")
    assert talk.heard.of(StateChanged)[-1].state.commands == ()


async def test_always_allows_the_same_command_without_asking_again(start: Start) -> None:
    talk = await start()
    allow(talk, always=True)
    await talk.say("run echo one")
    await talk.say("run echo one")
    assert len(talk.heard.of(ApprovalAsked)) == 1
    await talk.say("run echo two")
    assert len(talk.heard.of(ApprovalAsked)) == 2


async def test_an_interrupted_answer_keeps_its_words_and_the_session_goes_on(start: Start) -> None:
    talk = await start()
    talk.session.submit("count to 10000")
    await talk.heard.until(TextDelta, lambda delta: "3" in delta.text)
    assert talk.session.interrupt()
    assert (await talk.heard.ended()).outcome is Outcome.INTERRUPTED
    last = (await talk.session.transcript())[-1]
    assert (last.role, last.status) == ("assistant", TurnStatus.INTERRUPTED)
    assert "3" in (last.content or "")
    await talk.say("list .")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE


async def test_interrupting_a_question_withdraws_it_and_the_call_is_answered(start: Start, workspace: Path) -> None:
    talk = await start()
    talk.session.submit("run touch made.txt")
    await talk.heard.until(ApprovalAsked)
    talk.session.interrupt()
    await talk.heard.ended()
    assert talk.session.pending == ()
    assert not (workspace / "made.txt").exists()
    result = (await talk.session.transcript())[-1]
    assert (result.kind, result.status) == (TurnKind.TOOL_RESULT, TurnStatus.INTERRUPTED)
    await talk.say("list .")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE


async def test_messages_typed_meanwhile_wait_their_turn_and_can_be_taken_back(start: Start) -> None:
    talk = await start()
    talk.session.submit("run true")
    asked = await talk.heard.until(ApprovalAsked)
    talk.session.submit("list .")
    talk.session.submit("read README.md")
    assert talk.heard.of(QueueChanged)[-1].waiting == ("list .", "read README.md")
    assert talk.session.take_back() == "read README.md"
    talk.session.answer(asked.call_id, Decision(allowed=True))
    await talk.heard.ended()
    await talk.heard.ended()
    users = [t.content for t in await talk.session.transcript() if t.role == "user"]
    assert users == ["run true", "list ."]


async def test_a_session_resumes_exactly_where_it_was(start: Start) -> None:
    first = await start()
    allow(first)
    await first.say('we use JWT, never cookies. replace "small" with "tiny" in README.md')
    await first.say("read src/auth.py")
    before, usage = first.session, first.session.usage
    turns = await before.transcript()
    assert before.session is not None
    await before.close()

    again = await start(resume=before.session.id)
    assert await again.session.transcript() == turns
    assert again.session.state == before.state
    assert again.session.session is not None
    assert again.session.session.total_tokens == before.session.total_tokens
    assert again.session.state_yaml() == before.state_yaml()
    assert usage is not None
    assert again.session.usage is not None
    assert again.session.usage.segments == usage.segments
    await again.say("list .")
    assert [t.turn_number for t in await again.session.transcript()][len(turns)] == len(turns) + 1


async def test_the_model_finds_what_was_said_before(start: Start) -> None:
    talk = await start()
    await talk.say("the deployment key lives in the blue vault")
    await talk.say("what did we say about the deployment key?")
    results = [e.turn for e in talk.heard.of(ToolFinished) if e.turn.tool_name == "conversation_recall"]
    assert results
    assert "blue vault" in (results[0].content or "")
    assert "[Turn 1]" in (results[0].content or "")


async def test_the_question_itself_is_nothing_that_was_said_before(start: Start) -> None:
    talk = await start()
    await talk.say("the deployment key lives in the blue vault")
    for _ in range(12):
        await talk.say("what did we say about sailing?")
    results = [e.turn for e in talk.heard.of(ToolFinished) if e.turn.tool_name == "conversation_recall"]
    assert "Nothing in" in (results[0].content or "")
    asked_before = results[-1].content or ""
    newest = results[-1].exchange
    assert "match 1" in asked_before, "earlier questions were said, though"
    turns = await talk.session.transcript(None, 500)
    (asking,) = [turn.turn_number for turn in turns if turn.exchange == newest and turn.role == "user"]
    assert f"[Turn {asking}] user" not in asked_before


async def test_every_turn_was_durable_when_it_was_announced(start: Start, bench: Workbench) -> None:
    talk = await start()
    missing: list[int] = []

    async def look(event: TurnStored) -> None:
        if await bench.store.get_turn(event.turn.session_id, event.turn.turn_number) != event.turn:
            missing.append(event.turn.turn_number)

    await talk.say("read README.md then list src")
    for event in talk.heard.of(TurnStored):
        await look(event)
    assert missing == []


async def test_clearing_empties_the_window_and_keeps_the_archive(start: Start) -> None:
    talk = await start()
    await talk.say("read src/auth.py")
    full = talk.session.usage
    await talk.session.clear()
    cleared = talk.session.usage
    assert full is not None
    assert cleared is not None
    assert cleared.used < full.used
    turns = await talk.session.transcript()
    assert any("refreshToken" in (t.content or "") for t in turns)
    assert talk.session.session is not None
    await talk.session.close()
    again = await start(resume=talk.session.session.id)
    assert again.session.usage is not None
    assert again.session.usage.used == cleared.used


async def test_an_interruption_before_the_answer_begins_is_honoured(start: Start) -> None:
    talk = await start()
    talk.session.submit("count to 10000")
    assert talk.session.interrupt()
    assert (await talk.heard.ended()).outcome is Outcome.INTERRUPTED
    assert [t.content for t in await talk.session.transcript() if t.role == "user"] == ["count to 10000"]
    await talk.say("list .")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE


async def test_an_export_to_a_home_that_nobody_has_is_refused_in_words(start: Start) -> None:
    talk = await start()
    await talk.say("list the files")
    with pytest.raises(LoomError, match="There is no home folder for ~nobody-has-this-name/talk"):
        await talk.session.export("~nobody-has-this-name/talk.md")


async def test_a_path_that_names_no_file_is_told_once_the_message_is_stored(start: Start) -> None:
    talk = await start()
    await talk.say("What is in @nonexistent.py, and in @README.md?")
    stored = next(each for each in talk.heard.of(TurnStored) if each.turn.role == "user")
    assert (stored.turn.content or "").startswith("What is in @nonexistent.py, and in @README.md?")
    assert "A small program to work on." in (stored.turn.content or "")
    told = [each for each in talk.heard.of(Notice) if "went along" in each.text]
    assert told == [Notice("information", "No file went along for @nonexistent.py (not there).")]
    heard = [type(each) for each in talk.heard.events if each is stored or each is told[0]]
    assert heard == [TurnStored, Notice]
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE

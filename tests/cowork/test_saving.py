"""When the disk is full nothing goes on, nothing is lost, and a retry brings everything in its place."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from loom.archive.records import TurnKind
from loom.cowork.events import (
    ExchangeEnded,
    Notice,
    Outcome,
    QueueChanged,
    SaveFailed,
    ToolFinished,
    TurnStored,
)
from loom.cowork.workbench import Workbench
from loom.tools.mentions import Mentions
from tests.cowork.conftest import Start, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Reply, Text

BIG = "words and words " * 20_000


async def fill_disk(bench: Workbench) -> None:
    """Eight pages more than there are now, room for a request's manifest but not for BIG: an almost full disk."""

    def leave_little(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 8}").fetchone()

    await bench.store._access.write(leave_little)


async def free_disk(bench: Workbench) -> None:
    await bench.store._access.write(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchone())


async def test_a_message_that_cannot_be_stored_is_kept_and_answered_after_a_retry(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Hello.")), Reply(Text("Here it is.")))
    talk = await start(choice=chat())
    await talk.say("Hello?")
    await fill_disk(bench)
    await talk.say(BIG)
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.FAILED
    assert "full" in talk.heard.of(SaveFailed)[-1].what
    assert {failed.message for failed in talk.heard.of(SaveFailed)} == {BIG}
    assert len(provider.requests) == 1, "what is not stored is not sent"
    await talk.session.retry_save()
    assert len(talk.heard.of(SaveFailed)) >= 2, "a retry that fails says so again"
    await free_disk(bench)
    await talk.session.retry_save()
    assert (await talk.heard.until(ExchangeEnded, lambda e: e.outcome is Outcome.COMPLETE)).exchange == 2
    assert [t.content for t in await talk.session.transcript()] == ["Hello?", "Hello.", BIG, "Here it is."]


async def test_an_answer_that_cannot_be_stored_runs_no_tool_and_blocks_sending(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Hello.")), Reply(Text(BIG, pieces=4), Call("list_directory", {})), Reply(Text("Again.")))
    talk = await start(choice=chat())
    await talk.say("Hello?")
    await fill_disk(bench)
    await talk.say("Go.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.FAILED
    assert talk.heard.of(ToolFinished) == []
    talk.session.submit("And now?")
    assert talk.session.waiting == ("And now?",)
    assert len(provider.requests) == 2
    await free_disk(bench)
    await talk.session.retry_save()
    await talk.heard.until(ExchangeEnded, lambda e: e.outcome is Outcome.COMPLETE)
    turns = await talk.session.transcript()
    said = [t.content for t in turns if t.kind is TurnKind.TEXT]
    assert said == ["Hello?", "Hello.", "Go.", BIG, "And now?", "Again."]
    assert [t.exchange for t in turns if t.role == "user"] == [1, 2, 3]
    sent = provider.requests[-1].messages
    # The last one is the session state, beside the message.
    assert [m["role"] for m in sent if m["role"] != "system"][-4:] == ["assistant", "tool", "user", "user"]


async def test_a_session_that_cannot_be_made_keeps_the_message_waiting(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Hello.")))
    talk = await start(choice=chat())
    locker = await Workbench.open(bench.locations, bench.settings)
    try:
        await bench.store._access.write(lambda c: c.execute("PRAGMA busy_timeout = 20").fetchone())
        await locker.store._access.write(lambda c: c.execute("BEGIN IMMEDIATE").fetchone())
        await talk.say("Hello?")
        assert talk.session.waiting == ("Hello?",)
        assert talk.heard.of(SaveFailed)
        await locker.store._access.write(lambda c: c.execute("ROLLBACK").fetchone())
    finally:
        await locker.close()
    await talk.session.retry_save()
    await talk.heard.until(ExchangeEnded, lambda e: e.outcome is Outcome.COMPLETE)
    assert [t.content for t in await talk.session.transcript()] == ["Hello?", "Hello."]
    assert not [n for n in talk.heard.of(Notice) if n.severity == "error"]


async def _left_unsaved(start: Start, bench: Workbench, provider: ScriptedProvider) -> str:
    """A session that ended while the disk was full: what it could not store is in the spool. There is room again."""
    provider.add(Reply(Text("Hello.")), Reply(Text(BIG, pieces=4)))
    talk = await start(choice=chat())
    await talk.say("Hello?")
    await fill_disk(bench)
    await talk.say("Go.")
    assert talk.session.session is not None
    await talk.session.close()
    bench.spool.close()
    await free_disk(bench)
    return talk.session.session.id


async def test_what_could_not_be_saved_is_there_after_a_restart(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    session = await _left_unsaved(start, bench, provider)
    again = await start(resume=session, choice=chat())
    assert [t.content for t in await again.session.transcript()] == ["Hello?", "Hello.", "Go.", BIG]
    assert any("could not be saved last time" in n.text for n in again.heard.of(Notice))
    third = await Workbench.open(bench.locations, bench.settings)
    assert third.spool.waiting() == []
    await third.close()


async def test_a_damaged_line_is_said_and_its_file_is_kept(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    session = await _left_unsaved(start, bench, provider)
    (file,) = bench.locations.spool.iterdir()
    damaged = file.read_bytes() + b'{"session_id": "?"\n'
    file.write_bytes(damaged)
    again = await start(resume=session, choice=chat())
    assert [t.content for t in await again.session.transcript()] == ["Hello?", "Hello.", "Go.", BIG]
    (kept,) = bench.locations.spool.iterdir()
    assert kept.read_bytes() == damaged
    assert any("1 line of what could not be saved last time cannot be read" in n.text for n in again.heard.of(Notice))
    assert any(str(kept) in n.text for n in again.heard.of(Notice))


async def test_with_a_note_unsaved_nothing_is_sent_until_it_is_saved(
    start: Start, bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    provider.add(Reply(Text("Hello.")), Reply(Text("Yes.")))
    talk = await start(choice=chat(), trust_project=True)
    await talk.say("Hello?")
    (workspace / "AGENTS.md").write_text("Use blanks.\n")
    refusal = "WHEN NEW.kind = 'note' BEGIN SELECT RAISE(ABORT, 'no room'); END"
    await bench.store._access.write(
        lambda c: c.execute(f"CREATE TRIGGER full BEFORE INSERT ON conversation_turns {refusal}")
    )
    await talk.say("Still there?")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.FAILED and talk.heard.of(SaveFailed)
    assert len(provider.requests) == 1
    await bench.store._access.write(lambda c: c.execute("DROP TRIGGER full"))
    await talk.session.retry_save()
    await talk.heard.until(ExchangeEnded, lambda e: e.outcome is Outcome.COMPLETE and e.exchange == 2)
    said = [t.content for t in await talk.session.transcript() if t.kind is TurnKind.TEXT]
    assert said == ["Hello?", "Hello.", "Still there?", "Yes."]


async def test_a_message_is_being_sent_until_it_is_stored(start: Start, bench: Workbench) -> None:
    talk = await start()
    locker = await Workbench.open(bench.locations, bench.settings)
    try:
        await locker.store._access.write(lambda c: c.execute("BEGIN IMMEDIATE").fetchone())
        talk.session.submit("Hello?")
        talk.session.submit("And now?")
        assert (talk.session.sending, talk.session.waiting) == ("Hello?", ("And now?",))
        await locker.store._access.write(lambda c: c.execute("ROLLBACK").fetchone())
    finally:
        await locker.close()
    stored = await talk.heard.until(TurnStored)
    assert stored.turn.content == "Hello?"
    await talk.heard.until(QueueChanged)
    assert talk.session.sending == ""
    await talk.heard.until(ExchangeEnded, lambda e: e.exchange == 2)
    assert (talk.session.sending, talk.session.waiting) == ("", ())


async def test_a_fault_of_our_own_costs_no_message(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Mentions, message: str) -> str:
        raise RuntimeError("a fault")

    talk = await start()
    with monkeypatch.context() as broken:
        broken.setattr(Mentions, "with_files", fail)
        await talk.say("What is in @README.md?")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.FAILED
    assert (talk.session.sending, talk.session.waiting) == ("", ("What is in @README.md?",))
    await talk.say("Hello?")
    await talk.heard.until(ExchangeEnded, lambda e: e.exchange == 2)
    said = [turn.content or "" for turn in await talk.session.transcript() if turn.role == "user"]
    assert [text.splitlines()[0] for text in said] == ["What is in @README.md?", "Hello?"]


async def test_what_no_disk_takes_is_known_until_a_retry_stores_it(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Hello.")), Reply(Text(BIG, pieces=4)))
    talk = await start(choice=chat())
    await talk.say("Hello?")
    assert talk.session.in_memory_only == ()
    await fill_disk(bench)
    # In the place of the spool's folder there is something else: it takes nothing either.
    bench.locations.spool.write_text("")
    await talk.say("And now?")
    (kept,) = talk.session.in_memory_only
    assert kept == BIG
    assert "in memory only" in talk.heard.of(SaveFailed)[-1].what, "the worst is said last: it stays on the screen"
    bench.locations.spool.unlink()
    await talk.session.retry_save()
    assert talk.session.in_memory_only == (), "the spool has it now"
    await free_disk(bench)
    await talk.session.retry_save()
    assert (await talk.session.transcript())[-1].content == BIG


async def test_closing_tries_once_more(start: Start, bench: Workbench, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Hello.")), Reply(Text(BIG, pieces=4)))
    talk = await start(choice=chat())
    await talk.say("Hello?")
    await fill_disk(bench)
    bench.locations.spool.write_text("")
    await talk.say("And now?")
    assert len(talk.session.in_memory_only) == 1
    await free_disk(bench)
    await talk.session.close()
    assert talk.session.in_memory_only == ()
    assert (await talk.session.transcript())[-1].content == BIG

"""Going back in a session on a bad day: a full disk, an archive that cannot be read, a crash, another loom."""

from __future__ import annotations

import pytest

from loom.archive import ArchiveUnavailable, Turn
from loom.cowork.recorder import NotSaved
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.state import rebuild
from loom.turn_numbers import Ranges
from tests.cowork.conftest import Start, chat
from tests.cowork.test_rewinding import shown, three
from tests.support.listening import Listening
from tests.support.provider import ScriptedProvider
from tests.support.replies import Reply, Text


async def test_a_state_that_was_saved_before_is_made_again(start: Start, bench: Workbench) -> None:
    """As after a crash right behind the rewinding."""
    talk = await three(start)
    session_id = talk.session.session_id
    assert session_id is not None
    saved = talk.session.state.to_json()
    await talk.session.rewind()
    state = talk.session.state
    assert "later.txt" in str(saved) and "later.txt" not in str(state)
    await talk.session.close()
    await bench.store.update_session_state(session_id, saved)
    again = await start(resume=session_id)
    assert again.session.state == state


async def test_a_rewinding_that_cannot_be_stored_happens_with_the_retry(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("One.")), Reply(Text("Two.")), Reply(Text("Three.")))
    talk = await start(choice=chat())
    await talk.say("Never use tabs.")
    await talk.say("Never use Redis.")
    refusal = "WHEN NEW.kind = 'note' BEGIN SELECT RAISE(ABORT, 'no room'); END"
    await bench.store._access.write(
        lambda c: c.execute(f"CREATE TRIGGER full BEFORE INSERT ON conversation_turns {refusal}")
    )
    with pytest.raises(NotSaved):
        await talk.session.rewind()
    assert len(await shown(talk)) == 2 and "Redis" in str(talk.session.state), "nothing has happened yet"
    await bench.store._access.write(lambda c: c.execute("DROP TRIGGER full"))
    await talk.session.retry_save()
    assert len(await shown(talk)) == 1 and "Redis" not in str(talk.session.state)
    await talk.say("Go on.")
    assert "Redis" not in str(provider.requests[-1].messages)


async def test_not_while_a_message_is_not_saved(start: Start, bench: Workbench, provider: ScriptedProvider) -> None:
    """It would be stored behind the message, which nobody had seen, and put it away without an answer."""
    provider.add(Reply(Text("One.")), Reply(Text("Two.")))
    talk = await start(choice=chat())
    await talk.say("Hello.")
    refusal = "WHEN NEW.role = 'user' BEGIN SELECT RAISE(ABORT, 'no room'); END"
    await bench.store._access.write(
        lambda c: c.execute(f"CREATE TRIGGER full BEFORE INSERT ON conversation_turns {refusal}")
    )
    await talk.say("And?")
    for move in (talk.session.rewind, talk.session.clear, talk.session.compact):
        with pytest.raises(LoomError, match="not saved yet"):
            await move()
    await bench.store._access.write(lambda c: c.execute("DROP TRIGGER full"))
    await talk.session.retry_save()
    await talk.heard.ended()
    assert await shown(talk) == ["Hello.", "And?"]
    assert [turn.content for turn in await talk.session.transcript()] == ["Hello.", "One.", "And?", "Two."]


async def test_a_rewinding_holds_though_the_archive_cannot_be_read_behind_it(
    start: Start, bench: Workbench, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.add(Reply(Text("One.")), Reply(Text("Two.")), Reply(Text("Three.")))
    talk = await start(choice=chat())
    await talk.say("The port is 8123.")
    await talk.say("We use Redis.")
    read = bench.store.get_window_marks

    async def fail_to_load(session_id: str, limit: int = 100, *, before: int | None = None) -> list[Turn]:
        if before is None:
            raise ArchiveUnavailable("The archive is busy.", "Try again.")
        return await read(session_id, limit, before=before)

    with monkeypatch.context() as patched:
        patched.setattr(bench.store, "get_window_marks", fail_to_load)
        with pytest.raises(ArchiveUnavailable):
            await talk.session.rewind()
    await talk.say("Go on.")
    seen = str(provider.requests[-1].messages)
    assert "8123" in seen and "Redis" not in seen
    assert await shown(talk) == ["The port is 8123.", "Go on."]
    assert talk.session.state == rebuild(await talk.session.transcript())


async def test_a_state_is_made_of_what_holds_though_another_loom_rewinds_meanwhile(
    start: Start, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await three(start)
    await talk.session.rewind()
    session_id = talk.session.session_id
    assert session_id is not None
    await bench.store.update_session_state(session_id, {})
    reader = CoworkSession(bench, bench.locations.home, talk.session.choice, listener=Listening().take)
    read, asked = bench.store.get_rewound, 0

    async def rewound_behind_it(session_id: str) -> Ranges:
        nonlocal asked
        found = await read(session_id)
        asked += 1
        if asked == 1:
            await talk.session.rewind()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(bench.store, "get_rewound", rewound_behind_it)
        await reader.read(session_id)
    assert reader.state == rebuild(await talk.session.transcript()) == talk.session.state
    await reader.close()

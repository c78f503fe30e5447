"""Which sessions a filter lets through, and in which order."""

from __future__ import annotations

from pathlib import Path

from loom.archive import ConversationStore
from loom.tui.listed_sessions import ListedSessions


async def test_the_session_that_goes_by_the_reference_comes_before_those_that_speak_of_it(tmp_path: Path) -> None:
    store = await ConversationStore.open(tmp_path / "archive.db")
    meant = await store.get_session(await store.create_session(tmp_path, "offline", "", title="The invoices"))
    assert meant is not None
    later = await store.create_session(tmp_path, "offline", "", title=f"What was said in {meant.reference}?")
    for session_id in (meant.id, later):
        await store.append_turn(session_id, "user", "hello")
    listed = ListedSessions(await store.list_sessions(str(tmp_path)))
    await store.close()
    assert [session.id for session in listed.all] == [later, meant.id], "newest first"
    for wanted in (meant.reference, f" {meant.reference.upper()} "):
        assert [session.id for session in listed.having(wanted)] == [meant.id, later]
    assert [session.id for session in listed.having("invoices")] == [meant.id]

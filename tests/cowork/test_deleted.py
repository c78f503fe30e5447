"""A session that was deleted, and is reached by its reference."""

from __future__ import annotations

from pathlib import Path

from loom.cowork.events import Notice
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from tests.cowork.conftest import Start
from tests.support.listening import Listening


async def test_who_goes_on_with_it_has_it_in_the_list_again(start: Start, bench: Workbench, workspace: Path) -> None:
    first = await start()
    await first.say("read README.md")
    session = first.session.session
    assert session is not None
    await first.session.close()
    await bench.store.delete_session(session.id)

    reader = CoworkSession(bench, workspace, first.session.choice, listener=Listening().take)
    await reader.read((await bench.store.resolve_reference(session.reference, str(workspace))).id)
    await reader.close()
    assert await bench.store.list_sessions(str(workspace)) == [], "to read it is not to want it back"

    again = await start(resume=session.id)
    assert [each.id for each in await bench.store.list_sessions(str(workspace))] == [session.id]
    assert ["deleted" in notice.text for notice in again.heard.of(Notice)] == [True]
    assert again.session.session is not None and again.session.session.is_active

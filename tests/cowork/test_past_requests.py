"""Time travel: every earlier request comes back as it was sent, whatever has left the window since."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive.records import TurnKind
from loom.config import Settings
from loom.context.course import evictions
from loom.context.seen import SeenRequest, Standing
from loom.context.usage import Segment
from loom.cowork.past_requests import NoSuchRequest, PastRequests, request_at_turn
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from tests.cowork.conftest import Start, Talk

SMALL = Settings(
    model="offline",
    context_windows={"offline": 7_000},
    output_reserve=1_000,
    tool_output_preview_tokens=600,
    tool_output_trim_chars=900,
)


@pytest.fixture
async def small(locations: Locations) -> AsyncIterator[Workbench]:
    workbench = await Workbench.open(locations, SMALL)
    yield workbench
    await workbench.close()


def past(talk: Talk, bench: Workbench) -> PastRequests:
    session = talk.session.session_id
    assert session is not None
    return PastRequests(bench.store, bench.counter, session)


def words(seen: SeenRequest) -> str:
    return "\n".join(part.text for part in seen.parts)


async def busy_session(start: Start, bench: Workbench, workspace: Path) -> Talk:
    """Long outputs, so that they are shortened and exchanges leave."""
    for name in "abcdefghijkl":
        text = "".join(f"{name}{n}: the quick brown fox, line {n * n}\n" for n in range(220))
        (workspace / f"{name}.txt").write_text(text)
    talk = await start(on=bench)
    for name in "abcdefghijkl":
        await talk.say(f"read {name}.txt")
        await talk.say(f"list the files, and never touch {name}")
    return talk


async def test_every_request_comes_back_as_it_was_sent(small: Workbench, start: Start, workspace: Path) -> None:
    talk = await busy_session(start, small, workspace)
    requests = past(talk, small)
    lines = await requests.lines()
    assert evictions(lines), "the window was too large for this test"
    for line in lines:
        seen = await requests.seen(line.request)
        assert (seen.standing, seen.missing) == (Standing.SAME, ()), line
        assert {turn for first, last in seen.turns for turn in range(first, last + 1)} == {
            part.turn for part in seen.parts if part.turn is not None
        }
    newest = await requests.seen(lines[-1].request)
    assert any(part.shortened and part.tool == "read_file" for part in newest.parts)
    assert [part.segment for part in newest.parts if "left the window" in part.text][-1] is Segment.RECEIPT
    assert Segment.RECEIPT not in [part.segment for part in (await requests.seen(1)).parts]


async def test_it_shows_the_pins_as_they_were(small: Workbench, start: Start, workspace: Path) -> None:
    talk = await start(on=small)
    await talk.say("list the files")
    await talk.session.pin_turn(1)
    await talk.session.pin_text("the port is 8123")
    await talk.session.clear()
    await talk.say("list the files again")
    await talk.session.unpin(talk.session.state.pins[0])
    await talk.say("and once more")
    requests = past(talk, small)
    for line in await requests.lines():
        seen = await requests.seen(line.request)
        assert (seen.standing, seen.missing) == (Standing.SAME, ()), line
        pins = "".join(part.text for part in seen.parts if part.segment is Segment.PINS)
        assert ("the port is 8123" in pins) == (line.exchange > 1)
        assert ("list the files" in pins) == (line.exchange == 2)


async def test_it_shows_the_state_as_it_was(small: Workbench, start: Start, workspace: Path) -> None:
    talk = await busy_session(start, small, workspace)
    requests = past(talk, small)
    last = (await requests.lines())[-1].request
    first, newest = await requests.seen(1), await requests.seen(last)
    assert "never touch f" not in words(first)
    state = next(part.text for part in newest.parts if part.segment is Segment.STATE)
    assert "never touch e" in state
    assert [part.kind for part in newest.parts][:2] == ["tools", "instructions"]


async def test_after_a_resume_earlier_requests_are_the_same(small: Workbench, start: Start, workspace: Path) -> None:
    talk = await busy_session(start, small, workspace)
    session = talk.session.session_id
    assert session is not None
    await talk.session.close()
    again = await start(resume=session, on=small)
    await again.say("list the files")
    requests = past(again, small)
    lines = await requests.lines()
    standings = {(await requests.seen(line.request)).standing for line in lines}
    assert standings == {Standing.SAME}


async def test_a_cleared_window_is_seen_as_it_was_before(start: Start, bench: Workbench) -> None:
    talk = await start()
    await talk.say("read README.md")
    await talk.session.clear()
    await talk.say("list the files")
    requests = past(talk, bench)
    lines = await requests.lines()
    before, after = await requests.seen(1), await requests.seen(lines[-1].request)
    assert before.standing is after.standing is Standing.SAME
    assert "read README.md" in words(before) and "read README.md" not in words(after)


async def test_a_manifest_of_an_older_loom_shows_the_turns_and_says_that_it_cannot_vouch(
    start: Start, bench: Workbench
) -> None:
    talk = await start()
    await talk.say("read README.md")
    session = talk.session.session_id
    assert session is not None
    manifest = await bench.store.get_manifest(session, 1)
    assert manifest is not None
    await bench.store.add_manifest(type(manifest)(**{**{n: manifest[n] for n in manifest}, "recipe": {}}))
    seen = await past(talk, bench).seen(1)
    assert seen.standing is Standing.UNKNOWN and "read README.md" in words(seen)


async def test_what_was_changed_behind_looms_back_is_told(start: Start, bench: Workbench) -> None:
    talk = await start()
    await talk.say("read README.md")
    session = talk.session.session_id
    assert session is not None
    manifest = await bench.store.get_manifest(session, 1)
    assert manifest is not None
    texts = {**manifest.texts, "state": "focus: something else"}
    await bench.store.add_manifest(type(manifest)(**{**{n: manifest[n] for n in manifest}, "texts": texts}))
    assert (await past(talk, bench).seen(1)).standing is Standing.DIFFERENT


async def test_requests_are_found_by_turn(start: Start, bench: Workbench) -> None:
    talk = await start()
    await talk.say("read README.md")
    await talk.say("list the files")
    lines = await past(talk, bench).lines()
    turns = await bench.store.get_turns(talk.session.session_id or "", 0, 50)
    second = [turn.turn_number for turn in turns if turn.role == "user" and turn.kind is TurnKind.TEXT][1]
    found = request_at_turn(lines, second)
    assert lines[found - 1].last_turn == second
    with pytest.raises(NoSuchRequest, match="T999"):
        request_at_turn(lines, 999)


async def test_a_request_that_never_was_is_refused_in_words(start: Start, bench: Workbench) -> None:
    talk = await start()
    await talk.say("list the files")
    with pytest.raises(NoSuchRequest, match="from 1 to"):
        await past(talk, bench).seen(99)

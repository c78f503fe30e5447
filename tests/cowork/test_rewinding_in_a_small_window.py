"""Whatever is done in a window from which turns leave all the time: what was rewound past is sent no more, and every
point of the session can be gone on from."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from loom.archive.records import Turn
from loom.archive.rewound import is_rewound
from loom.config import Settings
from loom.context.seen import Standing
from loom.cowork.past_requests import PastRequests
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.locations import Locations
from loom.state import SessionState, rebuild
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Reply, Text

STEPS = 40
SMALL = replace(Settings(), context_window=9_000, output_reserve=1_000, high_water=0.8, low_water=0.5, keep=2)
DONE = ["say"] * 6 + ["run", "rewind", "rewind to", "rewind to", "unrewind", "clear", "unclear", "compact", "uncompact"]
DONE += ["bring back", "pin"]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """Sums up when it is asked to, and answers everything else at some length."""

    def answer(request: Request) -> Reply:
        summarises = "of a conversation between a person" in str(request.messages[0])
        return Reply(Text("Summed up." if summarises else "We looked at it. " * 120, pieces=2), usage=None)

    with ScriptedProvider(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@pytest.fixture(params=["archive", "summarise"])
async def small(request: pytest.FixtureRequest, locations: Locations) -> AsyncIterator[Workbench]:
    workbench = await Workbench.open(locations, replace(SMALL, policy=request.param))
    yield workbench
    await workbench.close()


async def step(talk: Talk, what: str, number: int, dice: random.Random) -> None:
    """Raises LoomError where it cannot be done now."""
    session = talk.session
    turn = dice.randint(1, session.session.turn_count if session.session is not None else 1)
    match what:
        case "say":
            await talk.say(f"Never use library marker{number}x.")
        case "run":
            session.run_command(f"echo {number}")
            await talk.heard.ended()
        case "rewind to":
            await session.rewind(turn)
        case "bring back":
            await session.bring_back(((turn, turn),))
        case "pin":
            await session.pin_turn(turn)
        case _:
            await getattr(session, what)()


def rewound_words(turns: list[Turn], state: SessionState) -> list[str]:
    """What marks the messages that were rewound past and are not pinned."""
    pinned = {pin.turn for pin in state.pins}
    past = [turn for turn in turns if is_rewound(turn.turn_number, state.rewound) and turn.turn_number not in pinned]
    return [word for turn in past if turn.role == "user" for word in re.findall(r"marker\d+x", turn.content or "")]


@pytest.mark.parametrize("seed", range(3))
async def test_what_was_rewound_past_is_sent_no_more(
    seed: int, start: Start, small: Workbench, provider: ScriptedProvider
) -> None:
    dice = random.Random(seed)
    talk = await start(choice=chat(small.settings), on=small)
    await talk.say("Hello.")
    session_id = talk.session.session_id
    assert session_id is not None
    points: list[tuple[int, SessionState]] = []
    sent = 0
    for number in range(STEPS):
        what = dice.choice(DONE)
        try:
            await step(talk, what, number, dice)
        except LoomError:
            continue  # nothing to take back, no room, rewound past already
        turns = await talk.session.transcript(limit=2_000)
        assert talk.session.state == rebuild(turns)
        points.append((len(turns), talk.session.state))
        if what == "say":
            words = rewound_words(turns, talk.session.state)
            said = str(provider.requests[-1].messages)
            assert not [word for word in words if word in said]
            sent += bool(words)
    assert sent, "nothing was rewound past before a message"
    past = PastRequests(small.store, small.counter, session_id)
    for line in await past.lines():
        seen = await past.seen(line.request)
        assert (seen.standing, seen.missing) == (Standing.SAME, ()), line
    for count, state in dice.sample(points, 4):
        forked = await start(choice=chat(small.settings), on=small, resume=await talk.session.fork(count))
        assert forked.session.state == state
        await forked.session.close()
    await talk.session.close()

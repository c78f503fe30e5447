"""In whatever order a session is rewound, cleared, summed up and all that is taken back: window and state are those of
the stored turns, live, after a resume and in a fork, and those of a plain account that is kept beside."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from loom.archive.records import TurnKind
from loom.errors import LoomError
from loom.state import SessionState, advance, rebuild
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Reply, Text

STEPS = 14
KINDS = ("rewinding", "clearing", "compaction")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """Sums up when it is asked to, and answers everything else at some length."""

    def answer(request: Request) -> Reply:
        summarises = "of a conversation between a person" in str(request.messages[0])
        return Reply(Text("Summed up." if summarises else "We looked. " * 60, pieces=2), usage=None)

    with ScriptedProvider(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@dataclass(frozen=True)
class Seen:
    """What the model sees, by exchange."""

    exchanges: tuple[int, ...] = ()
    rewound: frozenset[int] = frozenset()
    summed_up: bool = False


@dataclass
class Account:
    """What ought to be seen, by the words of the documentation alone."""

    now: Seen = Seen()
    newest: int = 0
    before: dict[int, Seen] = field(default_factory=dict)
    """What was seen before each exchange."""
    moves: list[tuple[str, Seen, int]] = field(default_factory=list)
    """What can be taken back, the newest last: which move, what was seen before it, and the newest exchange then."""

    def begun(self) -> None:
        self.newest += 1
        self.before[self.newest] = self.now
        self.now = replace(self.now, exchanges=(*self.now.exchanges, self.newest))

    def moved(self, kind: str, now: Seen) -> None:
        self.moves.append((kind, self.now, self.newest))
        self.now = now

    def rewound(self, exchange: int) -> None:
        then = self.before[exchange]
        gone = then.rewound | set(range(exchange, self.newest + 1))
        self.moved("rewinding", replace(then, rewound=gone))

    def taken_back(self, kind: str) -> None:
        while self.moves:
            each, before, newest = self.moves.pop()
            if each == kind:
                since = tuple(range(newest + 1, self.newest + 1))
                self.now = replace(before, exchanges=before.exchanges + since)
                return


async def step(talk: Talk, account: Account, dice: random.Random) -> None:
    session = talk.session
    what = dice.choice(["say", "say", "run", "rewind", "rewind", "rewind to", "clear", "compact", "undo", "undo"])
    match what:
        case "say":
            await talk.say(f"Never use library {account.newest + 1}.")
            account.begun()
        case "run":
            session.run_command(f"echo {account.newest + 1}")
            await talk.heard.ended()
            account.begun()
        case "rewind" | "rewind to":
            left = [each for each in range(1, account.newest + 1) if each not in account.now.rewound]
            exchange = dice.choice(left) if left and what == "rewind to" else max(left, default=0)
            if exchange:
                turns = await session.transcript()
                turn = dice.choice([turn.turn_number for turn in turns if turn.exchange == exchange])
                await session.rewind(turn if what == "rewind to" else None)
                account.rewound(exchange)
        case "clear" if account.now.exchanges or account.now.summed_up:
            await session.clear()
            account.moved("clearing", Seen(rewound=account.now.rewound))
        case "compact" if account.now.exchanges:
            try:
                await session.compact()
            except LoomError as error:
                assert "no shorter" in str(error)
            else:
                account.moved("compaction", Seen(rewound=account.now.rewound, summed_up=True))
        case "undo":
            kind = dice.choice(KINDS)
            undo = {"rewinding": session.unrewind, "clearing": session.unclear, "compaction": session.uncompact}[kind]
            if any(each == kind for each, _, _ in account.moves):
                await undo()
                account.taken_back(kind)


async def as_it_ought_to_be(talk: Talk, account: Account) -> None:
    contents = await talk.session.window_contents()
    assert [each.exchange for each in contents.exchanges] == list(account.now.exchanges)
    turns = await talk.session.transcript(limit=1_000)
    kept = [turn for turn in turns if turn.kind is TurnKind.NOTE or turn.exchange not in account.now.rewound]
    wanted = advance(SessionState(), kept)
    state = talk.session.state
    assert replace(state, rewound=(), last_turn=wanted.last_turn) == wanted
    assert state == rebuild(turns)


@pytest.mark.parametrize("seed", range(8))
async def test_window_and_state_follow_from_the_turns(seed: int, start: Start, provider: ScriptedProvider) -> None:
    dice, account = random.Random(seed), Account()
    talk = await start(choice=chat())
    await talk.say("Never use library 1.")
    account.begun()
    for _ in range(STEPS):
        await step(talk, account, dice)
        await as_it_ought_to_be(talk, account)
    session_id, state = talk.session.session_id, talk.session.state
    copy = await talk.session.fork()
    await talk.session.close()
    for each in (session_id, copy):
        again = await start(choice=chat(), resume=each)
        await as_it_ought_to_be(again, account)
        assert again.session.state == state
        await again.say("Go on.")
        said = str(provider.requests[-1].messages)
        assert ("<summary>" in said) == account.now.summed_up

"""The program on a real terminal, killed with -9 wherever it happens to be, again and again in one session.

After each kill the archive is opened: whatever the model was sent, and whatever the screen showed as stored, is there
word for word, in order, with its digests right; what streamed is an interrupted turn; the next start goes on.
It is killed once at every place of every request, in an order and at so many bytes more as LOOM_SEED has it; LOOM_KILLS
makes the run longer.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from loom.archive import ConversationStore
from loom.archive.check import check
from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.context.framing import INTERRUPTED_CALL
from tests.support.checkout import make_checkout
from tests.support.provider import Request, ScriptedProvider
from tests.support.pty_program import PATIENCE, PtyProgram, environment_for
from tests.support.replies import Call, Gate, Reply, Text

ROUNDS = 3
"""Requests of one exchange: two that ask for a tool, then the answer."""
PLACES = ("before", "middle", "after")
KILLS = int(os.environ.get("LOOM_KILLS", str(ROUNDS * len(PLACES))))
SEED = int(os.environ.get("LOOM_SEED", "20261122"))


@dataclass
class Kill:
    """Where the program is killed this time."""

    request: int
    """In which request of the exchange, from 1."""
    where: str
    bytes_more: int
    """Bytes that the terminal gets to see after that."""
    gate: Gate = field(default_factory=Gate)


class Model:
    """Two tool calls, then an answer in two halves; stops where this kill wants it to."""

    def __init__(self) -> None:
        self.kill: Kill | None = None
        self.asked = 0
        """Requests of the exchange that runs."""

    def __call__(self, request: Request) -> Reply:
        self.asked += 1
        here = self.kill if self.kill is not None and self.kill.request == self.asked else None
        marks = {place: [here.gate] if here and here.where == place else [] for place in PLACES}
        number = len(request.messages)
        if self.asked < ROUNDS:
            call = Call("read_file", {"path": "README.md"}, call_id=f"call-{number}-{random.random()}")
            return Reply(*marks["before"], Text(f"I look, {number}. "), *marks["middle"], call, *marks["after"])
        first, second = Text(f"The first half of answer {number}. "), Text("And the second half of it.")
        return Reply(*marks["before"], first, *marks["middle"], second, *marks["after"])


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def provider(model: Model) -> Iterator[ScriptedProvider]:
    with ScriptedProvider(model) as provider:
        yield provider


async def test_whatever_was_sent_or_shown_survives_every_kill(
    tmp_path: Path, model: Model, provider: ScriptedProvider
) -> None:
    chance = random.Random(SEED)
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    environment = environment_for(
        home, LOOM_MODEL="openai-chat:test", OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="sk-test"
    )
    said: list[str] = []
    everywhere = [(request, where) for request in range(1, ROUNDS + 1) for where in PLACES]
    chance.shuffle(everywhere)
    for number in range(KILLS):
        kill = Kill(*everywhere[number % len(everywhere)], chance.choice((0, 0, 200, 2_000, 8_000)))
        what = f"kill {number} of seed {SEED}: {kill.where} in request {kill.request}, {kill.bytes_more} bytes later"
        model.kill, model.asked = kill, 0
        seen = len(provider.requests)
        more = ["--resume", "0"] if number else []
        with ExitStack() as stack:
            loom = stack.enter_context(PtyProgram(["cowork", "-w", str(workspace), *more], environment))
            loom.ready()
            said.append(f"please do number {number}")
            loom.say(said[-1])
            assert kill.gate.reached.wait(PATIENCE), what
            size = len(loom.raw)
            kill.gate.open()
            loom.until_bytes(size + kill.bytes_more)
            loom.send(signal.SIGKILL)
            loom.wait()
            shown = loom.drawn
        turns = await stored(home)
        verify(turns, said, provider.requests[seen:], shown, what)
        report = check(home / "archive.db")
        assert report.sound, f"{what}: {report.findings}"
    # And after all that an exchange goes through.
    model.kill, model.asked = None, 0
    said.append("please do the last one")
    with PtyProgram(["cowork", "-w", str(workspace), "--resume", "0"], environment) as loom:
        loom.ready()
        loom.say(said[-1])
        while not is_answer_to(turns := await stored(home), said[-1]):
            loom.until_bytes(len(loom.raw) + 1)
        loom.press("\x11")
        assert loom.wait() == 0
    assert [turn.content for turn in turns if turn.role == "user"] == said
    assert turns[-1].status is TurnStatus.COMPLETE


def is_answer_to(turns: list[Turn], message: str) -> bool:
    """Whether the newest turn is the whole answer of the exchange that begins with this message."""
    newest = turns[-1]
    asked = [turn for turn in turns if turn.role == "user"][-1]
    whole = (newest.content or "").endswith("And the second half of it.")
    return newest.exchange == asked.exchange and asked.content == message and whole


async def stored(home: Path) -> list[Turn]:
    """Every turn of the one session, a draft made an interrupted turn."""
    store = await ConversationStore.open(home / "archive.db")
    try:
        [session] = await store.list_sessions()
        return await store.resume_session(session.id, limit=100_000)
    finally:
        await store.close()


def verify(turns: list[Turn], said: list[str], requests: list[Request], shown: str, what: str) -> None:
    assert [turn.turn_number for turn in turns] == list(range(1, len(turns) + 1)), what
    assert [turn.content for turn in turns if turn.role == "user"] == said, what
    # All that the model was sent in this round stands there, in its order.
    sent = [words for request in requests[-1:] for message in request.messages for words in words_of(message)]
    kept = iter([words for turn in turns for words in words_of_turn(turn)])
    for words in sent:
        if words == INTERRUPTED_CALL or words.startswith("<loom-"):
            continue  # stands for a result that never came; the state, which is no turn
        assert any(words == each for each in kept), f"{what}: {words!r} was sent and is not kept"
    # A number that stood on the screen is a turn.
    numbers = [int(each) for each in re.findall(r"\bT(\d+)\b", shown)]
    assert max(numbers, default=0) <= len(turns), what
    # An answer that was cut is marked so, and holds only words that were streamed.
    for turn in turns:
        if turn.status is TurnStatus.INTERRUPTED and turn.kind is TurnKind.TEXT:
            begun = turn.content or ""
            streamed = ("I look, ", "The first half of answer ")
            assert any(begun.startswith(words) or words.startswith(begun) for words in streamed), f"{what}: {begun!r}"


def words_of(message: dict[str, Any]) -> list[str]:
    """What a request's message says, without instructions and state, which are no turns."""
    if message["role"] == "system":
        return []
    calls = [as_json(json.loads(call["function"]["arguments"])) for call in message.get("tool_calls") or []]
    content = message.get("content")
    return [*([content] if isinstance(content, str) and content else []), *calls]


def words_of_turn(turn: Turn) -> list[str]:
    calls = [as_json(call["arguments"]) for call in turn.tool_calls or []]
    return [*([turn.content] if turn.content else []), *calls]


def as_json(arguments: object) -> str:
    return json.dumps(arguments, sort_keys=True)

"""A long session over the wire: every exchange runs commands with large outputs, in a window that holds a few of them.

The server counts what it is sent with the real tokenizer and reports that, as a provider does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from loom.archive.records import Turn, TurnKind
from loom.config import Settings
from loom.context.seen import Standing
from loom.context.tokens import TokenCounter
from loom.cowork.events import ApprovalAsked, Decision, ExchangeEnded, Outcome, WindowTrimmed
from loom.cowork.past_requests import PastRequests
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from loom.models.choosing import choose_model
from tests.support.listening import Listening
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Call, Reply, Text

CONSTRAINT = "Never write to the production database."
BUILD = "echo cargo build --release --target x86_64-unknown-linux-musl --features vendored"
QUESTION = "Which command did we use for the musl build?"
SETTINGS = replace(Settings(), context_window=24_000, output_reserve=2_000)


class CountingModel:
    """Asks for a command or two in every exchange, then answers; for QUESTION it recalls."""

    def __init__(self) -> None:
        self.counter = TokenCounter()
        self.counter.load()
        self.recalled = ""

    def answer(self, request: Request) -> Reply:
        messages = request.messages
        last_answer = max(
            (at for at, m in enumerate(messages) if m["role"] == "assistant" and not m.get("tool_calls")), default=0
        )
        since = messages[last_answer + 1 :]
        # The person's words come last; the state and a hint stand before them, in messages of their own.
        wish = [str(m["content"]) for m in since if m["role"] == "user"][-1]
        results = [m for m in since if m["role"] == "tool"]
        usage = (self._tokens(request), 20)
        if results:
            self.recalled = str(results[-1]["content"]) if QUESTION in wish else self.recalled
            return Reply(Text(f"Done: {wish[:60]}. " + "It went as it should. " * 20, pieces=2), usage=usage)
        if QUESTION in wish:
            return Reply(Call("conversation_recall", {"action": "search", "query": "musl build"}), usage=usage)
        if "build" in wish:
            return Reply(Call("shell_execute", {"command": BUILD}), usage=usage)
        number = int(wish.split()[1]) if wish.startswith("Step") else 0
        lines = 400 + number * 37 % 1_500
        calls = [Call("shell_execute", {"command": f"seq -f 'row %g of {number}.{at}' {lines}"}) for at in range(2)]
        return Reply(*calls[: 1 + number % 2], usage=usage)

    def _tokens(self, request: Request) -> int:
        """As a provider counts: every string that the model reads, and some framing."""
        count, total = self.counter.count, 0
        for tool in request.body.get("tools", ()):
            total += 10 + count(json.dumps(tool["function"]))
        for message in request.messages:
            total += 4 + count(str(message.get("content") or ""))
            for call in message.get("tool_calls") or ():
                total += 8 + count(call["function"]["name"]) + count(call["function"]["arguments"])
        return total


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What a long session came to."""

    exchanges: int
    outcomes: tuple[Outcome, ...]
    trims: int
    turns: list[Turn]
    errors: tuple[float, ...]
    """Of every request but the first: how far the gauge's number, read before it was sent, was from the server's
    count; a share of it."""
    last_system: str
    """What the model was told in front of the last request: instructions and state."""
    recalled: str
    """What came back for QUESTION."""
    most_tokens: int
    """Of the largest request, as the server counted."""
    put_together_again: float
    """Share of the requests that come out of the archive as they were sent."""

    @property
    def receipts(self) -> int:
        return sum(turn.kind is TurnKind.RECEIPT for turn in self.turns)


async def run(home: Path, workspace: Path, exchanges: int, settings: Settings = SETTINGS) -> Outcomes:
    """Talk so many exchanges and ask at the end for what was said at the beginning. OPENAI_BASE_URL is that of
    `serve`."""
    locations = Locations(home=home, config=home / "config.toml")
    bench = await Workbench.open(locations, settings)
    heard = Listening()
    session = CoworkSession(bench, workspace, choose_model("openai-chat:test", settings), listener=heard.take)
    heard.on(ApprovalAsked, lambda asked: session.answer(asked.call_id, Decision(allowed=True)))
    try:
        await session.prepare()
        wishes = [CONSTRAINT, "Now build it for musl.", *(f"Step {n} of the work." for n in range(2, exchanges - 1))]
        for wish in [*wishes, QUESTION]:
            session.submit(wish)
            await heard.ended()
        assert session.session_id is not None and session.session is not None
        store, session_id = bench.store, session.session_id
        requests = range(1, await store.get_request_count(session_id) + 1)
        manifests = [found for n in requests if (found := await store.get_manifest(session_id, n)) is not None]
        past = PastRequests(store, bench.counter, session_id)
        same = [(await past.seen(n)).standing is Standing.SAME for n in requests]
        turns = await bench.store.get_range(session_id, 1, session.session.turn_count)
    finally:
        await session.close()
        await bench.close()
    counted = [(int(m.recipe["tokens"]), m.reported_tokens or 0) for m in manifests]
    return Outcomes(
        exchanges=exchanges,
        outcomes=tuple(event.outcome for event in heard.of(ExchangeEnded)),
        trims=len(heard.of(WindowTrimmed)),
        turns=turns,
        errors=tuple(abs(gauge - said) / said for gauge, said in counted[1:]),
        last_system=manifests[-1].texts.get("state", ""),
        recalled=next((t.content or "" for t in reversed(turns) if t.tool_name == "conversation_recall"), ""),
        most_tokens=max(said for _, said in counted),
        put_together_again=sum(same) / len(same),
    )


def serve(model: CountingModel) -> ScriptedProvider:
    """The loopback server of that model."""
    return ScriptedProvider(model.answer)

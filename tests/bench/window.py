"""Measures the window: python -m tests.bench.window [--turns N …] [--exchanges N] [--windows N …].

Two questions. How long does the assembly of a request take, in a session of any length, against rebuilding it from the
list of all messages? And how much of each prompt is, word for word, the beginning of the prompt before it, so that a
provider's prefix cache can serve it: with loom's window, with a window that slides, and with a state that stands in
front and is refreshed for every request?
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic_ai.messages import ModelMessage

from loom.archive import ConversationStore, NewTurn, Turn
from loom.config import Settings
from loom.context.budget import Budget, budget_for
from loom.context.fingerprints import Fingerprints, part_words
from loom.context.measure import message_tokens
from loom.context.messages import messages_from_turns
from loom.context.tokens import TokenCounter
from loom.context.window import Window
from loom.cowork.prompt import static_instructions
from loom.cowork.window_rows import ArchivedRows
from loom.state import SessionLine, SessionState, advance, to_yaml
from tests.bench.filling import fill
from tests.bench.session import ToolSession
from tests.bench.table import median, p99, show

ROUNDS = 200
LIST_ROUNDS = 3
FLOOR = 6_000
"""Tokens of tools and instructions."""


# ---- assembly -------------------------------------------------------------------------------------------------------


async def assembly(folder: Path, turns: int, counter: TokenCounter, settings: Settings) -> list[str]:
    """A row: the first assembly (with the reading), the later ones, and the same from the list of all messages."""
    store = await ConversationStore.open(folder / "archive.db")
    session = await store.create_session(folder, "bench", "")
    await asyncio.to_thread(fill, folder / "archive.db", session, turns, 1_000, 4)
    window = Window(counter.count, settings, budget_for(settings, 200_000))
    window.set_floor(tools=FLOOR, instructions=0)
    begun = time.perf_counter()
    await window.load(ArchivedRows(store, session))
    window.assemble()
    first = time.perf_counter() - begun
    took: list[float] = []
    fingerprints = Fingerprints()
    for n in range(ROUNDS):
        asked = NewTurn(role="user" if n % 4 == 0 else "assistant", content=f"and now number {n}")
        window.add(await store.append_turns(session, [asked]))
        begun = time.perf_counter()
        request = window.assemble()
        fingerprints.digest(request.messages, "", "")
        took.append(time.perf_counter() - begun)
    whole: list[float] = []
    rows = await store.get_range(session, 1, turns)
    for _ in range(LIST_ROUNDS):
        begun = time.perf_counter()
        _newest(messages_from_turns(rows), 200_000 - FLOOR, counter.count)
        whole.append(time.perf_counter() - begun)
    await store.close()
    steady = took[1:]
    return [
        f"{turns:,}",
        f"{first * 1000:.0f}",
        f"{median(steady) / 1000:.2f} / {p99(steady) / 1000:.2f}",
        f"{median(whole) / 1000:.0f} (×{median(whole) / median(steady):,.0f})",
    ]


def _newest(messages: Sequence[ModelMessage], room: int, count: Callable[[str], int]) -> list[ModelMessage]:
    """The newest messages that fit, as a window that slides has them."""
    kept: list[ModelMessage] = []
    for message in reversed(messages):
        room -= message_tokens(message, count)
        if room < 0:
            break
        kept.append(message)
    return kept[::-1]


# ---- prefix stability -----------------------------------------------------------------------------------------------

Prompt = list[str]
"""What is sent, in pieces, in order."""


@dataclass
class Reuse:
    """Tokens of all prompts, of them those that the prompt before began with, and those sent for the first time."""

    name: str
    sent: int = 0
    reused: int = 0
    fresh: int = 0
    requests: int = 0
    before: Prompt | None = None

    def take(self, prompt: Prompt, count: Callable[[str], int]) -> None:
        sizes = [count(piece) for piece in prompt]
        self.sent += sum(sizes)
        self.requests += 1
        for place, (piece, known) in enumerate(zip(prompt, self.before or [], strict=False)):
            if piece != known:
                self.reused += count(_common(piece, known))
                break
            self.reused += sizes[place]
        known = set(self.before or ())
        self.fresh += sum(size for piece, size in zip(prompt, sizes, strict=True) if piece not in known)
        self.before = prompt


def _common(one: str, other: str) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:at]


def prefixes(exchanges: int, size: int, counter: TokenCounter, settings: Settings) -> Iterator[Reuse]:
    """How much of each prompt could be reused, by the way in which the window is kept."""
    budget = budget_for(settings, size)
    instructions = static_instructions(Path("/project")) * 3
    loom, sliding, refreshed = (
        Reuse("loom"),
        Reuse("sliding window"),
        Reuse("state in front, refreshed at every request"),
    )
    window = Window(counter.count, settings, budget)
    window.set_floor(tools=FLOOR, instructions=counter.count(instructions))
    state, stated, everything = SessionState(), "", []
    for step in ToolSession(exchanges, counter.count).steps():
        everything += step.turns
        state = advance(state, step.turns)
        window.add(step.turns)
        fresh = f"## Session state\n{to_yaml(state, _line(everything), count=counter.count)}"
        if step.begins:
            stated = fresh
            window.set_state(stated)
        if not step.asks:
            continue
        request = window.assemble()
        loom.take([instructions, *_pieces(request.messages)], counter.count)
        recent = _recent(everything, budget, counter)
        sliding.take([instructions, stated, *recent], counter.count)
        refreshed.take([instructions, fresh, *recent], counter.count)
        if request.receipt is not None:
            everything += (receipt := step.store([request.receipt.turn(counter.count)]))
            window.add(receipt)
    yield from (loom, sliding, refreshed)


def _line(turns: Sequence[Turn]) -> SessionLine:
    return SessionLine("ab12", "/project", "bench", len(turns), len(turns) * 700)


def _pieces(messages: Sequence[ModelMessage]) -> Prompt:
    return [f"{message.kind} {part.part_kind} {part_words(part)}" for message in messages for part in message.parts]


def _recent(turns: Sequence[Turn], budget: Budget, counter: TokenCounter) -> Prompt:
    """Newest first until the budget is full, then in order."""
    room = budget.marks(FLOOR).high - FLOOR
    kept: Prompt = []
    for turn in reversed(turns):
        words = f"{turn.role} {turn.content or turn.tool_calls}"
        room -= counter.count(words)
        if room < 0:
            break
        kept.append(words)
    return kept[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--exchanges", type=int, default=500)
    parser.add_argument("--windows", type=int, nargs="*", default=[32_000, 200_000])
    parsed = parser.parse_args()
    settings, counter = Settings(), TokenCounter()
    counter.load()
    rows = []
    for turns in parsed.turns:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(asyncio.run(assembly(Path(folder), turns, counter, settings)))
    if rows:
        show(
            "Assembling a request, window of 200,000 tokens; milliseconds",
            ["turns in the session", "first, with reading", "later: median / p99", "from the list of all messages"],
            rows,
        )
    rows = []
    for size in parsed.windows:
        for reuse in prefixes(parsed.exchanges, size, counter, settings):
            share, fresh = reuse.reused / reuse.sent, reuse.fresh / reuse.sent
            rows.append(
                [
                    f"{size:,}",
                    reuse.name,
                    f"{reuse.requests:,}",
                    f"{reuse.sent / reuse.requests:,.0f}",
                    f"{fresh:.1%}",
                    f"{share:.1%}",
                ]
            )
    if rows:
        show(
            f"Prompt tokens that a prefix cache can reuse, {parsed.exchanges} exchanges with tools",
            ["window", "how it is kept", "requests", "tokens a request", "new", "reusable"],
            rows,
        )


if __name__ == "__main__":
    main()

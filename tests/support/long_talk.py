"""A session of any length, always the same: what people and a coworker say on ordinary days."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from loom.archive import ConversationStore, NewTurn, Role

_NOUNS = """
parser lexer router scheduler importer exporter renderer cache index queue worker mailer logger tokenizer validator
formatter linter bundler compiler linker loader dispatcher tracker sampler
"""
_THINGS = _NOUNS.split()
_PARTS = ("tests", "types", "docs", "errors", "names", "imports", "comments", "defaults", "limits", "retries")
_ASKED = (
    "Look at the {part} of the {thing}.",
    "The {thing} is slow with many {part}, find out why.",
    "Add {part} for the {thing}.",
    "Rename the {part} in {path}.",
    "Run the {part} of the {thing} and tell me what fails.",
    "What do the {part} in {path} do?",
)
_ANSWERED = (
    "I read {path}: the {part} stand in one place, the {thing} uses them twice.",
    "Done. The {thing} has its {part} now, and the old ones are gone.",
    "The {part} were fine; the {thing} opened the file twice. It is mended in {path}.",
    "Both runs pass. The {thing} takes {number} ms.",
)
_PRINTED = (
    "{path}:{number}: def {thing}_{part}(self, value):\n    return self._{part}[value]",
    "{number} passed, 1 skipped in {seconds}.31s",
    "{path} | {number} +++---\n1 file changed",
)


@dataclass(frozen=True)
class Said:
    role: Role
    content: str
    tool_name: str | None = None


def chatter(count: int, seed: str = "") -> Iterator[Said]:
    """`count` turns: a question, a tool's output now and then, an answer."""
    pick = random.Random(seed)
    made = 0
    while made < count:
        words = {
            "thing": pick.choice(_THINGS),
            "part": pick.choice(_PARTS),
            "path": f"src/{pick.choice(_THINGS)}/{pick.choice(_PARTS)}.py",
            "number": pick.randrange(2, 900),
            "seconds": pick.randrange(90),
        }
        said = [Said("user", pick.choice(_ASKED).format(**words))]
        if pick.random() < 0.5:
            said.append(Said("tool", pick.choice(_PRINTED).format(**words), "read_file"))
        said.append(Said("assistant", pick.choice(_ANSWERED).format(**words)))
        yield from said[: count - made]
        made += len(said)


@dataclass(frozen=True)
class Planted:
    """Something that was said once, and how it is asked for much later."""

    at: int
    """Turns before it."""
    said: Said
    asked: str


PLANTED = (
    Planted(
        311,
        Said("user", "The customer wants the invoices to go out on the last business day of each month."),
        "when are customers to be sent their invoice?",
    ),
    Planted(
        702,
        Said(
            "tool", "error[E0433]: failed to resolve: use of undeclared crate `tokio`\n --> gate.rs:7", "shell_execute"
        ),
        "E0433",
    ),
    Planted(
        1_203,
        Said("assistant", "The lease is checked in services/billing/lease_guard.py, before each append."),
        "services/billing/lease_guard.py",
    ),
    Planted(1_604, Said("user", "請求書の締め切りは毎月の二十五日です。"), "締め切り"),
)


def _stored(said: Said) -> NewTurn:
    tokens = 8 + len(said.content) // 3
    return NewTurn(role=said.role, content=said.content, tool_name=said.tool_name, token_count=tokens)


async def tell(store: ConversationStore, session_id: str, count: int = 3_000) -> dict[str, int]:
    """Store a session of about `count` turns with what is PLANTED; gives the turn for each way it is asked for."""
    said = list(chatter(count))
    for plant in reversed(PLANTED):
        said.insert(plant.at, plant.said)
    turns = [_stored(each) for each in said]
    stored = []
    for start in range(0, len(turns), 500):
        stored += await store.append_turns(session_id, turns[start : start + 500])
    numbers = {turn.content: turn.turn_number for turn in stored}
    return {plant.asked: numbers[plant.said.content] for plant in PLANTED}

"""A long tool-heavy session, made up but always the same: reading, searching, running, editing.

Its words are those of this text: session, archive, window, token, cache, prefix, budget, request, answer, tool, result,
receipt, state, model, provider, turn, exchange, search, index, ranking, lease, epoch, digest, chain, backup, schema.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from loom.archive import NewTurn, Turn
from loom.context.messages import turns_from_request, turns_from_response

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS = tuple((__doc__ or "").partition(":")[2].replace(",", "").replace(".", "").split())


@dataclass(frozen=True)
class Step:
    """Rows that were stored together."""

    turns: Sequence[Turn]
    begins: bool
    """True for the person's message."""
    asks: bool
    """True when a request follows."""
    store: Callable[[Sequence[NewTurn]], list[Turn]]


class ToolSession:
    """So many exchanges of two to nine tool calls each, outputs of 100 to 6,000 tokens."""

    def __init__(self, exchanges: int, count: Callable[[str], int], seed: int = 7) -> None:
        self._exchanges = exchanges
        self._count = count
        self._random = random.Random(seed)
        self._turn = 0
        self._exchange = 0

    def steps(self) -> Iterator[Step]:
        for n in range(1, self._exchanges + 1):
            wish = f"Number {n}: look into {self._words(6)} and mend it. Never touch src/{self._words(1)}.py here."
            self._exchange = n
            yield self._step(
                turns_from_request(ModelRequest([UserPromptPart(wish, timestamp=WHEN)]), self._count), True
            )
            for call in range(calls := self._random.randint(2, 9)):
                yield from self._call(f"c{n}-{call}", call == calls - 1)
            said = ModelResponse([TextPart(f"Done. {self._words(60)}.")], timestamp=WHEN)
            yield self._step(turns_from_response(said, self._count), False, asks=False)

    def _call(self, call_id: str, last: bool) -> Iterator[Step]:
        path = f"src/{self._random.choice(_WORDS)}.py"
        tool, arguments, facts = self._random.choice(
            (
                ("read_file", {"path": path}, {"action": "read", "path": path}),
                ("search_text", {"pattern": self._words(1)}, {}),
                ("shell_execute", {"command": f"pytest -q {path}"}, {"command": f"pytest -q {path}", "exit_code": 0}),
                ("edit_file", {"path": path, "new": self._words(30)}, {"action": "edited", "path": path}),
            )
        )
        asked = ModelResponse([ToolCallPart(tool, arguments, call_id)], timestamp=WHEN)
        yield self._step(turns_from_response(asked, self._count), False, asks=False)
        lines = self._random.choice((4, 20, 80, 300)) if tool != "edit_file" else 2
        output = "\n".join(f"{n}: {self._words(9)}" for n in range(lines))
        part = ToolReturnPart(tool, output, call_id, metadata=facts, timestamp=WHEN)
        yield self._step(turns_from_request(ModelRequest([part]), self._count), False)

    def _words(self, number: int) -> str:
        return " ".join(self._random.choice(_WORDS) for _ in range(number))

    def _step(self, new: Sequence[NewTurn], begins: bool, *, asks: bool = True) -> Step:
        return Step(self._store(new), begins, asks, self._store)

    def _store(self, new: Sequence[NewTurn]) -> list[Turn]:
        return [self._row(turn) for turn in new]

    def _row(self, new: NewTurn) -> Turn:
        self._turn += 1
        values = {f.name: getattr(new, f.name) for f in fields(new) if f.name != "append_key"}
        values["created_at"] = "2026-01-01T00:00:00.000000Z"
        return Turn(session_id="s", turn_number=self._turn, exchange=self._exchange, digest="", **values)

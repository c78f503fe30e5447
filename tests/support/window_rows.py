"""What the tests of the window share: a counter that is a plain rule, and a session's rows without an archive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from loom.archive.records import ExchangeSize, NewTurn, Turn
from loom.context.messages import turns_from_request, turns_from_response
from loom.context.person_commands import command_row, output_row
from loom.context.recipes import Recipe

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def words(text: str) -> int:
    """Tokens as the tests count them: one for every started four characters."""
    return -(-len(text) // 4)


def _at_when(dumped: str | None) -> str:
    return json.dumps(json.loads(dumped or "{}") | {"timestamp": WHEN.isoformat()})


class Rows:
    """Numbers new turns the way the archive does, and answers the questions that a resume asks."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.exchange = 0
        self.reads: list[tuple[str, int]] = []
        self.recipe: Recipe | None = None
        """Of the newest request."""

    def append(self, new: Sequence[NewTurn]) -> list[Turn]:
        if new[0].role == "user":
            self.exchange += 1
        stored = [self._row(turn, len(self.turns) + 1 + at) for at, turn in enumerate(new)]
        self.turns += stored
        return stored

    def _row(self, new: NewTurn, number: int) -> Turn:
        values = {f.name: getattr(new, f.name) for f in fields(new) if f.name != "append_key"}
        values["created_at"] = new.created_at or f"2026-01-01T00:00:{number % 60:02d}.{number:06d}Z"
        return Turn(session_id="s", turn_number=number, exchange=self.exchange, digest="", **values)

    # The person, the model and the tools

    def ask(self, text: str) -> list[Turn]:
        return self.append(turns_from_request(ModelRequest([UserPromptPart(text, timestamp=WHEN)]), words))

    def answer(self, text: str) -> list[Turn]:
        return self.append(turns_from_response(ModelResponse([TextPart(text)], timestamp=WHEN), words))

    def call(self, call_id: str, tool: str = "read_file", **arguments: Any) -> list[Turn]:
        response = ModelResponse([ToolCallPart(tool, arguments, call_id)], timestamp=WHEN)
        return self.append(turns_from_response(response, words))

    def say(self, *parts: ModelResponsePart, state: Literal["complete", "interrupted"] = "complete") -> list[Turn]:
        """One response of several parts: thoughts, words, calls."""
        return self.append(turns_from_response(ModelResponse(parts, timestamp=WHEN, state=state), words))

    def result(
        self, call_id: str, text: str, tool: str = "read_file", outcome: Any = "success", **facts: Any
    ) -> list[Turn]:
        part = ToolReturnPart(tool, text, call_id, metadata=facts or None, timestamp=WHEN, outcome=outcome)
        return self.append(turns_from_request(ModelRequest([part]), words))

    def run(self, command: str, output: str, **facts: Any) -> list[Turn]:
        """A command of the person's own, with its output."""
        call_id = f"person-{len(self.turns)}"
        result = output_row(call_id, output, {"command": command, **facts}, "success", words)
        dated = replace(result, part_json=_at_when(result.part_json), message_meta=_at_when(result.message_meta))
        return [*self.append([command_row(command, call_id, words)]), *self.append([dated])]

    def exchange_with_output(self, wish: str, output: str, **facts: Any) -> list[Turn]:
        number = len(self.turns)
        return [
            *self.ask(wish),
            *self.call(f"c{number}", path="a.py"),
            *self.result(f"c{number}", output, **facts),
            *self.answer(f"Done: {wish}"),
        ]

    # The archive's answers

    async def sizes(self, before: int | None, limit: int) -> list[ExchangeSize]:
        self.reads.append(("sizes", limit))
        numbers = sorted({t.exchange for t in self.turns if before is None or t.exchange < before}, reverse=True)
        sizes: list[ExchangeSize] = []
        for number in numbers[:limit]:
            turns = [turn for turn in self.turns if turn.exchange == number]
            tokens = sum(turn.token_count for turn in turns)
            sizes.append(
                ExchangeSize(
                    exchange=number, first_turn=turns[0].turn_number, last_turn=turns[-1].turn_number, tokens=tokens
                )
            )
        return sizes

    async def turn(self, number: int) -> Turn | None:
        return self.turns[number - 1] if 0 < number <= len(self.turns) else None

    async def newest_mark(self) -> Turn | None:
        marks = (turn for turn in reversed(self.turns) if '"left_to"' in (turn.message_meta or ""))
        return next(marks, None)

    async def newest_recipe(self) -> Recipe | None:
        return self.recipe

    async def exchanges(self, first: int, last: int) -> list[Turn]:
        turns = [turn for turn in self.turns if first <= turn.exchange <= last]
        self.reads.append(("turns", len(turns)))
        return turns

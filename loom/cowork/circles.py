"""A model that goes in circles: the same calls with the same results, over and over, are stopped before they eat the
window and the bill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loom.archive import Turn
from loom.archive.records import TurnKind
from loom.errors import LoomError
from loom.tools.outcome import ToolFailure

LONGEST_ROUND = 3
"""Calls in the longest round that is looked for: A; A B; A B C."""

REFUSALS = 3
"""Calls refused one after the other before the exchange is stopped."""


class GoingInCircles(LoomError):
    """The model was told that it goes in circles, and went on."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A call that was made, and what came of it."""

    asked: str
    """Tool and arguments, comparable."""
    status: str
    content: str
    turn_number: int
    """The turn of its result."""


class Circles:
    """Watches the calls of one exchange.

    A round of one to three calls counts as a circle when it came `limit` times in a row, the same tools with the same
    arguments and the same results. A test that fails the same way after each of several edits is none: the edits
    differ. A limit of 0 watches nothing.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._read = 0  # how many of the turns are in what follows
        self._open: dict[str, str] = {}
        self._made: list[_Made] = []
        self._refusals: set[str] = set()
        self._in_a_row = 0

    def check(self, tool: str, arguments: dict[str, Any], turns: Sequence[Turn]) -> None:
        """Look at a call that is about to run, behind the exchange's `turns` so far; they only ever grow.

        Raises ToolFailure, for the model, when it would go round once more, and GoingInCircles when it was told so
        and does not stop.
        """
        self._take(turns)
        results = self._came_round(_asked(tool, arguments)) if self._limit else []
        if not results:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        if self._in_a_row > REFUSALS:
            raise GoingInCircles(
                f"The model goes in circles: it called {tool} in the same way again, after {self._limit} rounds with "
                f"the same result (T{results[-1]}) and {REFUSALS} refusals. The exchange was stopped.",
                "Tell it what to do differently, or raise repeat_limit in the settings.",
            )
        named = ", ".join(f"T{number}" for number in results[-self._limit :])
        refusal = (
            f"Not run: this call came {self._limit} times in a row with the same result ({named}). "
            "Do something else, or ask the person."
        )
        self._refusals.add(refusal)
        raise ToolFailure(refusal)

    def _take(self, turns: Sequence[Turn]) -> None:
        """Take in the turns that came since the last time: each call that has a result, in the order of the results."""
        for turn in turns[self._read :]:
            for call in turn.tool_calls or ():
                self._open[call["id"]] = _asked(call["name"], call["arguments"])
            if turn.kind is TurnKind.TOOL_RESULT and turn.tool_call_id in self._open:
                asked = self._open.pop(turn.tool_call_id)
                self._made.append(_Made(asked, turn.status.value, turn.content or "", turn.turn_number))
        self._read = len(turns)

    def _came_round(self, asked: str) -> list[int]:
        """The turns of the results that this call would only give again; empty when it goes in no circle."""
        made = [one for one in self._made if one.content not in self._refusals]
        for steps in range(1, LONGEST_ROUND + 1):
            tail = made[-steps * self._limit :]
            if len(tail) < steps * self._limit or tail[-steps].asked != asked:
                continue
            pairs = zip(tail, tail[steps:], strict=False)
            if all((a.asked, a.status, a.content) == (b.asked, b.status, b.content) for a, b in pairs):
                return [one.turn_number for one in tail if one.asked == asked]
        return []


def _asked(tool: str, arguments: object) -> str:
    return f"{tool} {json.dumps(arguments, sort_keys=True)}"

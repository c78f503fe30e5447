"""What leaves when the window is full, in which order and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loom.context.budget import Marks, WindowTooSmall
from loom.context.contents import Contents
from loom.context.edges import Edges
from loom.context.held import HeldExchange
from loom.context.meter import Meter

MIN_PROMPT_TOKENS = 200
"""The person's message is never cut below this; rather the request is refused, with words."""


class Fitting:
    """One attempt to make the contents fit. All it does is to move edges and, in need, cut the newest message."""

    def __init__(self, contents: Contents, meter: Meter, max_messages: int) -> None:
        self._contents = contents
        self._meter = meter
        self._marks: Marks = meter.marks()
        self._max_messages = max_messages

    def fit(self) -> str | None:
        """Words for the person if their message had to be cut. Raises WindowTooSmall.

        In this order, each only as far as needed: older exchanges' tool outputs are shortened, the oldest
        exchanges leave, then the newest whole one, then outputs of the exchange in progress shrink (those that the
        model has not read yet last), then its oldest steps leave, then the person's message is cut.
        """
        marks = self._marks
        if not self._contents.held or (self._used() <= marks.high and not self._too_many()):
            return None
        *history, current = self._contents.held
        ends = [held.last_turn for held in history]
        self._move("short_to", ends[-2:-1], above=marks.high)
        self._leave_by_number(ends)
        self._move("left_to", ends[:-1], above=marks.low)
        self._move("short_to", ends[-1:], above=marks.high)
        self._move("left_to", ends[-1:], above=marks.high)
        self._move("short_to", current.result_turns, above=marks.high)
        self._move("mark_to", current.result_turns, above=marks.high)
        self._move("short_to", [current.last_result], above=marks.high)
        self._move("mark_to", [current.last_result], above=marks.high)
        self._move("left_to", current.step_ends, above=marks.high)
        return self._cut_prompt(current) if self._used() > marks.full else None

    def _used(self, edges: Edges | None = None) -> int:
        return self._meter.scaled(self._meter.floor_tokens + self._contents.tokens(edges))

    def _move(self, edge: str, turns: Sequence[int], *, above: int) -> None:
        """While more than `above` is used: move the edge to the first of `turns` with which no more than the low-water
        mark is used, or to the last of them."""
        edges = self._contents.edges
        turns = [turn for turn in turns if turn > getattr(edges, edge)]
        if not turns or self._used() <= above:
            return
        least, most = 0, len(turns) - 1
        while least < most:
            middle = (least + most) // 2
            if self._used(replace(edges, **{edge: turns[middle]})) <= self._marks.low:
                most = middle
            else:
                least = middle + 1
        self._contents.move(**{edge: turns[least]})

    def _too_many(self) -> bool:
        return 0 < self._max_messages < self._contents.message_count(self._contents.edges.left_to)

    def _leave_by_number(self, ends: Sequence[int]) -> None:
        """Let exchanges leave until `max_history_messages` holds with the same slack as the water marks have."""
        if not self._too_many():
            return
        budget = self._meter.budget
        goal = int(self._max_messages * budget.low_water / budget.high_water)
        enough = (end for end in ends if self._contents.message_count(end) <= goal)
        left_to = next(enough, max(ends, default=0))
        if left_to > self._contents.edges.left_to:
            self._contents.move(left_to=left_to)

    def _cut_prompt(self, current: HeldExchange) -> str:
        found = current.prompt
        for goal in (self._marks.high, self._marks.full):
            tokens = current.prompt_tokens
            while found is not None and self._used() > self._marks.full:
                tokens -= self._meter.unscaled(self._used() - goal) + 16
                if tokens < MIN_PROMPT_TOKENS:
                    break
                current.cut_prompt(tokens)
            if found is not None and self._used() <= self._marks.full:
                return (
                    "Your message is larger than the window: the model sees its beginning and its end. "
                    f"It is whole in the archive as T{found[0]}."
                )
            current.cut_prompt(None)
        raise WindowTooSmall(
            f"This exchange does not fit into the model's window of {self._meter.budget.window:,} tokens, even with "
            "its tool outputs left out.",
            "Choose a model with a larger window, or ask for less at once.",
        )

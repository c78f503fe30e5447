"""What leaves when the window is full, in which order and how far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from loom.context.budget import WindowTooSmall
from loom.context.contents import Contents
from loom.context.edges import Edges
from loom.context.held import HeldExchange
from loom.context.meter import Meter
from loom.context.restored import Limits

LEAST_PROMPT_TOKENS = 100
"""The person's message is never cut below this: some 40 of them say that it is cut."""
LEAST_CAP_TOKENS = 300
"""Outputs that the model has not read yet are never capped below this; when that is too much, the oldest of them become
markers."""


class Fitting:
    """One attempt to make the contents fit. All it does is to move edges and, in need, to take the summary out."""

    def __init__(self, contents: Contents, meter: Meter, limits: Limits) -> None:
        self._contents = contents
        self._meter = meter
        self._marks = limits.marks
        self._most = limits.marks.high
        """Used tokens above which something goes."""
        self._max_messages = limits.messages

    def fit(self) -> str | None:
        """Words for the person if their message had to be cut just now. Raises WindowTooSmall.

        In this order, each only as far as needed: older exchanges' tool outputs are shortened; what was brought
        back leaves, then the oldest exchanges, then the newest whole one; then the exchange in progress shrinks. Of
        that, in this order: outputs that the model has read are shortened, then become markers; unread ones are
        capped, the largest first; long arguments are cut; the oldest steps leave; a message of the person's that fills
        the window by itself is cut; unread outputs become markers, the newest last; the last step's arguments are cut;
        its oldest calls leave with their results; the summary leaves; the person's message is cut.
        """
        if not self._contents.held or (self._used() <= self._marks.high and not self._too_many()):
            return None
        *history, current = self._contents.held
        self._fit_history(history)
        said = self._fit_current(current)
        if self._used() > self._marks.full:
            self._contents.drop_summary()
        return self._cut_prompt(current) if self._used() > self._marks.full else said

    def let_history_go(self, to_turn: int) -> None:
        """Let every exchange up to this turn leave, however much room there is."""
        edges = self._contents.edges
        self._contents.move(replace(edges, left_to=max(edges.left_to, to_turn), back=()))

    def _fit_history(self, history: Sequence[HeldExchange]) -> None:
        ends = [held.last_turn for held in history if held.number not in self._contents.edges.back]
        self._move_edge("short_to", ends[-2:-1])
        back = self._contents.edges.back
        # Once something has to go, so much goes that the next requests find the window as it is.
        low = self._marks.low
        self._move((replace(self._contents.edges, back=back[gone:]) for gone in range(1, len(back) + 1)), above=low)
        self._leave_by_number(ends)
        self._move_edge("left_to", ends[:-1], above=low)
        self._move_edge("short_to", ends[-1:])
        self._move_edge("left_to", ends[-1:])

    def _fit_current(self, current: HeldExchange) -> str | None:
        """Words for the person if their message had to be cut."""
        answers, unread = current.answer_ends, current.unread_results
        alone, full = self._alone(current), self._marks.full
        # Beside a message that takes nearly all up to the mark no result would ever be read: its results have the same
        # room above it as any others, as far as the window goes.
        self._most = min(full, max(self._marks.high, alone + full - self._marks.high))
        self._move_edge("short_to", current.read_results)
        self._move_edge("mark_to", current.read_results)
        self._cap(current, unread)
        self._move_edge("tight_to", answers[:-1])
        self._move_edge("left_to", current.step_ends)
        said = None
        if unread and alone > self._marks.high and self._used() > self._most:
            with suppress(WindowTooSmall):  # more may still go
                said = self._cut_prompt(current)
        # Of what the model has not read yet, no more goes than has to.
        self._move_edge("mark_to", unread, down_to=self._most)
        self._move_edge("tight_to", answers[-1:], down_to=self._most)
        self._move_edge("left_to", current.newest_calls, down_to=self._most)
        # An answer without calls, which the provider or the library asked to be given again.
        self._move_edge("left_to", [end for end in answers[-1:] if end < current.last_turn])
        return said

    def _alone(self, current: HeldExchange) -> int:
        """What a request of the person's message alone would take."""
        return self._meter.scaled(self._meter.floor_tokens + current.prompt_tokens(self._contents.edges))

    def _used(self, edges: Edges | None = None) -> int:
        return self._meter.scaled(self._meter.floor_tokens + self._contents.tokens(edges))

    def _move_edge(
        self, edge: str, turns: Iterable[int], *, above: int | None = None, down_to: int | None = None
    ) -> None:
        """Move one edge through these turns, ascending, as far as needed; see `_move`."""
        edges = self._contents.edges
        moves: list[dict[str, Any]] = [{edge: turn} for turn in turns if turn > getattr(edges, edge)]
        self._move((replace(edges, **move) for move in moves), above=above, down_to=down_to)

    def _move(self, choices: Iterator[Edges], *, above: int | None = None, down_to: int | None = None) -> None:
        """While more than `above` (what may be used at most unless given) is used: move to the first of `choices`, each
        smaller than the one before it, with which no more than `down_to` (the low-water mark) is used, or to the last
        of them."""
        goal = self._marks.low if down_to is None else down_to
        if self._used() <= (self._most if above is None else above):
            return
        edges = list(choices)
        if not edges:
            return
        least, most = 0, len(edges) - 1
        while least < most:
            middle = (least + most) // 2
            if self._used(edges[middle]) <= goal:
                most = middle
            else:
                least = middle + 1
        self._contents.move(edges[least])

    def _cap(self, current: HeldExchange, unread: Sequence[int]) -> None:
        """Cap the outputs that the model has not read, so that together they take what is free: the largest shrink, the
        small ones stay whole."""
        over = self._used() - self._most
        if over <= 0 or not unread:
            return
        edges = self._contents.edges
        sizes = current.unread_tokens(edges)
        cap = max(LEAST_CAP_TOKENS, level_for(sizes, sum(sizes) - self._meter.unscaled(over) - len(sizes)))
        # An older cap goes: what it shortened has been read since, and is shortened or a marker already.
        self._contents.move(replace(edges, cap_from=unread[0] - 1, cap_to=unread[-1], cap=cap))

    def _too_many(self) -> bool:
        return 0 < self._max_messages < self._contents.message_count()

    def _leave_by_number(self, ends: Sequence[int]) -> None:
        """Let exchanges leave until `max_history_messages` holds with the same slack as the water marks have."""
        if not self._too_many():
            return
        goal = self._max_messages - self._meter.budget.slack(self._max_messages)
        edges = replace(self._contents.edges, back=())
        choices = [replace(edges, left_to=end) for end in ends if end > edges.left_to] or [edges]
        enough = (choice for choice in choices if self._contents.message_count(choice) <= goal)
        self._contents.move(next(enough, choices[-1]))

    def _cut_prompt(self, current: HeldExchange) -> str | None:
        found, edges = current.prompt, self._contents.edges
        if found is None:
            raise self._too_small()
        cut_before = edges.prompt_turn == found[0]
        tokens = current.prompt_tokens(edges)
        # The first goal leaves some room for what comes next; where there is none, the whole room is taken.
        for goal in (self._marks.high, self._marks.full):
            least = tokens
            while self._used() > self._marks.full and least > LEAST_PROMPT_TOKENS:
                over = self._meter.unscaled(self._used() - goal)
                least = max(LEAST_PROMPT_TOKENS, least - over - 16)
                self._contents.move(replace(edges, prompt_turn=found[0], prompt_tokens=least))
            roomy = least > LEAST_PROMPT_TOKENS or goal == self._marks.full
            if roomy and self._used() <= self._marks.full:
                if cut_before:
                    return None
                return (
                    "Your message is larger than the window: the model sees its beginning and its end. "
                    f"It is whole in the archive as T{found[0]}."
                )
            self._contents.move(edges)
        raise self._too_small()

    def _too_small(self) -> WindowTooSmall:
        return WindowTooSmall(
            f"Beside instructions, tools and session state there is no room for a message in the model's window of "
            f"{self._meter.budget.window:,} tokens.",
            "Choose a model with a larger window, or correct `context_window` or `output_reserve`.",
        )


def level_for(sizes: Sequence[int], room: int) -> int:
    """The largest cap with which these sizes, each cut to it, take at most `room` together; 0 if there is none."""
    rest = max(0, room)
    for done, size in enumerate(sorted(sizes)):
        share = rest // (len(sizes) - done)
        if size > share:
            return share
        rest -= size
    return max(sizes, default=0)

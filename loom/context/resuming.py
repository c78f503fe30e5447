"""A session that is taken up again: its window is filled from the archive, and looks as it did when it was left."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from loom.archive.records import ExchangeSize, Turn
from loom.archive.rewound import is_rewound, others
from loom.context.contents import Contents
from loom.context.edges import Beginning, ranges_of
from loom.context.meter import Meter
from loom.context.receipts import Receipt
from loom.context.recipes import Recipe
from loom.turn_numbers import Ranges

PAGE = 40
"""Exchanges read at first."""


class SessionRows(Protocol):
    """What is asked of the archive when a session is resumed."""

    async def sizes(self, before: int | None, limit: int) -> Sequence[ExchangeSize]:
        """The newest `limit` exchanges before exchange `before` (of all if None), newest first."""

    async def exchanges(self, first: int, last: int) -> Sequence[Turn]:
        """The turns of these exchanges, both included, ascending."""

    async def turn(self, number: int) -> Turn | None: ...

    async def newest_mark(self) -> Turn | None:
        """The newest turn that moved the window's edges; None if none did."""

    async def newest_recipe(self) -> Recipe | None:
        """That of the newest request; None before the first, or if an older loom sent it."""


class Resuming:
    """One filling of the contents."""

    def __init__(self, contents: Contents, meter: Meter, rows: SessionRows) -> None:
        self._contents = contents
        self._meter = meter
        self._rows = rows

    async def fill(self) -> Receipt | None:
        """Newest exchanges first, up to where the window began or until it is full. What it has no room for any more
        (it is another model's) is in the receipt; None when all of it is in."""
        beginning = await self._beginning()
        summary = await self._rows.turn(beginning.summary) if beginning.summary else None
        self._contents.fill([], beginning, summary)
        turns: list[Turn] = []
        older: Ranges = ()  # not read, though not rewound past
        before: int | None = None
        limit = PAGE
        while page := await self._rows.sizes(before, limit):
            taken = self._that_fit(page, beginning.edges.rewound)
            turns = [*await self._read(taken, beginning.edges.rewound), *turns]
            before = taken[-1].exchange
            # Twice as many each time: what was read is laid out anew at each step.
            limit *= 2
            if not turns:
                continue
            await self._hold(turns, beginning, summary)
            if self._contents.edges.left_to >= turns[0].turn_number - 1 or self._used() >= self._room():
                older = others(1, turns[0].turn_number - 1, beginning.edges.rewound)
                break
        if not turns:
            return None
        await self._fill_back(turns, beginning, summary)
        self._begin_at_most_full(older[-1][1] if older else 0)
        return await self._left_since(beginning.edges.left_to)

    async def _beginning(self) -> Beginning:
        """Where the window began last. Outputs may have been shortened since the newest mark: the newest request's
        recipe says how far."""
        mark, recipe = await self._rows.newest_mark(), await self._rows.newest_recipe()
        beginning = Beginning().moved_by(mark) if mark is not None else Beginning()
        if recipe is not None and recipe.last_turn > (mark.turn_number if mark is not None else 0):
            return replace(beginning, edges=recipe.edges, summary=recipe.summary)
        return beginning

    async def _read(self, sizes: Sequence[ExchangeSize], rewound: Ranges) -> list[Turn]:
        """The rows of these exchanges, newest first, without those that were rewound past; ascending."""
        numbers = [size.exchange for size in sizes if not is_rewound(size.first_turn, rewound)]
        return [turn for first, last in ranges_of(numbers) for turn in await self._rows.exchanges(first, last)]

    def _that_fit(self, page: Sequence[ExchangeSize], rewound: Ranges) -> Sequence[ExchangeSize]:
        room = self._room() - self._used()
        for at, size in enumerate(page, 1):
            if not is_rewound(size.first_turn, rewound):
                room -= size.tokens
            if room <= 0:
                return page[:at]
        return page

    async def _fill_back(self, turns: Sequence[Turn], beginning: Beginning, summary: Turn | None) -> None:
        """Read the exchanges, older than these turns, that were brought back."""
        older = [number for number in beginning.edges.back if number < turns[0].exchange]
        if older:
            back = [turn for number in older for turn in await self._rows.exchanges(number, number)]
            await self._hold([*back, *turns], beginning, summary)

    async def _hold(self, turns: Sequence[Turn], beginning: Beginning, summary: Turn | None) -> None:
        """Hold these rows. They are read and counted in a thread: a few results of 200 kB take a second."""
        recounts = self._contents.recounts
        laid = await asyncio.to_thread(self._contents.laid_out, turns, beginning.edges)
        newer = [
            turn for held in self._contents.held for turn in held.turns if turn.turn_number > turns[-1].turn_number
        ]
        self._contents.take(laid, beginning, summary)
        if newer:
            self._contents.add(newer)  # stored since these rows were read
        if self._contents.recounts != recounts:
            # The counter became better meanwhile, and some of it was counted before.
            self._contents.recount()

    def _begin_at_most_full(self, before: int) -> None:
        """Let the window begin behind turn `before` at the earliest, and later if more was read than there is room for
        (rows of imports do not say how long they are)."""
        ends = [before, *(held.last_turn for held in self._contents.held[:-1])]
        for left_to in ends:
            edges = self._contents.edges
            if left_to > edges.left_to:
                self._contents.move(replace(edges, left_to=left_to))
            if self._used() <= self._room():
                break
        self._contents.let_go()

    async def _left_since(self, left_to: int) -> Receipt | None:
        """The receipt for what left while filling; not all of it was read, so it counts exchanges only."""
        rewound = self._contents.edges.rewound
        gone = others(left_to + 1, self._contents.edges.left_to, rewound)
        exchanges: set[int] = set()
        for ends in gone:
            first, last = [await self._rows.turn(number) for number in ends]
            if first is not None and last is not None:
                sizes = await self._rows.sizes(first.exchange + 1, 1)
                # A note behind a rewinding stands in an exchange that was rewound past.
                start = first.exchange + any(is_rewound(size.first_turn, rewound) for size in sizes)
                exchanges |= set(range(max(1, start), last.exchange + 1))
        return Receipt(gone, len(exchanges), 0, 0, self._contents.beginning) if exchanges else None

    def _room(self) -> int:
        """How full a resumed window may become: as full as it can have been."""
        return self._meter.marks().full

    def _used(self) -> int:
        return self._meter.scaled(self._meter.floor_tokens + self._contents.tokens())

"""The window: which exchanges the model is sent, and how full it is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelRequest

from loom.archive.records import ExchangeSize, Turn
from loom.config import Settings
from loom.context.assembly import Assembly
from loom.context.budget import Budget, WindowTooSmall
from loom.context.contents import Contents
from loom.context.edges import Beginning, Edges, ranges_of
from loom.context.fitting import Fitting
from loom.context.measure import Count
from loom.context.meter import Meter
from loom.context.outlook import Outlook, outlook
from loom.context.pins import Pinned
from loom.context.receipts import Receipt, Shortening, receipt_of
from loom.context.recipes import Recipe
from loom.context.restored import Limits, limits
from loom.context.resuming import Resuming, SessionRows
from loom.context.scale import by_segment
from loom.context.sight import Sight
from loom.context.trimming import TrimRules
from loom.context.usage import Segment, WindowUsage

__all__ = ["Assembly", "Window"]


class Window:
    """The exchanges in the window and everything counted beside them. For one thread.

    It is made of the archive's rows alone, the exchange in progress included, and what it looks like follows from
    the rows and the edges: the same rows give the same request, before and after a resume.
    """

    def __init__(self, count: Count, settings: Settings, budget: Budget) -> None:
        self._settings = settings
        # Pins have a room of their own, which follows the window's size already.
        pin_tokens = settings.tool_output_preview_tokens
        self._contents = Contents(TrimRules.of(settings, budget), count, pin_tokens=pin_tokens)
        self._meter = Meter(budget, count)
        self._left_at_load: Receipt | None = None
        self._contents.pins.room = budget.pin_room

    # What is counted beside the exchanges

    @property
    def budget(self) -> Budget:
        return self._meter.budget

    def set_floor(self, *, tools: int, instructions: int) -> None:
        """Tokens of what is in every request, never leaves and never changes."""
        self._meter.set_floor(tools=tools, instructions=instructions)

    def set_beside(self, *, memory: str, project: str) -> None:
        """The memory and the project's instructions as the instructions carry them. Call it between exchanges only,
        like `set_state`."""
        self._meter.set_beside(memory, project)

    def set_state(self, text: str) -> None:
        """What is sent of the session state. Call it between exchanges only: it stands beside the person's message, in
        front of every step of the exchange, which a provider could otherwise reuse from its cache."""
        self._meter.set_state(text)
        self._contents.state = text

    def set_hint(self, text: str) -> None:
        """What goes beside the newest message of the person; forgotten when the next exchange begins."""
        self._contents.hint = text

    def set_pins(self, pins: Sequence[Pinned]) -> None:
        """What stands beside the newest message of the person where it has left the window."""
        self._contents.pins.set(pins)

    def pins_need(self, pins: Sequence[Pinned]) -> int:
        """Tokens that these pins would take together if all of their turns had left; `Budget.pin_room` is the limit."""
        return self._contents.pins.need(pins)

    def recount(self) -> None:
        """The counter has become exact: count again."""
        self._contents.recount()
        self._meter.recount()

    # What is in it

    @property
    def left_to(self) -> int:
        """The newest turn that left; 0 if none did."""
        return self._contents.edges.left_to

    @property
    def turns(self) -> tuple[tuple[int, int], ...]:
        """Turn numbers in the window, pinned ones included: inclusive ranges, ascending."""
        shown = [turn for view in self._contents.views() for turn in view.turns]
        return ranges_of([*shown, *self._contents.pins_look().turns])

    @property
    def exchanges(self) -> list[ExchangeSize]:
        """The exchanges in the window, oldest first, with the tokens that they take there."""
        contents = self._contents
        return [
            ExchangeSize(
                exchange=held.number,
                first_turn=view.turns[0],
                last_turn=view.turns[-1],
                tokens=self._meter.scaled(view.tokens),
            )
            for held, view in zip(contents.held, contents.views(), strict=True)
            if view.turns
        ]

    @property
    def rows(self) -> list[Turn]:
        """The rows in the window, ascending: what a compaction sums up."""
        return list(self._contents.shown())

    @property
    def beginning(self) -> Beginning:
        """Where the window begins now: what a move holds of the time before it."""
        return self._contents.beginning

    @property
    def summary(self) -> str:
        """The summary that stands in front of them, as it was written; empty if none does."""
        return self._contents.summary

    def holds(self, turn_number: int) -> bool:
        """Whether the model sees this turn."""
        return any(first <= turn_number <= last for first, last in self.turns)

    def sight(self, *, leave_to: int = 0) -> Sight:
        """What the next request will show: what has to leave for it is taken as gone, and so are the exchanges up to
        turn `leave_to`. Nothing is moved."""
        beginning = self._contents.beginning
        fitting = Fitting(self._contents, self._meter, self._limits())
        try:
            if leave_to:
                fitting.let_history_go(leave_to)
            with suppress(WindowTooSmall):  # said when it is assembled
                fitting.fit()
            return Sight(self.left_to, self.turns, self._contents.edges.rewound)
        finally:
            self._contents.beginning = beginning

    def add(self, turns: Sequence[Turn]) -> None:
        """Take in rows that were just stored, in order. Receipts, summaries and notes move the window's edges."""
        self._contents.add(turns)

    async def load(self, rows: SessionRows) -> None:
        """Fill the window of a resumed session, newest exchanges first, up to where it began or until it is full.
        The cost depends on the window's size and not on the session's."""
        self._left_at_load = await Resuming(self._contents, self._meter, rows).fill()

    # A request

    def assemble(self, live: Sequence[ModelMessage] = (), *, leave_to: int = 0) -> Assembly:
        """The next request. What must leave for it to fit leaves now, and the exchanges up to turn `leave_to` do.

        Every row of the exchange in progress has been added before; of `live`, its messages as pydantic-ai holds
        them, only the newest request's instructions are taken. Raises WindowTooSmall when it cannot fit.
        """
        self._meter.check()
        before, summary, overflow = self._contents.edges, self._contents.beginning.summary, self.overflow
        fitting = Fitting(self._contents, self._meter, self._limits())
        if leave_to:
            fitting.let_history_go(leave_to)
        cut = fitting.fit()
        if (self._contents.edges.left_to, self._contents.edges.back) != (before.left_to, before.back):
            self._contents.forget_restored()
        receipt = self._receipt(before)
        shortening = self._shortening(before) if receipt is None else None
        notices = [overflow if receipt is not None else "", self._dropped(summary), cut or ""]
        if self._left_at_load is not None:
            receipt = self._left_at_load.joined(receipt, self._contents.beginning)
            self._left_at_load = None
        self._contents.let_go()
        self._meter.assembled(self._raw())
        texts = {
            "state": self._meter.state,
            "receipt": self._contents.head,
            "pins": self._contents.pins_look().text,
            "hint": self._contents.hint,
        }
        used, segments = self._used(), self._raw_segments()
        return Assembly(
            messages=_instructed(self._contents.messages(), live),
            tokens=used,
            counted=self._raw(),
            segments=by_segment(segments, self._meter.factor, used),
            counted_segments=segments,
            turns=self.turns,
            texts={name: text for name, text in texts.items() if text},
            recipe=self._recipe(),
            receipt=receipt,
            shortening=shortening,
            notice=" ".join(words for words in notices if words) or None,
        )

    def _dropped(self, summary: int) -> str:
        """Words for the person if the summary of this turn, 0 for none, has just left."""
        if not summary or self._contents.beginning.summary:
            return ""
        return f"The summary (T{summary}) does not fit beside this exchange and left the window; the archive keeps it."

    def _recipe(self) -> Recipe:
        contents = self._contents
        return Recipe(
            last_turn=contents.held[-1].last_turn if contents.held else 0,
            edges=contents.edges,
            summary=contents.beginning.summary,
            rules=contents.rules,
            tokens=self._used(),
            high=self._limits().marks.high,
            factor=self._meter.factor,
            memory_chars=len(self._meter.memory),
            project_chars=len(self._meter.project),
        )

    def _receipt(self, before: Edges) -> Receipt | None:
        """What left since the window looked as from `before`; None if nothing did."""
        edges = self._contents.edges
        if (edges.left_to, edges.back) == (before.left_to, before.back):
            return None
        left: list[Turn] = []
        for held in self._contents.held:
            seen = set(held.view(edges).turns)
            if held.number in edges.back:
                continue
            first = 0 if held.number in before.back else before.left_to
            was_seen = set(held.view(before).turns)
            left += [
                turn
                for turn in held.turns
                if turn.turn_number not in seen
                and (first < turn.turn_number <= edges.left_to or turn.turn_number in was_seen)
            ]
        if not left:
            return None
        return receipt_of(left, ranges_of(turn.turn_number for turn in left), self._contents.beginning)

    def _shortening(self, before: Edges) -> Shortening | None:
        """What looks otherwise than from `before`; None if nothing does. Nothing has left since."""
        edges = self._contents.edges
        if edges == before:
            return None
        turns: set[int] = set()
        for held in self._contents.held:
            # A part that looks the same is the same object.
            then, now = ({(o.turn, id(o.part)) for o in held.origins(each)} for each in (before, edges))
            turns |= {turn for turn, _ in then ^ now}
        return Shortening(tuple(sorted(turns)), self._contents.beginning) if turns else None

    # Summing up

    @property
    def overflow(self) -> str:
        """Why something that a person put back has to go again now, in words for them; empty if it need not."""
        now = self._limits()
        if not now.kept or (used := self._used()) <= now.marks.full:
            return ""
        return (
            f"What was put back into the window does not fit any longer: with it, the next request takes {used:,} of "
            f"{now.marks.full:,} tokens."
        )

    def crowded_to(self, threshold: float, keep: int) -> int:
        """The turn up to which a summary should take the place of the exchanges now; 0 if there is no need.

        There is when exchanges would leave, and that already at `threshold` of the usable window (0: never by tokens,
        then they leave without one), or when there are more messages than `max_history_messages`. It is enough to
        shorten older outputs if that leads down to the low-water mark. What a person put back is left alone for a while
        (see `loom.context.restored`). The exchange in progress stays, and before it as
        many whole exchanges as hold the newest `keep` messages, if they fit under the low-water mark.
        """
        contents, now = self._contents, self._limits()
        marks = now.marks
        if len(contents.held) < 2:
            return 0
        *history, current = contents.held
        edges = contents.edges
        shortened = replace(edges, short_to=max([edges.short_to, *(held.last_turn for held in history[:-1])]))
        limit = marks.high if now.kept else min(marks.high, self._meter.floor_mark(threshold))
        too_full = threshold > 0 and self._used() > limit
        if too_full:
            used = self._meter.scaled(self._meter.floor_tokens + contents.tokens(shortened))
            too_full = used > min(marks.low, limit)
        if not too_full and not 0 < now.messages < contents.message_count():
            return 0
        kept = self._meter.floor_tokens + current.view(edges).tokens
        messages = 0
        for held in reversed(history):
            view = held.view(shortened)
            kept += view.tokens
            if messages >= keep or self._meter.scaled(kept) > marks.low:
                return max(held.last_turn, edges.left_to)
            messages += len(view.messages)
        return 0

    def tokens_to(self, turn: int) -> int:
        """Tokens that the exchanges up to this turn, and the summary before them, take in the window."""
        contents = self._contents
        views = sum(held.view(contents.edges).tokens for held in contents.held if held.last_turn <= turn)
        return self._meter.scaled(views + contents.head_tokens(contents.edges))

    def missing_for(self, turns: Sequence[Turn]) -> tuple[int, int]:
        """For exchanges that left, all of their rows: the tokens that they would take if they were brought back, and
        how many of these are missing, 0 if they fit under the high-water mark."""
        back = Contents(self._contents.rules, self._contents.count)
        back.fill(turns, Beginning(), None)
        needed = self._meter.scaled(back.tokens())
        return needed, max(0, self._used() + needed - self._meter.marks().high)

    # How full it is

    def report(self, input_tokens: int) -> None:
        """The provider's count of the request that was assembled last; 0 if it gave none. From then on our counts are
        scaled by it."""
        self._meter.report(input_tokens)

    def learn(self, counted: int, reported: int) -> None:
        """What an earlier request was counted as by us and by the provider: a resumed session reads on that scale."""
        self._meter.assembled(counted)
        self._meter.report(reported)

    def overflowed(self, limit: int | None = None) -> bool:
        """The provider refused the last request as too long. The next one is smaller: for a window of `limit` tokens
        if it named one that explains this, else of a fifth less than what was sent. False when nothing is there that
        could leave: then all stays as it is."""
        if not self._meter.overflowed(limit, self._raw()):
            return False
        self._contents.set_rules(TrimRules.of(self._settings, self.budget))
        self._contents.pins.room = self.budget.pin_room
        return True

    def usage(self, *, cost_usd: float = 0.0, cache_read_share: float | None = None) -> WindowUsage:
        """The gauge's reading for the next request as things are now."""
        now = self._limits()
        return WindowUsage(
            segments=by_segment(self._raw_segments(), self._meter.factor, self._used()),
            window=self.budget.window,
            window_assumed=self.budget.assumed,
            reserve=self.budget.reserve,
            high_water=now.marks.high,
            put_back=now.kept,
            used=self._used(),
            estimated=self._meter.is_estimate(self._raw()),
            cost_usd=cost_usd,
            cache_read_share=cache_read_share,
        )

    def standing(self) -> tuple[list[ModelMessage], int]:
        """The messages as things stand, and what they take with the floor by our own count. Nothing is moved."""
        return self._contents.messages(), self._raw()

    def outlook(self) -> Outlook:
        """What would leave next."""
        return outlook(self._contents, self._meter, self._limits().marks)

    def _limits(self) -> Limits:
        return limits(self._contents, self._meter, self._settings.max_history_messages)

    def _raw(self) -> int:
        """Tokens of the next request by our own count."""
        return self._meter.floor_tokens + self._contents.tokens()

    def _used(self) -> int:
        return self._meter.scaled(self._raw())

    def _raw_segments(self) -> dict[Segment, int]:
        raw = {**self._meter.floor, **self._contents.segments()}
        return {segment: raw[segment] for segment in Segment if raw.get(segment)}


def _instructed(messages: list[ModelMessage], live: Sequence[ModelMessage]) -> list[ModelMessage]:
    newest, asked = (messages[-1] if messages else None), (live[-1] if live else None)
    if isinstance(newest, ModelRequest) and isinstance(asked, ModelRequest):
        return [*messages[:-1], replace(newest, instructions=asked.instructions)]
    return messages

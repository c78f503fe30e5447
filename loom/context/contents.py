"""What is in the window besides the floor: the exchanges, what stands in front of them, and what stands beside the
newest message (state, pins, hint)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse

from loom.archive.records import Turn
from loom.context.edges import Beginning, Edges
from loom.context.framing import framed_summary
from loom.context.held import HeldExchange, Origin, View, request_of
from loom.context.measure import PART_OVERHEAD, Count
from loom.context.pins import Pins, PinsLook
from loom.context.receipts import words_for_the_model
from loom.context.repair import repair
from loom.context.trimming import TrimRules
from loom.context.usage import Segment


class Contents:
    """The held exchanges, and how they look and what they take from given edges."""

    def __init__(self, rules: TrimRules, count: Count) -> None:
        self.held: list[HeldExchange] = []
        self.beginning = Beginning()
        self.state = ""
        self.hint = ""
        self.pins = Pins(rules.preview_tokens, count)
        self._rules = rules
        self._count = count

    @property
    def edges(self) -> Edges:
        return self.beginning.edges

    def move(self, **edges: int) -> None:
        """Set edges by name."""
        self.beginning = replace(self.beginning, edges=replace(self.edges, **edges))

    def clear(self) -> None:
        self.held, self.beginning, self.hint = [], Beginning(), ""

    def add(self, turns: Sequence[Turn]) -> None:
        """Take in rows in order. Receipts, summaries and notes move the edges."""
        for turn in turns:
            if not self.held or self.held[-1].number != turn.exchange:
                self.held.append(HeldExchange(turn.exchange, self._rules, self._count))
                self.hint = ""
            self.beginning = self.beginning.moved_by(turn)
            self.held[-1].add([turn])
        self.let_go()

    def put(self, turns: Sequence[Turn], beginning: Beginning) -> None:
        """Lay out whole exchanges, ascending, as they looked from this beginning, whatever marks are among them."""
        for turn in turns:
            if not self.held or self.held[-1].number != turn.exchange:
                self.held.append(HeldExchange(turn.exchange, self._rules, self._count))
            self.held[-1].add([turn])
        self.beginning = beginning

    @property
    def cuts(self) -> dict[int, int]:
        """By exchange: the tokens to which the person's message in it is cut."""
        return {held.number: held.cut for held in self.held if held.cut is not None}

    @property
    def rules(self) -> TrimRules:
        return self._rules

    def origins(self) -> Iterator[Origin]:
        """Every part of the exchanges as it goes into a request, with where it comes from."""
        for held in self.held:
            yield from held.origins(self.edges)

    def let_go(self) -> None:
        """Drop the exchanges that have left; the newest stays, more of it may come."""
        kept = [held for held in self.held[:-1] if held.last_turn > self.edges.left_to]
        self.held = kept + self.held[-1:]

    def recount(self) -> None:
        for held in self.held:
            held.recount()
        self.pins.recount()

    def views(self, edges: Edges | None = None) -> list[View]:
        """How each exchange looks, oldest first."""
        return [held.view(edges or self.edges) for held in self.held]

    def shown(self) -> Iterator[Turn]:
        """The rows that the model sees, ascending."""
        for held, view in zip(self.held, self.views(), strict=True):
            numbers = set(view.turns)
            yield from (turn for turn in held.turns if turn.turn_number in numbers)

    def message_count(self, left_to: int) -> int:
        return sum(len(view.messages) for view in self.views(replace(self.edges, left_to=left_to)))

    @property
    def summary(self) -> str:
        """The summary that stands in front, as it was written; empty if none does."""
        summary = self.beginning.summary
        return "" if summary is None or summary.turn_number <= self.edges.left_to else summary.content or ""

    @property
    def head(self) -> str:
        """What stands in front of the exchanges: which turns left, and the summary of them if there is one."""
        words = words_for_the_model(self.edges.left_to)
        return f"{words}\n{framed_summary(self.summary)}" if self.summary else words

    def head_tokens(self, left_to: int) -> int:
        summary = self.beginning.summary
        tokens = self._count(words_for_the_model(left_to)) + PART_OVERHEAD if left_to else 0
        if summary is not None and summary.turn_number > left_to:
            tokens += self._count(framed_summary(summary.content or "")) + PART_OVERHEAD
        return tokens

    def hint_tokens(self) -> int:
        return self._count(self.hint) + PART_OVERHEAD if self.hint else 0

    def pins_look(self, edges: Edges | None = None) -> PinsLook:
        """The pins that do not stand among the exchanges, seen from these edges (now, if None)."""
        edges = edges or self.edges
        return self.pins.look(tuple(turn for turn in self.pins.turns if not self._stands(turn, edges)))

    def _stands(self, turn: int, edges: Edges) -> bool:
        return any(held.first_turn <= turn <= held.last_turn and held.shows(turn, edges) for held in self.held)

    def tokens(self, edges: Edges | None = None) -> int:
        """Tokens of everything here, seen from these edges (now, if None)."""
        edges = edges or self.edges
        views = sum(view.tokens for view in self.views(edges))
        return self.head_tokens(edges.left_to) + self.hint_tokens() + self.pins_look(edges).tokens + views

    def segments(self) -> dict[Segment, int]:
        """The same tokens by segment."""
        found = {
            Segment.RECEIPT: self.head_tokens(self.edges.left_to),
            Segment.PINS: self.pins_look().tokens,
            Segment.HINT: self.hint_tokens(),
        }
        for view in self.views():
            for segment, tokens in view.segments.items():
                found[segment] = found.get(segment, 0) + tokens
        return found

    @property
    def beside(self) -> list[str]:
        """What stands beside the person's newest message, in its order."""
        return [text for text in (self.state, self.pins_look().text, self.hint) if text]

    def messages(self, beside: Sequence[str] | None = None) -> list[ModelMessage]:
        """Everything as one valid conversation, with `beside` in the place of what stands beside the newest message.

        State, pins and hint stand there, right before the person's words, which come last: what is in front of them is
        the same from exchange to exchange, and a provider's prompt cache holds.
        """
        views = self.views()
        messages: list[ModelMessage] = [message for view in views[:-1] for message in view.messages]
        clean = _seams_are_clean(views)
        current = list(views[-1].messages) if views else []
        first = current[0] if current else None
        said = self.beside if beside is None else beside
        added = [part for text in said for part in request_of(text, first).parts]
        if added and isinstance(first, ModelRequest):
            current[0] = replace(first, parts=[*added, *first.parts])
        elif added and first is not None:
            current.insert(0, ModelRequest(parts=added, timestamp=first.timestamp))
        messages += current
        if head := self.head:
            front = request_of(head, messages[0] if messages else None)
            if messages and isinstance(opening := messages[0], ModelRequest):
                messages[0] = replace(opening, parts=[*front.parts, *opening.parts])
            else:
                messages.insert(0, front)
        return messages if clean else repair(messages)


def _seams_are_clean(views: Sequence[View]) -> bool:
    """Whether exchanges that are each valid are so one behind the other: each begins with a request and ends with an
    answer, and no id of a call is in two. Most are, and then only the seams cost anything, not every message."""
    ids = sum(len(view.call_ids) for view in views)
    if ids != len(frozenset().union(*(view.call_ids for view in views))):
        return False
    whole = [view.messages for view in views if view.messages]
    return all(isinstance(messages[0], ModelRequest) for messages in whole) and all(
        isinstance(messages[-1], ModelResponse) for messages in whole[:-1]
    )

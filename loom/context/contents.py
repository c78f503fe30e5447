"""What is in the window besides the floor: the exchanges, what stands in front of them, and what stands beside the
newest message (state, pins, hint)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
)

from loom.archive.records import Turn
from loom.archive.rewound import is_rewound
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

    def __init__(self, rules: TrimRules, count: Count, *, pin_tokens: int = 0) -> None:
        """`pin_tokens`: see `Pins`."""
        self.held: list[HeldExchange] = []
        self.beginning = Beginning()
        self.state = ""
        self.hint = ""
        self.pins = Pins(pin_tokens, count)
        self.rules = rules
        self.count = count
        self.recounts = 0
        """How often every count was forgotten."""
        self._summary: Turn | None = None

    @property
    def edges(self) -> Edges:
        return self.beginning.edges

    def move(self, edges: Edges) -> None:
        self.beginning = replace(self.beginning, edges=edges)

    def forget_restored(self) -> None:
        """Something has left: what was put back is not left alone any longer."""
        self.beginning = replace(self.beginning, restored=0)

    def drop_summary(self) -> None:
        self.beginning = replace(self.beginning, summary=0)

    def fill(self, turns: Sequence[Turn], beginning: Beginning, summary: Turn | None) -> None:
        """Hold these rows, ascending, and nothing else, seen from this beginning; `summary` is the turn it names."""
        self.take(self.laid_out(turns, beginning.edges), beginning, summary)

    def laid_out(self, turns: Sequence[Turn], edges: Edges) -> list[HeldExchange]:
        """These rows, ascending, as exchanges that are counted as they look from these edges. Nothing here changes: it
        may run in a thread, as it should where the rows are many or long."""
        laid: list[HeldExchange] = []
        for number, rows in groupby(turns, key=lambda turn: turn.exchange):
            held = HeldExchange(number, self.rules, self.count)
            held.add(list(rows))
            held.view(edges)
            laid.append(held)
        return laid

    def take(self, laid: Sequence[HeldExchange], beginning: Beginning, summary: Turn | None) -> None:
        """Hold these exchanges and nothing else, see `fill`."""
        for held in laid:
            held.set_rules(self.rules)  # they may be others than when it was laid out
        self.held, self.hint = list(laid), ""
        self.beginning, self._summary = beginning, summary
        self.let_go()

    def add(self, turns: Sequence[Turn]) -> None:
        """Take in rows that were just stored, in order. Receipts, summaries and notes move the edges."""
        for turn in turns:
            self._hold(turn)
            self.beginning = self.beginning.moved_by(turn)
            if turn.turn_number == self.beginning.summary:
                self._summary = turn
        self.let_go()

    def _hold(self, turn: Turn) -> None:
        if not self.held or self.held[-1].number != turn.exchange:
            self.held.append(HeldExchange(turn.exchange, self.rules, self.count))
            self.hint = ""
        self.held[-1].add([turn])

    def origins(self) -> Iterator[Origin]:
        """Every part of the exchanges as it goes into a request, with where it comes from."""
        for held in self.held:
            yield from held.origins(self.edges)

    def let_go(self) -> None:
        """Drop the exchanges that have left or were rewound past; the newest stays, more of it may come."""
        edges = self.edges
        kept = [
            held
            for held in self.held[:-1]
            if (held.last_turn > edges.left_to or held.number in edges.back)
            and not is_rewound(held.first_turn, edges.rewound)
        ]
        self.held = kept + self.held[-1:]

    def set_rules(self, rules: TrimRules) -> None:
        """Let everything look as these rules have it."""
        if rules != self.rules:
            self.rules = rules
            for held in self.held:
                held.set_rules(rules)

    def recount(self) -> None:
        """Forget every count: the counter has become better."""
        self.recounts += 1
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

    def message_count(self, edges: Edges | None = None) -> int:
        return sum(len(view.messages) for view in self.views(edges))

    @property
    def summary(self) -> str:
        """The summary that stands in front, as it was written; empty if none does."""
        row = self._summary
        return (row.content or "") if row is not None and row.turn_number == self.beginning.summary else ""

    @property
    def head(self) -> str:
        """What stands in front of the exchanges: which turns left, and the summary of them if there is one."""
        return self._head(self.edges)

    def _head(self, edges: Edges) -> str:
        back = [(held.first_turn, held.last_turn) for held in self.held if held.number in edges.back]
        back += edges.rewound
        texts = (words_for_the_model(edges.left_to, back), framed_summary(self.summary) if self.summary else "")
        return "\n".join(text for text in texts if text)

    def head_tokens(self, edges: Edges) -> int:
        head = self._head(edges)
        return self.count(head) + PART_OVERHEAD if head else 0

    def hint_tokens(self) -> int:
        return self.count(self.hint) + PART_OVERHEAD if self.hint else 0

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
        return self.head_tokens(edges) + self.hint_tokens() + self.pins_look(edges).tokens + views

    def segments(self) -> dict[Segment, int]:
        """The same tokens by segment."""
        found = {
            Segment.RECEIPT: self.head_tokens(self.edges),
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
        return _to_what_is_asked(messages if clean else repair(messages))


def _to_what_is_asked(messages: list[ModelMessage]) -> list[ModelMessage]:
    """The messages without thoughts at their end to which no words came: what is asked once more stands in front of
    them, and a request ends with that."""
    while messages and isinstance(messages[-1], ModelResponse) and not any(map(_says_something, messages[-1].parts)):
        messages = messages[:-1]
    return messages


def _says_something(part: ModelResponsePart) -> bool:
    return bool(part.content.strip()) if isinstance(part, TextPart) else not isinstance(part, ThinkingPart)


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

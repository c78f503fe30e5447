"""One exchange in the window: its rows, and how they look from given edges."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from loom.archive.records import Turn, TurnKind
from loom.archive.rewound import is_rewound
from loom.context.decode import WindowMessage, window_messages
from loom.context.edges import Edges
from loom.context.encode import prompt_text, result_text
from loom.context.framing import framed_output
from loom.context.measure import Count, part_tokens
from loom.context.repair import repair
from loom.context.segments import segment_of
from loom.context.trimming import (
    TrimRules,
    capped,
    cut_prompt,
    marked,
    previewed,
    shortened,
    tightened,
)
from loom.context.usage import Segment

_NO_DATE = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class View:
    """An exchange as it goes into a request."""

    messages: tuple[ModelMessage, ...]
    segments: dict[Segment, int]
    tokens: int
    turns: tuple[int, ...]
    """Turn numbers in it, ascending."""
    call_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Origin:
    """A part of a request, and the turn that it is from."""

    part: Any
    turn: int
    whole: bool
    """False when it is shown shorter than the archive has it."""


class HeldExchange:
    """The rows of one exchange, decoded once, and its present look, kept until something moves."""

    def __init__(self, number: int, rules: TrimRules, count: Count) -> None:
        self.number = number
        self.turns: list[Turn] = []
        self._rules = rules
        self._count = count
        self._messages: list[WindowMessage] = []
        self._trimmed: dict[tuple[int, int], ToolReturnPart] = {}
        self._cuts: dict[tuple[str, int, int], Any] = {}
        self._told: dict[int, tuple[Any, UserPromptPart]] = {}
        self._view: tuple[Edges, View] | None = None
        self._asked: Edges | None = None

    @property
    def first_turn(self) -> int:
        return self.turns[0].turn_number

    @property
    def last_turn(self) -> int:
        return self.turns[-1].turn_number

    def add(self, turns: Sequence[Turn]) -> None:
        """Append rows that were stored after those it has."""
        self.turns += turns
        said = [turn for turn in turns if turn.kind is not TurnKind.SUMMARY]
        if self._messages and turns[0].message_meta is None:
            # The newest message may go on in the new rows.
            start = self._messages.pop().first_turn
            said = [turn for turn in self.turns if turn.turn_number >= start and turn.kind is not TurnKind.SUMMARY]
        self._messages += window_messages(said, self._count)
        self._view = None

    def set_rules(self, rules: TrimRules) -> None:
        """Look as these have it from now on."""
        if rules != self._rules:
            self._rules = rules
            self._forget()

    def recount(self) -> None:
        """Forget every count: the counter has become better."""
        self._forget()

    def _forget(self) -> None:
        self._trimmed.clear()
        self._cuts.clear()
        self._told.clear()
        self._view = None

    # What the fitting asks

    @property
    def prompt(self) -> tuple[int, UserPromptPart] | None:
        """The newest message of the person in it, with its turn."""
        for message in reversed(self._messages):
            for part, turn in reversed(list(zip(message.message.parts, message.part_turns, strict=True))):
                if isinstance(part, UserPromptPart):
                    return turn, part
        return None

    def prompt_tokens(self, edges: Edges) -> int:
        """Tokens that the person's message takes as it is shown from these edges."""
        found = self.prompt
        if found is None:
            return 0
        whole = self._count(prompt_text(found[1]))
        return min(whole, edges.prompt_tokens) if edges.prompt_turn == found[0] else whole

    @property
    def answer_ends(self) -> list[int]:
        """The turn that each answer ends with, ascending."""
        return [m.last_turn for m in self._messages if isinstance(m.message, ModelResponse)]

    @property
    def read_results(self) -> list[int]:
        """The turns of the tool results that the model has read, ascending."""
        behind = max(self.answer_ends, default=0)
        return [turn for turn in self._results() if turn < behind]

    @property
    def unread_results(self) -> list[int]:
        """The turns of the tool results that came after the newest answer, ascending."""
        behind = max(self.answer_ends, default=0)
        return [turn for turn in self._results() if turn > behind]

    def _results(self) -> list[int]:
        return [turn.turn_number for turn in self.turns if turn.kind is TurnKind.TOOL_RESULT]

    def unread_tokens(self, edges: Edges) -> list[int]:
        """Tokens of each output that came after the newest answer, as it is shown from these edges."""
        behind = max(self.answer_ends, default=0)
        return [
            self._count(result_text(self._trim_result(part, turn, edges)))
            for message in self._messages
            for part, turn in zip(message.message.parts, message.part_turns, strict=True)
            if turn > behind and isinstance(part, ToolReturnPart)
        ]

    @property
    def step_ends(self) -> list[int]:
        """For every step (an answer with calls, and their results) but the last: the turn it ends with."""
        first = self._first_answer()
        return [
            before.last_turn
            for before, message in pairwise(self._messages)
            if isinstance(message.message, ModelResponse) and before.last_turn >= first
        ]

    @property
    def newest_calls(self) -> list[int]:
        """The turns of the last answer's calls, ascending; empty while they have no result."""
        answers = [m for m in self._messages if isinstance(m.message, ModelResponse)]
        if not answers or not self.unread_results:
            return []
        return [turn for part, turn in _parts(answers[-1]) if isinstance(part, ToolCallPart)]

    def _first_answer(self) -> int:
        answers = (m.first_turn for m in self._messages if isinstance(m.message, ModelResponse))
        return next(answers, self.last_turn + 1)

    # How it looks

    def view(self, edges: Edges) -> View:
        """How the exchange looks from these edges. Pure in its rows and the edges."""
        if self._view is not None and self._asked is edges:
            return self._view[1]
        own = self._own(edges)
        if self._view is None or self._view[0] != own:
            self._view = own, self._look(own)
        self._asked = edges
        return self._view[1]

    def origins(self, edges: Edges) -> Iterator[Origin]:
        """The parts of that view before it was made valid for every provider, each with its turn."""
        own = self._own(edges)
        for held in self._shown(own.left_to):
            for look, part, turn in self._pieces(held, own):
                yield Origin(self._as_told(look), turn, look is part)

    def shows(self, turn: int, edges: Edges) -> bool:
        """Whether the turn stands in the window from these edges, and not shorter than it came in."""
        own = self._own(edges)
        for held in self._shown(own.left_to):
            if turn in held.part_turns:
                pieces = [(look, part) for look, part, number in self._pieces(held, own) if number == turn]
                return bool(pieces) and all(look is self._came_in(part, turn) for look, part in pieces)
        return False

    def _came_in(self, part: Any, turn: int) -> Any:
        return self._at_level(part, turn, 0) if isinstance(part, ToolReturnPart) else part

    def _own(self, edges: Edges) -> Edges:
        """The edges as far as they concern this exchange: one look, one value."""
        if is_rewound(self.first_turn, edges.rewound):
            return Edges(left_to=self.last_turn)
        if self.number in edges.back:
            return Edges()
        low, high = self.first_turn - 1, self.last_turn

        def clip(edge: int) -> int:
            return min(max(edge, low), high)

        cap_from, cap_to, cap = clip(edges.cap_from), clip(edges.cap_to), edges.cap
        if not cap or cap_from >= cap_to:
            cap_from = cap_to = cap = 0
        prompted = low < edges.prompt_turn <= high
        return Edges(
            left_to=clip(edges.left_to),
            short_to=clip(edges.short_to),
            mark_to=clip(edges.mark_to),
            tight_to=clip(edges.tight_to),
            cap_from=cap_from,
            cap_to=cap_to,
            cap=cap,
            prompt_turn=edges.prompt_turn if prompted else 0,
            prompt_tokens=edges.prompt_tokens if prompted else 0,
        )

    def _look(self, edges: Edges) -> View:
        shown = self._shown(edges.left_to)
        looks = [self._trim(m, edges) for m in shown]
        messages = tuple(repair(looks))
        segments: dict[Segment, int] = {}
        for message in messages:
            for part in message.parts:
                segment = segment_of(part)
                segments[segment] = segments.get(segment, 0) + part_tokens(part, self._count)
        turns = sorted({turn for message in shown for turn in message.part_turns})
        calls = frozenset(part.tool_call_id for m in messages for part in m.parts if isinstance(part, ToolCallPart))
        return View(messages, segments, sum(segments.values()), tuple(turns), calls)

    def _shown(self, left_to: int) -> list[WindowMessage]:
        if left_to < self.first_turn:
            return self._messages
        # When steps have left from the middle, the person's message in front of them has not.
        first = self._first_answer()
        head = [m for m in self._messages if m.first_turn <= left_to and m.last_turn < first]
        rest: list[WindowMessage] = []
        gone: set[str] = set()
        for message in self._messages:
            if message.last_turn <= left_to or (message.first_turn <= left_to and message.last_turn < first):
                continue
            if message.first_turn <= left_to:
                calls = [(part.tool_call_id, turn) for part, turn in _parts(message) if isinstance(part, ToolCallPart)]
                gone = {call_id for call_id, turn in calls if turn <= left_to}
                some = any(turn > left_to for _, turn in calls)
                keep = [turn > left_to or (some and _vouched(part)) for part, turn in _parts(message)]
                rest.append(_only(message, keep))
            else:
                # Results go with their calls.
                rest.append(_only(message, [_answers(part) not in gone for part, _ in _parts(message)]))
                gone = set()
        return head + rest if rest else []

    def _trim(self, held: WindowMessage, edges: Edges) -> ModelMessage:
        message = held.message
        looks = [self._as_told(look) for look, _, _ in self._pieces(held, edges)]
        if len(looks) == len(message.parts) and all(map(operator.is_, looks, message.parts)):
            return message
        return _with_parts(message, looks)

    def _as_told(self, part: Any) -> Any:
        """The output of a command that the person ran is no answer to a call of the model's: it is told like their
        words, as data. One part, one object: where it comes from is known by that."""
        if not isinstance(part, ToolReturnPart) or not self.turns[0].person_command:
            return part
        known = self._told.get(id(part))
        if known is None or known[0] is not part:
            said = UserPromptPart(framed_output(result_text(part)), timestamp=part.timestamp)
            known = self._told[id(part)] = part, said
        return known[1]

    def _pieces(self, held: WindowMessage, edges: Edges) -> Iterator[tuple[Any, Any, int]]:
        """The parts of a message as they look from these edges, each with what it was and its turn."""
        for part, turn in _parts(held):
            if isinstance(held.message, ModelRequest):
                yield self._trim_part(part, turn, edges), part, turn
            elif turn > edges.tight_to or _vouched(part):
                yield part, part, turn
            elif not isinstance(part, ThinkingPart):
                yield self._cut("tight", turn, 0, partial(tightened, part, turn)), part, turn

    def _trim_part(self, part: Any, turn: int, edges: Edges) -> Any:
        if isinstance(part, ToolReturnPart):
            return self._trim_result(part, turn, edges)
        if isinstance(part, UserPromptPart) and turn == edges.prompt_turn:
            tokens = edges.prompt_tokens
            return self._cut("prompt", turn, tokens, lambda: cut_prompt(part, turn, tokens, self._count))
        return part

    def _trim_result(self, part: ToolReturnPart, turn: int, edges: Edges) -> ToolReturnPart:
        level = 2 if turn <= edges.mark_to else 1 if turn <= edges.short_to else 0
        shown = self._at_level(part, turn, level)
        if level < 2 and edges.cap_from < turn <= edges.cap_to:
            found: ToolReturnPart = self._cut(
                f"capped {level}", turn, edges.cap, lambda: capped(shown, turn, edges.cap, self._count)
            )
            return found
        return shown

    def _cut(self, how: str, turn: int, tokens: int, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once: a part that looks the same is the same object."""
        known = self._cuts.get((how, turn, tokens))
        if known is None:
            known = self._cuts[how, turn, tokens] = make()
        return known

    def _call_of(self, call_id: str, turn: int) -> ToolCallPart | None:
        """The call that a result answers, whether it is shown or has left: the newest of its id in front of it."""
        for held in reversed(self._messages):
            for part, number in _parts(held):
                if number < turn and isinstance(part, ToolCallPart) and part.tool_call_id == call_id:
                    return part
        return None

    def _at_level(self, part: ToolReturnPart, turn: int, level: int) -> ToolReturnPart:
        known = self._trimmed.get((turn, level))
        if known is None:
            known = self._trimmed[turn, level] = self._cut_result(part, turn, level)
        return known

    def _cut_result(self, part: ToolReturnPart, turn: int, level: int) -> ToolReturnPart:
        if level == 0:
            return previewed(part, turn, self._rules, self._count)
        call = self._call_of(part.tool_call_id, turn)
        if level == 1:
            short, before = shortened(part, call, turn, self._rules, self._count), self._at_level(part, turn, 0)
        else:
            short, before = marked(part, call, turn, self._count), self._at_level(part, turn, 1)
        # Settings may make a "shorter" form longer than the one before it.
        return short if len(result_text(short)) < len(result_text(before)) else before


def _parts(held: WindowMessage) -> Iterator[tuple[Any, int]]:
    return zip(held.message.parts, held.part_turns, strict=True)


def _with_parts(message: ModelMessage, parts: list[Any]) -> ModelMessage:
    if isinstance(message, ModelResponse):
        return replace(message, parts=parts)
    return replace(message, parts=parts)


def _only(held: WindowMessage, keep: Sequence[bool]) -> WindowMessage:
    """The message with those of its parts only."""
    if all(keep):
        return held
    parts: list[Any] = [part for part, kept in zip(held.message.parts, keep, strict=True) if kept]
    turns = tuple(turn for turn, kept in zip(held.part_turns, keep, strict=True) if kept)
    return replace(held, message=_with_parts(held.message, parts), part_turns=turns)


def _vouched(part: Any) -> bool:
    """Whether a provider signed it: it wants its thoughts back beside the calls that followed from them."""
    return isinstance(part, ThinkingPart) and bool(part.signature)


def _answers(part: Any) -> str | None:
    return part.tool_call_id if isinstance(part, ToolReturnPart | RetryPromptPart) else None


def request_of(text: str, like: ModelMessage | None) -> ModelRequest:
    """A request of loom's own words, dated as the message it stands before, so that it is the same every time."""
    dates = [like.timestamp, *(getattr(part, "timestamp", None) for part in like.parts)] if like is not None else []
    when = next((date for date in dates if date is not None), _NO_DATE)
    return ModelRequest(parts=[UserPromptPart(text, timestamp=when)])

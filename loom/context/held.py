"""One exchange in the window: its rows, and how they look from given edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from loom.archive.records import Turn, TurnKind
from loom.context.decode import WindowMessage, window_messages
from loom.context.edges import Edges
from loom.context.encode import prompt_text, result_text
from loom.context.measure import Count, part_tokens
from loom.context.repair import repair
from loom.context.trimming import RECALL_TOOL, TrimRules, cut_prompt, marked, previewed, shortened
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
        self._calls: dict[str, ToolCallPart] = {}
        self._trimmed: dict[tuple[int, int], ToolReturnPart] = {}
        self._cut_prompts: dict[tuple[int, int], UserPromptPart] = {}
        self._view: tuple[Edges, View] | None = None
        self._asked: Edges | None = None
        self._prompt_tokens: int | None = None

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

    def recount(self) -> None:
        """Forget every count: the counter has become better."""
        self._trimmed.clear()
        self._cut_prompts.clear()
        self._view = None

    @property
    def prompt(self) -> tuple[int, UserPromptPart] | None:
        """The newest message of the person in it, with its turn."""
        for message in reversed(self._messages):
            for part, turn in reversed(list(zip(message.message.parts, message.part_turns, strict=True))):
                if isinstance(part, UserPromptPart):
                    return turn, part
        return None

    @property
    def prompt_tokens(self) -> int:
        """Tokens that the person's message takes as it is shown now."""
        found = self.prompt
        whole = self._count(prompt_text(found[1])) if found else 0
        return whole if self._prompt_tokens is None else min(whole, self._prompt_tokens)

    @property
    def cut(self) -> int | None:
        """The tokens to which the person's message is cut; None if it is not."""
        return self._prompt_tokens

    def cut_prompt(self, tokens: int | None) -> None:
        """Show the person's message in at most so many tokens; None shows it whole."""
        self._prompt_tokens = tokens
        self._view = None

    @property
    def result_turns(self) -> list[int]:
        """The turns of tool results, ascending, those of the newest request left out: the model has not read
        these yet."""
        answers = [m.first_turn for m in self._messages if isinstance(m.message, ModelResponse)]
        behind = max(answers, default=0)
        return [turn for turn in self._results() if turn < behind]

    @property
    def last_result(self) -> int:
        """The turn of the newest tool result; 0 without one."""
        return max(self._results(), default=0)

    def _results(self) -> list[int]:
        return [turn.turn_number for turn in self.turns if turn.kind is TurnKind.TOOL_RESULT]

    @property
    def step_ends(self) -> list[int]:
        """For every step (an answer with calls, and their results) but the last: the turn it ends with."""
        first = self._first_answer()
        return [
            before.last_turn
            for before, message in pairwise(self._messages)
            if isinstance(message.message, ModelResponse) and before.last_turn >= first
        ]

    def _first_answer(self) -> int:
        answers = (m.first_turn for m in self._messages if isinstance(m.message, ModelResponse))
        return next(answers, self.last_turn + 1)

    def view(self, edges: Edges) -> View:
        """How the exchange looks from these edges. Pure in its rows and the edges."""
        if self._view is not None and self._asked is edges:
            return self._view[1]
        clipped = self._clipped(edges)
        if self._view is None or self._view[0] != clipped:
            self._view = clipped, self._look(clipped)
        self._asked = edges
        return self._view[1]

    def origins(self, edges: Edges) -> Iterator[Origin]:
        """The parts of that view before it was made valid for every provider, each with its turn."""
        clipped = self._clipped(edges)
        for held in self._shown(clipped.left_to):
            look = self._trim(held, clipped)
            for part, whole, turn in zip(look.parts, held.message.parts, held.part_turns, strict=True):
                yield Origin(part, turn, part is whole)

    def _clipped(self, edges: Edges) -> Edges:
        return Edges(*(self._clip(edge) for edge in (edges.left_to, edges.short_to, edges.mark_to)))

    def shows(self, turn: int, edges: Edges) -> bool:
        """Whether the turn stands in the window from these edges, and its output not shortened."""
        if turn not in self.view(edges).turns:
            return False
        level = _level(turn, edges)
        return not level or self._trimmed.get((turn, level)) is self._trimmed.get((turn, 0))

    def _clip(self, edge: int) -> int:
        return min(max(edge, self.first_turn - 1), self.last_turn)

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
        rest = [message for message in self._messages if message.first_turn > left_to]
        # When steps have left from the middle, the person's message in front of them has not.
        first = self._first_answer()
        head = [m for m in self._messages if m.first_turn <= left_to and m.last_turn < first]
        return head + rest if rest else []

    def _trim(self, held: WindowMessage, edges: Edges) -> ModelMessage:
        message = held.message
        if isinstance(message, ModelResponse):
            self._calls |= {p.tool_call_id: p for p in message.parts if isinstance(p, ToolCallPart)}
            return message
        parts = [self._trim_part(part, turn, edges) for part, turn in zip(message.parts, held.part_turns, strict=True)]
        if all(new is old for new, old in zip(parts, message.parts, strict=True)):
            return message
        return replace(message, parts=parts)

    def _trim_part(self, part: Any, turn: int, edges: Edges) -> Any:
        if isinstance(part, ToolReturnPart):
            return self._trim_result(part, turn, _level(turn, edges))
        if isinstance(part, UserPromptPart) and self._prompt_tokens is not None:
            newest = self.prompt
            if newest is not None and newest[0] == turn:
                return self._cut_prompt(part, turn, self._prompt_tokens)
        return part

    def _cut_prompt(self, part: UserPromptPart, turn: int, tokens: int) -> UserPromptPart:
        known = self._cut_prompts.get((turn, tokens))
        if known is None:
            known = self._cut_prompts[turn, tokens] = cut_prompt(part, turn, tokens, self._count)
        return known

    def _trim_result(self, part: ToolReturnPart, turn: int, level: int) -> ToolReturnPart:
        known = self._trimmed.get((turn, level))
        if known is None:
            known = self._trimmed[turn, level] = self._cut_result(part, turn, level)
        return known

    def _cut_result(self, part: ToolReturnPart, turn: int, level: int) -> ToolReturnPart:
        if level == 0:
            return previewed(part, turn, self._rules, self._count)
        call = self._calls.get(part.tool_call_id)
        if level == 1:
            short, before = shortened(part, call, turn, self._rules, self._count), self._trim_result(part, turn, 0)
        else:
            short, before = marked(part, call, turn, self._count), self._trim_result(part, turn, 1)
        # Settings may make a "shorter" form longer than the one before it.
        return short if len(result_text(short)) < len(result_text(before)) else before


def _level(turn: int, edges: Edges) -> int:
    """How far a tool result of this turn is cut: 0 previewed, 1 shortened, 2 a marker."""
    return 2 if turn <= edges.mark_to else 1 if turn <= edges.short_to else 0


def segment_of(part: Any) -> Segment:
    """The segment of the gauge that a part belongs to."""
    if isinstance(part, ToolReturnPart):
        return Segment.RECALLED if part.tool_name == RECALL_TOOL else Segment.TOOL
    kind = getattr(part, "part_kind", "")
    if kind in ("user-prompt", "system-prompt", "speech"):
        return Segment.USER
    return Segment.TOOL if kind in ("tool-return", "retry-prompt", "retry-feedback") else Segment.ASSISTANT


def request_of(text: str, like: ModelMessage | None) -> ModelRequest:
    """A request of loom's own words, dated as the message it stands before, so that it is the same every time."""
    dates = [like.timestamp, *(getattr(part, "timestamp", None) for part in like.parts)] if like is not None else []
    when = next((date for date in dates if date is not None), _NO_DATE)
    return ModelRequest(parts=[UserPromptPart(text, timestamp=when)])

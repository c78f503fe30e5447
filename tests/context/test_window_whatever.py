"""Whatever a session goes through, every request fits, is valid, holds the newest wish, and follows from the rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart

from loom.archive.records import NewTurn, Turn, TurnKind
from loom.archive.rewound import is_rewound, rewound_after
from loom.context.edges import (
    Beginning,
    before_move,
    brought_back_meta,
    cleared_meta,
    compaction_meta,
    restored_meta,
    rewound_meta,
)
from loom.context.pins import Pinned
from loom.context.window import Assembly, Window
from tests.context.windows import a_window, counted, dumped, text_of
from tests.support.window_rows import Rows, words

FLOOR = 200
RESERVE = 1_000

sizes = st.integers(0, 300) | st.integers(300, 30_000)
parts = st.one_of(
    st.tuples(st.just("text"), sizes),
    st.tuples(st.just("thought"), sizes),
    st.tuples(st.just("signed"), st.integers(0, 300)),
    st.tuples(st.just("call"), sizes),
    st.tuples(st.just("call"), st.integers(0, 300)),
)
steps = st.one_of(
    st.tuples(st.just("ask"), sizes),
    st.tuples(st.just("answer"), st.lists(parts, max_size=12)),
    st.tuples(st.just("results"), st.lists(sizes, max_size=14)),
    st.tuples(st.just("results"), st.lists(sizes, min_size=8, max_size=14)),
    st.tuples(st.just("interrupted"), st.lists(parts, max_size=4)),
    st.tuples(st.sampled_from(["orphan", "note", "empty", "clear", "compact", "undo", "back", "pin", "leave"]), sizes),
    st.tuples(st.sampled_from(["rewind", "undo"]), sizes),
)
happenings = st.lists(steps, min_size=4, max_size=30)


@dataclass
class Session:
    """Rows and window of one session; everything that happened in it happened in this order."""

    window: Window
    rows: Rows
    made: list[tuple[Assembly, str]]
    wish: str = ""
    """The newest message of the person; empty once they took it out of the window themselves."""

    def happen(self, at: int, what: str, how: object) -> None:
        size = how if isinstance(how, int) else 0
        if not self.wish and what in ("answer", "interrupted", "results", "orphan", "leave"):
            return  # the window is changed between exchanges: a message comes next
        match what:
            case "ask":
                self.wish = f"wish {at} " + "x " * (size // 2)
                self._add(self.rows.ask(self.wish))
                self._request()
            case "answer" | "interrupted":
                self._answer(at, how if isinstance(how, list) else [], cut=what == "interrupted")
            case "results":
                if self._results(how if isinstance(how, list) else []):
                    self._request()
            case "orphan":
                self._add(self.rows.result("nobody", "r\n" * (size // 2)))
                self._request()
            case "empty":
                self._add(self.rows.append([NewTurn(role="assistant", content="")]))
            case "note":
                self._mark(TurnKind.NOTE, None)
            case "pin":
                turn = 1 + size % len(self.rows.turns)
                self.window.set_pins([Pinned(turn, "user", "p " * (size // 2))])
            case "leave" if self.rows.turns[-1].role != "assistant":
                # Whole exchanges, and never the newest, as the summariser asks for it; before a request, and there is
                # none behind an answer.
                newest = next(t.turn_number for t in self.rows.turns if t.exchange == self.rows.exchange)
                self._request(leave_to=size % newest)
            case _:
                self._move(what, size)

    def _move(self, what: str, size: int) -> None:
        before, last = self.window.beginning, len(self.rows.turns)
        match what:
            case "clear":
                self.wish = ""
                self._mark(TurnKind.NOTE, cleared_meta(before, last))
            case "compact":
                self.wish = ""
                self._mark(TurnKind.SUMMARY, compaction_meta(before, last), "s " * (size % 900))
            case "undo" if before.move:
                self._mark(TurnKind.NOTE, restored_meta(self.rows.turns[before.move - 1]), reload=True)
                restored = before_move(self.rows.turns[before.move - 1])
                now = self.window.beginning
                assert restored and (now.summary, now.move) == (restored.summary, restored.move)
                assert now.edges.left_to >= restored.edges.left_to, "as much as there is room for"
            case "rewind":
                self._rewind(size)
            case "back" if self.rows.exchange > 1:
                back = 1 + size % (self.rows.exchange - 1)
                self._mark(TurnKind.NOTE, brought_back_meta(before, [back]), reload=True)

    def _rewind(self, size: int) -> None:
        before = self.window.beginning
        firsts = [each.turn_number for each in self.rows.turns if each.role == "user"]
        seen = [first for first in firsts if not is_rewound(first, before.edges.rewound)]
        if not seen:
            return
        first, then = seen[size % len(seen)], Beginning()
        for turn in self.rows.turns[: first - 1]:
            then = then.moved_by(turn)
        self.wish = ""
        self._mark(TurnKind.NOTE, rewound_meta(before, then, first), reload=True)
        now = self.window.beginning
        assert (now.summary, now.move) == (then.summary, len(self.rows.turns))
        assert now.edges.left_to >= then.edges.left_to, "as much as there is room for"
        assert all(each.last_turn < first for each in self.window.exchanges)

    def _mark(self, kind: TurnKind, meta: str | None, content: str = "n", *, reload: bool = False) -> None:
        stored = self.rows.append([NewTurn(role="system", kind=kind, content=content, message_meta=meta)])
        if reload:
            self.window = loaded(self.rows, self.window.budget.window)
        else:
            self._add(stored)

    def _answer(self, at: int, how: Sequence[tuple[str, int]], *, cut: bool) -> None:
        makers = {
            "text": lambda n, size: TextPart("t " * (size // 2)),
            "thought": lambda n, size: ThinkingPart("h " * (size // 2)),
            "signed": lambda n, size: ThinkingPart("h " * (size // 2), signature="sig", provider_name="anthropic"),
            "call": lambda n, size: ToolCallPart("write_file", {"content": "c" * size}, f"c{at}-{n}"),
        }
        if how:
            said = [makers[kind](number, size) for number, (kind, size) in enumerate(how)]
            self._add(self.rows.say(*said, state="interrupted" if cut else "complete"))

    def _results(self, sizes: Sequence[int]) -> bool:
        """Results of the calls that wait for one; False if there was none."""
        open_calls = [c["id"] for t in self.rows.turns for c in t.tool_calls or ()]
        answered = {t.tool_call_id for t in self.rows.turns}
        waiting = [call for call in open_calls if call not in answered]
        outcomes = ("success", "failed", "denied")
        for call, size in zip(waiting, sizes, strict=False):
            self._add(self.rows.result(call, "r r\n" * (size // 4), "write_file", outcome=outcomes[size % 3]))
        return bool(waiting and sizes)

    def _add(self, turns: Sequence[Turn]) -> None:
        self.window.add(turns)

    def _request(self, leave_to: int = 0) -> None:
        assembly = self.window.assemble(leave_to=leave_to)
        rewound = [r for turn in self.rows.turns if (r := rewound_after(turn)) is not None]
        assert not any(is_rewound(each.first_turn, rewound[-1]) for each in self.window.exchanges if rewound)
        self.made.append((assembly, self.wish))
        if mark := assembly.receipt or assembly.shortening:
            self._add(self.rows.append([mark.turn(words)]))


def loaded(rows: Rows, size: int) -> Window:
    """A window of these rows, as a resume fills it."""
    window = a_window(size, reserve=RESERVE)
    asyncio.run(window.load(rows))
    return window


def play(events: Sequence[tuple[str, object]], size: int) -> Session:
    session = Session(a_window(size, reserve=RESERVE), Rows(), [])
    for at, (what, how) in enumerate([("ask", 10), *events]):
        session.happen(at, what, how)
    return session


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=150)
def test_every_request_fits_is_valid_and_holds_the_newest_wish(events: list[tuple[str, object]], size: int) -> None:
    for assembly, wish in play(events, size).made:
        assert counted(assembly, FLOOR) == assembly.tokens <= size - RESERVE
        paired(assembly)
        text = text_of(assembly.messages)
        assert wish.rstrip() in text or ("is not shown" in text and wish[:7] in text)


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_the_same_happenings_give_the_same_requests_and_rows(events: list[tuple[str, object]], size: int) -> None:
    first, second = play(events, size), play(events, size)
    assert [dumped(a) for a, _ in first.made] == [dumped(b) for b, _ in second.made]
    assert first.rows.turns == second.rows.turns


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_what_was_stored_is_never_touched(events: list[tuple[str, object]], size: int) -> None:
    session = Session(a_window(size, reserve=RESERVE), Rows(), [])
    before: list[object] = []
    for at, (what, how) in enumerate([("ask", 10), *events]):
        session.happen(at, what, how)
        assert session.rows.turns[: len(before)] == before
        before = [replace(turn) for turn in session.rows.turns]


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_a_resume_begins_where_the_newest_mark_says(events: list[tuple[str, object]], size: int) -> None:
    session = play(events, size)
    resumed = loaded(session.rows, size)
    marks = [turn for turn in session.rows.turns if '"left_to"' in (turn.message_meta or "")]
    beginning = Beginning().moved_by(marks[-1]) if marks else Beginning()
    assert resumed.left_to >= beginning.edges.left_to
    assert (resumed.beginning.summary, resumed.beginning.move) == (beginning.summary, beginning.move)
    resumed.add(session.rows.ask("go on"))
    paired(resumed.assemble())


def paired(assembly: Assembly) -> None:
    """Every call has its result right behind it, and every result its call."""
    waiting: list[str] = []
    for message in assembly.messages:
        if isinstance(message, ModelResponse):
            assert not waiting and message.parts
            waiting = [p.tool_call_id for p in message.parts if isinstance(p, ToolCallPart)]
        else:
            answered = [p.tool_call_id for p in message.parts if isinstance(p, ToolReturnPart)]
            assert sorted(answered) == sorted(waiting) and message.parts
            waiting = []
    assert not waiting

"""Whatever goes wrong in a session, its requests fit, are valid, and follow from the rows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturnPart

from tests.context.happenings import happenings, play
from tests.context.windows import a_window, counted, dumped, text_of
from tests.support.window_rows import Rows


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=120)
def test_whatever_happens_the_request_fits_and_holds_the_newest_wish(events: list[tuple[str, int]], size: int) -> None:
    window, rows = a_window(size), Rows()
    without_scale = [event for event in events if event[0] not in ("report", "overflow")]
    for assembly, wish in play(without_scale, window, rows):
        assert counted(assembly, 200) <= size - 1_000
        assert counted(assembly, 200) == assembly.tokens
        text = text_of(assembly.messages)
        assert wish.rstrip() in text or ("not shown" in text and wish[:7] in text)


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=80)
def test_whatever_happens_no_call_is_parted_from_its_result(events: list[tuple[str, int]], size: int) -> None:
    window, rows = a_window(size), Rows()
    for assembly, _ in play(events, window, rows):
        waiting: list[str] = []
        for message in assembly.messages:
            if isinstance(message, ModelResponse):
                assert not waiting
                waiting = [p.tool_call_id for p in message.parts if isinstance(p, ToolCallPart)]
            else:
                answered = [p.tool_call_id for p in message.parts if isinstance(p, ToolReturnPart)]
                assert sorted(answered) == sorted(waiting)
                waiting = []
        assert not waiting


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_the_same_rows_give_the_same_requests_and_stay_as_they_are(events: list[tuple[str, int]], size: int) -> None:
    first_rows, second_rows = Rows(), Rows()
    first = play(events, a_window(size), first_rows)
    before = list(first_rows.turns)
    second = play(events, a_window(size), second_rows)
    assert [dumped(a) for a, _ in first] == [dumped(b) for b, _ in second]
    assert [(a.tokens, a.turns) for a, _ in first] == [(b.tokens, b.turns) for b, _ in second]
    assert first_rows.turns == before == second_rows.turns

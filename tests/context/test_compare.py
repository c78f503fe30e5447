"""Two requests side by side."""

from __future__ import annotations

from loom.context.compare import compare
from loom.context.seen import SeenPart, SeenRequest, Standing
from loom.context.usage import Segment


def seen(number: int, *parts: SeenPart, **segments: int) -> SeenRequest:
    return SeenRequest(
        request=number,
        exchange=1,
        created_at="2026-03-04T10:00:00.000000Z",
        model_name="offline",
        window=1_000,
        high_water=900,
        tokens=sum(segments.values()),
        factor=1.0,
        expected_tokens=sum(segments.values()),
        estimated_tokens=sum(segments.values()),
        reported_tokens=None,
        cache_read_tokens=None,
        segments={Segment(name): tokens for name, tokens in segments.items()},
        counted_segments={Segment(name): tokens for name, tokens in segments.items()},
        turns=((1, 9),),
        parts=parts,
        standing=Standing.SAME,
    )


def part(turn: int | None, text: str, segment: Segment = Segment.TOOL, **more: str) -> SeenPart:
    return SeenPart("tool", "tool-return", segment, text, len(text), len(text), turn, **more)


STATE = part(None, "focus: a", Segment.STATE)


def test_it_says_what_came_left_and_shrank() -> None:
    before = seen(1, STATE, part(1, "one"), part(2, "a long output"), state=8, tool=16)
    after = seen(2, part(None, "focus: b", Segment.STATE), part(2, "short"), part(3, "three"), state=8, user=4)
    found = compare(before, after)
    assert [p.turn for p in found.left] == [1] and [p.turn for p in found.came] == [3]
    assert [(one.text, other.text) for one, other in found.changed] == [
        ("focus: a", "focus: b"),
        ("a long output", "short"),
    ]
    assert found.segments == {Segment.STATE: (8, 8), Segment.USER: (0, 4), Segment.TOOL: (16, 0)}


def test_the_same_request_has_no_differences() -> None:
    one = seen(1, STATE, part(1, "x"), part(1, "x"), state=8)
    found = compare(one, one)
    assert (found.came, found.left, found.changed, found.prefix_share) == ((), (), (), 1.0)


def test_calls_of_one_turn_are_told_apart() -> None:
    one = seen(1, part(1, "a", call_id="c1"), part(1, "b", call_id="c2"))
    other = seen(2, part(1, "b", call_id="c2"))
    assert [p.call_id for p in compare(one, other).left] == ["c1"]


def test_the_prefix_ends_at_the_first_difference() -> None:
    one = seen(1, part(1, "1234"), part(2, "5678"), part(3, "same"))
    other = seen(2, part(1, "1234"), part(2, "567"), part(3, "same"), part(4, "more"))
    found = compare(one, other)
    assert (found.prefix_tokens, found.after_tokens) == (4, 15)


def test_nothing_compared_with_nothing_is_nothing() -> None:
    assert compare(seen(1), seen(2)).prefix_share == 0.0

"""Two requests side by side: what came, what left, what shrank, and how much a prompt cache could reuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from loom.context.seen import SeenPart, SeenRequest
from loom.context.usage import Segment

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """From one request to another; tokens on the scale of the later one, so that what is the same counts the same."""

    before: SeenRequest
    after: SeenRequest
    came: tuple[SeenPart, ...]
    left: tuple[SeenPart, ...]
    changed: tuple[tuple[SeenPart, SeenPart], ...]
    """Parts that are in both and do not look the same: shortened outputs, another state."""
    prefix_tokens: int
    """Tokens of the later request up to the first part that differs: what a prefix cache could have served."""
    after_tokens: int
    before_tokens: int
    """The earlier request on this scale; its own number is `before.tokens`."""
    segments: dict[Segment, tuple[int, int]]
    """Tokens before and after, by segment; those that are in neither left out."""

    @property
    def prefix_share(self) -> float:
        """0 to 1."""
        return self.prefix_tokens / self.after_tokens if self.after_tokens else 0.0


def compare(before: SeenRequest, after: SeenRequest) -> Comparison:
    """What is different in the later request. Parts are the same when they are of the same turn and call."""
    one, other = _by_key(_rescaled(before.parts, after)), _by_key(after.parts)
    return Comparison(
        before=before,
        after=after,
        came=tuple(part for key, part in other.items() if key not in one),
        left=tuple(part for key, part in one.items() if key not in other),
        changed=tuple((one[key], part) for key, part in other.items() if key in one and one[key].text != part.text),
        prefix_tokens=_prefix(before.parts, after.parts),
        after_tokens=sum(part.tokens for part in after.parts),
        before_tokens=_total(before, after.factor),
        segments=_segments(before, after),
    )


def _total(before: SeenRequest, factor: float) -> int:
    tokens = round(before.estimated_tokens * factor)
    # A token more or less is rounding, not another scale.
    return before.tokens if abs(tokens - before.tokens) <= 1 else tokens


def _rescaled(before: Iterable[SeenPart], after: SeenRequest) -> Iterator[SeenPart]:
    """The earlier request's parts on the later one's scale. Words that stand in both have the later one's number, to
    the token: rounding is no difference."""
    known = {(part.segment, part.text): part.tokens for part in after.parts}
    for part in before:
        yield replace(part, tokens=known.get((part.segment, part.text), round(part.counted * after.factor)))


def _segments(before: SeenRequest, after: SeenRequest) -> dict[Segment, tuple[int, int]]:
    one, other = before.counted_segments, after.counted_segments
    return {
        each: (
            after.segments.get(each, 0) if one.get(each) == other.get(each) else round(one.get(each, 0) * after.factor),
            after.segments.get(each, 0),
        )
        for each in Segment
        if each in one or each in other
    }


def _by_key(parts: Iterable[SeenPart]) -> dict[Key, SeenPart]:
    seen: Counter[Key] = Counter()
    found: dict[Key, SeenPart] = {}
    for part in parts:
        key = part.key
        seen[key] += 1
        found[(*key, seen[key])] = part
    return found


def _prefix(before: Iterable[SeenPart], after: Iterable[SeenPart]) -> int:
    tokens = 0
    for one, other in zip(before, after, strict=False):
        if (one.side, one.text) != (other.side, other.text):
            break
        tokens += other.tokens
    return tokens

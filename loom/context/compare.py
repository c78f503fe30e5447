"""Two requests side by side: what came, what left, what shrank, and how much a prompt cache could reuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from loom.context.seen import SeenPart, SeenRequest
from loom.context.usage import Segment

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """From one request to another; tokens by our own count."""

    before: SeenRequest
    after: SeenRequest
    came: tuple[SeenPart, ...]
    left: tuple[SeenPart, ...]
    changed: tuple[tuple[SeenPart, SeenPart], ...]
    """Parts that are in both and do not look the same: shortened outputs, another state."""
    prefix_tokens: int
    """Tokens of the later request up to the first part that differs: what a prefix cache could have served."""
    after_tokens: int

    @property
    def segments(self) -> dict[Segment, tuple[int, int]]:
        """Tokens before and after, by segment, as the gauge showed them; those that are in neither left out."""
        one, other = self.before.segments, self.after.segments
        return {each: (one.get(each, 0), other.get(each, 0)) for each in Segment if each in one or each in other}

    @property
    def prefix_share(self) -> float:
        """0 to 1."""
        return self.prefix_tokens / self.after_tokens if self.after_tokens else 0.0


def compare(before: SeenRequest, after: SeenRequest) -> Comparison:
    """What is different in the later request. Parts are the same when they are of the same turn and call."""
    one, other = _by_key(before.parts), _by_key(after.parts)
    return Comparison(
        before=before,
        after=after,
        came=tuple(part for key, part in other.items() if key not in one),
        left=tuple(part for key, part in one.items() if key not in other),
        changed=tuple((one[key], part) for key, part in other.items() if key in one and one[key].text != part.text),
        prefix_tokens=_prefix(before.parts, after.parts),
        after_tokens=sum(part.tokens for part in after.parts),
    )


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

"""Making recalled turns fit a budget of tokens: tool results are cut first, then the oldest turns, then what is only
related; the best match is always shown."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from loom.tools.recall_text import Counter, Recalled

SHORT = 240
"""Characters of a turn that is cut but still worth a line or three."""

SMALLEST = 40
"""Characters around the best match that are shown when there is room for nothing else."""

_CHARS_PER_TOKEN = 4
"""For a first guess only; what counts is counted."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What fits."""

    turns: tuple[Recalled, ...]
    """In the order given."""
    left_out: tuple[Recalled, ...]
    """Those that are not shown."""


def fit(turns: Sequence[Recalled], budget: int, count: Counter) -> Fitted:
    """The turns, cut and left out until their text, blank lines between them, is at most `budget` tokens.

    Deterministic. A first round goes by length alone, so that megabytes are never counted in tokens.
    """
    kept: list[Recalled | None] = list(turns)
    for measure in (_at_least, count):
        _reduce(turns, kept, budget, measure)
    shown = tuple(turn for turn in kept if turn is not None)
    return Fitted(shown, tuple(turn for turn, left in zip(turns, kept, strict=True) if left is None))


def _at_least(text: str) -> int:
    """Tokens that a text has at the very least, nearly always."""
    return len(text) // 8


def _reduce(turns: Sequence[Recalled], kept: list[Recalled | None], budget: int, count: Counter) -> None:
    costs = [count(turn.written()) + 2 if turn else 0 for turn in kept]
    total = sum(costs)
    for index, cut in _cuts(turns, budget):
        if total <= budget:
            return
        before = kept[index]
        if before is None:
            continue
        after = kept[index] = cut(before)
        total -= costs[index]
        costs[index] = count(after.written()) + 2 if after else 0
        total += costs[index]


_Cut = Callable[[Recalled], Recalled | None]


def _cuts(turns: Sequence[Recalled], budget: int) -> Iterator[tuple[int, _Cut]]:
    """What is done about too many tokens, the least harmful first: (index of the turn, cut)."""
    oldest_first = sorted(range(len(turns)), key=lambda index: turns[index].turn_number)
    matches = [index for index in oldest_first if turns[index].match is not None and not turns[index].is_brief]
    beside = [index for index in oldest_first if turns[index].match is None]
    tools = [index for index in beside if turns[index].from_tool]
    talk = [index for index in beside if not turns[index].from_tool]
    worst_first = sorted(matches, key=lambda index: (not turns[index].related, -turns[index].rank))
    brief = sorted((index for index in oldest_first if turns[index].is_brief), key=lambda index: -turns[index].rank)
    share = max(SHORT, budget * _CHARS_PER_TOKEN // (2 * max(1, len(matches))))
    if not matches:
        # Nothing else is asked for: results are cut no shorter than they must be.
        for size in _smaller(budget * _CHARS_PER_TOKEN // (2 * max(1, len(tools)))):
            yield from ((index, _to(size)) for index in tools)
    yield from ((index, _to(SHORT)) for index in tools)
    yield from ((index, _to(0)) for index in tools)
    yield from ((index, _to(share)) for index in worst_first if turns[index].from_tool)
    yield from ((index, _to(share)) for index in worst_first if not turns[index].from_tool)
    last_talk = talk[-1:] if not matches else []
    yield from ((index, _to(SHORT)) for index in talk if index not in last_talk)
    yield from ((index, _nothing) for index in brief)
    yield from ((index, _nothing) for index in talk if index not in last_talk)
    yield from ((index, _nothing) for index in tools if matches or talk or index != tools[-1])
    for size in _smaller(share):
        yield from ((index, _to(size)) for index in worst_first)
    yield from ((index, _to(SHORT)) for index in worst_first)
    yield from ((index, _nothing) for index in worst_first[:-1])
    last = worst_first[-1:] or last_talk or tools[-1:]
    yield from ((index, _without_note) for index in last)
    size = budget * _CHARS_PER_TOKEN
    while size > SMALLEST:
        size = max(SMALLEST, size * 3 // 4)
        yield from ((index, _to(size)) for index in last)
    yield from ((index, Recalled.with_short_head) for index in last)


def _smaller(chars: int) -> Iterator[int]:
    """So many characters, then fewer and fewer, all more than SHORT."""
    while chars > SHORT:
        yield chars
        chars = chars * 3 // 4


def _to(chars: int) -> _Cut:
    def cut(turn: Recalled) -> Recalled:
        length = (len(turn.text) if turn.stop is None else turn.stop) - turn.start
        return turn if length <= chars else turn.around_match(chars)

    return cut


def _without_note(turn: Recalled) -> Recalled:
    return replace(turn, note="")


def _nothing(turn: Recalled) -> None:
    return None

"""Receipts: the line that says which turns left the window, and the one for those that are only shown shorter since.
Nothing ever leaves the archive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from loom.archive.records import NewTurn, Turn, TurnKind
from loom.archive.rewound import others
from loom.context.edges import Beginning, cited, ranges_of
from loom.context.measure import Count
from loom.text import plural
from loom.turn_numbers import Ranges


@dataclass(frozen=True, slots=True)
class Receipt:
    """What left the window at one time."""

    ranges: Ranges
    """The turns that left; at least one range."""
    exchanges: int
    files: int
    """Different files that the turns touched or read."""
    commands: int
    beginning: Beginning
    """Where the window begins since."""

    @property
    def first_turn(self) -> int:
        return self.ranges[0][0]

    @property
    def last_turn(self) -> int:
        return self.ranges[-1][1]

    @property
    def line(self) -> str:
        """`T12–T40 left the window: 3 files, 5 commands, kept in the archive`."""
        counts = [_plural(self.files, "file"), _plural(self.commands, "command")]
        said = [words for words in counts if words] or [_plural(self.exchanges, "exchange") or "a part of one"]
        return f"{cited(self.ranges)} left the window: {', '.join(said)}, kept in the archive"

    def joined(self, later: Receipt | None, beginning: Beginning) -> Receipt:
        """One receipt for what left at two times, one right after the other."""
        if later is None:
            return replace(self, beginning=beginning)
        numbers = (n for first, last in (*self.ranges, *later.ranges) for n in range(first, last + 1))
        return Receipt(ranges_of(numbers), self.exchanges + later.exchanges, 0, 0, beginning)

    def turn(self, count: Count) -> NewTurn:
        """The row that keeps it; a resumed session begins its window where this says."""
        return NewTurn(
            role="system",
            kind=TurnKind.RECEIPT,
            content=self.line,
            token_count=count(self.line),
            message_meta=self.beginning.meta(left=self.ranges),
        )


@dataclass(frozen=True, slots=True)
class Shortening:
    """What looks shorter in the window since one time, though nothing left it."""

    turns: tuple[int, ...]
    """Ascending; at least one."""
    beginning: Beginning
    """Where the window begins, and from where on turns are shortened, since."""

    @property
    def line(self) -> str:
        """`T12–T40: 5 turns are shown shorter in the window from here on, whole in the archive`."""
        span, number = cited([(self.turns[0], self.turns[-1])]), len(self.turns)
        subject = f"{span} is" if number == 1 else f"{span}: {number:,} turns are"
        return f"{subject} shown shorter in the window from here on, whole in the archive"

    def turn(self, count: Count) -> NewTurn:
        """The row that keeps it, like that of a receipt."""
        return NewTurn(
            role="system",
            kind=TurnKind.NOTE,
            content=self.line,
            token_count=count(self.line),
            message_meta=self.beginning.meta(shortened=self.turns),
        )


def receipt_of(turns: Sequence[Turn], ranges: Ranges, beginning: Beginning) -> Receipt:
    """The receipt for these turns (ascending), which span `ranges`, from what their tools reported."""
    facts = [turn.facts for turn in turns]
    return Receipt(
        ranges=ranges,
        exchanges=len({turn.exchange for turn in turns}),
        files=len({fact["path"] for fact in facts if isinstance(fact.get("path"), str) and _is_file(fact)}),
        commands=sum(isinstance(fact.get("command"), str) for fact in facts),
        beginning=beginning,
    )


def words_for_the_model(left_to: int, apart: Iterable[tuple[int, int]] = ()) -> str:
    """What the model reads in place of the turns that left; empty if none did. `apart` are turns of which that is not
    to be said: they were brought back, or rewound past. It follows from the numbers alone, so it is the same after a
    resume."""
    gone = others(1, left_to, apart)
    if not gone:
        return ""
    return (
        f"[{cited(gone)} left the window. They are in the archive, word for word: "
        "conversation_recall finds and shows them.]"
    )


def _is_file(fact: dict[str, object]) -> bool:
    return fact.get("action") in ("read", "created", "edited", "deleted")


def _plural(number: int, noun: str) -> str:
    return plural(number, noun) if number else ""

"""Receipts: the line that says which turns left the window. Nothing ever leaves the archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom.archive.records import NewTurn, Turn, TurnKind
from loom.context.edges import Edges
from loom.context.measure import Count


@dataclass(frozen=True, slots=True)
class Receipt:
    """What left the window at one time."""

    first_turn: int
    last_turn: int
    exchanges: int
    files: int
    """Different files that the turns touched or read."""
    commands: int
    edges: Edges
    """Where the window begins since."""

    @property
    def line(self) -> str:
        """`T12–T40 left the window: 3 files, 5 commands, kept in the archive`."""
        counts = [_plural(self.files, "file"), _plural(self.commands, "command")]
        said = [words for words in counts if words] or [_plural(self.exchanges, "exchange") or "a part of one"]
        return f"{_range(self.first_turn, self.last_turn)} left the window: {', '.join(said)}, kept in the archive"

    def turn(self, count: Count) -> NewTurn:
        """The row that keeps it; a resumed session begins its window where this says."""
        return NewTurn(
            role="system",
            kind=TurnKind.RECEIPT,
            content=self.line,
            token_count=count(self.line),
            message_meta=self.edges.meta(),
        )


def receipt_of(turns: Sequence[Turn], edges: Edges) -> Receipt:
    """The receipt for these turns (at least one, ascending), from what their tools reported."""
    facts = [turn.facts for turn in turns]
    return Receipt(
        first_turn=turns[0].turn_number,
        last_turn=turns[-1].turn_number,
        exchanges=len({turn.exchange for turn in turns}),
        files=len({fact["path"] for fact in facts if isinstance(fact.get("path"), str) and _is_file(fact)}),
        commands=sum(isinstance(fact.get("command"), str) for fact in facts),
        edges=edges,
    )


def words_for_the_model(left_to: int) -> str:
    """What the model reads in place of the turns that left; empty if none did. It follows from the number
    alone, so it is the same after a resume."""
    if not left_to:
        return ""
    return (
        f"[{_range(1, left_to)} left the window. They are in the archive, word for word: "
        "conversation_recall finds and shows them.]"
    )


def _is_file(fact: dict[str, object]) -> bool:
    return fact.get("action") in ("read", "created", "edited", "deleted")


def _range(first: int, last: int) -> str:
    return f"T{first}" if first == last else f"T{first}–T{last}"


def _plural(number: int, noun: str) -> str:
    return "" if not number else f"{number:,} {noun}{'' if number == 1 else 's'}"

"""A set of terms that may be very large, of which no single step keeps the other threads waiting.

What Python does in one call it does without letting another thread in. To copy a set of 600,000 terms, the characters
and their pairs in 2 MB of Chinese, takes 28 ms, to let go of it 45 ms, and to make room for more of them 26 ms: the
screen stands still meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

WHOLE = 32_768
"""Terms that are kept in one set; more are spread over many, which takes three times as long as to add them to one."""
PARTS = 64


class TermSet(Set[str]):
    """Grows by `add_all`. Equal to any set of the same terms."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[set[str]] = [set()]

    def add_all(self, terms: Set[str]) -> None:
        """Add these, which are not too many themselves to be added in one call."""
        if len(self._parts) > 1:
            self._spread(terms)
            return
        (whole,) = self._parts
        whole.update(terms)
        if len(whole) > WHOLE:
            self._parts = [set() for _ in range(PARTS)]
            self._spread(whole)

    def _spread(self, terms: Iterable[str]) -> None:
        parts = self._parts
        for term in terms:
            parts[hash(term) % PARTS].add(term)

    def __contains__(self, term: object) -> bool:
        return term in self._parts[hash(term) % len(self._parts)]

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from part

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __del__(self) -> None:
        # One after the other: all at once is one call, in which nobody else has a turn.
        while self._parts:
            self._parts.pop()

"""The identifiers, paths and codes of the archive: by what stands inside them, and by a similar spelling."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import chain

from loom.archive.search.fts import all_of, quoted
from loom.archive.search.similarity import pieces_of, similarity
from loom.archive.search.tail import Tail
from loom.archive.search.words import without_lines

MAX_NAMES_WITH = 64
MAX_NAMES_SEEN = 4_000
MAX_TOGETHER = 3
"""Pieces of a fragment that are looked up together, the rarest: going through the names with a common one is slow."""
FIRST_READ = 50
"""Names that are read for each piece, the newest, to see how rare it is; where there are fewer, that is all of them."""
MAX_READ = 4_000
"""Names that are read for the rarest of the other pieces of a mistyped name: those that say the most."""
MAX_CANDIDATES = 1_000
LEAST_OF_BEST = 0.5
"""Names with the most of these pieces, at least half as many as the one that has the most: their other pieces are
looked at …"""
MAX_COMPARED = 64
"""… and those with the most of all pieces are compared letter by letter."""
LEAST_SHARED = 1 / 3
"""Of a name's pieces, what a similar name has at least."""
_STRIDE = 3
"""Every third piece covers each character of a fragment: whether they stand in a row is seen in the names."""

_PIECE = "SELECT rowid FROM search_name_pieces WHERE search_name_pieces MATCH ? ORDER BY rowid DESC LIMIT ?"
_NAMES = "SELECT name FROM search_names WHERE id IN (SELECT value FROM json_each(?)) AND length(name) BETWEEN ? AND ?"
_WITH_PIECES = (
    "SELECT name FROM search_names WHERE id IN (SELECT rowid FROM search_name_pieces"
    " WHERE search_name_pieces MATCH ? ORDER BY rowid DESC LIMIT ?)"
)


class Names:
    """Every name of the index, whatever the scope, and those of turns that wait for it. Of a name with a line
    (`a.py:12`) the name alone: a file that many lines were cited of would hide all others."""

    def __init__(self, connection: sqlite3.Connection, tail: Tail, *, indexed: bool) -> None:
        self._connection = connection
        self._tail = tail
        self._indexed = indexed
        self._read: dict[str, list[int]] = {}
        """The newest names with a piece."""

    @cached_property
    def _waiting(self) -> set[str]:
        return without_lines(self._tail.names())

    def having(self, fragments: Iterable[str], most: int = MAX_NAMES_WITH) -> list[str]:
        """Names that have every fragment inside, the shortest `most` of them. Fragments of one or two characters are
        only looked for beside a longer one."""
        wanted = list(fragments)
        pieces = sorted({piece for fragment in wanted for piece in _covering(fragment)})
        if not pieces:
            return []
        names = {*self._waiting, *self._with_pieces(pieces)}
        for fragment in wanted:
            names = {name for name in names if fragment in name}
        return sorted(names, key=lambda name: (len(name), name))[:most]

    def like(self, name: str, least: float) -> dict[str, float]:
        """Names that are about the same (mistyped), with how similar they are: `least` to 1."""
        pieces = pieces_of(name)
        if len(name) < 4 or not pieces:
            return {}
        longest, shortest = len(name) / least, len(name) * least
        waiting = (known for known in self._waiting if shortest <= len(known) <= longest)
        # As `pieces & pieces_of(known)` has them, in a third of the time.
        shared = {
            known: sum(map(known.__contains__, pieces))
            for known in {*waiting, *self._candidates(pieces, (shortest, longest))}
        }
        likely = [known for known, count in shared.items() if count >= LEAST_SHARED * len(pieces)]
        likely.sort(key=lambda known: (-shared[known], abs(len(known) - len(name)), known))
        found = {known: similarity(name, known, least) for known in likely[:MAX_COMPARED]}
        return {known: value for known, value in found.items() if value >= least}

    def _candidates(self, pieces: Iterable[str], lengths: tuple[float, float]) -> Iterable[str]:
        """The indexed names, of the lengths between, that share the most of the rarer pieces."""
        if not self._indexed:
            return ()
        counts: Counter[int] = Counter()
        left = MAX_READ
        for piece in sorted(pieces, key=self._rarity, reverse=True):
            names = self._newest(piece)
            if len(names) == FIRST_READ:
                if left <= FIRST_READ:
                    break
                names = self._with_piece(piece, left)
                left -= len(names)
            counts.update(names)
        least = LEAST_OF_BEST * max(counts.values(), default=0)
        often = Counter({known: count for known, count in counts.items() if count >= least})
        most = often if len(often) <= MAX_CANDIDATES else dict(often.most_common(MAX_CANDIDATES))
        likely = ",".join(map(str, most))
        asked = (f"[{likely}]", lengths[0], lengths[1])
        return chain.from_iterable(self._connection.execute(_NAMES, asked))

    def _with_pieces(self, pieces: Iterable[str]) -> Iterable[str]:
        """The indexed names, the newest, that have the rarest of the pieces."""
        if not self._indexed:
            return ()
        rarest = sorted(pieces, key=self._rarity, reverse=True)[:MAX_TOGETHER]
        if not self._newest(rarest[0]):
            return ()
        return chain.from_iterable(self._connection.execute(_WITH_PIECES, (all_of(rarest), MAX_NAMES_SEEN)))

    def _rarity(self, piece: str) -> tuple[int, int]:
        """Greater for a rarer piece: the fewer of the newest names there are, and the further apart they stand."""
        newest = self._newest(piece)
        return (FIRST_READ - len(newest), newest[0] - newest[-1] if newest else 0)

    def _newest(self, piece: str) -> list[int]:
        if piece not in self._read:
            self._read[piece] = self._with_piece(piece, FIRST_READ)
        return self._read[piece]

    def _with_piece(self, piece: str, limit: int) -> list[int]:
        return list(chain.from_iterable(self._connection.execute(_PIECE, (quoted(piece), limit))))


def _covering(fragment: str) -> set[str]:
    """Some three-character pieces of a fragment, in which each of its characters is."""
    starts = range(0, len(fragment) - 2, _STRIDE)
    return {fragment[start : start + 3] for start in starts} | ({fragment[-3:]} if len(fragment) >= 3 else set())

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

MAX_NAMES_WITH = 64
MAX_NAMES_SEEN = 4_000
FIRST_READ = 50
"""Names that are read for each piece of a mistyped one, the newest; a piece that fewer have is read whole."""
MAX_READ = 4_000
"""Names that are read then, for the rarest of the other pieces: those that say the most."""
MAX_CANDIDATES = 1_000
LEAST_OF_BEST = 0.5
"""Names with the most of these pieces, at least half as many as the one that has the most: their other pieces are
looked at. A file that many lines were cited of (`a.py:12`, `a.py:13`) has as many names …"""
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
    " WHERE search_name_pieces MATCH ? LIMIT ?)"
)


class Names:
    """Every name of the index, whatever the scope, and those of turns that wait for it."""

    def __init__(self, connection: sqlite3.Connection, tail: Tail, *, indexed: bool) -> None:
        self._connection = connection
        self._tail = tail
        self._indexed = indexed

    @cached_property
    def _waiting(self) -> set[str]:
        return self._tail.names()

    def having(self, fragments: Iterable[str]) -> list[str]:
        """Names that have every fragment inside, the shortest first. Fragments of one or two characters are only
        looked for beside a longer one."""
        wanted = list(fragments)
        pieces = sorted({piece for fragment in wanted for piece in _covering(fragment)})
        if not pieces:
            return []
        names = set(self._waiting)
        if self._indexed:
            asked = (all_of(pieces), MAX_NAMES_SEEN)
            names.update(chain.from_iterable(self._connection.execute(_WITH_PIECES, asked)))
        for fragment in wanted:
            names = {name for name in names if fragment in name}
        return sorted(names, key=lambda name: (len(name), name))[:MAX_NAMES_WITH]

    def like(self, name: str, least: float) -> dict[str, float]:
        """Names that are about the same (mistyped), with how similar they are: `least` to 1."""
        pieces = pieces_of(name)
        if len(name) < 4 or not pieces:
            return {}
        longest, shortest = len(name) / least, len(name) * least
        waiting = (known for known in self._waiting if shortest <= len(known) <= longest)
        shared = {
            known: len(pieces & pieces_of(known))
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
        common: list[tuple[float, str]] = []
        for piece in pieces:
            newest = self._with_piece(piece, FIRST_READ)
            if len(newest) < FIRST_READ:
                counts.update(newest)
            else:
                common.append((newest[0] - newest[-1], piece))
        left = MAX_READ
        # The closer together the newest names with a piece stand, the commoner it is.
        for _, piece in sorted(common, reverse=True):
            if left <= FIRST_READ:
                break
            names = self._with_piece(piece, left)
            counts.update(names)
            left -= len(names)
        most = counts.most_common(MAX_CANDIDATES)
        likely = ",".join(str(known) for known, count in most if count >= LEAST_OF_BEST * most[0][1])
        asked = (f"[{likely}]", lengths[0], lengths[1])
        return chain.from_iterable(self._connection.execute(_NAMES, asked))

    def _with_piece(self, piece: str, limit: int) -> list[int]:
        return list(chain.from_iterable(self._connection.execute(_PIECE, (quoted(piece), limit))))


def _covering(fragment: str) -> set[str]:
    """Some three-character pieces of a fragment, in which each of its characters is."""
    starts = range(0, len(fragment) - 2, _STRIDE)
    return {fragment[start : start + 3] for start in starts} | ({fragment[-3:]} if len(fragment) >= 3 else set())

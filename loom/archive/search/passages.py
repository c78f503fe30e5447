"""Passages of a query, in quotation marks or as they were pasted: the turns in whose text they stand word for word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from loom.archive.search.matches import EDGE, LITERAL, Match, Rarity, standing_in
from loom.archive.search.numbers import beside_numbers, with_other_numbers
from loom.archive.search.postings import Postings
from loom.archive.search.restrictions import Texts
from loom.archive.search.words import cjk_pieces, cjk_runs, fold, words_of

OTHER_NUMBERS = 0.8
"""A passage with other numbers in it, against the passage."""
_TYPED = str.maketrans("‘’‚“”„–—‑", "'''\"\"\"---")
"""Typographic signs, which models write, and what is typed for them."""
MAX_VERIFIED = 200
"""Turns whose text is read at once to see whether a passage stands in it, and no more of one that nobody quoted."""
MAX_LIKELY = 2_000
"""Turns that have the words of a passage: of one in quotation marks all of them are read, the likeliest first."""
MAX_FURTHER = 2_000
"""So many, by every word of it, where it is in none of those: a phrase of common words (`that is the one`)."""
ENOUGH = 25
"""Turns that have a passage in quotation marks, from which on no more are looked for, unless more hits are wanted."""
MAX_READ = 4_000_000
"""Characters of turns with a passage of signs, from which on enough of them are known."""
MAX_PATTERN = 12
"""Words of a passage that is looked for by a pattern."""
MAX_KEYS = 48
"""Words of a passage that a turn must have before its text is read."""


def passage_match(
    passage: str,
    named: frozenset[int],
    postings: Postings,
    texts: Texts,
    rarity: Rarity,
    *,
    quoted: int = 0,
    common: bool = False,
    words: Sequence[Match] = (),
) -> Match:
    """The turns in whose text a passage stands word for word, white space and case aside; those that have a name of
    the query (`named`) are read first, then those with the rarest of its `words`. One in quotation marks must stand in
    each of the hits, and is looked for until `quoted` turns have it: further back, and where no filter lets it pass,
    before it counts as standing nowhere. So is one of `common` words alone."""
    said = words_of(passage)
    keys = list(dict.fromkeys(said))[:MAX_KEYS]
    pieces = [piece for run in cjk_runs(passage) for piece in cjk_pieces(run)][:MAX_KEYS]
    if not keys and not pieces:
        strengths = _signs_among(passage, postings, passing=True)
        if not strengths and quoted and postings.has_filters:
            strengths = _signs_among(passage, postings, passing=False)
        return Match(passage, LITERAL * rarity.of(strengths), strengths, literal=True)

    # All of the turns that are read have its own words.
    others = [match for match in words if match.key not in keys]
    reader = _PassageReader(passage, named, others, texts, max(ENOUGH, quoted))
    most = MAX_LIKELY if quoted else MAX_VERIFIED
    # Without a name the newest are the likeliest.
    limit, only_newest = (MAX_LIKELY, False) if named else (most, True)
    places = postings.with_all(keys, pieces, limit, only_newest=only_newest)
    strengths = reader.verbatim(places, most)
    is_searched = len(places - postings.waiting) < limit and reader.has_read_all
    if not strengths and len(keys) > 2 and (named or not places):
        # Cut out of a longer text: its ends may be half words.
        strengths = reader.verbatim(postings.with_all(keys[1:-1], pieces, limit, only_newest=only_newest), most)
    if not strengths and quoted and not is_searched:
        places = postings.with_every(keys, pieces, MAX_FURTHER, ends={said[0], said[-1]} if said else ())
        strengths = reader.verbatim(places, MAX_FURTHER)
        is_searched = len(places - postings.waiting) < MAX_FURTHER and reader.has_read_all
    # Of one word (`C#`) it is the signs that tell, of common ones (`it is what it is`) how they stand.
    if not strengths and (postings.has_filters if quoted else common or len(keys) + len(pieces) == 1):
        further = postings.with_all(keys, pieces, MAX_LIKELY, only_newest=True, passing=not quoted)
        strengths = reader.verbatim(further, MAX_LIKELY)
    weight = LITERAL * rarity.of(strengths)
    return Match(passage, weight, strengths, literal=True, is_searched=is_searched and reader.left > 0)


class _PassageReader:
    """Looks for a passage in the texts of turns, those first that have a name of the query (`named`), then those with
    the rarest of its `words`."""

    def __init__(self, passage: str, named: frozenset[int], words: Sequence[Match], texts: Texts, enough: int) -> None:
        self._passage = passage
        self._named = named
        self._words = words
        self._texts = texts
        self._enough = enough
        self._read: set[int] = set()
        self.left = MAX_READ
        """Characters that may still be read."""
        self.has_read_all = True
        """Of the places that were given last."""

    def verbatim(self, places: Iterable[int], most: int) -> dict[int, float]:
        """As `_verbatim`, of so many of the places, without those read before, until enough are known that have the
        passage."""
        unread = set(places) - self._read
        self.has_read_all = len(unread) <= most
        likely = self._likeliest_first(unread)[:most]
        self._read.update(likely)
        strengths: dict[int, float] = {}
        for first in range(0, len(likely), MAX_VERIFIED):
            if self.left <= 0 or len(strengths) >= self._enough:
                break
            found = self._texts(likely[first : first + MAX_VERIFIED])
            strengths |= _verbatim(self._passage, found.items())
            self.left -= sum(map(len, found.values()))
        return strengths

    def _weight(self, place: int) -> float:
        return sum(match.weight for match in self._words if place in match.strengths)

    def _likeliest_first(self, places: Iterable[int]) -> list[int]:
        ordered = sorted(places, reverse=True)
        if self._words:
            ordered.sort(key=self._weight, reverse=True)  # which leaves equals in their order
        named = [place for place in ordered if place in self._named]
        return [*named, *(place for place in ordered if place not in self._named)] if named else ordered


def numbers_match(passage: str, postings: Postings, texts: Texts, rarity: Rarity) -> Match:
    """The turns in which a passage that is nowhere stands with other numbers."""
    strengths: dict[int, float] = {}
    if bare := beside_numbers(passage):
        keys = list(dict.fromkeys(words_of(bare)))[:MAX_KEYS]
        pieces = [piece for run in cjk_runs(bare) for piece in cjk_pieces(run)][:MAX_KEYS]
        places = postings.with_all(keys, pieces, MAX_VERIFIED, only_newest=True)
        found = texts(sorted(places, reverse=True)[:MAX_VERIFIED])
        folded = ((place, " ".join(fold(text).split())) for place, text in found.items())
        strengths = dict.fromkeys(with_other_numbers(passage, folded), OTHER_NUMBERS)
    return Match(passage, LITERAL * rarity.of(strengths), strengths, literal=True)


def _signs_among(passage: str, postings: Postings, *, passing: bool) -> dict[int, float]:
    """As `_verbatim`, of a passage that the index keeps no word of."""
    # Closed where not all is read: a search that is cut off with a cursor open cannot end its transaction.
    with closing(postings.likely_texts(passage, passing=passing)) as likely_texts:
        return _verbatim_among(passage, likely_texts)


def _verbatim_among(passage: str, texts: Iterator[tuple[int, str]]) -> dict[int, float]:
    """As `_verbatim`, of the first of very many texts: MAX_LIKELY that have it, or as many as make MAX_READ
    characters, but no fewer than MAX_VERIFIED."""
    strengths: dict[int, float] = {}
    left = MAX_READ
    while len(strengths) < MAX_LIKELY and (left > 0 or len(strengths) < MAX_VERIFIED):
        if (found := next(texts, None)) is None:
            break
        if some := _verbatim(passage, [found]):
            strengths |= some
            left -= len(found[1])
    return strengths


def _verbatim(passage: str, texts: Iterable[tuple[int, str]]) -> dict[int, float]:
    """How well the passage stands in those of the texts that have it."""
    words = _plain(passage).split()
    wanted = " ".join(words)
    may_stand = _standing_test(words)
    strengths = {}
    for place, text in texts:
        folded = _plain(fold(text))
        if may_stand(folded) and (found := standing_in(wanted, " ".join(folded.split()))):
            strengths[place] = found / EDGE
    return strengths


def _plain(folded: str) -> str:
    """With the signs that a keyboard has: whoever looks for `don't` means `don’t` as well."""
    return folded if folded.isascii() else folded.translate(_TYPED)


def _standing_test(words: Sequence[str]) -> Callable[[str], object]:
    """Whether the words may stand one after another in a folded text, in a third of the time that it takes to look."""
    if len(words) <= MAX_PATTERN:
        return re.compile(r"\s+".join(map(re.escape, words))).search
    # To make a pattern of a pasted paragraph takes longer than to look through many texts.
    longest = max(words, key=len)
    return lambda folded: longest in folded

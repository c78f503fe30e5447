"""What speaks for a turn: each part of a query with the turns that have it, and how much finding it says."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from loom.archive.search.postings import Postings
from loom.archive.search.query import Query, Term
from loom.archive.search.words import cjk_pieces, cjk_runs, fold, words_of

PART = 0.6
"""A word inside an identifier, against the same word standing alone."""
PREFIX = 0.7
EDGE, INNER = 0.8, 0.6
"""A name inside a longer one: with a border beside it (`auth.py` in `my-auth.py`), and in the middle of a word."""
LIKE = 0.7
"""A name that is only similar, times the similarity."""
LEAST_SIMILARITY = 0.8
LITERAL = 8.0
"""A name or passage as typed, against a word of the same rarity."""
WITHIN_NAME = 0.3
"""A word that the query has only within a name which is found, against a word of its own."""
MAX_COMPOUND = 8
"""Words of a query that may be the words of one identifier."""
MAX_VERIFIED = 200
"""Turns whose text is read to see whether a passage stands in it."""

MAX_KEYS = 48
"""Words of a passage that a turn must have before its text is read."""
MAX_MENTIONS = 4_000

Texts = Callable[[Iterable[int]], Mapping[int, str]]
"""Gives the texts of turns by place."""


@dataclass(frozen=True, slots=True)
class Match:
    """One part of a query and where it was found."""

    key: str
    weight: float
    """How much finding it says: its rarity in scope, times what kind of part it is."""
    strengths: Mapping[int, float]
    """Place to how well it was found there, 0 to 1."""
    literal: bool
    """As typed; does not spill over to the turns beside it."""
    within_name: bool = False
    """A word that the query has only inside a name which is found."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that speaks for and against turns."""

    matches: tuple[Match, ...]
    required: frozenset[int] | None
    """Only these may be hits; None where every turn may."""
    forbidden: frozenset[int]
    total: float
    """The weights of the query's words, those found nowhere included."""
    is_lookup: bool
    """The query is one word, or names alone: what merely stands beside a match is no answer to it."""


def gather(query: Query, postings: Postings, texts: Texts) -> Evidence:
    """The evidence for a query in a scope."""
    postings.read([term.stem for term in query.terms], query.pieces)
    rarity = _Rarity(postings.turns)
    names = [_name_match(name, postings, rarity) for name in query.names]
    known = {stem for name in names if name.strengths for stem in words_of(name.key)}
    matches = [_term_match(term, postings, rarity, within_name=term.stem in known) for term in query.terms]
    for piece in query.pieces:
        found = dict.fromkeys(postings.places("parts", piece), 1.0)
        matches.append(Match(piece, rarity.of(found, postings.turns_with(piece)), found, literal=False))
    total = sum(match.weight for match in matches)
    matches += names
    if compound := _compound_match(query, postings, rarity):
        matches.append(compound)
    required: set[int] | None = None
    for phrase in query.phrases:
        match = _passage_match(phrase, postings, texts, rarity)
        matches.append(match)
        if match.strengths:
            required = set(match.strengths) if required is None else required & set(match.strengths)
    matches += [_passage_match(passage, postings, texts, rarity) for passage in query.passages]
    for file in query.filters.files:
        mentions = _mentions(file, postings)
        required = mentions if required is None else required & mentions
    forbidden = {place for stem in query.excluded for place in postings.places("words", stem)}
    verbatim = {
        place for match in matches if match.literal and match.key in query.passages for place in match.strengths
    }
    return Evidence(
        tuple(match for match in matches if match.strengths),
        None if required is None else frozenset(required),
        frozenset(forbidden - verbatim),
        total,
        is_lookup=sum(not match.literal and not match.within_name for match in matches) < 2,
    )


class _Rarity:
    def __init__(self, turns: int) -> None:
        self._turns = turns

    def of(self, found: Mapping[int, float], turns: int = 0) -> float:
        """BM25's inverse document frequency within the scope; that of one turn for what is in none. `turns` is how
        many have it where that is more than were looked at."""
        count = max(len(found), turns) or 1
        return math.log(1 + (max(self._turns, count) - count + 0.5) / (count + 0.5))


def _term_match(term: Term, postings: Postings, rarity: _Rarity, *, within_name: bool) -> Match:
    strengths = dict.fromkeys(postings.places("parts", term.stem), PART)
    strengths.update(dict.fromkeys(postings.places("words", term.stem), 1.0))
    if not strengths and len(term.word) >= 3:
        strengths = dict.fromkeys(postings.with_prefix("parts", term.word), PREFIX * PART)
        strengths.update(dict.fromkeys(postings.with_prefix("words", term.word), PREFIX))
        _add_names(strengths, postings, dict.fromkeys(postings.names_with(term.word), INNER))
    if not strengths:
        similar = postings.names_like(term.word, LEAST_SIMILARITY)
        _add_names(strengths, postings, {known: LIKE * value for known, value in similar.items()})
    weight = rarity.of(strengths, postings.turns_with(term.stem)) * (WITHIN_NAME if within_name else 1)
    return Match(term.stem, weight, strengths, literal=False, within_name=within_name)


def _compound_match(query: Query, postings: Postings, rarity: _Rarity) -> Match | None:
    """The turns with identifiers that all the words of a short query stand in: `process fenced block` means
    `process_fenced_block`."""
    words = query.text.lower().split()
    if query.names or not 2 <= len(words) <= MAX_COMPOUND or not all(word.isalnum() for word in words):
        return None
    strengths: dict[int, float] = {}
    joined = "".join(words)
    exact: dict[str, float] = {}
    for name in postings.names_with(*words):
        bare = "".join(character for character in name if character.isalnum())
        exact[name] = 1.0 if bare == joined else EDGE if joined in bare else INNER * INNER
    _add_names(strengths, postings, exact)
    return Match(" ".join(words), LITERAL * rarity.of(strengths), strengths, literal=True) if strengths else None


def _name_match(name: str, postings: Postings, rarity: _Rarity) -> Match:
    strengths = dict.fromkeys(postings.places("names", name), 1.0)
    pattern = re.compile(re.escape(name))
    longer = {known: _standing(pattern, known) for known in postings.names_with(name) if known != name}
    _add_names(strengths, postings, longer)
    if not strengths:
        similar = postings.names_like(name, LEAST_SIMILARITY)
        _add_names(strengths, postings, {known: LIKE * value for known, value in similar.items()})
    return Match(name, LITERAL * rarity.of(strengths), strengths, literal=True)


def _add_names(strengths: dict[int, float], postings: Postings, names: Mapping[str, float]) -> None:
    alike: defaultdict[float, list[str]] = defaultdict(list)
    for name, strength in names.items():
        alike[strength].append(name)
    for strength, group in alike.items():
        for place in postings.with_any_name(group):
            strengths[place] = max(strengths.get(place, 0.0), strength)


def _standing(part: re.Pattern[str], whole: str) -> float:
    """How a part stands in a text that has it: whole token, at a border, or inside a word; 0 where it does not."""
    best = 0.0
    for match in part.finditer(whole):
        start, end = match.span()
        left = start == 0 or not (whole[start - 1].isalnum() and whole[start].isalnum())
        right = end == len(whole) or not (whole[end].isalnum() and whole[end - 1].isalnum())
        best = max(best, EDGE if left and right else (EDGE + INNER) / 2 if left or right else INNER)
        if best == EDGE:
            break
    return best


def _passage_match(passage: str, postings: Postings, texts: Texts, rarity: _Rarity) -> Match:
    """The turns in whose text a passage stands word for word, white space and case aside."""
    keys = list(dict.fromkeys(words_of(passage)))[:MAX_KEYS]
    pieces = [piece for run in cjk_runs(passage) for piece in cjk_pieces(run)][:MAX_KEYS]
    places = postings.with_all(keys, pieces, MAX_VERIFIED)
    if not places and len(keys) > 2:
        # Cut out of a longer text, its ends may be half words.
        places = postings.with_all(keys[1:-1], pieces, MAX_VERIFIED)
    if not keys and not pieces:
        places = postings.narrowed(MAX_VERIFIED * 10)
    pattern = re.compile(r"\s+".join(map(re.escape, passage.split())))
    strengths: dict[int, float] = {}
    for place, text in texts(sorted(places, reverse=True)).items():
        if standing := _standing(pattern, fold(text)):
            strengths[place] = standing / EDGE
    return Match(passage, LITERAL * rarity.of(strengths), strengths, literal=True)


def _mentions(file: str, postings: Postings) -> set[int]:
    """The turns that mention a file: the path as given, within a longer one, or its words."""
    places = postings.with_any_name([file, *postings.names_with(file)])
    return places or postings.with_all(words_of(file), [], MAX_MENTIONS)

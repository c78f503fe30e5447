"""What speaks for a turn: each part of a query with the turns that have it, and how much finding it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from loom.archive.search.compounds import halves
from loom.archive.search.matches import EDGE, INNER, LITERAL, Match, Rarity, standing_in
from loom.archive.search.passages import MAX_LIKELY, numbers_match, passage_match
from loom.archive.search.postings import Postings
from loom.archive.search.query import Query, Term
from loom.archive.search.related import related_to
from loom.archive.search.restrictions import Texts, mentions_of, taken_out
from loom.archive.search.words import core_of, is_code_like, names_of, words_of

PART = 0.6
"""A word inside an identifier, against the same word standing alone."""
PREFIX = 0.7
LIKE = 0.7
"""A name that is only similar, times the similarity."""
LEAST_SIMILARITY = 0.8
RELATED = 0.8
"""A related word (`film` for `movie`), times the square of how alike they are, against the word itself."""
MAX_RELATED = 48
"""Related words that are looked up for one question, the most alike of each of its words first."""
MAX_RELATED_TURNS, MAX_RELATED_SHARE = 300, 0.2
"""Turns, and the share of all, from which on a related word says nothing."""
HALVES, RARE = 0.8, 5
"""Both halves of a word (`road trip` for `roadtrip`) against the word itself, where no more turns than this have it."""
MAX_RELATED_SCOPE = 100_000
"""Turns in scope from which on the words themselves are enough, and each look-up costs more."""
WITHIN_NAME = 0.3
"""A word that the query has only within a name which is found, against a word of its own."""
MAX_COMPOUND = 8
"""Words of a query that may be the words of one identifier."""
MAX_MEANT = 3
"""Names that a mistyped one is taken for, when longer names that have them inside are looked for."""
MAX_MISTYPED = 2
"""Names that a person types; more were pasted, and a path among them is rather another one than mistyped."""
MAX_MARKED = 8
"""Names that a mistyped one was taken for, which are marked in what was found."""


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
    quoted: tuple[Match, ...] = ()
    """The passages in quotation marks, found or not."""

    @property
    def instead(self) -> tuple[str, ...]:
        """The names that mistyped ones were taken for."""
        return tuple(dict.fromkeys(name for match in self.matches for name in match.instead))


def gather(query: Query, postings: Postings, texts: Texts, wanted: int) -> Evidence:
    """The evidence for a query in a scope, of which so many turns with what is quoted are wanted."""
    asks = query.is_question and not query.names and not query.phrases
    postings.read([term.stem for term in query.terms], query.pieces, in_pairs=asks)
    rarity = Rarity(postings.turns)
    few = len(query.names) <= MAX_MISTYPED
    names = [match for name in query.names for match in _name_matches(name, postings, rarity, may_be_mistyped=few)]
    known = {root for name in names if name.strengths for root in words_of(name.key)}
    # A word with underscores around it (`_tokenizer`) is a word in the index, and may be mistyped as one.
    inner = {root for name in query.names if is_code_like(core_of(name)) for root in words_of(name)}
    matches = [
        _term_match(term, postings, rarity, within_name=term.stem in known, may_be_mistyped=term.stem not in inner)
        for term in query.terms
    ]
    if query.is_question and postings.turns <= MAX_RELATED_SCOPE:
        each = MAX_RELATED // max(1, len(matches))
        matches = [
            _with_related(_with_halves(match, term.word, postings, rarity), each, postings, rarity)
            for match, term in zip(matches, query.terms, strict=True)
        ]
    for piece in query.pieces:
        found = dict.fromkeys(postings.places("parts", piece), 1.0)
        matches.append(Match(piece, rarity.of(found, postings.turns_with(piece)), found, literal=False))
    words = tuple(matches)
    total = sum(match.weight for match in matches)
    matches += names
    if compound := _compound_match(query, postings, rarity):
        matches.append(compound)
    required: set[int] | None = None
    named = frozenset[int]().union(*(match.strengths for match in names))
    # Which of the turns with a phrase have the other one, or what they must not have, is not known before.
    enough = wanted if query.has_one_phrase_alone else MAX_LIKELY
    quoted = [
        passage_match(phrase, named, postings, texts, rarity, quoted=enough, words=words) for phrase in query.phrases
    ]
    matches += quoted
    for match in quoted:
        if match.strengths:
            required = set(match.strengths) if required is None else required & set(match.strengths)
    common = query.is_common
    matches += [passage_match(passage, named, postings, texts, rarity, common=common) for passage in query.passages]
    standing = {match.key for match in matches if match.strengths}
    matches += [
        numbers_match(passage, postings, texts, rarity)
        for passage in dict.fromkeys((*query.phrases, *query.passages))
        if passage not in standing
    ]
    for file in query.filters.files:
        mentions = mentions_of(file, postings, texts)
        required = mentions if required is None else required & mentions
    forbidden = taken_out(query, postings, texts)
    verbatim = {
        place for match in matches if match.literal and match.key in query.excusing for place in match.strengths
    }
    return Evidence(
        tuple(match for match in matches if match.strengths),
        None if required is None else frozenset(required),
        frozenset(forbidden - verbatim),
        total,
        is_lookup=sum(not match.literal and not match.within_name for match in matches) < 2,
        quoted=tuple(quoted),
    )


def _term_match(term: Term, postings: Postings, rarity: Rarity, *, within_name: bool, may_be_mistyped: bool) -> Match:
    """The turns with a word. One that is nowhere is looked for as the beginning or the inside of others, and as
    mistyped, unless the query has it inside a name: then that was."""
    strengths = dict.fromkeys(postings.places("words", term.stem), 1.0)
    if inside := postings.places("parts", term.stem):
        strengths = dict.fromkeys(inside, PART) | strengths
    if not strengths and len(term.word) >= 3:
        strengths = dict.fromkeys(postings.with_prefix("parts", term.word), PREFIX * PART)
        strengths.update(dict.fromkeys(postings.with_prefix("words", term.word), PREFIX))
        _add_names(strengths, postings, dict.fromkeys(postings.names_with(term.word), INNER))
    instead: Mapping[str, float] = {}
    if not strengths and may_be_mistyped:
        instead = _mistyped(term.word, postings)
        _add_names(strengths, postings, instead)
    weight = rarity.of(strengths, postings.turns_with(term.stem)) * (WITHIN_NAME if within_name else 1)
    return Match(term.stem, weight, strengths, literal=False, within_name=within_name, instead=_likeliest(instead))


def _with_halves(match: Match, word: str, postings: Postings, rarity: Rarity) -> Match:
    """The match with the turns that have the word as two."""
    if match.within_name or len(postings.places("words", match.key)) > RARE:
        return match
    limit = _too_common(postings)
    strengths: dict[int, float] = {}
    for stems in halves(word):
        first, second = (postings.places("words", root, limit) for root in stems)
        if max(len(first), len(second)) < limit:
            strengths.update(dict.fromkeys(first & second, HALVES))
    if not strengths:
        return match
    weight = match.weight if match.strengths else rarity.of(strengths)
    return replace(match, strengths=strengths | dict(match.strengths), weight=weight)


def _too_common(postings: Postings) -> int:
    """So many turns with a related word say nothing."""
    return min(MAX_RELATED_TURNS, int(postings.turns * MAX_RELATED_SHARE) + 1)


def _with_related(match: Match, most: int, postings: Postings, rarity: Rarity) -> Match:
    """The match with the turns that have a related word instead; a more common one stands for it less."""
    if match.within_name:
        return match
    strengths = dict(match.strengths)
    limit = _too_common(postings)
    for root, alike in related_to(match.key)[:most]:
        places = postings.places("words", root, limit)
        if not 0 < len(places) < limit:
            continue
        found = dict.fromkeys(places, RELATED * alike**2)
        share = min(1.0, rarity.of(found) / (match.weight or 1))
        for place, strength in found.items():
            strengths[place] = max(strengths.get(place, 0.0), share * strength)
    weight = match.weight if match.strengths else rarity.of(strengths)
    return replace(match, strengths=strengths, weight=weight)


def _compound_match(query: Query, postings: Postings, rarity: Rarity) -> Match | None:
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


def _name_matches(name: str, postings: Postings, rarity: Rarity, *, may_be_mistyped: bool) -> list[Match]:
    """The turns with a name. One that is nowhere is looked for in pieces (`a_b+c_d`: a_b, c_d) and as mistyped: of a
    path some folder may be right. Where it is one of many names only if no piece is anywhere."""
    whole = _name_match(name, _standings(name, postings), postings, rarity)
    if whole.strengths:
        return [whole]
    parts = sorted(piece for piece in names_of(name) - {name} if is_code_like(piece))
    pieces = [_name_match(part, _standings(part, postings), postings, rarity) for part in parts]
    is_in_pieces = any(piece.strengths for piece in pieces)
    if is_in_pieces and not may_be_mistyped:
        return pieces
    names = _mistyped(name, postings)
    meant = replace(_name_match(name, names, postings, rarity), instead=_likeliest(names))
    return [meant, *pieces] if is_in_pieces else [meant]


def _name_match(name: str, names: Mapping[str, float], postings: Postings, rarity: Rarity) -> Match:
    strengths: dict[int, float] = {}
    _add_names(strengths, postings, names)
    return Match(name, LITERAL * rarity.of(strengths), strengths, literal=True)


def _standings(name: str, postings: Postings) -> dict[str, float]:
    """The names that are this one or have it inside."""
    return {name: 1.0} | {known: standing_in(name, known) for known in postings.names_with(name) if known != name}


def _mistyped(name: str, postings: Postings) -> dict[str, float]:
    """The names that this one may have been meant for, and those with the likeliest of them inside."""
    similar = postings.names_like(name, LEAST_SIMILARITY)
    names = {known: LIKE * value for known, value in similar.items()}
    for meant in sorted(similar, key=lambda known: (-similar[known], known))[:MAX_MEANT]:
        for known, standing in _standings(meant, postings).items():
            names[known] = max(names.get(known, 0.0), names[meant] * standing)
    return names


def _likeliest(names: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (-names[name], name))[:MAX_MARKED])


def _add_names(strengths: dict[int, float], postings: Postings, names: Mapping[str, float]) -> None:
    alike: defaultdict[float, list[str]] = defaultdict(list)
    for name, strength in names.items():
        alike[strength].append(name)
    found: dict[int, float] = {}
    for strength, group in sorted(alike.items()):
        found.update(dict.fromkeys(postings.with_any_name(group), strength))
    better = found.keys() & strengths.keys()
    found.update((place, max(found[place], strengths[place])) for place in better)
    strengths.update(found)

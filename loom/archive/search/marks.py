"""What is noted of a turn at indexing beside its words: who spoke, and what kind of sentence it is.

Marks are bits in one number, so that ranking reads them without the text. They are cues for English; a turn in
another language has none and loses nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import lru_cache
from zlib import crc32

ROLES = ("user", "assistant", "tool", "system")
SPEAKERS = frozenset(("user", "assistant"))
ROLE_BITS = 3
ASSISTANT = ROLES.index("assistant")
TIME = 4
"""Says when: `yesterday`, `in May`, `two weeks ago`."""
NUMBER = 8
"""Says how many."""
PREFERENCE = 16
"""The user says what they like, chose or want rather than something else."""
RULE_FACET = "is:rule"
"""A standing instruction of the user: `always …`, `never …`, `from now on …`; a facet, to be found by."""
QUESTION = 64
"""Short and ends with a question: its answer stands in the next turn."""
LONG_QUESTION = 128
"""Ends with a question after a paragraph of statements."""
SUMMARY = 256
SAID = 512
"""Words of the person's or the model's: no call, no result, no thought."""
TOOL_SHIFT, TOOL_BITS = 16, 31
"""From this bit on, so many that say which tools a turn is of: see `tool_marks`."""
_BITS_A_TOOL = 3

SHORT_QUESTION = 160
LONGEST_QUESTION = 300

_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|ago|since"
    r"|(?:last|next|this) (?:night|morning|week|weekend|month|year|day|summer|winter|spring|fall|autumn)"
    r"|(?:last |next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|just (?:got|finished|started|came|went|had)"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:19|20)\d\d|\d+(?:st|nd|rd|th)"
    r"|(?:\d+|a|one|two|three|four|five|six|seven|eight|nine|ten|few|couple)(?: of)?"
    r" (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|couple|few"
    r"|several|once|twice|both|half)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:i(?:'d|’d| would)?(?: really| also| always)? (?:prefer|like|love|hate|dislike|chose|decided|want|need|aim)"
    r"|i(?:'ve|’ve| have) (?:chosen|decided)|instead of|rather than|my preference"
    r"|i (?:don['’]t|do not) (?:like|want))\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"(?:^|[.!?:]\s+|\n(?:[-*]|[^\S\n])*)(?:(?:please|and|so|but|also)[ ,]+){0,2}"
    r"(?:from now on\b|whenever i (?:ask|say|tell|mention|request|want|write|type|paste|send|give)\b"
    r"|make sure (?:to|you) (?:always|never)\b"
    r"|(?:always|never|do not ever|don['’]t ever) "
    r"(?!(?:mind|again|ever|a|an|the|in|been|had|have|was|is|were|are|so|such|knew|thought|said|seen|saw|heard|felt|found|got|made"
    r"|met|took|came|did|went|too|that|this|my|i|we|you|he|she|it|they)\b|\w+(?:ed|ing)\b)[a-z]+\b)",
    re.IGNORECASE,
)
_REACTION = re.compile(
    r"\W{0,8}(?:thanks|thank you|wow|glad|congrats|congratulations"
    r"|(?:(?:that|it)(?:['’]s| is| was| sounds) |sounds )?(?:so |really |very )?"
    r"(?:awesome|cool|great|nice|amazing|lovely|wonderful))\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\[[^\]\n]{0,400}\]\s*$")
_SPOKEN = re.compile(r"([A-Z][\w'-]{1,24})(?: [A-Z][\w'-]{1,24})?: ")
_ADDRESSED = re.compile(r"(?:[^\w\n]*+(?:\w++(?:['’]++\w++)*+[^\w\n]++){1,4}?)??([A-Z][a-z]{2,24})[!,.?]")
"""Each piece takes all that it can and gives nothing back: a line of apostrophes, of which each may belong to a word or
stand between two, can be taken apart in more ways than there is time for."""
_HEAD = 8_192
"""Characters looked at for the cues: what a long output says about itself stands at its head."""


def marks_of(role: str, kind: str, text: str) -> int:
    """The marks of a turn; prose cues are looked for in people's and the model's words, not in tool output."""
    marks = ROLES.index(role) if role in ROLES else len(ROLES) - 1
    if kind == "summary":
        marks |= SUMMARY
    if kind == "text" and role in SPEAKERS:
        marks |= SAID
    if role == "tool":
        return marks
    head = text[:_HEAD]
    if _TIME.search(head):
        marks |= TIME
    if _NUMBER.search(head):
        marks |= NUMBER
    if role == "user":
        marks |= PREFERENCE if _PREFERENCE.search(head) else 0
    body = _ASIDE.sub("", text[-1_000:]).rstrip() if len(text) <= 1_000 else ""
    if body.endswith("?"):
        marks |= QUESTION if len(body) <= SHORT_QUESTION else LONG_QUESTION if len(body) <= LONGEST_QUESTION else 0
    return marks


def reacts(text: str) -> bool:
    """Whether a turn begins with thanks or praise for what was said before it: such a turn tells less itself."""
    spoken = _SPOKEN.match(text)
    return bool(_REACTION.match(text, spoken.end() if spoken else 0))


def tool_marks(names: Iterable[str]) -> int:
    """The bits of a turn's marks that say which tools it is of, whether it calls them or is what one gave back.

    A Bloom filter (Bloom 1970) of three bits a tool: a turn of another tool seems to be of the one that is meant once
    in some 4,000, a turn of three others once in some 40. So a hit's own names are compared.
    """
    marks = 0
    for name in names:
        marks |= _tool_mark(name)
    return marks


def is_of_tool(marks: int, name: str) -> bool:
    """Whether the marks are of a turn of this tool (or seem to be)."""
    wanted = _tool_mark(name)
    return marks & wanted == wanted


@lru_cache(maxsize=256)
def _tool_mark(name: str) -> int:
    mark, checksum = 0, crc32(one_term(name).encode())
    for _ in range(_BITS_A_TOOL):
        checksum, bit = divmod(checksum, TOOL_BITS)
        mark |= 1 << TOOL_SHIFT + bit
    return mark


def role_of(marks: int) -> str:
    """The role that is noted in the marks."""
    return ROLES[marks & ROLE_BITS]


def is_said(marks: int) -> bool:
    """Whether the marks are of words of the person's or the model's."""
    return bool(marks & SAID)


def is_remark(marks: int, apart: int, following: int) -> bool:
    """Whether words are only what the model says on its way to a call: the next words, so many turns further on, are
    its own again, and something was done in between."""
    return apart > 1 and marks & ROLE_BITS == ASSISTANT == following & ROLE_BITS


def facets_of(role: str, tools: Iterable[str], text: str) -> frozenset[str]:
    """Terms that no query types: role and tools, a standing instruction, who speaks (`James: …`), who is spoken to."""
    facets = {role_facet(role), *map(tool_facet, tools)}
    if role == "user" and _RULE.search(text[:_HEAD]):
        facets.add(RULE_FACET)
    if role in SPEAKERS:
        head = text[:200]
        if spoken := _SPOKEN.match(head):
            facets.add(f"said:{spoken[1].lower()}")
            head = head[spoken.end() :]
        if addressed := _ADDRESSED.match(head):
            facets.add(f"to:{addressed[1].lower()}")
    return frozenset(facets)


def role_facet(role: str) -> str:
    """The term that finds the turns of a role; every turn has one."""
    return f"role:{role}"


def tool_facet(name: str) -> str:
    """The term that finds the turns of a tool: those that call it and those that it gave back."""
    return f"tool:{one_term(name)}"


def time_facets(at: int) -> frozenset[str]:
    """The terms that find the turns of a year, a month and a day, all UTC; `at` is in seconds since 1970."""
    day = datetime.fromtimestamp(at, UTC).date()
    return frozenset((year_facet(day), month_facet(day), day_facet(day)))


def year_facet(day: date) -> str:
    """The term that finds the turns of the day's year."""
    return f"year:{day.year}"


def month_facet(day: date) -> str:
    """The term that finds the turns of the day's month."""
    return f"month:{day:%Y-%m}"


def day_facet(day: date) -> str:
    """The term that finds the turns of the day."""
    return f"day:{day.isoformat()}"


NO_DAY = "day:none"
"""A facet that no turn has."""


def one_term(name: str) -> str:
    """A tool's name as it is in a facet: lower case, without white space."""
    return "_".join(name.lower().split())

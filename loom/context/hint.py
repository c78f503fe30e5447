"""The recall hint: when a message refers to something that left the window, it names the turns most likely meant.

No model is asked. A needless hint costs some 150 tokens; a missing one, an answer made up.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from loom.archive.records import SearchHit
from loom.context.referring import LANGUAGES
from loom.context.stopwords import STOP_WORDS

Search = Callable[[str, int], Awaitable[Sequence[SearchHit]]]
"""(query, limit) -> hits of this session, best first."""

HINT_TOKENS = 150
MOST_TURNS = 3
MOST_WORDS = 12
"""Words of a message that are searched for."""
_SEARCHED = 12
_LINE_CHARS = 200
_HEAD = 4_000
"""Characters at either end of a message that are read: what lies between was pasted."""

_CITED = re.compile(r"\bT(\d{1,7})\b(?![.-]\w)")
# Alone, T12 may be a variable or a machine: what stands before it tells.
_CITES = re.compile(
    r"(?:^|[(\[]|\b(?i:see|in|at|from|of|about|is|was|to|with|like|as|per|why|what|than|turns?)\s)"
    r"\s*T\d{1,7}\b(?!\s*[<>=+*/])(?!\s(?i:gpu|instance|line))",
    re.MULTILINE,
)
_NUMBERED = re.compile(r"\b[Tt]urns?\s(\d{1,7})\b(?!\s?(?:°|deg))")
_WORD = re.compile(r"[^\W_][\w./-]*[^\W_]|[^\W_]", re.UNICODE)
_QUOTED = re.compile(r"`([^`\n]{2,80})`|[\"“]([^\"”\n]{2,80})[\"”]")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_THAT = re.compile(r"\b(?:that|those)\s+(?:\w+\s+)?(\w+)\s*$")


@dataclass(frozen=True, slots=True)
class Reference:
    """How a message points back."""

    openly: bool
    """It speaks of the conversation itself, and not merely of `that error`, which may be on the table."""
    cited: tuple[int, ...]
    """Turns that it names."""


class RecallHint:
    """Finds what a message may refer to."""

    def __init__(self, count: Callable[[str], int], own_words: Callable[[str], str]) -> None:
        """`own_words` gives what of a message is neither code nor quoted nor pasted."""
        self._count = count
        self._own_words = own_words

    def reference(self, message: str) -> Reference | None:
        """Whether the person's own words point at something said or done before, and how; None when they do not."""
        return _reference(self._prose(message))

    async def find(
        self, message: str, search: Search, *, asked: int, left_to: int, holds: Callable[[int], bool]
    ) -> str | None:
        """The hint for the model, about HINT_TOKENS long; None when nothing left the window, nothing is referred to,
        or what is loosely referred to is rather what the model sees.

        `asked` is the turn of the message, `left_to` the newest turn that left; `holds(turn)` whether the model sees
        a turn.
        """
        if not left_to:
            return None
        prose = self._prose(message)
        reference = _reference(prose)
        if reference is None:
            return None
        lines = [
            f"T{turn}: conversation_recall action=range start_turn={turn} end_turn={turn}"
            for turn in reference.cited
            if 0 < turn <= left_to and not holds(turn)
        ][:MOST_TURNS]
        if not lines and not reference.openly and reference.cited:
            return None
        if not lines:
            query = search_words(prose, quotations(message[:_HEAD]))
            found = await search(query, _SEARCHED) if query else ()
            # What is pinned stands before the model in any case.
            hits = [hit for hit in found if hit.turn_number != asked and not hit.is_pin]
            if not reference.openly and not _is_elsewhere(hits, left_to, holds):
                return None
            lines = [_line(hit) for hit in _likely(hits, left_to, holds)]
        return self._within_budget(lines, left_to)

    def _prose(self, message: str) -> str:
        whole = message if len(message) <= 2 * _HEAD else f"{message[:_HEAD]}\n\n{message[-_HEAD:]}"
        return self._own_words(whole)

    def _within_budget(self, lines: list[str], left_to: int) -> str:
        start = f"[This may refer to turns that are not in front of you (up to T{left_to})."
        if not lines:
            return f"{start} conversation_recall action=search finds them.]"
        text = ""
        while lines:
            text = "\n".join([f"{start} Most likely, quoted as data:", *lines, "conversation_recall shows them.]"])
            if self._count(text) <= HINT_TOKENS:
                break
            longest = max(range(len(lines)), key=lambda at: len(lines[at]))
            if len(lines[longest]) <= 60:
                break
            lines[longest] = lines[longest][: len(lines[longest]) * 3 // 4].rstrip("… ") + "…"
        return text


def _reference(prose: str) -> Reference | None:
    plain = prose.lower().replace("’", "'")
    numbers = [*(_CITED.findall(prose) if _CITES.search(prose) else ()), *_NUMBERED.findall(prose)]
    cited = tuple(dict.fromkeys(int(number) for number in numbers))
    openly = any(language.openly.search(plain) for language in LANGUAGES)
    if openly or cited or any(language.loosely.search(plain) for language in LANGUAGES):
        return Reference(openly, cited)
    return None


def quotations(message: str) -> list[str]:
    """What is quoted or set as code within a line: no word of the person's, but what they speak of."""
    return [code or quoted for code, quoted in _QUOTED.findall(_FENCED.sub(" ", message))][:MOST_WORDS]


def search_words(prose: str, quoted: Sequence[str] = ()) -> str:
    """What is worth searching for: what is quoted, then the words of the message, at most MOST_WORDS, in their order;
    empty if there is none. Of a message that has no other, the thing that it points at (`that error`)."""
    plain = prose.replace("’", "'")
    rest, things = plain, []
    for language in LANGUAGES:
        for pattern in (language.openly, language.loosely):
            for cue in pattern.finditer(plain.lower()):
                things += _THAT.findall(cue[0])
                if len(plain.lower()) == len(plain):
                    rest = rest[: cue.start()] + " " * len(cue[0]) + rest[cue.end() :]
    words = [word for word in _WORD.findall(rest) if word.lower() not in STOP_WORDS and len(word) > 1]
    return " ".join(list(dict.fromkeys([*quoted, *words] or things))[:MOST_WORDS])


def _is_elsewhere(hits: Sequence[SearchHit], left_to: int, holds: Callable[[int], bool]) -> bool:
    """Whether the best turn that has the words is one that the model does not see."""
    best = next((hit for hit in hits if hit.highlights), None)
    return best is not None and best.turn_number <= left_to and not holds(best.turn_number)


def _likely(hits: Sequence[SearchHit], left_to: int, holds: Callable[[int], bool]) -> list[SearchHit]:
    """The best hits outside the window, one an exchange."""
    likely: dict[int, SearchHit] = {}
    for hit in hits:
        if hit.turn_number <= left_to and not holds(hit.turn_number):
            likely.setdefault(hit.exchange, hit)
    return list(likely.values())[:MOST_TURNS]


def _line(hit: SearchHit) -> str:
    who = f"{hit.role} {hit.tool_name}" if hit.tool_name else hit.role
    words = " ".join(hit.snippet.split())
    return f"T{hit.turn_number} {who}: {words if len(words) <= _LINE_CHARS else words[:_LINE_CHARS] + '…'}"

"""The recall hint: when a message refers to something that left the window, it names the turns most likely meant.

No model is asked. A needless hint costs some 150 tokens; a missing one, an answer made up.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from loom.archive.records import SearchHit, TurnKind

Search = Callable[[str, int], Awaitable[Sequence[SearchHit]]]
"""(query, limit) -> hits of this session, best first."""

HINT_TOKENS = 150
MOST_TURNS = 3
_SEARCHED = 12
_LINE_CHARS = 200

_THING = (
    "approach|bug|change|class|code|command|decision|discussion|error|failure|file|fix|flag|function|idea|issue|"
    "line|method|module|name|number|option|output|plan|problem|question|script|setting|snippet|stuff|table|test|"
    "thing|value|version|warning|way"
)
_BACK = re.compile(
    rf"""\b(?:
      (?:like|as|what|where|which|that|when)\s+(?:we|i|you)(?:\s+(?:had|have|all|both))?\s+
        (?:agreed|decided|did|discussed|mentioned|planned|said|talked|tried|used|wanted|wrote)
    | (?:what|why|how|where|when|which\s+\w+)\s+did\s+(?:we|you|i)
    | (?:did|had|have|hadn't|haven't|didn't)\s+(?:we|i|you)\s+(?:already\s+)?
        (?:agree|agreed|decide|decided|discuss|discussed|mention|mentioned|say|said|talk|talked|try|tried|want|wanted)
    | as\s+before | like\s+before | the\s+(?:same|one)\s+as\s+before | from\s+before
    | remember(?:\s+(?:when|what|how|that|the|my|our|your|i|we))
    | (?:go|going|get|coming|come|back)\s+(?:back\s+)?to\s+(?:the|that|what|our|your|my)
    | that\s+(?:(?:other|same|old|first|last)\s+)?(?:{_THING})
    | the\s+(?:previous|earlier|former|original|old|first|last|other)\s+\w+
    | earlier | previously | last\s+time | (?:a\s+while|long)\s+ago | at\s+the\s+(?:start|beginning)
    | (?:we|you|i)(?:'ve|\s+have)?\s+already | again
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_CITED = re.compile(r"\bT(\d{1,9})\b")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w./-]*[^\W_]|[^\W_]", re.UNICODE)
_STOP_WORDS = """
a about again ago all already also am an and any are as at back be been before but by can come could did do does doing
done earlier first for former from get go going had has have having he her him his how i if in into is it its just know
last let like long look made make me mentioned more my need no not now of old on one or original other our out please
previous previously put remember said same say see she should show so some start still sure talked tell than that the
their them then there these they thing this those time to told too tried try up us use used using want was way we were
what when where which while who why will with would yes you your
"""
_STOP = frozenset(_STOP_WORDS.split())


class RecallHint:
    """Finds what a message may refer to."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def refers_back(self, message: str) -> bool:
        """Whether the words of the message (code aside) point at something said or done before."""
        prose = _CODE.sub(" ", message)
        return bool(_BACK.search(prose) or _CITED.search(prose))

    async def find(self, message: str, search: Search, left_to: int, holds: Callable[[int], bool]) -> str | None:
        """The hint for the model, about HINT_TOKENS long; None when nothing left the window or nothing is referred to.

        `left_to` is the newest turn that left; `holds(turn)` whether the model sees a turn.
        """
        if not left_to or not self.refers_back(message):
            return None
        cited = [int(number) for number in _CITED.findall(_CODE.sub(" ", message))]
        lines = [
            f"T{turn}: conversation_recall action=range start_turn={turn} end_turn={turn}"
            for turn in dict.fromkeys(cited)
            if 0 < turn <= left_to and not holds(turn)
        ][:MOST_TURNS]
        query = search_words(message)
        if not lines and query:
            hits = await search(query, _SEARCHED)
            lines = [_line(hit) for hit in _likely(hits, left_to, holds)]
        return self._within_budget(lines, left_to)

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


def search_words(message: str) -> str:
    """The words of the message worth searching for, at most twelve, in their order; empty if it has none."""
    words = dict.fromkeys(word for word in _WORD.findall(message) if word.lower() not in _STOP and len(word) > 1)
    return " ".join(list(words)[:12])


def _likely(hits: Sequence[SearchHit], left_to: int, holds: Callable[[int], bool]) -> list[SearchHit]:
    """The best hits outside the window, one an exchange."""
    likely: dict[int, SearchHit] = {}
    for hit in hits:
        outside = hit.turn_number <= left_to and not holds(hit.turn_number)
        if outside and hit.kind not in (TurnKind.RECEIPT, TurnKind.NOTE):
            likely.setdefault(hit.exchange, hit)
    return list(likely.values())[:MOST_TURNS]


def _line(hit: SearchHit) -> str:
    who = f"{hit.role} {hit.tool_name}" if hit.tool_name else hit.role
    words = " ".join(hit.snippet.split())
    return f"T{hit.turn_number} {who}: {words if len(words) <= _LINE_CHARS else words[:_LINE_CHARS] + '…'}"

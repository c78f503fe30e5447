"""How one request is worded: phrases tried from the most particular to the most general."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from loom.models.offline_literals import MARKED, Masked
from loom.models.offline_requests import (
    Commit,
    Count,
    FindFiles,
    Git,
    Greeting,
    Help,
    ListFiles,
    ReadFile,
    RecallCalls,
    RecallRange,
    RecallSearch,
    RecallSummary,
    Remember,
    ReplaceText,
    Request,
    RunCommand,
    RunTests,
    SearchText,
    Think,
    Unknown,
)

MAX_PHRASE = 4_000
"""A longer line (in characters, quoted text not counted) is no request."""

COUNT_LIMIT = 10_000
"""The offline model counts no further."""

_TOKEN = rf"(?:{MARKED}|[^\s\x00]+)"
_HERE = {"here", "this", "it", "workspace", "project", "repo", "repository", "root", "folder", "directory"}
_TRAILING = " \t,;:!?"

Builder = Callable[[Masked, re.Match[str]], Request]
_PHRASES: list[tuple[re.Pattern[str], Builder]] = []


_OPENING = re.compile(
    r"(?:(?:please|now|okay|ok|and|also|first|next|finally|then|so|hey|hi|hello|loom|let's|let us"
    r"|(?:can|could|would|will) you|i (?:want|would like) you to|i'd like you to)\b[,:]?\s+){1,5}",
    re.IGNORECASE,
)


def without_courtesy(piece: str) -> str:
    """The piece without "please", "can you", "now" and the like in front."""
    words = _OPENING.match(piece)
    return piece[words.end() if words else 0 :]


def understand(masked: Masked, piece: str) -> Request:
    """The request that a piece of masked text is, else `Unknown`. Never raises."""
    if len(piece) > MAX_PHRASE:
        return Unknown(f"{masked.raw(piece[:80])}…")
    words = without_courtesy(piece).strip() or piece.strip()
    for pattern, builder in _PHRASES:
        found = pattern.fullmatch(words)
        if found is None:
            found = pattern.fullmatch(_CLOSING.sub("", words))
        if found is not None:
            return builder(masked, found)
    return Unknown(masked.raw(piece).strip())


_CLOSING = re.compile(r"(?:\s*(?:[.!?,;]+|\bplease|\bfor me|\bthanks|\bagain))+$", re.IGNORECASE)


def _phrase(pattern: str) -> Callable[[Builder], Builder]:
    def add(builder: Builder) -> Builder:
        _PHRASES.append((re.compile(pattern, re.IGNORECASE), builder))
        return builder

    return add


def _path(masked: Masked, token: str | None) -> str:
    """What a token names: quoted text as it is, a bare word without the punctuation behind it and the `@` by which a
    message names a file."""
    if not token:
        return "."
    if masked.literal(token):
        return masked.value(token) or "."
    bare = token.rstrip(_TRAILING).removeprefix("@")
    if bare.endswith(".") and bare.strip("./"):
        bare = bare.rstrip(".")
    return "." if bare.lower() in _HERE or not bare else bare


def _words(masked: Masked, text: str) -> str:
    return masked.value(text.strip()).strip(_TRAILING + ".")


# ---- talk -----------------------------------------------------------------------------------------------------------


@_phrase(r"help|\?+|commands|what (?:can|do) you (?:do|understand)|(?:who|what) are you")
def _help(masked: Masked, found: re.Match[str]) -> Request:
    return Help()


@_phrase(r"hi|hello|hey|hi there|hello there|good (?:morning|afternoon|evening)|thanks|thank you|ok|okay|great|bye")
def _greeting(masked: Masked, found: re.Match[str]) -> Request:
    return Greeting()


@_phrase(r"think(?: hard| again)? (?:about|of|over|through) (.+)")
def _think(masked: Masked, found: re.Match[str]) -> Request:
    return Think(_words(masked, found[1]))


@_phrase(r"count(?: up)? to (\d[\d,_]{0,11})")
def _count(masked: Masked, found: re.Match[str]) -> Request:
    return Count(min(int(re.sub("[,_]", "", found[1])), COUNT_LIMIT))


# ---- the archive ----------------------------------------------------------------------------------------------------


@_phrase(
    r"(?:(?:what (?:was|were|is)|show(?: me)?|recall|read|see|get)\s+)?(?:in )?(?:the )?(?:turns?\s*#?|T)(\d{1,9})"
    r"(?:\s*(?:-|–|to|through|and)\s*T?(\d{1,9}))?"
)
def _recall_range(masked: Masked, found: re.Match[str]) -> Request:
    first, last = int(found[1]), int(found[2] or found[1])
    return RecallRange(min(first, last), max(first, last))


@_phrase(
    r"(?:(?:give me |show(?: me)? |what is )?(?:a |the )?summary(?: of .+)?"
    r"|summari[sz]e(?: (?:the |this |our )?(?:session|conversation|chat|work)(?: so far)?)?"
    r"|where (?:were|are) we|what have we done(?: so far)?)"
)
def _recall_summary(masked: Masked, found: re.Match[str]) -> Request:
    return RecallSummary()


@_phrase(
    r"(?:what|when|where|how) (?:did|have|had|was) (?:we|i|you|it) (?:say|said|talk|talked|discuss|discussed"
    r"|decide|decided|agree|agreed|mention|mentioned|tell|told|do|done)"
    r"(?: (?:you|me))?(?: (?:about|on|regarding|with|for))? (.+)"
)
@_phrase(r"what was said about (.+)")
@_phrase(r"remember(?: that)? ([^?]+)\?+")
@_phrase(
    r"(?:(?:do you )?recall|do you remember|remember(?= (?:what|when|where|why|how|who|about|we said)\b))"
    r"(?: (?:what|when|that))?(?: we said)?(?: about)? (.+)"
)
@_phrase(r"remind me (?:about|of) (.+)")
@_phrase(
    r"(?:search|look (?:in|through)) (?:the |our |this )?(?:conversation|archive|history|session|chat)(?: for)? (.+)"
)
def _recall_search(masked: Masked, found: re.Match[str]) -> Request:
    words = re.sub(r"\s+(?:earlier|before|again)$", "", _words(masked, found[1]), flags=re.IGNORECASE)
    return RecallSearch(words)


# Behind what asks about the past: what is left of "remember" is a wish.
@_phrase(r"(?:note|make a note)(?: that\b|:)\s*(.+)")
@_phrase(r"remember(?: that\b| to\b| this)?:?\s+(.+)")
def _remember(masked: Masked, found: re.Match[str]) -> Request:
    return Remember(masked.value(found[1]).strip())


@_phrase(rf"(?:show(?: me)? )?(?:the )?(?:past |earlier |last )?(?:tool )?calls (?:of|to|for) ({_TOKEN})")
def _recall_calls(masked: Masked, found: re.Match[str]) -> Request:
    return RecallCalls(_path(masked, found[1]))


# ---- commands -------------------------------------------------------------------------------------------------------


@_phrase(r"(?:run|execute) (?:all )?(?:the )?(?:unit )?tests?(?: suite)?|test(?: it| this| everything)?")
def _run_tests(masked: Masked, found: re.Match[str]) -> Request:
    return RunTests()


@_phrase(r"(?:(?:run|execute)(?: the command)?:?\s|[$!])\s*(.+)")
def _run(masked: Masked, found: re.Match[str]) -> Request:
    return RunCommand(masked.value(found[1]).strip())


@_phrase(
    r"commit(?: (?:(?:all |the |my )*changes|all|everything|it|this))?"
    r"(?: (?:with(?: the)?(?: message)?|as|saying))?:?(?: (.+))?"
)
def _commit(masked: Masked, found: re.Match[str]) -> Request:
    message = masked.value(found[1] or "").strip()
    if not message:
        return Unknown(masked.raw(found[0]), 'A commit needs a message: commit "what changed".')
    return Commit(message)


@_phrase(r"(?:(?:show|see|print)(?: me)? )?(?:the )?(?:git )?(status|diff|log)")
@_phrase(r"what(?: has| have I)? (changed)")
def _git_look(masked: Masked, found: re.Match[str]) -> Request:
    word = found[1].lower()
    if word == "log":
        return Git(("log", "--oneline", "-n", "10"))
    return Git(("status",) if word == "status" else ("diff",))


@_phrase(r"git (.+)")
def _git(masked: Masked, found: re.Match[str]) -> Request:
    typed = masked.raw(found[1])
    try:
        return Git(tuple(shlex.split(typed)))
    except ValueError:
        return Unknown(f"git {typed}", "A quote in it is not closed.")


# ---- files ----------------------------------------------------------------------------------------------------------


@_phrase(rf"(?:replace|change|substitute) ({_TOKEN}) (?:with|by|to|->|→) ({_TOKEN}) in (?:the )?(?:file )?({_TOKEN})")
def _replace(masked: Masked, found: re.Match[str]) -> Request:
    return ReplaceText(_path(masked, found[3]), masked.value(found[1]), masked.value(found[2]))


@_phrase(
    rf"in (?:the )?(?:file )?({_TOKEN}),? (?:replace|change|substitute):? ({_TOKEN}) (?:with|by|to|->|→):? ({_TOKEN})"
)
@_phrase(rf"(?:replace|change) in (?:the )?(?:file )?({_TOKEN}) ({_TOKEN}) (?:with|by|to|->|→):? ({_TOKEN})")
def _replace_in(masked: Masked, found: re.Match[str]) -> Request:
    return ReplaceText(_path(masked, found[1]), masked.value(found[2]), masked.value(found[3]))


@_phrase(
    r"(?:list|ls|dir)(?: all)?(?: the)?(?: (?:files|contents?|director(?:y|ies)|folders?|everything))?"
    rf"(?: (?:in|of|under|inside))?(?: the)?(?: (?:directory|folder))?(?: ({_TOKEN}))?"
)
@_phrase(rf"(?:what|which) files are (?:there|here|(?:(?:in|under) (?:the )?({_TOKEN})))")
@_phrase(rf"what(?: is|'s) in (?:the )?(?:directory |folder )?({_TOKEN})")
def _list(masked: Masked, found: re.Match[str]) -> Request:
    return ListFiles(_path(masked, found[1]))


@_phrase(
    rf"(?:read|show|open|cat|print|display|view)(?: me)?(?: the)?(?: file)? ({_TOKEN})"
    r"(?:,? (?:from )?lines? (\d{1,9})(?:\s*(?:-|–|to|through)\s*(\d{1,9}))?)?"
)
def _read(masked: Masked, found: re.Match[str]) -> Request:
    path = _path(masked, found[1])
    numbered = None if masked.literal(found[1]) else re.fullmatch(r"(.+?):(\d{1,9})(?:-(\d{1,9}))?", path)
    if numbered:
        return _lines(numbered[1], numbered[2], numbered[3])
    return _lines(path, found[2], found[3])


@_phrase(rf"(?:read|show)(?: me)? lines? (\d{{1,9}})(?:\s*(?:-|–|to|through)\s*(\d{{1,9}}))? (?:of|in|from) ({_TOKEN})")
def _read_lines(masked: Masked, found: re.Match[str]) -> Request:
    return _lines(_path(masked, found[3]), found[1], found[2])


def _lines(path: str, first: str | None, last: str | None) -> Request:
    begin = int(first or 0)
    end = int(last or first or 0)
    return ReadFile(path, min(begin, end), max(begin, end))


@_phrase(
    r"(?:find|locate|glob)(?: me)?(?: all)?(?: the)? files?(?: (?:named|called|matching|like))?"
    rf" ({_TOKEN})(?: (?:in|under) (?:the )?({_TOKEN}))?"
)
@_phrase(rf"(?:find|locate|glob)(?: all)? ([^\s\x00]*[*?./][^\s\x00]*)(?: (?:in|under) (?:the )?({_TOKEN}))?")
@_phrase(rf"glob ({_TOKEN})(?: (?:in|under) (?:the )?({_TOKEN}))?")
def _find(masked: Masked, found: re.Match[str]) -> Request:
    return FindFiles(_path(masked, found[1]), _path(masked, found[2]))


@_phrase(rf"where(?: is|'s| are) ({_TOKEN})(?: (?:defined|used|called|set))?")
@_phrase(
    r"(?:search|grep|rg|look for|find)(?: (?:in )?the (?:code|files|workspace|project))?(?: for)?"
    rf" ([^\s\x00-].*?|{MARKED})(?: (?:in|under) (?:the )?({_TOKEN}))?"
)
def _search(masked: Masked, found: re.Match[str]) -> Request:
    pattern = found[0].lower().startswith(("grep", "rg")) and masked.literal(found[1]) is None
    where = found[2] if len(found.groups()) > 1 else None
    return SearchText(masked.value(found[1]).strip(), _path(masked, where), literal=not pattern)

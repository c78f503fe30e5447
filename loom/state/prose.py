"""What of a message is the person's own words: sentences, without code, quotes and pasted output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from loom.attached import split_attached

MAX_SENTENCE_CHARS = 1_000
"""Nobody types a longer sentence; what is longer was pasted."""

_MAX_TEXT_CHARS = 100_000
_HOLE = "¤"

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})(.*)")
_INDENTED = re.compile(r"(?: {4,}|\t)\S")
_BULLET = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)]|#{1,6}|\[[ xX]\])\s+")
_DIFF_START = re.compile(r"(?:diff --git |@@ |--- \S|\+\+\+ \S|Index: )")
_DIFF_LINE = re.compile(r"(?:[-+ @\\]|index |new file|deleted file|similarity |rename )")
_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\)")
# What a program prints and nobody writes: quoted mail, prompts, levels, time stamps, compilers, stack
# frames, tests.
_PASTED = re.compile(
    r"""\s*(?:
        >                                                  # quoted
      | [$❯➜%]\s | >>>\s | \.\.\.\s | PS\ [A-Z]:           # prompts
      | [A-Za-z]:\\[^ ]*>                                  # C:\>
      | \[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d | \[?\d\d:\d\d:\d\d
      | [A-Z][a-z]{2}\ +\d{1,2}\ \d\d:\d\d:\d\d            # syslog
      | \[[\d.:]+\]\s
      | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[:\s|]
      | (?:error|warning|fatal|note|help|hint|panic|npm\ ERR!)(?:\[[A-Z]+\d+\])?:\s
      | npm\ (?:ERR!|WARN)
      | (?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning)\b(?::|$)
      | File\ "[^"]+",\ line\ \d+
      | at\ [\w.$<>]+\s?\(
      | [\w./\\-]+:\d+(?::\d+)?:\s
      | E\ {2,}\S
      | (?:FAILED|PASSED|ERRORS?|OK)\s+\S*::
      | ={3,} | -{5,} | \|.*\|\s*$                         # rules, tables
    )""",
    re.VERBOSE,
)
# Quoted inside a line: "…", “…”, „…“, «…», 「…」, `…`, and '…' that is no apostrophe.
_QUOTED = re.compile(
    r"`+[^`\n]{1,300}`+|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»"
    r"|「[^」\n]{1,300}」|『[^』\n]{1,300}』|(?<!\w)'[^'\n]{2,300}'(?!\w)|(?<!\w)‘[^’\n]{2,300}’(?!\w)"
)
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|z\.\s?b|d\.\s?h|bzw|ca|nr|p\.\s?ex|ej|no)\.$", re.IGNORECASE)
_END = re.compile(r"[.!?…]+[)\"'”’»]*(?=\s|$)|[。！？]+[」』)]*")
_ASKED = re.compile(r"[?？]\W*$|[吗呢]\W*$|か[。.]?$")
_ASKING = re.compile(
    # A quoted subject is none: "`x` is forbidden" asks nothing.
    rf"[^\w{_HOLE}]*(?:¿|(?:so |and |but |ok |hm+,? )?(?:why|what|how|where|which|who|whose|should|shall|does|did"
    r"|is|are|was|were|can|could|would|do(?! not\b| n't\b)|am|has|isn't|aren't|doesn't|didn't)\b(?!')"
    r"|warum|wieso|weshalb|soll(?:en|ten)? (?:wir|ich)|pourquoi|est-ce|faut-il|por qu[eé]\b|perch[eé]\b"
    r"|なぜ|为什么|为何)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """As it was written, without its bullet."""
    plain: str
    """Lower case, typewriter apostrophes, every quoted character replaced: what rules may look at."""

    @property
    def question(self) -> bool:
        return bool(_ASKED.search(self.text)) or bool(_ASKING.match(self.plain))


def sentences(message: str) -> Iterator[Sentence]:
    """The sentences that the person wrote, in order.

    Left out: attached files, fenced and indented code, `>` quotes, diffs, tracebacks, log lines, compiler messages,
    tables.
    Of a very long message only the first and the last 50,000 characters are read: what lies between was
    pasted.
    """
    message = _read_part(message)
    for paragraph in _joined(_own_lines(message)):
        yield from _split(paragraph)


def own_words(message: str) -> str:
    """What `sentences` reads of a message, in its own case: a line for each paragraph, every quoted character
    replaced."""
    message = _read_part(message)
    paragraphs = (_QUOTED.sub(lambda quoted: _HOLE * len(quoted[0]), text) for text in _joined(_own_lines(message)))
    return "\n".join(paragraphs)


def _read_part(message: str) -> str:
    """Without the files that went along, and of what is very long the ends."""
    message, _ = split_attached(message)
    if len(message) <= _MAX_TEXT_CHARS:
        return message
    half = _MAX_TEXT_CHARS // 2
    return f"{message[:half]}\n\n{message[-half:]}"


def _own_lines(message: str) -> Iterator[str]:
    fence, in_diff, in_traceback, after_blank = "", False, False, True
    for line in message.splitlines():
        blank = not line.strip()
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if opened := _FENCE.match(line):
            # "```code```" on one line opens nothing.
            if opened[1] not in opened[2]:
                fence = opened[1]
            continue
        in_diff = bool(_DIFF_START.match(line)) or (in_diff and bool(_DIFF_LINE.match(line)))
        if _TRACEBACK.match(line):
            in_traceback = True
        elif in_traceback and not line[:1].isspace() and not blank:
            in_traceback = bool(_PASTED.match(line))
        skipped = in_diff or in_traceback or (after_blank and _INDENTED.match(line)) or _PASTED.match(line)
        # A block of indented code goes on; only a blank line or another such line comes before more of it.
        after_blank = blank or (after_blank and bool(_INDENTED.match(line)))
        yield "" if skipped else line


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """Lines that an editor wrapped, put together again; anything else is its own paragraph."""
    held = ""
    for line in lines:
        if held and len(held) > 50 and line[:1].islower() and held[-1] not in ".!?:;。！？":
            held = f"{held} {line.strip()}"
            continue
        if held.strip():
            yield held
        held = line.rstrip()
    if held.strip():
        yield held


def _split(paragraph: str) -> Iterator[Sentence]:
    bullet = _BULLET.match(paragraph)
    text = paragraph[bullet.end() :] if bullet else paragraph
    masked = _QUOTED.sub(lambda quoted: _HOLE * len(quoted[0]), text)
    start = 0
    for end in _END.finditer(masked):
        if _ABBREVIATION.search(masked, max(0, end.end() - 8), end.end()):
            continue
        yield from _sentence(text, masked, start, end.end())
        start = end.end()
    yield from _sentence(text, masked, start, len(text))


def _sentence(text: str, masked: str, start: int, end: int) -> Iterator[Sentence]:
    written = text[start:end].strip()
    if written and len(written) <= MAX_SENTENCE_CHARS:
        yield Sentence(written, masked[start:end].strip().lower().replace("’", "'"))

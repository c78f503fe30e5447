"""The one line of a failed command's output that says most about why."""

from __future__ import annotations

import re

from loom.state.entries import clip

MAX_MESSAGE_CHARS = 200
_SCANNED_CHARS = 60_000

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_EXIT_NOTE = re.compile(
    r"\W*(?:exit(?:ed)?\b|process exited|command failed with|make: \*\*\*|error: process didn't exit|no output\)$)"
    r"|\[.*\bexit code -?\d+\]$",
    re.IGNORECASE,
)

# In order of how much they tell. A traceback ends with its error, everything else begins with it.
_LAST_OF = (re.compile(r"(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt|Exit)\b(?::\s*\S|$)"),)
_FIRST_OF = (
    re.compile(r"(?:\S+:\d+(?::\d+)?:?\s+)?(?:fatal )?error(?:\[\w+\]|\s+[A-Z]{1,4}\d+)?:\s*\S", re.IGNORECASE),
    re.compile(r"E\s{2,}\S"),
    re.compile(r"(?:FAILED|FAIL|ERROR|--- FAIL:?|✗|✘|✕|not ok)\s+\S"),
    re.compile(r"(?:fatal|panic|thread '[^']*' panicked|npm ERR!|abort(?:ed)?)\b.*\S", re.IGNORECASE),
    re.compile(
        r".*\b(?:command not found|no such file|permission denied|not found|cannot"
        r"|could not|can't|failed|failure|denied"
        r"|refused|undefined|unresolved|unknown|invalid|timed out|error)\b",
        re.IGNORECASE,
    ),
)


def telling_line(output: str) -> str:
    """One line, at most 200 characters, escape sequences taken out; empty when the output is.

    The last exception of a traceback, else the first compiler error, failed assertion, failed test or
    complaint, else the last line. Only the first and last 60,000 characters are looked at.
    """
    if len(output) > 2 * _SCANNED_CHARS:
        output = f"{output[:_SCANNED_CHARS]}\n{output[-_SCANNED_CHARS:]}"
    lines = [_ESCAPES.sub("", line[:2_000]).strip() for line in output.splitlines()]
    lines = [line for line in lines if line and not _EXIT_NOTE.match(line)]
    for pattern in _LAST_OF:
        if any(line.startswith("Traceback (") for line in lines):
            found = [line for line in lines if pattern.match(line)]
            if found:
                return _tidy(found[-1])
    for pattern in (*_FIRST_OF[:2], *_LAST_OF, *_FIRST_OF[2:]):
        if first := next((line for line in lines if pattern.match(line)), None):
            return _tidy(first)
    return _tidy(lines[-1]) if lines else ""


def _tidy(line: str) -> str:
    return clip(" ".join(re.sub(r"^E\s{2,}", "", line).split()), MAX_MESSAGE_CHARS)

"""What `conversation_recall` gave the model, in words for a person: the calls in it without their JSON."""

from __future__ import annotations

import re
from itertools import groupby

from loom.tools.recall_text import read_call
from loom.tui.call_text import call_text

RECALL_TOOL = "conversation_recall"

_HEAD = re.compile(r"\[Turn \d+\] (assistant:|tool:)")


def recall_words(text: str) -> str:
    """The same text, the calls in it as the transcript shows calls. What is no call whole (cut, or only like one in an
    answer or a file) stays as it is."""
    said: list[str] = []
    head = ""
    for headed, lines in groupby(text.split("\n"), key=lambda line: line.startswith("[Turn ")):
        block = list(lines)
        if headed:
            head = block[-1]
            said += [_head(line) for line in block]
        else:
            said += _calls(block) if head.split("] ", 1)[-1].startswith("assistant:") else block
    return "\n".join(said)


def _head(line: str) -> str:
    found = _HEAD.match(line)
    if found is None or found[1] != "tool:":
        return line
    call = read_call(line, found.end())
    if call is None:
        return line
    words = " ".join(call_text(call.name, call.arguments).split())
    return f"{line[: found.end()]} {words}{line[call.end :]}"


def _calls(lines: list[str]) -> list[str]:
    """The lines below a head; in words if all that its turn says are calls."""
    said: list[str] = []
    for line in lines:
        if not line.startswith("  "):
            # Not the turn's words: between turns, or how it was cut.
            said.append(line)
            continue
        call = read_call(line, 2)
        if call is None or call.end != len(line):
            return lines
        said += [f"  {each}" for each in call_text(call.name, call.arguments).split("\n")]
    return said

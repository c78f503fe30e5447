"""What tells a constraint or a decision from other sentences, in one language."""

from __future__ import annotations

import re
from dataclasses import dataclass

NOTHING = re.compile(r"(?!)")
"""Matches nowhere: for a language that needs no such cue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """Patterns over `Sentence.plain` (lower case, quotes blanked)."""

    orders: re.Pattern[str]
    """At the start of a clause: a constraint (`never …`, `don't …`)."""
    rules: re.Pattern[str]
    """Anywhere: a constraint (`… must …`)."""
    choices: re.Pattern[str]
    """At the start of a clause: a decision (`let's use …`)."""
    settled: re.Pattern[str] = NOTHING
    """Anywhere: a decision."""
    doubts: re.Pattern[str] = NOTHING
    """Anywhere: a guess or a report, so that nothing else counts (`there must be a bug`)."""
    takes_back: re.Pattern[str] = NOTHING
    """Anywhere: something said before holds no longer (`I changed my mind`)."""
    turns: re.Pattern[str] = NOTHING
    """Anywhere in a constraint or a decision: it goes against an earlier one (`… instead`, `… after all`)."""


def cue(pattern: str) -> re.Pattern[str]:
    """The pattern, written in verbose form (a space stands as `\\ ` or `[ ]`)."""
    return re.compile(pattern, re.VERBOSE)

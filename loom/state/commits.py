"""Git commits that were made: each decided something."""

from __future__ import annotations

import re
from dataclasses import replace

from loom.archive.records import Turn
from loom.state.calls import Result
from loom.state.entries import clip, put
from loom.state.model import MAX_DECISIONS, Decision, SessionState

_MADE = re.compile(r"^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.*)$", re.MULTILINE)
_COMMITS = re.compile(r"\bgit\b[^|;&]*\bcommit\b")


def committed(state: SessionState, result: Result, turn: Turn) -> SessionState:
    """The state after a command that may have made a commit: `Committed abc1234: subject`.

    git_command states the commit as a fact. Elsewhere (a shell line, a row without facts) git's own answer tells.
    """
    if result.exit_code != 0:
        return state
    commit, subject = result.facts.get("commit"), result.facts.get("subject")
    if not isinstance(commit, str) or not commit:
        if (turn.tool_name == "git_command" and result.facts) or not _COMMITS.search(result.command):
            return state
        made = _MADE.search((turn.content or "")[:20_000])
        if made is None:
            return state
        commit, subject = made[1], made[2]
    words = " ".join(subject.split()) if isinstance(subject, str) else ""
    decision = Decision(clip(f"Committed {commit[:7]}: {words}".rstrip(": "), 200), turn.turn_number)
    return replace(state, key_decisions=put(state.key_decisions, decision, MAX_DECISIONS))

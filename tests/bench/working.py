"""Labelled conversations as they are where a model works: with calls and their results between what is said."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

CALLS = (0, 0, 1, 2, 3, 5, 8)
"""How many calls follow one message: drawn from these."""
REMARKS = 0.6
"""How often the model says something on its way to a call."""
PIECE = 1_500
"""Characters of a result."""

_REMARKS = ("Let me look at {}.", "I'll check {} first.", "Now I see. Next I read {}.", "It may be in {}.")
_REPOSITORY = Path(__file__).parents[2]


def with_work(data: dict[str, Any]) -> dict[str, Any]:
    """The set with calls, what they gave back (pieces of this repository's files) and remarks after the user's turns.
    Always the same for the same checkout."""
    drawn = random.Random(7)
    files = sorted(path for end in ("py", "md") for path in _REPOSITORY.glob(f"[ld]*/**/*.{end}"))
    numbers: dict[str, dict[int, int]] = {}
    sessions = {}
    for name, turns in data["sessions"].items():
        numbers[name] = {}
        sessions[name] = list[dict[str, Any]]()
        for turn in turns:
            numbers[name][turn["turn_number"]] = len(sessions[name]) + 1
            sessions[name].append(turn)
            if turn["role"] == "user":
                for _ in range(drawn.choice(CALLS)):
                    sessions[name] += _step(drawn, drawn.choice(files), turn["created_at"])
        sessions[name] = [{**turn, "turn_number": i} for i, turn in enumerate(sessions[name], 1)]
    queries = [_renumbered(query, numbers[query["session"]]) for query in data["queries"]]
    return {**data, "name": f"{data['name']} with work", "sessions": sessions, "queries": queries}


def _step(drawn: random.Random, file: Path, at: str) -> list[dict[str, Any]]:
    """Maybe a remark, a call and its result."""
    path = str(file.relative_to(_REPOSITORY))
    text = file.read_text("utf-8")
    begin = drawn.randrange(max(1, len(text) - PIECE))
    call = {"id": f"call-{drawn.getrandbits(32)}", "name": "read_file", "arguments": {"path": path}}
    steps: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "kind": "tool_call", "tool_calls": [call]},
        {"role": "tool", "content": text[begin : begin + PIECE], "kind": "tool_result", "tool_name": "read_file"},
    ]
    if drawn.random() < REMARKS:
        steps.insert(0, {"role": "assistant", "content": drawn.choice(_REMARKS).format(path)})
    return [{**step, "created_at": at} for step in steps]


def _renumbered(query: dict[str, Any], numbers: dict[int, int]) -> dict[str, Any]:
    changed = {**query, "evidence": [numbers[turn] for turn in query["evidence"]]}
    return changed | {"before": numbers[query["before"]]} if query.get("before") else changed

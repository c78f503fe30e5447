"""A turn in words: its heading, and everything that it says."""

from __future__ import annotations

import json

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.text import plural, show_line
from loom.times import local_time
from loom.tui.argument_errors import argument_errors
from loom.tui.call_text import calls_text
from loom.tui.widgets.line import turn_label

_NAMED_KINDS = (TurnKind.THINKING, TurnKind.TOOL_CALL, TurnKind.SUMMARY, TurnKind.RECEIPT, TurnKind.NOTE)


def turn_text(turn: Turn) -> str:
    """Everything that a turn says, for a person: its content, and the calls that it makes, in words."""
    content = turn.content or ""
    if turn.kind is TurnKind.TOOL_RESULT and turn.status is TurnStatus.FAILED:
        content = argument_errors(content)
    said = [content] if content else []
    if turn.tool_calls:
        said.append(calls_text(turn.tool_calls))
    if not said and turn.kind is TurnKind.FILE:
        return f"(a file: {plural(len(turn.part_json or ''), 'character')} stored)"
    return "\n".join(said) or "(nothing)"


def verbatim(turn: Turn) -> str:
    """The turn as the archive has it, where `turn_text` words it otherwise (calls: JSON); empty where it does not."""
    if turn.tool_calls:
        return json.dumps(turn.tool_calls, indent=2, ensure_ascii=False, default=str)
    said = turn.content or ""
    return said if said != turn_text(turn) else ""


def turn_heading(turn: Turn) -> str:
    """`T57 tool read_file · failed · 2026-11-20 14:03 +01:00`; safe to draw."""
    who = f"tool {turn.tool_name}" if turn.tool_name else turn.role
    if turn.is_pin:
        who = "pin"
    elif turn.kind in _NAMED_KINDS:
        who = f"{who} {turn.kind.value.replace('_', ' ')}"
    ended = "" if turn.status is TurnStatus.COMPLETE else f" · {turn.status.value}"
    return show_line(f"{turn_label(turn.turn_number)} {who}{ended} · {local_time(turn.created_at)}")

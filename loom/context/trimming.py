"""Tool outputs in the window: whole, as first and last lines, shortened, or as a marker. Never edited in place.

A huge output is previewed from the first request on. An older one is shortened, and in need reduced to a marker, when
the window's edges pass it (see `loom.context.edges`), so that its looks change only then. Everything stays
whole in the archive, and every cut says how to read the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.messages import ModelResponsePart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from loom.config import Settings
from loom.context.budget import Budget
from loom.context.encode import TOO_DEEP, prompt_text, result_text
from loom.context.measure import Count

RECALL_TOOL = "conversation_recall"
MARKER_CHARS = 480
"""Outputs up to this length are never reduced to a marker: it would save nothing."""
TIGHT_CHARS = 400
"""A longer argument of a call is cut in the middle to this, where arguments have to shrink."""
MOST_TIGHT_CHARS = 1_600
"""The same for a text of an answer, and for all arguments of a call together."""
_ARGUMENT_CHARS = 160
_HEAD_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class TrimRules:
    """How long tool outputs may be; 0 is as long as they are."""

    preview_tokens: int
    trim_chars: int

    @classmethod
    def of(cls, settings: Settings, budget: Budget) -> TrimRules:
        """Those of the settings, the previews smaller where the window is small."""
        return cls(
            preview_tokens=min(settings.tool_output_preview_tokens, budget.preview_room),
            trim_chars=settings.tool_output_trim_chars,
        )


def previewed(part: ToolReturnPart, turn: int, rules: TrimRules, count: Count) -> ToolReturnPart:
    """The result with at most `preview_tokens` tokens of output: whole lines of its head and tail, and how much is
    between them. Recall's answers have a limit of their own and stay whole."""
    if not rules.preview_tokens or part.tool_name == RECALL_TOOL:
        return part
    return capped(part, turn, rules.preview_tokens, count)


def capped(part: ToolReturnPart, turn: int, tokens: int, count: Count) -> ToolReturnPart:
    """The result, whatever tool gave it, with at most `tokens` tokens of output, in the same form. Below some 60 tokens
    only the words between head and tail are left."""
    text = result_text(part)
    shown = cut_to(text, turn, tokens, count, again=part.tool_name == RECALL_TOOL)
    return part if shown is text else replace(part, content=shown)


def cut_to(text: str, turn: int, tokens: int, count: Count, *, again: bool = False) -> str:
    """The text of this turn in at most so many tokens: whole lines of its head and tail, and between them how much is
    not shown and where it is (`again`: that it is to be asked for again). A text that fits is given back as it is."""
    whole = count(text)
    if whole <= tokens:
        return text
    words = _between(whole, turn, count, again=again)
    chars = int(len(text) * tokens / whole * 0.95)
    shown = _cut(text, chars, words)
    while count(shown) > tokens and chars > 0:
        chars = chars * 4 // 5 - 1
        shown = _cut(text, max(0, chars), words)
    return shown


def shortened(
    part: ToolReturnPart, call: ToolCallPart | None, turn: int, rules: TrimRules, count: Count
) -> ToolReturnPart:
    """The result in about `trim_chars` characters: what it was, its head and its tail."""
    text = result_text(part)
    if not rules.trim_chars or len(text) <= rules.trim_chars:
        return part
    marker = _marker(part, text, call, turn, count)
    room = rules.trim_chars - len(marker)
    if room < MARKER_CHARS:
        return replace(part, content=marker) if len(marker) < len(text) else part
    return replace(part, content=f"{marker}\n{_cut(text, room - 40, lambda n, _: f'[… {n:,} lines …]')}")


def marked(part: ToolReturnPart, call: ToolCallPart | None, turn: int, count: Count) -> ToolReturnPart:
    """The result as one line: tool, arguments, outcome, size and turn."""
    text = result_text(part)
    if len(text) <= MARKER_CHARS:
        return part
    return replace(part, content=_marker(part, text, call, turn, count))


def tightened(part: ModelResponsePart, turn: int) -> ModelResponsePart:
    """A part of an answer with what is long in it cut in the middle: the arguments of a call, value by value, or the
    words of a text. Everything else is the same object."""
    if isinstance(part, TextPart) and len(part.content) > MOST_TIGHT_CHARS:
        return replace(part, content=_middle_cut(part.content, MOST_TIGHT_CHARS, turn))
    if isinstance(part, ToolCallPart):
        arguments = _tight_arguments(part.args, turn)
        return part if arguments is None else replace(part, args=arguments)
    return part


def _tight_arguments(given: Any, turn: int) -> Any:
    """The arguments, shorter; None if they are short."""
    text = given if isinstance(given, str) else _json(given or {})
    if len(text) <= TIGHT_CHARS:
        return None
    values = given if isinstance(given, dict) else _mapping(text)
    short = {name: _tight_value(value, turn) for name, value in values.items()}
    if short and len(_json(short)) <= MOST_TIGHT_CHARS:
        return short
    # No mapping, or one of very many values.
    return {"arguments": _middle_cut(text, TIGHT_CHARS, turn)}


def _tight_value(value: Any, turn: int) -> Any:
    text = value if isinstance(value, str) else _json(value)
    return _middle_cut(text, TIGHT_CHARS, turn) if len(text) > TIGHT_CHARS else value


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return TOO_DEEP


def _mapping(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _middle_cut(text: str, chars: int, turn: int) -> str:
    words = f"[… {len(text):,} characters in all; {_where(turn)} …]"
    room = max(0, chars - len(words))
    head = int(room * _HEAD_SHARE)
    return f"{text[:head]}{words}{text[len(text) - (room - head) :]}"


def cut_prompt(part: UserPromptPart, turn: int, tokens: int, count: Count) -> UserPromptPart:
    """The person's message in at most about `tokens` tokens: its beginning and end, and a word in between.

    Pictures in it become a word about them.
    """
    text = prompt_text(part)
    whole = max(1, count(text))
    words = (
        f"[… the middle of this message is not shown: it is larger than the window ({whole:,} tokens). {_where(turn)}]"
    )
    chars = int(len(text) * tokens / whole)
    shown = _cut(text, max(0, chars - len(words)), lambda _lines, _text: words)
    while count(shown) > tokens and chars > 0:
        chars = chars * 4 // 5 - 1
        shown = _cut(text, max(0, chars - len(words)), lambda _lines, _text: words)
    return replace(part, content=shown)


def _marker(part: ToolReturnPart, text: str, call: ToolCallPart | None, turn: int, count: Count) -> str:
    lines = text.count("\n") + 1
    size = f"{lines:,} {'line' if lines == 1 else 'lines'} (≈ {count(text):,} tokens)"
    outcome = "" if part.outcome == "success" else f" {part.outcome},"
    facts = part.metadata if isinstance(part.metadata, dict) else {}
    if isinstance(facts.get("exit_code"), int):
        outcome += f" exit {facts['exit_code']},"
    how = "ask again" if part.tool_name == RECALL_TOOL else _where(turn)
    return f"[{part.tool_name} {_arguments(call)}:{outcome} {size}, T{turn}. {how}]"


def _arguments(call: ToolCallPart | None) -> str:
    if call is None or not call.args:
        return "{}"
    text = call.args if isinstance(call.args, str) else _json(call.args)
    line = " ".join(text.split())
    return line if len(line) <= _ARGUMENT_CHARS else f"{line[:_ARGUMENT_CHARS]}…"


def _where(turn: int) -> str:
    return f"conversation_recall action=range start_turn={turn} end_turn={turn} shows all"


def _between(whole: int, turn: int, count: Count, *, again: bool) -> Callable[[int, str], str]:
    where = "ask again for less" if again else _where(turn)

    def words(lines: int, shown: str) -> str:
        # What is hidden may be 2 MB, 0.1 s to count at every try; what is shown never is.
        hidden = max(1, whole - count(shown))
        return f"[… {lines:,} lines (≈ {hidden:,} tokens) not shown; {where}]"

    return words


def _cut(text: str, chars: int, words: Callable[[int, str], str]) -> str:
    """Head and tail of the text in about `chars` characters, whole lines where they are not too long, and
    `words(hidden lines, shown text)` between."""
    head_end = int(chars * _HEAD_SHARE)
    tail_start = max(head_end, len(text) - (chars - head_end))
    # Whole lines, unless that would throw away more than half of a side.
    line_end = text.rfind("\n", 0, head_end + 1)
    if line_end > head_end // 2:
        head_end = line_end
    line_start = text.find("\n", tail_start) + 1
    if 0 < line_start <= tail_start + (len(text) - tail_start) // 2:
        tail_start = line_start
    lines = text[head_end:tail_start].strip("\n").count("\n") + 1
    head, tail = text[:head_end].rstrip("\n"), text[tail_start:]
    return "\n".join(side for side in (head, words(lines, f"{head}\n{tail}"), tail) if side)

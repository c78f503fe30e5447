"""A session as a Markdown transcript, to be read: every turn with its number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from loom.archive.records import Session, Turn, TurnKind, TurnStatus
from loom.text import plural, show, show_line
from loom.times import iso_time

_TICKS = re.compile(r"`+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_INLINE_CODE = re.compile(r"(`[^`]+`)")


def markdown(session: Session, turns: Iterable[Turn]) -> Iterator[str]:
    """The transcript in pieces. Text from the archive is made safe to show; its Markdown is kept as it is."""
    yield f"# {escaped(show_line(session.title or 'Untitled session'))}\n\n"
    yield (
        f"Session `{session.reference}`, {plural(session.turn_count, 'turn')}, {show_line(session.model_name)}, "
        f"begun {show_line(iso_time(session.started_at))} in `{show_line(session.workspace_path)}`.\n"
    )
    for turn in turns:
        yield from _turn(turn)


def _turn(turn: Turn) -> Iterator[str]:
    ending = "" if turn.status is TurnStatus.COMPLETE else f", {turn.status.value}"
    yield f"\n## T{turn.turn_number} {_who(turn)}{ending}\n\n"
    content = show(turn.content or "")
    if turn.kind is TurnKind.TOOL_CALL:
        for call in turn.tool_calls or ():
            arguments = call.get("arguments")
            shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, indent=2)
            yield fenced(show(shown), "json") + "\n"
    elif turn.kind is TurnKind.TOOL_RESULT or turn.kind is TurnKind.THINKING:
        yield fenced(content) + "\n"
    else:
        yield quoted(content) + "\n"


def _who(turn: Turn) -> str:
    if turn.kind is TurnKind.TOOL_CALL:
        names = ", ".join(str(call.get("name")) for call in turn.tool_calls or ())
        return f"assistant calls {escaped(show_line(names))}"
    if turn.role == "tool":
        return f"tool {escaped(show_line(turn.tool_name or ''))}"
    return f"{turn.role} thinking" if turn.kind is TurnKind.THINKING else turn.role


def fenced(text: str, language: str = "") -> str:
    """The text as a code block, its fence longer than any run of back-ticks in it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def quoted(text: str) -> str:
    """Words as a block quote: whatever they leave open (a code fence, a list) ends with it, and no heading in them
    can pass for one of ours. HTML outside of code is escaped."""
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            fence = mark[1] if mark else ""
            lines.append(line if mark else _without_html(line))
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _without_html(line: str) -> str:
    # Every second piece is inline code.
    pieces = _INLINE_CODE.split(line)
    return "".join(piece if at % 2 else piece.replace("<", "\\<") for at, piece in enumerate(pieces))


def escaped(text: str) -> str:
    """A line in which no character is Markdown."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", text)

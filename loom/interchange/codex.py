"""A session of Codex (a rollout): one JSON object a line, `{timestamp, type, payload}`.

What was said stands in it twice, as `response_item` and as `event_msg`: the first are read. Much of it is not promised:
what is not known is skipped and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loom.archive.records import NewTurn, TurnKind, TurnStatus
from loom.interchange.foreign import Gathered, arguments_of, list_of, object_of, text_of
from loom.interchange.reading import ReadSession

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_INJECTED = ("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md")
"""How messages begin that Codex itself sends in the person's name."""
_BESIDE = "what Codex wrote by itself"


def is_codex(line: Mapping[str, Any]) -> bool:
    """Whether the first line of a file is one of Codex's."""
    return line.get("type") in _TYPES and isinstance(line.get("payload"), dict)


def read_codex(text: str) -> ReadSession:
    """The session, without what was rolled back. Raises ImportFailed when nothing in it was said."""
    gathered = Gathered("Codex")
    for number, line in enumerate(gathered.objects(text)):
        payload = object_of(line.get("payload"))
        match text_of(line.get("type")):
            case "session_meta":
                # A rollout that goes on from another one begins with its own.
                gathered.session_id = gathered.session_id or text_of(payload.get("id"))
                gathered.folder = gathered.folder or text_of(payload.get("cwd"))
            case "turn_context":
                gathered.model = f"openai:{payload['model']}" if text_of(payload.get("model")) else gathered.model
            case "compacted":
                words = f"Codex compacted its window here:\n{text_of(payload.get('message'))}".rstrip(":\n")
                gathered.add(NewTurn(role="system", kind=TurnKind.NOTE, content=words), f"codex/{number}/0")
            case "event_msg" if payload.get("type") == "thread_rolled_back":
                _roll_back(gathered, payload.get("num_turns"))
            case "event_msg":
                pass  # said again
            case "response_item":
                for place, turn in enumerate(_said(gathered, payload)):
                    gathered.add(turn, f"codex/{number}/{place}")
            case kind:
                gathered.skipped[f"a line of the type {kind}"] += 1
    return gathered.read()


def _roll_back(gathered: Gathered, count: object) -> None:
    """Take away the newest so many exchanges: the person did."""
    for _ in range(count if type(count) is int else 0):
        begins = [at for at, turn in enumerate(gathered.turns) if turn.role == "user"]
        if not begins:
            return
        gathered.skipped["a turn that was rolled back"] += len(gathered.turns) - begins[-1]
        del gathered.turns[begins[-1] :]


def _said(gathered: Gathered, item: Mapping[str, Any]) -> Iterator[NewTurn]:
    kind = text_of(item.get("type"))
    if kind == "message":
        yield from _message(gathered, item)
    elif kind == "reasoning":
        words = "\n".join(text_of(object_of(part).get("text")) for part in list_of(item.get("summary"))).strip()
        if words:
            yield NewTurn(role="assistant", kind=TurnKind.THINKING, content=words)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        call = text_of(item.get("call_id")) or text_of(item.get("id"))
        name = gathered.tools[call] = text_of(item.get("name")) or kind.removesuffix("_call")
        asked = {"id": call, "name": name, "arguments": _arguments(item)}
        yield NewTurn(role="assistant", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[asked])
    elif kind in ("function_call_output", "custom_tool_call_output"):
        call, output = text_of(item.get("call_id")), item.get("output")
        yield NewTurn(
            role="tool",
            kind=TurnKind.TOOL_RESULT,
            status=TurnStatus.FAILED if object_of(output).get("success") is False else TurnStatus.COMPLETE,
            content=_output(output),
            tool_call_id=call,
            tool_name=gathered.tools.get(call, "unknown"),
        )
    else:
        gathered.skipped[f"an item of the type {kind}"] += 1


def _message(gathered: Gathered, item: Mapping[str, Any]) -> Iterator[NewTurn]:
    parts = [object_of(part) for part in list_of(item.get("content"))]
    words = "\n".join(text_of(part.get("text")) for part in parts if "text" in part)
    if images := sum("text" not in part for part in parts):
        gathered.skipped["an image or a document"] += images
    role = item.get("role")
    if role not in ("user", "assistant") or (role == "user" and words.lstrip().startswith(_INJECTED)):
        gathered.skipped[_BESIDE] += 1
    elif words and role == "user":
        yield NewTurn(role="user", content=words)
    elif words:
        yield NewTurn(role="assistant", content=words)


def _arguments(item: Mapping[str, Any]) -> dict[str, Any] | str:
    """A JSON text, or, where it is none, the text; of a command of the shell what it is made of."""
    if isinstance(item.get("action"), dict):
        return dict(item["action"])
    return arguments_of(text_of(item.get("arguments")) or text_of(item.get("input")))


def _output(output: object) -> str:
    """What a call gave back; a newer Codex has it in JSON beside what it knows of it."""
    if isinstance(output, str):
        inner = object_of(arguments_of(output)).get("output")
        return inner if isinstance(inner, str) else output
    parts = list_of(output) or list_of(object_of(output).get("content"))
    return text_of(object_of(output).get("content")) or "\n".join(text_of(object_of(p).get("text")) for p in parts)

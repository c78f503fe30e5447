"""A session of Codex (a rollout): one JSON object a line, `{timestamp, type, payload}`.

What was said stands in it twice, as `response_item` and as `event_msg`: the first are read. Much of it is not promised:
what is not known is skipped and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from loom.archive.records import NewTurn
from loom.interchange.foreign import (
    Gathered,
    arguments_of,
    called,
    given_back,
    list_of,
    note,
    number_of,
    object_of,
    read_with,
    said,
    text_of,
    thought,
)
from loom.interchange.reading import ReadSession
from loom.interchange.source import Source, is_file, opened

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_INJECTED = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md"),
    *("<skill>", "<subagent_notification>"),
)
"""How messages begin that Codex itself sends in the person's name, …"""
_HAPPENED = ("<turn_aborted>", "<user_shell_command>")
"""… and those that tell what the person did: stopped it, ran a command of their own."""
_BESIDE = "what Codex wrote by itself"
_ROLLED_BACK = "thread_rolled_back"
_NAME = 40
"""Characters of a name that is not known."""


def is_codex(line: Mapping[str, Any]) -> bool:
    """Whether a line of a file is one of Codex's."""
    return line.get("type") in _TYPES and isinstance(line.get("payload"), dict)


def read_codex(source: Source) -> ReadSession:
    """The session, without what was rolled back. Raises ImportFailed when nothing in it was said."""
    rolled_back = _rolled_back(source)

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        for number, line in gathered.numbered(source):
            is_left_out = any(number in lines for lines in rolled_back)
            for place, turn in enumerate(_taken(gathered, line)):
                if is_left_out:
                    gathered.leave_out("a turn that was rolled back")
                else:
                    yield f"{number}/{place}", turn
        gathered.title = _name(source.path, gathered.session_id)

    return read_with("Codex", walk)


def _taken(gathered: Gathered, line: Mapping[str, Any]) -> Iterator[NewTurn]:
    payload = object_of(line.get("payload"))
    match text_of(line.get("type")):
        case "session_meta":
            # A rollout that goes on from another one begins with its own.
            gathered.session_id = gathered.session_id or text_of(payload.get("id"))
            gathered.folder = gathered.folder or text_of(payload.get("cwd"))
        case "turn_context":
            gathered.model = f"openai:{payload['model']}" if text_of(payload.get("model")) else gathered.model
        case "compacted":
            yield note(f"Codex compacted its window here:\n{text_of(payload.get('message'))}".rstrip(":\n"))
        case "event_msg":
            pass  # said again
        case "response_item":
            yield from _said(gathered, payload)
        case kind:
            gathered.leave_out(f"a line of the type {kind[:_NAME]}")


def _rolled_back(source: Source) -> list[range]:
    """The lines that the person took back: the newest so many exchanges, each from its message on."""
    if not any(_ROLLED_BACK in (line or "") for line in source.lines()):
        return []
    begins: list[int] = []
    left_out: list[range] = []
    gathered = Gathered("Codex")
    for number, line in gathered.numbered(source):
        payload = object_of(line.get("payload"))
        if line.get("type") == "event_msg" and payload.get("type") == _ROLLED_BACK:
            count = number_of(payload.get("num_turns"))
            if begins and count:
                left_out.append(range(begins[-count] if count <= len(begins) else begins[0], number))
                del begins[-count:]
        elif any(turn.role == "user" for turn in _taken(gathered, line)):
            begins.append(number)
    return left_out


def _name(path: Path | None, session_id: str) -> str:
    """The name that the person gave the session: in an index above its folder, where the last one counts."""
    for folder in [] if path is None else path.parents[:6]:
        index = folder / "session_index.jsonl"
        if is_file(index):
            return _names(index, index.stat().st_mtime_ns).get(session_id, "")
    return ""


@lru_cache(maxsize=2)
def _names(index: Path, _changed: int) -> dict[str, str]:
    names: dict[str, str] = {}
    with opened(index) as source:
        for line in Gathered("Codex").objects(source):
            if name := text_of(line.get("thread_name")):
                names[text_of(line.get("id"))] = name
    return names


def _said(gathered: Gathered, item: Mapping[str, Any]) -> Iterator[NewTurn]:
    kind = text_of(item.get("type"))
    if kind == "message":
        yield from _message(gathered, item)
    elif kind == "reasoning":
        words = "\n".join(text_of(object_of(part).get("text")) for part in list_of(item.get("summary"))).strip()
        if words:
            yield thought(words)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        call = text_of(item.get("call_id")) or text_of(item.get("id"))
        yield called(call, gathered.named(call, item.get("name") or kind.removesuffix("_call")), _arguments(item))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        call, output = text_of(item.get("call_id")), item.get("output")
        failed = object_of(output).get("success") is False
        yield given_back(call, gathered.answered(call), _output(output), failed=failed)
    else:
        gathered.leave_out(f"an item of the type {kind[:_NAME]}")


def _message(gathered: Gathered, item: Mapping[str, Any]) -> Iterator[NewTurn]:
    parts = [object_of(part) for part in list_of(item.get("content"))]
    words = "\n".join(text_of(part.get("text")) for part in parts if "text" in part)
    if images := sum("text" not in part for part in parts):
        gathered.leave_out("an image or a document", images)
    role = item.get("role")
    if role not in ("user", "assistant") or (role == "user" and words.lstrip().startswith(_INJECTED)):
        gathered.leave_out(_BESIDE)
    elif role == "user" and words.lstrip().startswith(_HAPPENED):
        yield note(words)
    elif words and role == "user":
        yield said("user", words)
    elif words:
        yield said("assistant", words)


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

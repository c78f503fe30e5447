"""A session of Claude Code: one JSON object a line, in the order of what happened.

The shape is nobody's promise and moves from version to version: what is not known is skipped and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from loom.archive.records import NewTurn, TurnKind, TurnStatus
from loom.interchange.foreign import Gathered, list_of, number_of, object_of, text_of
from loom.interchange.reading import ReadSession

_TITLES = {"custom-title": ("customTitle", "title"), "ai-title": ("aiTitle", "title"), "summary": ("summary",)}
"""Lines that name the session, the ones that count most first, and the fields that may hold the name."""
_SILENT = ("progress", "file-history-snapshot", "queue-operation", "permission-mode")
"""Lines that hold nothing that was said."""
_BESIDE = "what Claude Code wrote by itself"
_SYNTHETIC = "<synthetic>"
"""The model of an answer that no model gave."""


def is_claude_code(line: Mapping[str, Any]) -> bool:
    """Whether the first line of a file is one of Claude Code's."""
    return isinstance(line.get("type"), str) and ("sessionId" in line or line["type"] in (*_TITLES, *_SILENT))


def read_claude_code(text: str) -> ReadSession:
    """The session, what its sub-agents said left out. Raises ImportFailed when nothing in it was said."""
    reader = _Reader()
    for number, line in enumerate(reader.gathered.objects(text)):
        reader.take(line, number)
    return reader.read()


class _Reader:
    def __init__(self) -> None:
        self.gathered = Gathered("Claude Code")
        self._titles: dict[str, str] = {}
        self._seen: set[str] = set()
        self._paid: set[str] = set()

    def read(self) -> ReadSession:
        self.gathered.title = next((self._titles[kind] for kind in _TITLES if self._titles.get(kind)), "")
        return self.gathered.read()

    def take(self, line: Mapping[str, Any], number: int) -> None:
        uuid = text_of(line.get("uuid"))
        if uuid in self._seen:
            # After a second compaction lines come again: the first one counts.
            return
        if uuid:
            self._seen.add(uuid)
        gathered = self.gathered
        gathered.session_id = gathered.session_id or text_of(line.get("sessionId"))
        gathered.folder = gathered.folder or text_of(line.get("cwd"))
        for place, turn in enumerate(self._said(line)):
            gathered.add(turn, f"claude-code/{uuid or number}/{place}")

    def _said(self, line: Mapping[str, Any]) -> Iterator[NewTurn]:
        kind = text_of(line.get("type"))
        skipped = self.gathered.skipped
        if kind in _TITLES:
            named = next((line[name] for name in _TITLES[kind] if isinstance(line.get(name), str)), "")
            self._titles[kind] = named or self._titles.get(kind, "")
        elif line.get("isSidechain"):
            skipped["what a sub-agent said"] += 1
        elif kind == "assistant":
            yield from self._answered(object_of(line.get("message")))
        elif kind == "user" and line.get("isCompactSummary"):
            words = "\n".join(_words(object_of(line.get("message")).get("content")))
            yield NewTurn(role="system", kind=TurnKind.NOTE, content=f"Claude Code summed up:\n{words}")
        elif kind == "user" and line.get("isMeta"):
            skipped[_BESIDE] += 1
        elif kind == "user":
            yield from self._asked(object_of(line.get("message")).get("content"))
        elif kind == "attachment":
            yield from self._queued(object_of(line.get("attachment")))
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            yield NewTurn(role="system", kind=TurnKind.NOTE, content="Claude Code compacted its window here.")
        elif kind not in _SILENT:
            skipped[_BESIDE if kind == "system" else f"a line of the type {kind}"] += 1

    def _asked(self, content: object) -> Iterator[NewTurn]:
        for block in map(object_of, list_of(content)):
            if block.get("type") == "tool_result":
                call = text_of(block.get("tool_use_id"))
                yield NewTurn(
                    role="tool",
                    kind=TurnKind.TOOL_RESULT,
                    status=TurnStatus.FAILED if block.get("is_error") else TurnStatus.COMPLETE,
                    content="\n".join(self._seen_words(block.get("content"))),
                    tool_call_id=call,
                    tool_name=self.gathered.tools.get(call, "unknown"),
                )
        if words := "\n".join(self._seen_words(content)):
            yield NewTurn(role="user", content=words)

    def _queued(self, attachment: Mapping[str, Any]) -> Iterator[NewTurn]:
        """What was typed while an exchange ran."""
        typed = text_of(attachment.get("prompt")) or text_of(attachment.get("command"))
        if attachment.get("type") == "queued_command" and typed:
            yield NewTurn(role="user", content=typed)
        else:
            self.gathered.skipped["an attachment"] += 1

    def _answered(self, message: Mapping[str, Any]) -> Iterator[NewTurn]:
        model = text_of(message.get("model"))
        if model and model != _SYNTHETIC:
            self.gathered.model = f"anthropic:{model}"
        usage = None if model == _SYNTHETIC else self._usage(message)
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            made = self._block(object_of(block))
            if made is not None:
                yield replace(made, usage=usage)
                usage = None

    def _block(self, block: Mapping[str, Any]) -> NewTurn | None:
        match block.get("type"):
            case "text" if words := text_of(block.get("text")):
                return NewTurn(role="assistant", content=words)
            case "thinking" if words := text_of(block.get("thinking")):
                return NewTurn(role="assistant", kind=TurnKind.THINKING, content=words)
            case "tool_use" if call := text_of(block.get("id")):
                name = self.gathered.tools[call] = text_of(block.get("name")) or "unknown"
                asked = {"id": call, "name": name, "arguments": dict(object_of(block.get("input")))}
                return NewTurn(role="assistant", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[asked])
        self.gathered.skipped["a part without words"] += 1
        return None

    def _usage(self, message: Mapping[str, Any]) -> dict[str, int] | None:
        """What the response took; each of its lines repeats that, and it counts once."""
        usage, response = object_of(message.get("usage")), text_of(message.get("id"))
        if not usage or response in self._paid:
            return None
        self._paid.add(response)
        cached = number_of(usage.get("cache_read_input_tokens"))
        fresh = number_of(usage.get("input_tokens")) + number_of(usage.get("cache_creation_input_tokens"))
        return {
            "input_tokens": fresh + cached,
            "output_tokens": number_of(usage.get("output_tokens")),
            "cache_read_tokens": cached,
        }

    def _seen_words(self, content: object) -> Iterator[str]:
        other = sum(object_of(part).get("type") not in ("text", "tool_result") for part in list_of(content))
        if other:
            self.gathered.skipped["an image or a document"] += other
        yield from _words(content)


def _words(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in map(object_of, list_of(content)):
        if part.get("type") == "text" and (words := text_of(part.get("text"))):
            yield words

"""A session of Claude Code: one JSON object a line, in the order of what happened.

The shape is nobody's promise and moves from version to version: what is not known is skipped and counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from loom.archive.clock import normalised
from loom.archive.records import NewSession, NewTurn, TurnKind, TurnStatus
from loom.interchange.reading import ImportFailed, ReadSession

_TITLES = {"custom-title": ("customTitle", "title"), "ai-title": ("aiTitle", "title"), "summary": ("summary",)}
"""Lines that name the session, the ones that count most first, and the fields that may hold the name."""
_BESIDE = "what Claude Code wrote by itself"
_SYNTHETIC = "<synthetic>"
"""The model of an answer that no model gave."""


def is_claude_code(line: Mapping[str, Any]) -> bool:
    """Whether the first line of a file is one of Claude Code's."""
    return isinstance(line.get("type"), str) and ("sessionId" in line or line["type"] in (*_TITLES, *_SILENT))


_SILENT = ("progress", "file-history-snapshot", "queue-operation", "permission-mode")
"""Lines that hold nothing that was said."""


def read_lines(text: str) -> ReadSession:
    """The session, what its sub-agents said left out. Raises ImportFailed when nothing in it was said."""
    reader = _Reader()
    for line in text.split("\n"):  # there are other ends of lines inside of texts
        if line.strip():
            reader.take(line)
    return reader.read()


@dataclass
class _Reader:
    turns: list[NewTurn] = field(default_factory=list)
    exchanges: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    titles: dict[str, str] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    """The tool of each call, by its id."""
    session_id: str = ""
    folder: str = ""
    model: str = ""
    when: str | None = None
    _lines: int = 0
    _seen: set[str] = field(default_factory=set)
    _paid: set[str] = field(default_factory=set)

    def take(self, text: str) -> None:
        self._lines += 1
        try:
            line: Any = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict):
            self.skipped["a line that is not whole"] += 1
            return
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            # After a second compaction lines come again: the first one counts.
            if uuid in self._seen:
                return
            self._seen.add(uuid)
        self.session_id = self.session_id or _text(line.get("sessionId"))
        self.folder = self.folder or _text(line.get("cwd"))
        with suppress(ValueError):  # some lines have no time: that of the line before holds
            self.when = normalised(_text(line.get("timestamp")))
        for number, turn in enumerate(self._said(line)):
            key = f"claude-code/{uuid or self._lines}/{number}"
            begins = turn.role == "user"
            self.exchanges.append((self.exchanges[-1] if self.exchanges else 0) + begins)
            self.turns.append(replace(turn, append_key=key, created_at=self.when))

    def _said(self, line: dict[str, Any]) -> Iterator[NewTurn]:
        kind = line.get("type")
        if kind in _TITLES:
            named = next((line[name] for name in _TITLES[kind] if isinstance(line.get(name), str)), "")
            self.titles[kind] = named or self.titles.get(kind, "")
        elif line.get("isSidechain"):
            self.skipped["what a sub-agent said"] += 1
        elif kind == "assistant":
            yield from self._answered(_object(line.get("message")))
        elif kind == "user" and line.get("isCompactSummary"):
            words = "\n".join(_words(_object(line.get("message")).get("content")))
            yield NewTurn(role="system", kind=TurnKind.NOTE, content=f"Claude Code summed up:\n{words}")
        elif kind == "user" and line.get("isMeta"):
            self.skipped[_BESIDE] += 1
        elif kind == "user":
            yield from self._asked(_object(line.get("message")).get("content"))
        elif kind == "attachment":
            yield from self._queued(_object(line.get("attachment")))
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            yield NewTurn(role="system", kind=TurnKind.NOTE, content="Claude Code compacted its window here.")
        elif kind not in _SILENT:
            self.skipped[_BESIDE if kind == "system" else f"a line of the type {kind}"] += 1

    def _asked(self, content: object) -> Iterator[NewTurn]:
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                call = _text(block.get("tool_use_id"))
                yield NewTurn(
                    role="tool",
                    kind=TurnKind.TOOL_RESULT,
                    status=TurnStatus.FAILED if block.get("is_error") else TurnStatus.COMPLETE,
                    content="\n".join(self._seen_words(block.get("content"))),
                    tool_call_id=call,
                    tool_name=self.tools.get(call, "unknown"),
                )
        if words := "\n".join(self._seen_words(content)):
            yield NewTurn(role="user", content=words)

    def _queued(self, attachment: Mapping[str, Any]) -> Iterator[NewTurn]:
        """What was typed while an exchange ran."""
        typed = _text(attachment.get("prompt")) or _text(attachment.get("command"))
        if attachment.get("type") == "queued_command" and typed:
            yield NewTurn(role="user", content=typed)
        else:
            self.skipped["an attachment"] += 1

    def _answered(self, message: Mapping[str, Any]) -> Iterator[NewTurn]:
        model = _text(message.get("model"))
        self.model = model if model and model != _SYNTHETIC else self.model
        usage = None if model == _SYNTHETIC else self._usage(message)
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            made = self._block(_object(block))
            if made is not None:
                yield replace(made, usage=usage)
                usage = None

    def _block(self, block: Mapping[str, Any]) -> NewTurn | None:
        match block.get("type"):
            case "text" if words := _text(block.get("text")):
                return NewTurn(role="assistant", content=words)
            case "thinking" if words := _text(block.get("thinking")):
                return NewTurn(role="assistant", kind=TurnKind.THINKING, content=words)
            case "tool_use" if call := _text(block.get("id")):
                name = self.tools[call] = _text(block.get("name")) or "unknown"
                arguments = block.get("input")
                asked = {"id": call, "name": name, "arguments": arguments if isinstance(arguments, dict) else {}}
                return NewTurn(role="assistant", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[asked])
        self.skipped["a part without words"] += 1
        return None

    def _usage(self, message: Mapping[str, Any]) -> dict[str, int] | None:
        """What the response took; each of its lines repeats that, and it counts once."""
        usage, response = _object(message.get("usage")), _text(message.get("id"))
        if not usage or response in self._paid:
            return None
        self._paid.add(response)
        cached = _number(usage.get("cache_read_input_tokens"))
        fresh = _number(usage.get("input_tokens")) + _number(usage.get("cache_creation_input_tokens"))
        return {
            "input_tokens": fresh + cached,
            "output_tokens": _number(usage.get("output_tokens")),
            "cache_read_tokens": cached,
        }

    def _seen_words(self, content: object) -> Iterator[str]:
        parts = content if isinstance(content, list) else ()
        other = sum(_object(part).get("type") not in ("text", "tool_result") for part in parts)
        if other:
            self.skipped["an image or a document"] += other
        yield from _words(content)

    def read(self) -> ReadSession:
        if not self.turns:
            raise ImportFailed("Nothing was said in that session of Claude Code.")
        try:
            identity = UUID(self.session_id)
        except ValueError as error:
            raise ImportFailed("That session of Claude Code has no id.") from error
        return ReadSession(
            NewSession(
                id=str(identity),
                # Taken if it is free; a letter in front, as all digits mean a place in the list.
                reference=f"c{identity.hex[:3]}",
                title=next((self.titles[kind] for kind in _TITLES if self.titles.get(kind)), ""),
                workspace_path=self.folder,
                workspace_commit=None,
                model_name=f"anthropic:{self.model}" if self.model else "unknown",
                system_prompt="",
                started_at=self.turns[0].created_at or normalised("1970-01-01"),
                parent_id=None,
                fork_turn=None,
            ),
            tuple(self.turns),
            tuple(self.exchanges),
            skipped=dict(self.skipped),
        )


def _words(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if _object(part).get("type") == "text" and (words := _text(_object(part).get("text"))):
            yield words


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}

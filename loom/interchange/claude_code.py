"""A session of Claude Code: one JSON object a line, in the order of what happened.

The shape is nobody's promise and moves from version to version: what is not known is skipped and counted. What its
sub-agents said is in files of their own (`<session>/subagents/agent-*.jsonl`), outputs that were too large for a line
in `<session>/tool-results/`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from loom.archive.records import NewTurn
from loom.interchange.foreign import (
    Gathered,
    called,
    given_back,
    list_of,
    loaded,
    note,
    number_of,
    object_of,
    read_with,
    said,
    text_of,
    thought,
)
from loom.interchange.reading import ReadSession
from loom.interchange.source import MAX_LINE, Source, files_named

_TITLES = {"custom-title": ("customTitle", "title"), "ai-title": ("aiTitle", "title"), "summary": ("summary",)}
"""Lines that name the session, the ones that count most first, and the fields that may hold the name."""
_SILENT = ("progress", "file-history-snapshot", "queue-operation", "permission-mode")
"""Lines that hold nothing that was said."""
_BESIDE = "what Claude Code wrote by itself"
_SYNTHETIC = "<synthetic>"
"""The model of an answer that no model gave."""
_NOT_SAID = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "[Request interrupted by user")
"""How lines begin, in the person's name, with what a command printed that the person ran, or that something was
interrupted."""
_PERSISTED = re.compile(r"<persisted-output>.*?saved to: *(?P<file>[^\n]+)", re.DOTALL)
_AGENT = "agent-"
_END = 64 * 1024
"""Bytes at the end of a file, where Claude Code writes its title again and again."""


def is_claude_code(line: Mapping[str, Any]) -> bool:
    """Whether a line of a file is one of Claude Code's."""
    return isinstance(line.get("type"), str) and ("sessionId" in line or line["type"] in (*_TITLES, *_SILENT))


def read_claude_code(source: Source) -> ReadSession:
    """The session, what its sub-agents said left out; or, of a file `agent-*.jsonl`, what that one said. Raises
    ImportFailed when nothing in it was said."""
    path = source.path
    is_agent = path is not None and path.name.startswith(_AGENT)
    folder = None
    if path is not None:
        folder = path.parent.parent if is_agent and path.parent.name == "subagents" else path.with_suffix("")

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        reader = _Reader(gathered, folder, is_agent=is_agent)
        for number, line in gathered.numbered(source):
            yield from reader.take(line, number)
        reader.end()

    beside = () if is_agent or folder is None else tuple(files_named(folder / "subagents", f"{_AGENT}*.jsonl"))
    return read_with("Claude Code", walk, beside=beside)


def newest_title(source: Source) -> str:
    """The title by the end of the file, without reading the rest; empty where none stands there."""
    titles: dict[str, str] = {}
    for line in source.tail(_END):
        made = object_of(loaded(line))
        kind = text_of(made.get("type"))
        if kind in ("custom-title", "ai-title"):
            titles[kind] = next((made[name] for name in _TITLES[kind] if isinstance(made.get(name), str)), "")
    return titles.get("custom-title") or titles.get("ai-title", "")


class _Reader:
    def __init__(self, gathered: Gathered, folder: Path | None, *, is_agent: bool) -> None:
        self.gathered = gathered
        self._folder = folder
        """What belongs to the session beside its file."""
        self._is_agent = is_agent
        self._titles: dict[str, str] = {}
        self._summaries: dict[int, str] = {}
        """By the hash of the turn that each sums up to: it may be one of another session, in whose place this file was
        written to."""
        self._seen: set[int] = set()
        """Hashes: they are all that grows with the file."""
        self._paid: list[str] = []

    def end(self) -> None:
        gathered = self.gathered
        own = [words for turn, words in self._summaries.items() if turn in self._seen]
        self._titles["summary"] = own[-1] if own else self._titles.get("summary", "")
        gathered.title = next((self._titles[kind] for kind in _TITLES if self._titles.get(kind)), "")
        if self._is_agent:
            gathered.title = f"Sub-agent: {gathered.title or gathered.first_words}"

    def take(self, line: Mapping[str, Any], number: int) -> Iterator[tuple[str, NewTurn]]:
        uuid = text_of(line.get("uuid"))
        if uuid and hash(uuid) in self._seen:
            # After a second compaction lines come again: the first one counts.
            return
        if uuid:
            self._seen.add(hash(uuid))
        gathered = self.gathered
        agent = f"{text_of(line.get('sessionId'))}/{text_of(line.get('agentId'))}"
        gathered.session_id = gathered.session_id or (agent if self._is_agent else text_of(line.get("sessionId")))
        gathered.folder = gathered.folder or text_of(line.get("cwd"))
        for place, turn in enumerate(self._said(line)):
            yield f"{uuid or number}/{place}", turn

    def _said(self, line: Mapping[str, Any]) -> Iterator[NewTurn]:
        kind = text_of(line.get("type"))
        if kind in _TITLES:
            named = next((line[name] for name in _TITLES[kind] if isinstance(line.get(name), str)), "")
            if kind == "summary" and named and (leaf := text_of(line.get("leafUuid"))):
                self._summaries[hash(leaf)] = named
            else:
                self._titles[kind] = named or self._titles.get(kind, "")
        elif line.get("isSidechain") and not self._is_agent:
            self.gathered.leave_out("what a sub-agent said")
        elif kind == "assistant":
            yield from self._answered(object_of(line.get("message")))
        elif kind == "user" and line.get("isCompactSummary"):
            words = "\n".join(_words(object_of(line.get("message")).get("content")))
            yield note(f"Claude Code summed up:\n{words}")
        elif kind == "user" and line.get("isMeta"):
            self.gathered.leave_out(_BESIDE)
        elif kind == "user":
            yield from self._asked(object_of(line.get("message")).get("content"))
        elif kind == "attachment":
            yield from self._queued(object_of(line.get("attachment")))
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            yield note("Claude Code compacted its window here.")
        elif kind not in _SILENT:
            self.gathered.leave_out(_BESIDE if kind == "system" else f"a line of the type {kind[:40]}")

    def _asked(self, content: object) -> Iterator[NewTurn]:
        for block in map(object_of, list_of(content)):
            if block.get("type") == "tool_result":
                call = text_of(block.get("tool_use_id"))
                words = self._whole("\n".join(self._seen_words(block.get("content"))))
                yield given_back(call, self.gathered.answered(call), words, failed=bool(block.get("is_error")))
        if words := "\n".join(self._seen_words(content)):
            yield note(words) if words.startswith(_NOT_SAID) else said("user", words)

    def _whole(self, words: str) -> str:
        """The output that was too large for its line, if it is where it belongs: a file may name any other one."""
        named = _PERSISTED.search(words[:4_000])
        if named is None or self._folder is None:
            return words
        name = os.path.basename(named["file"].strip())  # noqa: PTH119 - it may be of another system
        with suppress(OSError, ValueError), ExitStack() as stack:
            # Neither it nor the folders that came with the session may lead elsewhere.
            within: int | None = None
            for part in (self._folder, "tool-results"):
                within = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=within)
                stack.callback(os.close, within)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, dir_fd=within), "rb") as file:
                status = os.fstat(file.fileno())
                if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_LINE:
                    return file.read(MAX_LINE).decode("utf-8", "replace")
        self.gathered.leave_out("the whole of an output, whose file is not there")
        return words

    def _queued(self, attachment: Mapping[str, Any]) -> Iterator[NewTurn]:
        """What was typed while an exchange ran."""
        typed = text_of(attachment.get("prompt")) or text_of(attachment.get("command"))
        if attachment.get("type") == "queued_command" and typed:
            yield said("user", typed)
        else:
            self.gathered.leave_out("an attachment")

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
                return said("assistant", words)
            case "thinking" if words := text_of(block.get("thinking")):
                return thought(words)
            case "tool_use" if call := text_of(block.get("id")):
                return called(call, self.gathered.named(call, block.get("name")), dict(object_of(block.get("input"))))
        self.gathered.leave_out("a part without words")
        return None

    def _usage(self, message: Mapping[str, Any]) -> dict[str, int] | None:
        """What the response took; each of its lines repeats that, and it counts once."""
        usage, response = object_of(message.get("usage")), text_of(message.get("id"))
        if not usage or response in self._paid:
            return None
        # The lines of a response stand near each other.
        self._paid = [*self._paid[-50:], response]
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
            self.gathered.leave_out("an image or a document", other)
        yield from _words(content)


def _words(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in map(object_of, list_of(content)):
        if part.get("type") == "text" and (words := text_of(part.get("text"))):
            yield words

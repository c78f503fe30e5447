"""A session of Gemini CLI: metadata, messages and changes of them, one JSON object a line; before that, one document.

A message is written again when it has grown: its last line counts, at that line's place. What its window was replaced
with (`$set.messages`) is not what was said, and is left alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from loom.archive.records import NewTurn
from loom.interchange.foreign import (
    Gathered,
    arguments_of,
    called,
    dumped,
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
    words_of,
)
from loom.interchange.reading import ReadSession
from loom.interchange.source import Source, files_named, is_file, opened

_CHATS = "chats"
_TYPES = ("user", "gemini", "info", "error", "warning")


def is_gemini(line: Mapping[str, Any]) -> bool:
    """Whether a line of a file is one of Gemini CLI's: its metadata, or a message."""
    is_head = "sessionId" in line and "startTime" in line
    return is_head or (line.get("type") in _TYPES and isinstance(line.get("id"), str) and "content" in line)


def read_gemini(source: Source) -> ReadSession:
    """The session, without what was rewound. Raises ImportFailed when nothing in it was said."""
    live = _live(source)
    path = source.path
    is_agent = path is not None and path.parent.parent.name == _CHATS
    folder = project_of(path) if path is not None else ""

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        gathered.folder = folder
        for number, line in gathered.numbered(source):
            _head(gathered, line)
            key = text_of(line.get("id"))
            if key and line.get("type") in _TYPES:
                if live.get(key) == number:
                    yield from _keyed(gathered, key, line)
                elif key not in live:
                    gathered.leave_out("a message that was rewound")
            elif "messages" in object_of(line.get("$set")):
                gathered.leave_out("a window that Gemini CLI made shorter")
        if is_agent and path is not None:
            gathered.session_id = f"{gathered.session_id}/{path.parent.name}/{path.stem}"
            gathered.title = f"Sub-agent: {gathered.title or gathered.first_words}"

    beside = () if path is None or is_agent else _beside(path, source)
    return read_with("Gemini CLI", walk, beside=beside)


def _beside(path: Path, source: Source) -> tuple[Path, ...]:
    """The files of its sub-agents: in a folder beside it that is called as the session is."""
    heads = (text_of(line.get("sessionId")) for line in islice(Gathered("").objects(source), 20))
    name = next((head for head in heads if head), "")
    is_plain = name not in ("", ".", "..") and "/" not in name
    return tuple(files_named(path.parent / name, "*.jsonl")) if is_plain else ()


def is_gemini_document(document: object) -> bool:
    """Whether a JSON document is a session of an older Gemini CLI."""
    made = object_of(document)
    return "sessionId" in made and isinstance(made.get("messages"), list)


def read_gemini_document(document: Mapping[str, Any], path: Path | None) -> ReadSession:
    """The session. Raises ImportFailed when nothing in it was said."""

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        gathered.folder = project_of(path) if path is not None else ""
        _head(gathered, document)
        for number, message in enumerate(map(object_of, list_of(document.get("messages")))):
            gathered.at(message.get("timestamp"))
            yield from _keyed(gathered, text_of(message.get("id")) or str(number), message)

    return read_with("Gemini CLI", walk)


def project_of(path: Path) -> str:
    """The folder of the session at `path` (`~/.gemini/tmp/<slug>/chats/…`): by the index of projects, where the slug is
    no digest of a path, or by the digests of the paths in it; empty where it says nothing."""
    for folder in path.parents[:5]:
        if folder.parent.name == "tmp":
            index = folder.parent.parent / "projects.json"
            projects: Mapping[str, Any] = {}
            if is_file(index):
                with opened(index) as source:
                    projects = object_of(object_of(loaded(source.whole())).get("projects"))
            for project, slug in projects.items():
                if folder.name in (slug, hashlib.sha256(project.encode("utf-8", "replace")).hexdigest()):
                    return project
    return ""


def _live(source: Source) -> dict[str, int]:
    """The line that counts of each message that was not rewound."""
    live: dict[str, int] = {}
    for number, line in Gathered("").numbered(source):
        key = text_of(line.get("id"))
        if key and line.get("type") in _TYPES:
            live[key] = number
        elif "$rewindTo" in line:
            ids = list(live)
            target = line["$rewindTo"]
            # It and all behind it; one that nobody knows clears all.
            for gone in ids[ids.index(target) :] if target in ids else ids:
                del live[gone]
    return live


def _head(gathered: Gathered, line: Mapping[str, Any]) -> None:
    changed = object_of(line.get("$set"))
    gathered.session_id = gathered.session_id or text_of(line.get("sessionId"))
    gathered.title = text_of(changed.get("summary")) or text_of(line.get("summary")) or gathered.title
    gathered.at(line.get("startTime"))


def _keyed(gathered: Gathered, key: str, message: Mapping[str, Any]) -> Iterator[tuple[str, NewTurn]]:
    usage = _usage(object_of(message.get("tokens")))
    places = Counter[str]()
    for turn in _said(gathered, message):
        is_paid = usage is not None and turn.role == "assistant"
        # Not the place among all: words may come in front of a call that was there without them.
        yield f"{key}/{turn.kind}/{places[turn.kind]}", replace(turn, usage=usage) if is_paid else turn
        places[turn.kind] += 1
        usage = None if is_paid else usage


def _said(gathered: Gathered, message: Mapping[str, Any]) -> Iterator[NewTurn]:
    kind, content = message.get("type"), message.get("content")
    words = words_of([content] if isinstance(content, dict) else content)
    other = sum("text" not in object_of(part) and not isinstance(part, str) for part in list_of(content))
    if other:
        gathered.leave_out("an image or a document", other)
    if kind == "user" and words:
        yield said("user", words)
    elif kind == "gemini":
        model = text_of(message.get("model"))
        gathered.model = f"google:{model}" if model else gathered.model
        thoughts = [object_of(each) for each in list_of(message.get("thoughts"))]
        lines = (f"{text_of(t.get('subject'))}: {text_of(t.get('description'))}".strip(": ") for t in thoughts)
        if reasoned := "\n".join(filter(None, lines)):
            yield thought(reasoned)
        if words:
            yield said("assistant", words)
        for asked in map(object_of, list_of(message.get("toolCalls"))):
            yield from _tool(asked)
    elif words:
        yield note(f"Gemini CLI: {words}")


def _tool(asked: Mapping[str, Any]) -> Iterator[NewTurn]:
    call, name, status = text_of(asked.get("id")), text_of(asked.get("name")) or "unknown", asked.get("status")
    yield called(call, name, arguments_of(asked.get("args")))
    if status in ("success", "error", "cancelled") or asked.get("result"):
        yield given_back(call, name, _output(asked), failed=status in ("error", "cancelled"))


def _output(asked: Mapping[str, Any]) -> str:
    result = asked.get("result")
    answers = [
        object_of(object_of(object_of(part).get("functionResponse")).get("response")) for part in list_of(result)
    ]
    said_so = (text_of(answer.get("output")) or text_of(answer.get("error")) for answer in answers)
    words = "\n".join(filter(None, said_so)) or words_of(result) or text_of(asked.get("resultDisplay"))
    return words or (dumped(result) if result else "")


def _usage(tokens: Mapping[str, Any]) -> dict[str, int] | None:
    taken, cached = number_of(tokens.get("input")), number_of(tokens.get("cached"))
    given = number_of(tokens.get("output")) + number_of(tokens.get("thoughts"))
    return {"input_tokens": taken, "output_tokens": given, "cache_read_tokens": cached} if taken or given else None

"""Sessions of Goose: one database, `sessions/sessions.db`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loom.archive.foreign_databases import ForeignDatabase
from loom.archive.records import NewTurn
from loom.interchange.databases import DatabaseAgent, Head
from loom.interchange.foreign import (
    Gathered,
    arguments_of,
    called,
    given_back,
    list_of,
    loaded,
    moment_of,
    note,
    object_of,
    said,
    text_of,
    thought,
    words_of,
)


def _is_theirs(database: ForeignDatabase) -> bool:
    return "content_json" in database.columns("messages")


def _heads(database: ForeignDatabase, path: Path) -> Iterator[Head]:
    columns = ("id", "name", "description", "working_dir", "updated_at", "created_at")
    for row in database.rows("sessions", columns, order="created_at"):
        identity = text_of(row["id"])
        yield Head(
            identity,
            text_of(row["description"]) or text_of(row["name"]),
            text_of(row["working_dir"]),
            moment_of(row["updated_at"]) or moment_of(row["created_at"]),
            # Its ids count the sessions of a day.
            identity=f"{identity}/{row['created_at']}",
        )


def _turns(database: ForeignDatabase, head: Head, gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
    model = _model(database, head)
    columns = ("id", "role", "content_json", "created_timestamp", "metadata_json")
    for row in database.rows("messages", columns, where="session_id", value=head.id, order="created_timestamp"):
        gathered.model = model
        gathered.at(row["created_timestamp"])
        if object_of(loaded(text_of(row["metadata_json"]))).get("userVisible") is False:
            gathered.leave_out("what Goose wrote by itself")
            continue
        for place, part in enumerate(map(object_of, list_of(loaded(text_of(row["content_json"]))))):
            for turn in _said(gathered, text_of(row["role"]), part):
                yield f"{row['id']}/{place}", turn


def _model(database: ForeignDatabase, head: Head) -> str:
    for row in database.rows("sessions", ("provider_name", "model_config_json"), where="id", value=head.id):
        model = text_of(object_of(loaded(text_of(row["model_config_json"]))).get("model_name"))
        return f"{text_of(row['provider_name']) or 'unknown'}:{model}" if model else ""
    return ""


def _said(gathered: Gathered, role: str, part: Mapping[str, Any]) -> Iterator[NewTurn]:
    kind, call = text_of(part.get("type")), text_of(part.get("id"))
    match kind:
        case "text":
            if words := text_of(part.get("text")):
                yield said(role, words)
        case "thinking" | "reasoning":
            if words := text_of(part.get("thinking")) or text_of(part.get("text")):
                yield thought(words)
        case "toolRequest" | "frontendToolRequest":
            asked = object_of(object_of(part.get("toolCall")).get("value"))
            yield called(call, gathered.named(call, asked.get("name")), arguments_of(asked.get("arguments")))
        case "toolResponse":
            result = object_of(part.get("toolResult"))
            value = result.get("value")
            content = object_of(value).get("content") if isinstance(value, dict) else value
            failed = result.get("status") == "error" or bool(object_of(value).get("isError"))
            yield given_back(
                call, gathered.answered(call), words_of(content) or text_of(result.get("error")), failed=failed
            )
        case "systemNotification" | "conversationCompacted" | "summarizationRequested":
            yield note(f"Goose: {text_of(part.get('msg')) or kind}")
        case _:
            gathered.leave_out("an image or a document" if kind == "image" else f"a part of the type {kind[:40]}")


GOOSE = DatabaseAgent("Goose", _is_theirs, _heads, _turns)

"""Sessions of Crush: one database for each project, `.crush/crush.db` in its folder. Its times are seconds."""

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
    number_of,
    object_of,
    said,
    text_of,
    thought,
)

_TITLING = "title-"
"""How the ids of sessions begin in which a model was asked for a title."""


def _is_theirs(database: ForeignDatabase) -> bool:
    return "parts" in database.columns("messages")


def _heads(database: ForeignDatabase, path: Path) -> Iterator[Head]:
    folder = str(path.parent.parent) if path.parent.name == ".crush" else ""
    columns = ("id", "title", "parent_session_id", "updated_at", "created_at", "message_count")
    for row in database.rows("sessions", columns, order="created_at"):
        if not text_of(row["id"]).startswith(_TITLING):
            yield Head(
                text_of(row["id"]),
                text_of(row["title"]),
                folder,
                moment_of(row["updated_at"]) or moment_of(row["created_at"]),
                text_of(row["parent_session_id"]),
                number_of(row["message_count"]),
            )


def _turns(database: ForeignDatabase, head: Head, gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
    columns = ("id", "role", "parts", "model", "provider", "created_at", "is_summary_message")
    for row in database.rows("messages", columns, where="session_id", value=head.id, order="created_at"):
        gathered.at(row["created_at"])
        model, provider = text_of(row["model"]), text_of(row["provider"])
        gathered.model = f"{provider or 'unknown'}:{model}" if model else gathered.model
        parts = list_of(loaded(text_of(row["parts"])))
        if row["is_summary_message"]:
            words = "\n".join(text_of(object_of(object_of(part).get("data")).get("text")) for part in parts)
            yield f"{row['id']}/0", note(f"Crush summed up:\n{words}")
            continue
        place = 0
        for part in map(object_of, parts):
            for turn in _said(gathered, text_of(row["role"]), text_of(part.get("type")), object_of(part.get("data"))):
                yield f"{row['id']}/{place}", turn
                place += 1


def _said(gathered: Gathered, role: str, kind: str, data: Mapping[str, Any]) -> Iterator[NewTurn]:
    words = text_of(data.get("text"))
    match kind:
        case "text" if words:
            yield said(role, words)
        case "reasoning" if words := text_of(data.get("thinking")):
            yield thought(words)
        case "tool_call":
            call = text_of(data.get("id"))
            yield called(call, gathered.named(call, data.get("name")), arguments_of(data.get("input")))
        case "tool_result":
            call = text_of(data.get("tool_call_id"))
            known = gathered.answered(call)
            tool = known if known != "unknown" else text_of(data.get("name")) or known
            yield given_back(call, tool, text_of(data.get("content")), failed=bool(data.get("is_error")))
        case "shell_command" | "shell":
            ran = text_of(data.get("command"))
            yield note(f"The person ran in Crush: {ran}\n{text_of(data.get('output'))}".rstrip())
        case "text" | "reasoning" | "finish":
            pass
        case _:
            gathered.leave_out(
                "an image or a document" if kind in ("binary", "image_url") else f"a part of {kind[:40]}"
            )


CRUSH = DatabaseAgent("Crush", _is_theirs, _heads, _turns)

"""A session of gptsh: one JSON object, its messages in the form of OpenAI's. It has no folder and one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from loom.archive.records import NewTurn
from loom.interchange.foreign import Gathered, list_of, object_of, read_with, text_of
from loom.interchange.openai_messages import message_turns
from loom.interchange.reading import ReadSession


def is_gptsh(document: object) -> bool:
    """Whether a JSON document is one of gptsh's."""
    made = object_of(document)
    return isinstance(made.get("messages"), list) and isinstance(made.get("agent"), dict) and "provider" in made


def read_gptsh(document: Mapping[str, Any]) -> ReadSession:
    """The session. Raises ImportFailed when nothing in it was said."""

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        named = f"gptsh/{document.get('created_at')}/{document.get('id')}".encode("utf-8", "replace").decode()
        gathered.session_id = str(uuid5(NAMESPACE_OID, named))
        gathered.title = text_of(document.get("title"))
        model = text_of(object_of(document.get("agent")).get("model"))
        provider = text_of(object_of(document.get("provider")).get("name"))
        gathered.model = f"{provider}:{model}" if provider and model else model
        gathered.at(document.get("created_at"))
        for number, message in enumerate(map(object_of, list_of(document.get("messages")))):
            for place, turn in enumerate(message_turns(gathered, message)):
                yield f"{number}/{place}", turn

    return read_with("gptsh", walk)

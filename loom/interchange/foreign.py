"""What readers of other agents' files share: nothing in such a file is promised, so that everything is looked at before
it is taken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from loom.archive.clock import normalised
from loom.archive.records import NewSession, NewTurn
from loom.interchange.reading import ImportFailed, ReadSession


@dataclass
class Gathered:
    """A session as it is gathered line by line."""

    agent: str
    """Whose it is, in words."""
    turns: list[NewTurn] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    """What is not taken over, in words, and how often."""
    tools: dict[str, str] = field(default_factory=dict)
    """The tool of each call, by its id."""
    session_id: str = ""
    title: str = ""
    folder: str = ""
    model: str = ""
    """Of the newest answer."""
    when: str | None = None
    """The newest time that a line had: lines without one are taken for as old."""

    def objects(self, text: str) -> Iterator[Mapping[str, Any]]:
        """The objects in the lines of the file; the last line may be torn."""
        for line in text.split("\n"):  # there are other ends of lines inside of texts
            if not line.strip():
                continue
            try:
                made: Any = json.loads(line)
            except (ValueError, RecursionError):
                made = None
            if isinstance(made, dict):
                with suppress(ValueError):
                    self.when = normalised(text_of(made.get("timestamp")))
                yield made
            else:
                self.skipped["a line that is not whole"] += 1

    def add(self, turn: NewTurn, key: str) -> None:
        """The next turn; `key` is the same whenever the file is read."""
        self.turns.append(replace(turn, append_key=key, created_at=self.when))

    def read(self) -> ReadSession:
        """The session. Raises ImportFailed when nothing in it was said, or it has no id."""
        if not self.turns:
            raise ImportFailed(f"Nothing was said in that session of {self.agent}.")
        try:
            identity = UUID(self.session_id)
        except ValueError as error:
            raise ImportFailed(f"That session of {self.agent} has no id.") from error
        exchanges: list[int] = []
        for turn in self.turns:
            exchanges.append((exchanges[-1] if exchanges else 0) + (turn.role == "user"))
        return ReadSession(
            NewSession(
                id=str(identity),
                # Taken if it is free; a letter in front, as all digits mean a place in the list.
                reference=f"c{identity.hex[-3:]}",
                title=self.title,
                workspace_path=self.folder,
                workspace_commit=None,
                model_name=self.model or "unknown",
                system_prompt="",
                started_at=self.turns[0].created_at or normalised("1970-01-01"),
                parent_id=None,
                fork_turn=None,
            ),
            tuple(self.turns),
            tuple(exchanges),
            skipped=dict(self.skipped),
        )


def text_of(value: object) -> str:
    """The text, or none."""
    return value if isinstance(value, str) else ""


def number_of(value: object) -> int:
    """The whole number, or 0."""
    return value if type(value) is int and value >= 0 else 0


def object_of(value: object) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def arguments_of(raw: str) -> dict[str, Any] | str:
    """The arguments of a call, from the JSON that they are sent as; where it is none of an object, the text."""
    try:
        made: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return made if isinstance(made, dict) else raw

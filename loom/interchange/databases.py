"""Agents that keep all sessions in one database: what the readers of each have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from loom.archive.foreign_databases import ForeignDatabase, ForeignUnreadable, opened_foreign
from loom.archive.records import NewTurn
from loom.interchange.foreign import Gathered, read_with
from loom.interchange.reading import ReadSession
from loom.interchange.source import ImportFailed
from loom.text import show_line


@dataclass(frozen=True, slots=True)
class Head:
    """A session of a database, as its list has it."""

    id: str
    title: str
    folder: str
    when: str | None
    """When it last went on."""
    parent: str = ""
    """The session that it is a sub-agent's of."""
    messages: int | None = None
    identity: str = ""
    """What is its own among all sessions of everywhere, where the id is not."""


@dataclass(frozen=True, slots=True)
class DatabaseAgent:
    """How one agent's database is read."""

    name: str
    is_theirs: Callable[[ForeignDatabase], bool]
    heads: Callable[[ForeignDatabase, Path], Iterator[Head]]
    """Its sessions."""
    turns: Callable[[ForeignDatabase, Head, Gathered], Iterator[tuple[str, NewTurn]]]
    """What was said in one of them: see `loom.interchange.foreign.Walk`."""


def heads_of(agents: tuple[DatabaseAgent, ...], path: Path) -> list[tuple[DatabaseAgent, Head]]:
    """Every session of the database at `path`, and whose it is. Raises ImportFailed."""
    try:
        with opened_foreign(path) as database:
            agent = _agent(agents, database)
            return [(agent, head) for head in agent.heads(database, path)]
    except ForeignUnreadable as error:
        raise ImportFailed(error.what, error.remedy) from error


def sessions_of(
    agents: tuple[DatabaseAgent, ...], path: Path, only: str, *, sub_agents: bool
) -> Iterator[ReadSession | ImportFailed]:
    """The sessions of the database at `path`, or the one that has the id `only`; those of sub-agents if asked for."""
    found = False
    try:
        with opened_foreign(path) as database:
            agent = _agent(agents, database)
            for head in list(agent.heads(database, path)):
                if (only and head.id != only) or (not only and head.parent and not sub_agents):
                    continue
                found = True
                yield _read(agent, database, head)
    except ForeignUnreadable as error:
        yield ImportFailed(error.what, error.remedy)
    except ImportFailed as error:
        yield error
    else:
        if not found:
            which = f"session {only}" if only else "session"
            yield ImportFailed(f"There is no {show_line(which, 100)} in {show_line(str(path), 300)}.")


def _agent(agents: tuple[DatabaseAgent, ...], database: ForeignDatabase) -> DatabaseAgent:
    for agent in agents:
        if agent.is_theirs(database):
            return agent
    raise ImportFailed("That is a database, but none of an agent that loom knows.", "docs/import.md has the list.")


def _read(agent: DatabaseAgent, database: ForeignDatabase, head: Head) -> ReadSession | ImportFailed:
    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        gathered.session_id, gathered.title = head.identity or head.id, head.title
        gathered.folder = head.folder
        yield from agent.turns(database, head, gathered)

    try:
        return read_with(agent.name, walk)
    except ImportFailed as error:
        return error

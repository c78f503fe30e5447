"""The histories of other agents in their usual places on this machine: what a person may import, without knowing where
anything is. Of a file only the beginning is read, and of a database its list."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from loom.archive.foreign_databases import ForeignUnreadable
from loom.interchange.aider import chats_in
from loom.interchange.claude_code import newest_title
from loom.interchange.databases import heads_of
from loom.interchange.foreign import NothingSaid, list_of, loaded, moment_of, object_of, text_of
from loom.interchange.session_file import DATABASES, read_session, reader_of_folder
from loom.interchange.source import ImportFailed, Source, files_named, is_file, opened
from loom.interchange.vibe import meta_of

_HEADS = (16 * 1024, 512 * 1024, 8 * 1024 * 1024)
"""So many bytes of a file are read; more the next time, where the first ones do not say enough."""


@dataclass(frozen=True, slots=True)
class Found:
    """A session of another agent."""

    agent: str
    path: str
    """What `loom import` takes."""
    folder: str
    """Where it worked; empty where nothing says so."""
    title: str
    when: str
    """When it last went on: ISO 8601, UTC."""
    size: int | None = None
    """Bytes, of one that is a file."""
    messages: int | None = None
    """Of one in a database that counts them."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look."""

    home: Path
    environ: Mapping[str, str]
    workspace: Path
    """Some agents keep a folder's sessions in it."""

    def of(self, variable: str, otherwise: str) -> Path:
        """The folder that a variable names, or the one in the home folder."""
        named = self.environ.get(variable, "")
        return Path(named) if named and Path(named).is_absolute() else self.home / otherwise


Unread = Callable[[str], None]
"""Takes what could not be read, in words."""
_Finder = Callable[[Places, Unread], Iterator[Found]]


def find(places: Places, agents: tuple[str, ...], unread: Unread) -> list[Found]:
    """The sessions of these agents, newest first."""
    found = [each for agent in agents for each in FINDERS[agent](places, unread)]
    return sorted(found, key=lambda each: each.when, reverse=True)


def is_of(found: Found, workspace: Path) -> bool:
    """Whether a session worked in the workspace, or in a folder of it."""
    if not found.folder or not Path(found.folder).is_absolute():
        return False
    try:
        return Path(os.path.realpath(found.folder)).is_relative_to(workspace)
    except ValueError:
        return False  # it is no path: NUL, lone surrogates


def _of_file(agent: str, path: Path, unread: Unread) -> Iterator[Found]:
    try:
        with opened(path) as source:
            read = _head(source)
            title = (newest_title(source) if agent == "claude-code" else "") or (read[1] if read else "")
            when = moment_of(os.fstat(source.file.fileno()).st_mtime) or ""
            yield Found(agent, str(path), read[0] if read else "", title, when, size=source.size)
    except NothingSaid:
        return
    except ImportFailed as error:
        unread(f"{path}: {error}")


def _head(source: Source) -> tuple[str, str] | None:
    """Its folder and title, as far as its beginning says so. Raises NothingSaid of a short one without a turn."""
    found: tuple[str, str] | None = None
    for length in _HEADS:
        try:
            session = read_session(replace(source, size=min(length, source.size))).session
        except ImportFailed:
            if source.size <= length:
                raise
            continue
        found = session.workspace_path, session.title
        if all(found) or source.size <= length:
            break
    return found


def _of_folder(agent: str, folder: Path, lines: str, unread: Unread) -> Iterator[Found]:
    read = reader_of_folder(folder)
    try:
        status = (folder / lines).stat()
        if read is not None:
            with ExitStack() as stack:
                session = read(folder, stack).session
            when = moment_of(status.st_mtime) or ""
            yield Found(agent, str(folder), session.workspace_path, session.title, when, size=status.st_size)
    except NothingSaid:
        return
    except (ImportFailed, OSError) as error:
        unread(f"{folder}: {error}")


def _of_database(agent: str, path: Path, unread: Unread) -> Iterator[Found]:
    try:
        for whose, head in heads_of(DATABASES, path):
            if whose.name.lower() == agent and not head.parent:
                name = f"{path}#{head.id}"
                yield Found(agent, name, head.folder, head.title, head.when or "", messages=head.messages)
    except (ImportFailed, ForeignUnreadable) as error:
        unread(f"{path}: {error}")


def _claude_code(places: Places, unread: Unread) -> Iterator[Found]:
    for path in files_named(places.of("CLAUDE_CONFIG_DIR", ".claude") / "projects", "*/*.jsonl"):
        if not path.name.startswith("agent-"):
            yield from _of_file("claude-code", path, unread)


def _codex(places: Places, unread: Unread) -> Iterator[Found]:
    home = places.of("CODEX_HOME", ".codex")
    for path in files_named(home, "sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"):
        yield from _of_file("codex", path, unread)
    for path in files_named(home, "sessions/*/*/*/rollout-*.jsonl.zst", "archived_sessions/rollout-*.jsonl.zst"):
        if not path.with_suffix("").exists():
            unread(f"{path} is compressed. `zstd -dc FILE | loom import -` reads it.")


def _gemini(places: Places, unread: Unread) -> Iterator[Found]:
    for path in files_named(places.home / ".gemini" / "tmp", "*/chats/session-*.jsonl", "*/chats/session-*.json"):
        yield from _of_file("gemini", path, unread)


def _opencode(places: Places, unread: Unread) -> Iterator[Found]:
    data = places.of("XDG_DATA_HOME", ".local/share") / "opencode"
    known: set[str] = set()
    for path in files_named(data, "opencode*.db"):
        for found in _of_database("opencode", path, unread):
            known.add(found.path.rpartition("#")[2])
            yield found
    for path in files_named(data / "storage" / "session", "*/ses_*.json"):
        if path.stem not in known:
            yield from _of_file("opencode", path, unread)


def _crush(places: Places, unread: Unread) -> Iterator[Found]:
    registry = places.of("XDG_DATA_HOME", ".local/share") / "crush" / "projects.json"
    folders = {places.workspace / ".crush": None}
    if is_file(registry):
        try:
            with opened(registry) as source:
                projects = list_of(object_of(loaded(source.whole())).get("projects"))
        except ImportFailed as error:
            unread(f"{registry}: {error}")
            projects = []
        for project in map(object_of, projects):
            if path := text_of(project.get("path")):
                folders[Path(path) / (text_of(project.get("data_dir")) or ".crush")] = None
    for folder in folders:
        for file in files_named(folder, "crush.db"):
            yield from _of_database("crush", file, unread)


def _goose(places: Places, unread: Unread) -> Iterator[Found]:
    for path in files_named(places.of("XDG_DATA_HOME", ".local/share") / "goose" / "sessions", "sessions.db"):
        yield from _of_database("goose", path, unread)


def _kimi(places: Places, unread: Unread) -> Iterator[Found]:
    sessions = places.home / ".kimi" / "sessions"
    wires = files_named(sessions, "*/*/wire.jsonl")
    for path in wires:
        yield from _of_folder("kimi", path.parent, path.name, unread)
    for path in files_named(sessions, "*/*/context.jsonl"):
        if path.with_name("wire.jsonl") not in wires:
            yield from _of_folder("kimi", path.parent, path.name, unread)


def _vibe(places: Places, unread: Unread) -> Iterator[Found]:
    folders = [path.parent for path in files_named(places.of("VIBE_HOME", ".vibe") / "logs" / "session", "*/meta.json")]
    # One that another one goes on from comes with that.
    parents = {text_of(meta_of(folder).get("parent_session_id")) for folder in folders}
    for folder in folders:
        if text_of(meta_of(folder).get("session_id")) not in parents - {""}:
            yield from _of_folder("vibe", folder, "messages.jsonl", unread)


def _aider(places: Places, unread: Unread) -> Iterator[Found]:
    path = places.workspace / ".aider.chat.history.md"
    if is_file(path):
        try:
            with opened(path) as source:
                for place, chat in enumerate(chats_in(source), 1):
                    if chat.words:
                        when = moment_of(chat.when) or ""
                        yield Found("aider", f"{path}#{place}", str(places.workspace), chat.words, when)
        except ImportFailed as error:
            unread(f"{path}: {error}")


def _gptsh(places: Places, unread: Unread) -> Iterator[Found]:
    for path in files_named(places.of("XDG_STATE_HOME", ".local/state") / "gptsh" / "sessions", "*.json"):
        yield from _of_file("gptsh", path, unread)


def _pydantic_deep(places: Places, unread: Unread) -> Iterator[Found]:
    for path in files_named(places.workspace / ".pydantic-deep" / "sessions", "*/messages.json"):
        for found in _of_file("pydantic-deep", path, unread):
            yield replace(found, folder=str(places.workspace))


FINDERS: dict[str, _Finder] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "crush": _crush,
    "goose": _goose,
    "kimi": _kimi,
    "vibe": _vibe,
    "aider": _aider,
    "gptsh": _gptsh,
    "pydantic-deep": _pydantic_deep,
}
"""By the agent's name, as it is typed."""

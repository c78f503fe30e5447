"""A session of Mistral Vibe, which is a folder with `meta.json` and `messages.jsonl`: messages in the form of OpenAI's,
without times. Compaction and rewinding begin a new folder, which names the one before: they are read as one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from loom.archive.records import NewTurn
from loom.interchange.foreign import Gathered, loaded, note, object_of, read_with, text_of
from loom.interchange.openai_messages import message_turns
from loom.interchange.reading import ReadSession
from loom.interchange.source import ImportFailed, Source, files_named, is_file, opened

_MOST_FOLDERS = 1_000


def is_vibe(folder: Path) -> bool:
    """Whether a folder is a session of Mistral Vibe."""
    return is_file(folder / "messages.jsonl") and is_file(folder / "meta.json")


def meta_of(folder: Path) -> Mapping[str, Any]:
    """What the folder says of its session; nothing where it cannot be read."""
    with suppress(ImportFailed), opened(folder / "meta.json") as source:
        return object_of(loaded(source.whole()))
    return {}


def read_vibe(folder: Path, stack: ExitStack) -> ReadSession:
    """The session with those that it goes on from, its files open for as long as the stack is. Raises ImportFailed when
    nothing in it was said."""
    folders = _chain(folder)
    metas = [meta_of(each) for each in folders]
    sources = [stack.enter_context(opened(each / "messages.jsonl")) for each in folders]
    kept = [_in_common(one, other) for one, other in pairwise(sources)]

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        newest = metas[-1]
        # The first one's: the session stays the same however often it is compacted.
        gathered.session_id = text_of(metas[0].get("session_id")) or folders[0].name
        gathered.title = text_of(newest.get("title"))
        gathered.folder = text_of(object_of(newest.get("environment")).get("working_directory"))
        gathered.model = _model(newest)
        for at, source in enumerate(sources):
            gathered.at(metas[at].get("start_time"))
            behind = kept[at - 1] if at else 0
            # Of one that was rewound, what the next one does not have was taken back.
            end = kept[at] if at < len(kept) and kept[at] else None
            if at and not behind:
                yield f"{folders[at].name}/compacted", note("Mistral Vibe compacted its window here.")
            for number, message in enumerate(gathered.objects(source)):
                if number < behind:
                    continue
                if message.get("injected"):
                    gathered.leave_out("what Mistral Vibe wrote by itself")
                elif end is not None and number >= end:
                    gathered.leave_out("a message that was rewound")
                else:
                    for place, turn in enumerate(message_turns(gathered, message)):
                        yield f"{folders[at].name}/{number}/{place}", turn

    return read_with("Mistral Vibe", walk)


def _chain(folder: Path) -> list[Path]:
    """The folder and those that it goes on from, the oldest first."""
    by_id = {text_of(meta_of(file.parent).get("session_id")): file.parent for file in _beside(folder)}
    chain = [folder]
    while len(chain) < _MOST_FOLDERS:
        parent = by_id.get(text_of(meta_of(chain[0]).get("parent_session_id")) or "-")
        if parent is None or parent in chain or not is_vibe(parent):
            break
        chain.insert(0, parent)
    return chain


def _beside(folder: Path) -> list[Path]:
    return files_named(folder.parent, "*/meta.json") if meta_of(folder).get("parent_session_id") else []


def _in_common(one: Source, other: Source) -> int:
    """With how many messages of the one the other begins; 0 if they have only what Vibe itself says in common."""
    count, said = 0, 0
    for mine, theirs in zip(Gathered("").objects(one), Gathered("").objects(other), strict=False):
        if json.dumps(mine, sort_keys=True) != json.dumps(theirs, sort_keys=True):
            break
        count += 1
        said += mine.get("role") in ("user", "assistant") and not mine.get("injected")
    return count if said else 0


def _model(meta: Mapping[str, Any]) -> str:
    model = text_of(object_of(meta.get("config")).get("active_model")) or text_of(meta.get("model"))
    return f"mistral:{model}" if model else ""

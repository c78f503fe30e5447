"""Going through the workspace's files: no symlink followed, ignored and loom's own files left out."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loom.tools.ignore import MAX_BYTES, NAME, Ignoring, rules_above
from loom.tools.outcome import ToolFailure
from loom.tools.paths import Place, Workspace


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file, or on the way to one a folder."""

    place: Place
    modified_ns: int = 0
    size: int = 0
    is_folder: bool = False


def walk(workspace: Workspace, start: Place, stopped: Callable[[], bool] = lambda: False) -> Iterator[Found]:
    """Every regular file below `start`, in the order of names, without `.git` and what is ignored.

    A folder that is itself ignored but was asked for, by name or as the workspace, is walked under its own rules.
    """
    ignoring, prefix = rules_above(workspace.root)
    if any(ignoring.ignores(prefix[:depth], folder=True) for depth in range(1, len(prefix) + 1)):
        ignoring = Ignoring()
    for depth in range(len(start.parts)):
        folder = Place(start.parts[:depth])
        ignoring = _with_own(workspace, folder, ignoring, prefix)
        if ignoring.ignores((*prefix, *start.parts[: depth + 1]), folder=True):
            ignoring = Ignoring()
    yield from _walk(workspace, start, ignoring, prefix, stopped)


def _walk(
    workspace: Workspace, start: Place, ignoring: Ignoring, prefix: tuple[str, ...], stopped: Callable[[], bool]
) -> Iterator[Found]:
    waiting = [_folder(workspace, start, ignoring, prefix)]
    while waiting and not stopped():
        found, rules = next(waiting[-1], (None, ignoring))
        if found is None:
            waiting.pop()
        elif found.is_folder:
            waiting.append(_folder(workspace, found.place, rules, prefix))
        else:
            yield found


def _folder(
    workspace: Workspace, folder: Place, above: Ignoring, prefix: tuple[str, ...]
) -> Iterator[tuple[Found, Ignoring]]:
    """What is in one folder in the order of names, with the rules that hold there."""
    rules = _with_own(workspace, folder, above, prefix)
    for found in sorted(_entries(workspace, folder), key=lambda found: found.place.parts):
        if not rules.ignores((*prefix, *found.place.parts), folder=found.is_folder):
            yield found, rules


def _entries(workspace: Workspace, folder: Place) -> Iterator[Found]:
    """Folders and regular files, in no order."""
    try:
        with workspace.listing(folder) as entries:
            for entry in entries:
                place = folder.child(entry.name)
                if entry.name == ".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if workspace.owns(place):
                        yield Found(place, is_folder=True)
                elif entry.is_file(follow_symlinks=False):
                    # It may vanish while we look.
                    with contextlib.suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        yield Found(place, status.st_mtime_ns, status.st_size)
    except ToolFailure:
        # A folder that vanished or may not be listed has nothing for us; those who asked for it by name hear so.
        return


def _with_own(workspace: Workspace, folder: Place, ignoring: Ignoring, prefix: tuple[str, ...]) -> Ignoring:
    try:
        with workspace.open(folder.child(NAME)) as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except ToolFailure:
        return ignoring
    return ignoring.below(text, len(prefix) + len(folder.parts))

"""Files that were created, edited or deleted, newest touch last."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from loom.state.calls import Result
from loom.state.entries import put
from loom.state.model import MAX_FILES, FileAction, FileTouched, SessionState

_ACTIONS = ("created", "edited", "deleted")


def touched(state: SessionState, result: Result, turn: int) -> SessionState:
    """The state after a complete write or edit. A file that this session created and then edited is still
    `created`."""
    if not result.path or result.action not in _ACTIONS:
        return state
    before = next((file for file in state.files_touched if file.path == result.path), None)
    action = result.action
    if before is not None and before.action == "created" and action == "edited":
        action = "created"
    entry = FileTouched(result.path, cast(FileAction, action), turn)
    files = put(state.files_touched, entry, MAX_FILES, same=lambda file: file.path == entry.path)
    return replace(state, files_touched=files)

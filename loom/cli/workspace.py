"""The folder that a command line names."""

from __future__ import annotations

import os
from pathlib import Path

from loom.errors import LoomError
from loom.locations import expanded


class WorkspaceError(LoomError):
    """A path that cannot be worked in."""


def find_workspace(path: str) -> Path:
    """The folder, absolute and without links. Raises WorkspaceError if it is missing, a file or unreadable, LoomError
    for `~somebody` who is not there."""
    try:
        workspace = expanded(path).resolve(strict=True)
    except FileNotFoundError as error:
        raise WorkspaceError(f"There is no folder {path}.", "Name an existing folder with -w.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkspaceError(f"{path} cannot be used: {error}.", "Name another folder with -w.") from error
    if not workspace.is_dir():
        raise WorkspaceError(f"{path} is a file.", "Name the folder that it is in with -w.")
    if not os.access(workspace, os.R_OK | os.X_OK):
        raise WorkspaceError(f"{path} cannot be read.", "Check its permissions, or name another folder with -w.")
    return workspace

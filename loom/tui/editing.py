"""The person's own editor over a text: `$VISUAL`, else `$EDITOR`, else `vi`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loom.errors import LoomError


class EditorFailed(LoomError):
    """The editor could not be run, or ended badly; nothing was changed."""


class TextKept(EditorFailed):
    """The editor ended badly after something was saved in it: that lies in the file which this names."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What the person made of a text. Its file lies there until it is discarded, so that no word hangs on one write."""

    content: bytes
    path: Path

    def discard(self) -> None:
        """Remove the file and its folder. Blocks. Raises EditorFailed when they cannot be removed."""
        _remove(self.path.parent)


def edit(content: bytes, name: str, environ: Mapping[str, str]) -> Edited:
    """What the person makes of this content; the same if they leave it as it is. Blocks, and takes the terminal.

    The text lies in a folder of its own, mode 0700, for the caller to discard. Raises EditorFailed, and TextKept when
    something was saved all the same.
    """
    command = _command(environ)
    path = _lay_out(content, name)
    try:
        done = subprocess.run([*command, os.fspath(path)], check=False)
    except OSError as error:
        _remove(path.parent)
        raise EditorFailed(
            f"{command[0]} cannot be run: {error.strerror or error}.", "Set EDITOR to your editor."
        ) from error
    try:
        edited = Edited(path.read_bytes(), path)
    except OSError as error:
        _remove(path.parent)
        raise EditorFailed(f"{path.name} cannot be read: {error.strerror or error}.", "Nothing was changed.") from error
    if not done.returncode:
        return edited
    ended = f"{command[0]} ended with {done.returncode}."
    if edited.content != content:
        raise TextKept(ended, f"Nothing was changed. What you wrote is in {path}")
    edited.discard()
    raise EditorFailed(ended, "Nothing was changed.")


def _command(environ: Mapping[str, str]) -> list[str]:
    """The editor's command line. Raises EditorFailed when it is none."""
    wanted = next((line for name in ("VISUAL", "EDITOR") if (line := environ.get(name, "")).strip()), "vi")
    try:
        return shlex.split(wanted)
    except ValueError as error:
        raise EditorFailed(f"{wanted} is no command line: {error}.", "Set EDITOR to your editor.") from error


def _lay_out(content: bytes, name: str) -> Path:
    try:
        folder = Path(tempfile.mkdtemp(prefix="loom-"))
        try:
            path = folder / name
            path.touch(mode=0o600)
            path.write_bytes(content)
        except OSError:
            _remove(folder)
            raise
    except OSError as error:
        raise EditorFailed(f"There is no place to edit in: {error.strerror or error}.") from error
    return path


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise EditorFailed(f"{folder} cannot be removed: {error.strerror or error}.") from error

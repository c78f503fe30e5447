"""The person's own editor over a text: `$VISUAL`, else `$EDITOR`, else `vi`."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from loom.errors import LoomError


class EditorFailed(LoomError):
    """The editor could not be run, or ended badly; nothing was changed."""


def edit(content: bytes, name: str, environ: Mapping[str, str]) -> bytes:
    """What the person makes of this content; the same if they leave it as it is. Blocks, and takes the terminal.

    The text lies in a folder of its own, mode 0700, until the editor has ended. Raises EditorFailed.
    """
    command = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="loom-") as folder:
        path = Path(folder) / name
        path.touch(mode=0o600)
        path.write_bytes(content)
        try:
            done = subprocess.run([*command, os.fspath(path)], check=False)
            edited = path.read_bytes()
        except OSError as error:
            raise EditorFailed(
                f"{command[0]} cannot be run: {error.strerror or error}.", "Set EDITOR to your editor."
            ) from error
        if done.returncode:
            raise EditorFailed(f"{command[0]} ended with {done.returncode}.", "Nothing was changed.")
        return edited

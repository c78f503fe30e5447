"""The folder of a session that was begun in another one than this, in words."""

from __future__ import annotations

from pathlib import Path

from loom.text import show_line

PATH_CHARS = 200
"""A path in a sentence; of a longer one the end is shown, which says most."""


def path_end(path: str, chars: int = PATH_CHARS) -> str:
    """The path with the home folder as `~`, on one line, in at most so many characters."""
    home = str(Path.home())
    short = f"~{path[len(home) :]}" if path == home or path.startswith(f"{home.rstrip('/')}/") else path
    shown = show_line(short, len(short) * 8 + 8)
    return shown if len(shown) <= chars else f"…{shown[len(shown) - chars + 1 :]}"


def is_gone(path: str) -> bool:
    """Whether there is nothing at this path; not so when it may not be looked at. Blocks."""
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except ValueError:
        # No file can have such a name: the archive was damaged there.
        return True
    except OSError:
        return False
    return False


def begun_in_words(begun_in: str, here: str, *, gone: bool, read_only: bool) -> str:
    """What a person is told when a session of another folder opens in this one."""
    lost = ", which is not there any more" if gone else ""
    written = f"Written in {path_end(begun_in)}{lost}"
    return f"{written}." if read_only else f"{written}; commands and edits now go to {path_end(here)}."

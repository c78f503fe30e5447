"""A session written to a file of its own: private, whole or not at all, never over another file by accident."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from loom.archive.records import Session, Turn
from loom.errors import LoomError
from loom.interchange.document import document
from loom.interchange.html import html
from loom.interchange.markdown import markdown
from loom.locations import Locations

Form = Literal["markdown", "json", "html"]

_RENDERERS: dict[Form, Callable[[Session, Iterable[Turn]], Iterator[str]]] = {
    "markdown": markdown,
    "json": document,
    "html": html,
}
_ENDINGS: dict[str, Form] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}


class ExportError(LoomError):
    """A file that cannot be written."""


def form_of(path: Path) -> Form:
    """The form that a file's ending names. Raises ExportError for any other ending."""
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        raise ExportError(f"{path.name} ends in no form that loom writes.", "Use .md, .json or .html.")
    return form


def render(session: Session, turns: Iterable[Turn], form: Form) -> Iterator[str]:
    """The session in pieces of text."""
    return _RENDERERS[form](session, turns)


def export_session(
    path: Path,
    session: Session,
    turns: Iterable[Turn],
    *,
    locations: Locations,
    form: Form | None = None,
    force: bool = False,
    make_folder: bool = False,
) -> Path:
    """Write the session to `path` (mode 0600), in the given form or the one its ending names; the path.

    Raises ExportError if it would be among loom's own files (at `locations`), the file is there already (unless
    `force`), its folder is not (unless `make_folder`: a mistyped path must not become a folder) or it cannot be
    written; then nothing is left.
    """
    chosen = form or form_of(path)
    if locations.owns(path):
        raise ExportError(f"{path} is among loom's own files.", "Name a file somewhere else.")
    if os.path.lexists(path) and not force:
        raise ExportError(f"{path} is there already.", "Name another file; `loom export --force` replaces it.")
    return write_private(path, render(session, turns, chosen), make_folder=make_folder)


def write_private(path: Path, pieces: Iterable[str], *, make_folder: bool = False) -> Path:
    """Write the pieces to `path` (mode 0600), in the place of a file that was there; the path.

    Raises ExportError if it cannot be written, or is a device, a pipe or a folder; then what was there is as it was.
    """
    try:
        if path.exists() and not path.is_file():
            raise ExportError(f"{path} is not a file.", "Name one, or none to write to standard output.")
        if make_folder:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not path.parent.exists():
            raise ExportError(f"There is no folder {path.parent}.", "Make it first, or name another file.")
        _write(path, pieces)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def _write(path: Path, pieces: Iterable[str]) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # made 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

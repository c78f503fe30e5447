"""The edge of the workspace: every path a tool is given passes here, and every file is opened from here.

A path is first resolved, symlinks included, and must end inside the workspace. Then it is opened component by
component from the workspace's own folder, following no symlink at all: the resolved path has none, so one that appears
there was put there in between, and is refused.
"""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from loom.archive import guard
from loom.text import UNSAFE
from loom.tools.outcome import ToolFailure

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# On Linux a folder can be passed through without the right to list it.
_PASS = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
# O_NONBLOCK: opening a FIFO that has no writer would wait for one; regular files do not mind.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a symlink that leads nowhere"),
)


class OutsideWorkspace(ToolFailure):
    """A path that leaves the workspace, or that belongs to loom itself."""


@dataclass(frozen=True, slots=True)
class Place:
    """A checked path."""

    parts: tuple[str, ...]
    """Names from the workspace's folder down, free of symlinks when it was checked; empty is the workspace itself."""

    @property
    def relative(self) -> str:
        """Relative to the workspace, `/` separated; `.` is the workspace itself."""
        return "/".join(self.parts) or "."

    @property
    def shown(self) -> str:
        """The relative path as it may stand in a line of text."""
        return shown_name(self.relative)

    def child(self, name: str) -> "Place":
        return Place((*self.parts, name))


def shown_name(name: str) -> str:
    """A file name for one line of output: as it is, or as a JSON string when it holds line ends, escapes, other
    invisible characters or bytes that are not UTF-8."""
    if name and name == name.strip() and not UNSAFE.search(name) and not any(sign in name for sign in '\t\n"\\'):
        return name
    quoted = json.dumps(name, ensure_ascii=False)
    return UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], quoted)


def in_words(error: OSError) -> str:
    """What the system said, as words inside a sentence: `permission denied`."""
    words = error.strerror or str(error) or type(error).__name__
    return words[:1].lower() + words[1:]


class Workspace:
    """One folder that tools may touch, less the folders in `forbidden`."""

    def __init__(self, root: Path, forbidden: Sequence[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self.forbidden = tuple(Path(os.path.realpath(folder)) for folder in forbidden)

    def place(self, path: str) -> Place:
        """The place that a path means, relative to the workspace or absolute. It need not exist.

        Raises OutsideWorkspace, or ToolFailure for a path that no file can have, and when the workspace is gone.
        """
        if (gone := self.gone()) is not None:
            raise gone
        if not path.strip() or "\0" in path:
            raise ToolFailure("The path is empty or holds a NUL character.", "Give a path inside the workspace.")
        try:
            real = Path(os.path.realpath(self.root / path))
            os.fsencode(real)
        except (OSError, ValueError) as error:
            raise ToolFailure(f"{shown_name(path)} is not a path that can be used here: {error}.") from error
        if not real.is_relative_to(self.root):
            raise OutsideWorkspace(
                f"{shown_name(path)} is outside the workspace {shown_name(str(self.root))}.",
                "Only paths inside it can be used.",
            )
        if any(real.is_relative_to(folder) for folder in self.forbidden):
            raise self._loom_own(path)
        return Place(real.relative_to(self.root).parts)

    def path(self, place: Place) -> Path:
        """The absolute path of a place, for programs that are given one."""
        return self.root.joinpath(*place.parts)

    def owns(self, place: Place) -> bool:
        """False for a place in one of loom's own folders."""
        return not any(self.path(place).is_relative_to(folder) for folder in self.forbidden)

    def stat(self, place: Place) -> os.stat_result | None:
        """What is at a place, following no symlink; None if nothing is. Raises ToolFailure."""
        try:
            with self._folder_of(place) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._cannot(place, error) from error

    @contextlib.contextmanager
    def open(self, place: Place) -> Iterator[BinaryIO]:
        """A regular file for reading. Raises ToolFailure; never waits for a writer."""
        try:
            descriptor = self._open(place)
        except OSError as error:
            raise self._cannot(place, error) from error
        with os.fdopen(descriptor, "rb") as file:
            try:
                yield file
            except OSError as error:
                raise self._cannot(place, error) from error

    def _open(self, place: Place) -> int:
        with self._folder_of(place) as (folder, name):
            # Looked at first: merely opening some devices does something, and opening the archive cancels its locks.
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            self._refuse_odd(place, status)
            with guard.checked(status):
                descriptor = os.open(name, _READ, dir_fd=folder)
        try:
            self._refuse_odd(place, os.fstat(descriptor))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _refuse_odd(self, place: Place, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise self.not_a_file(place, status)
        if status.st_nlink > 1 and self._is_loom_own(status):
            raise self._loom_own(place.relative)

    def not_a_file(self, place: Place, status: os.stat_result) -> ToolFailure:
        kind = next((word for test, word in _KINDS if test(status.st_mode)), "something special")
        remedy = "Use list_directory." if stat.S_ISDIR(status.st_mode) else ""
        return ToolFailure(f"{place.shown} is {kind}, not a file.", remedy)

    @contextlib.contextmanager
    def folder(self, place: Place, *, create: bool = False) -> Iterator[int]:
        """A descriptor of a folder, for the `dir_fd` and `fd` arguments of `os`; `create` makes what is missing.

        Raises OSError (ELOOP or ENOTDIR for a symlink that came in between) and OutsideWorkspace.
        """
        with contextlib.ExitStack() as walked:
            descriptor = _closing(walked, os.open(self.root, _PASS))
            for depth, name in enumerate(place.parts):
                descriptor = _closing(walked, self._enter(descriptor, name, create=create))
                if self._is_forbidden_folder(os.fstat(descriptor)):
                    raise self._loom_own("/".join(place.parts[: depth + 1]))
            yield descriptor

    @staticmethod
    def _enter(parent: int, name: str, *, create: bool) -> int:
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent)
        return os.open(name, _PASS, dir_fd=parent)

    @contextlib.contextmanager
    def _folder_of(self, place: Place, *, create: bool = False) -> Iterator[tuple[int, str]]:
        with self.folder(Place(place.parts[:-1]), create=create) as descriptor:
            yield descriptor, place.parts[-1] if place.parts else "."

    @contextlib.contextmanager
    def beside(self, place: Place) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder that a file is, or will be, in (made if missing), and the file's name.

        Raises ToolFailure for everything the system refuses while it is used.
        """
        try:
            with self._folder_of(place, create=True) as found:
                yield found
        except OSError as error:
            raise self._cannot(place, error) from error

    @contextlib.contextmanager
    def listing(self, place: Place) -> Iterator[Iterator[os.DirEntry[str]]]:
        """The entries of a folder, in no order. Raises ToolFailure."""
        try:
            with self.folder(place) as passed:
                descriptor = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=passed)
            try:
                with os.scandir(descriptor) as entries:
                    yield entries
            finally:
                os.close(descriptor)
        except NotADirectoryError as error:
            raise ToolFailure(f"{place.shown} is not a folder.", "Use read_file.") from error
        except OSError as error:
            raise self._cannot(place, error) from error

    def _is_forbidden_folder(self, status: os.stat_result) -> bool:
        return any(_same(status, folder) for folder in self.forbidden)

    def _is_loom_own(self, status: os.stat_result) -> bool:
        """True for another name of a file that lies in a forbidden folder."""
        for folder in self.forbidden:
            for parent, _, names in os.walk(folder):
                if any(_same(status, Path(parent, name)) for name in names):
                    return True
        return False

    def gone(self) -> ToolFailure | None:
        """What to say when the folder itself was moved or deleted; None while it is there."""
        if os.path.isdir(self.root):  # noqa: PTH112 - gives no error where the folder above may not be entered
            return None
        return ToolFailure(
            f"The workspace {shown_name(str(self.root))} is not there any more: it was moved or deleted.",
            "The person can bring it back, or start loom in its new place.",
        )

    def _cannot(self, place: Place, error: OSError) -> ToolFailure:
        if isinstance(error, FileNotFoundError):
            return ToolFailure(f"There is no {place.shown} in the workspace.", "Use find_files or list_directory.")
        if error.errno == errno.ELOOP:
            return OutsideWorkspace(f"{place.shown} became a symlink while it was opened.", "Try again.")
        return ToolFailure(f"{place.shown} cannot be used: {in_words(error)}.")

    @staticmethod
    def _loom_own(path: str) -> OutsideWorkspace:
        return OutsideWorkspace(
            f"{shown_name(path)} belongs to loom itself.", "Use conversation_recall for what was said before."
        )


def _closing(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _same(status: os.stat_result, path: Path) -> bool:
    try:
        other = path.stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (other.st_dev, other.st_ino)

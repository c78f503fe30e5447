"""Where loom keeps its files."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loom.errors import LoomError
from loom.text import show_line


@dataclass(frozen=True, slots=True)
class Locations:
    """The folders and files of one loom home. Nothing here touches the disk until `prepare`."""

    home: Path
    """State folder, mode 0700: `$LOOM_HOME`, else `$XDG_STATE_HOME/loom`, else `~/.local/state/loom`."""

    config: Path
    """The person's settings: `$LOOM_HOME/config.toml` if LOOM_HOME is set, else
    `$XDG_CONFIG_HOME/loom/config.toml`, else `~/.config/loom/config.toml`."""

    @property
    def archive(self) -> Path:
        """The database of every session."""
        return self.home / "archive.db"

    @property
    def backups(self) -> Path:
        return self.home / "backups"

    @property
    def spool(self) -> Path:
        """Turns that could not be written to the database, kept for retry."""
        return self.home / "spool"

    @property
    def unsent(self) -> Path:
        """What was being written and not sent, a file for each conversation."""
        return self.home / "unsent"

    @property
    def view(self) -> Path:
        """How the person likes the screen."""
        return self.home / "view.json"

    @property
    def exports(self) -> Path:
        return self.home / "exports"

    @property
    def trust(self) -> Path:
        """Which projects' instructions the person trusts."""
        return self.home / "trust.json"

    @property
    def log(self) -> Path:
        return self.home / "loom.log"

    def owns(self, path: Path) -> bool:
        """Whether a file at `path`, which need not be there, would be one of loom's own and not an export."""
        # The name itself is not followed: what replaces a link leaves alone what it leads to.
        real = Path(os.path.realpath(path.parent), path.name)
        home = Path(os.path.realpath(self.home))
        config = Path(os.path.realpath(self.config.parent), self.config.name)
        return real == config or (real.is_relative_to(home) and not real.is_relative_to(home / self.exports.name))

    def uses(self, path: Path) -> bool:
        """Whether loom would take a file of this name, which need not be there, for one of its own, or anything beside
        it. Not where copies of the archive are kept, nor the archive's own name: what was recovered is put there."""
        real = Path(os.path.realpath(path.parent), path.name)
        home = Path(os.path.realpath(self.home))
        if real == Path(os.path.realpath(self.config.parent), self.config.name):
            return True
        if not real.is_relative_to(home):
            return False
        folder, *below = real.relative_to(home).parts
        if below:
            return folder not in (self.backups.name, self.exports.name)
        own = (self.backups, self.exports, self.spool, self.unsent, self.view, self.trust, self.log)
        return folder.startswith(f"{self.archive.name}-") or folder in (path.name for path in own)

    def prepare(self) -> None:
        """Make the home folder, mode 0700 under any umask, or take one that is there from everybody else. Raises
        OSError if it cannot."""
        try:
            self.home.mkdir(mode=0o700, parents=True)
            self.home.chmod(0o700)
        except FileExistsError:
            mode = stat.S_IMODE(self.home.stat().st_mode)
            if mode & 0o077:
                # What its owner may not do there stays so: that is how a home is made read-only.
                self.home.chmod(mode & 0o700)


def find_locations(environ: Mapping[str, str] | None = None) -> Locations:
    """The locations that the environment asks for. Relative XDG paths are ignored, as the XDG
    base directory specification demands. Raises LoomError when there is no home folder to put them in."""
    env = os.environ if environ is None else environ
    if override := env.get("LOOM_HOME"):
        home = expanded(override).absolute()
        return Locations(home=home, config=home / "config.toml")
    return Locations(
        home=_xdg(env, "XDG_STATE_HOME", ".local/state") / "loom",
        config=_xdg(env, "XDG_CONFIG_HOME", ".config") / "loom" / "config.toml",
    )


def _xdg(env: Mapping[str, str], name: str, fallback: str) -> Path:
    value = env.get(name, "")
    if value and Path(value).is_absolute():
        return Path(value)
    home = env.get("HOME", "")
    return (Path(home) if home else expanded("~")) / fallback


def expanded(path: str) -> Path:
    """The path with the home folder that `~` or `~somebody` stands for. Raises LoomError when there is none: nobody of
    that name, or a user without an entry, as in some containers."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise LoomError(
            f"There is no home folder for {show_line(path, 500)}.", "Write the path out, or set HOME or LOOM_HOME."
        ) from error

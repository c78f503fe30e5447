"""loom's files live in one private folder."""

import os
import stat
from pathlib import Path

import pytest

from loom.errors import LoomError
from loom.locations import find_locations


def test_loom_home_overrides_everything(tmp_path: Path) -> None:
    locations = find_locations({"LOOM_HOME": str(tmp_path), "XDG_STATE_HOME": "/x", "HOME": "/h"})
    assert locations.archive == tmp_path / "archive.db"
    assert locations.config == tmp_path / "config.toml"


def test_xdg_folders_are_honoured_when_absolute_and_ignored_when_not() -> None:
    locations = find_locations({"XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "relative", "HOME": "/h"})
    assert locations.home == Path("/state/loom")
    assert locations.config == Path("/h/.config/loom/config.toml")


def test_a_home_of_nobody_is_refused_in_words() -> None:
    with pytest.raises(LoomError, match="There is no home folder for ~nobody-has-this-name/loom"):
        find_locations({"LOOM_HOME": "~nobody-has-this-name/loom"})


def test_the_home_is_private_under_any_umask(tmp_path: Path) -> None:
    locations = find_locations({"LOOM_HOME": str(tmp_path / "deep" / "home")})
    before = os.umask(0)
    try:
        locations.prepare()
    finally:
        os.umask(before)
    assert stat.S_IMODE(locations.home.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("name", "is_used"),
    [
        ("copy.db", False),
        ("archive.db", False),  # what was recovered is put there
        ("archive-recovered.db", False),
        ("backups/copy.db", False),
        ("backups/archive-20200101T000000Z.db", False),
        ("exports/copy.db", False),
        ("../copy.db", False),
        ("../config.toml", False),
        ("link/copy.db", False),
        ("config.toml", True),
        ("loom.log", True),
        ("trust.json", True),
        ("view.json", True),
        ("archive.db-wal", True),
        ("archive.db-wal-replaced-1", True),
        ("backups", True),
        ("leases/x.lease", True),
        ("spool/x.jsonl", True),
        ("memory/deep/MEMORY.md", True),
        ("leases/../unsent/x.txt", True),
        ("way/x.lease", True),
    ],
)
def test_names_that_loom_uses_are_known_however_they_are_spelled(tmp_path: Path, name: str, is_used: bool) -> None:
    locations = find_locations({"LOOM_HOME": str(tmp_path / "home")})
    locations.prepare()
    for folder in ("backups", "leases", "unsent"):
        (locations.home / folder).mkdir()
    (locations.home / "link").symlink_to(tmp_path)
    (locations.home / "way").symlink_to("leases")
    assert locations.uses(locations.home / name) == is_used


def test_the_settings_are_looms_wherever_they_are(tmp_path: Path) -> None:
    locations = find_locations({"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert locations.uses(locations.config)
    assert not locations.uses(locations.config.with_name("copy.db"))

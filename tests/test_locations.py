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

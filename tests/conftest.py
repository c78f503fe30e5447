"""What all tests share: where the snapshot pictures lie, that no example is timed, and how started programs start."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import HealthCheck, settings
from pytest_textual_snapshot import SVGImageExtension
from syrupy.location import PyTestLocation

from loom.tui.garbage import Garbage

# Machines are shared: how long an example takes says nothing about what it shows.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Each program that a test starts would compile all of loom again: half a second every time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

PICTURES = Path(__file__).parent.parent / "snapshots"


def _dirname(cls: type[SVGImageExtension], *, test_location: PyTestLocation) -> str:
    """`snapshots/<screen>`: `tests/tui/test_chat_pictures.py` draws the screen `chat`."""
    screen = Path(test_location.filepath).stem.removeprefix("test_").removesuffix("_pictures")
    return str(PICTURES / screen)


def _name(cls: type[SVGImageExtension], *, test_location: PyTestLocation, index: int | str = 0) -> str:
    """`<state>.svg`: the test's name without its `test_`."""
    state = test_location.snapshot_name.removeprefix("test_")
    return state if index == 0 else f"{state}.{index}"


# syrupy 5 reads `file_extension`, 4 reads `_file_extension`.
SVGImageExtension.file_extension = "svg"
SVGImageExtension._file_extension = "svg"
SVGImageExtension.dirname = classmethod(_dirname)
SVGImageExtension.get_snapshot_name = classmethod(_name)


def pytest_collection_finish() -> None:
    """What is loaded now stays to the end: nobody has to look through it for garbage, and for the rest not more often
    than the program itself."""
    gc.collect()
    gc.freeze()
    Garbage(monotonic).begin()


def pytest_configure(config: pytest.Config) -> None:
    """syrupy would like the test's name in the picture's; ours are named after screen and state."""
    config.addinivalue_line("filterwarnings", r"ignore:\s*Can not relate snapshot:UserWarning")

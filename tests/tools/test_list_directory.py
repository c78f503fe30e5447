"""A listing shows what is there, and where links lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loom.tools.list_directory import MAX_ENTRIES
from loom.tools.outcome import ToolFailure
from loom.tools.toolbox import Toolbox


async def listing(tools: Toolbox, path: str = ".") -> str:
    return (await tools["list_directory"].function(path)).content


async def test_folders_come_first_and_files_have_sizes(tools: Toolbox, root: Path) -> None:
    (root / "z").mkdir()
    (root / "b.txt").write_bytes(b"12345")
    (root / ".hidden").write_bytes(b"x" * 1_234)
    assert (await listing(tools)).split("\n") == [".state/", "z/", ".hidden  1.2 kB", "b.txt  5 bytes"]


async def test_looms_home_is_not_listed(tools: Toolbox) -> None:
    assert await listing(tools, ".state") == ".state is an empty folder."


async def test_links_show_where_they_lead(tools: Toolbox, root: Path, outside: Path) -> None:
    (root / "in").symlink_to("b.txt")
    (root / "out").symlink_to(outside)
    content = await listing(tools)
    assert "in -> b.txt\n" in content
    assert f"{outside}" in content
    assert "(outside the workspace)" in content


async def test_strange_names_stay_on_their_line(tools: Toolbox, root: Path) -> None:
    (root / "two\nlines\x1b[31m").touch()
    os.mkfifo(root / "pipe")
    (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9"))).touch()
    lines = (await listing(tools)).split("\n")
    assert '"two\\nlines\\u001b[31m"  0 bytes' in lines
    assert "pipe  (not a regular file)" in lines
    assert '"caf\\udce9"  0 bytes' in lines


async def test_many_entries_are_capped_and_counted(tools: Toolbox, root: Path) -> None:
    for number in range(MAX_ENTRIES + 10):
        (root / f"f{number:05}").touch()
    outcome = await tools["list_directory"].function()
    assert outcome.content.endswith(f"[{MAX_ENTRIES:,} of {MAX_ENTRIES + 11:,} entries; find_files narrows them]")
    assert outcome.facts["truncated"] is True


async def test_a_file_and_a_missing_folder_are_refused_in_words(tools: Toolbox, root: Path) -> None:
    (root / "a").touch()
    with pytest.raises(ToolFailure, match="a is not a folder"):
        await listing(tools, "a")
    with pytest.raises(ToolFailure, match="There is no b"):
        await listing(tools, "b")

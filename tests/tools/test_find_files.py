"""Finding goes where git goes, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom.tools.find_files import MAX_FILES
from loom.tools.outcome import ToolFailure
from loom.tools.paths import Workspace
from loom.tools.toolbox import Toolbox
from loom.tools.walk import walk


def make(root: Path, *names: str) -> None:
    """Files of these names, each newer than the one before."""
    for age, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (1_000_000 + age, 1_000_000 + age))


async def find(tools: Toolbox, pattern: str, path: str = ".") -> list[str]:
    return (await tools["find_files"].function(pattern, path)).content.split("\n")


async def test_files_are_found_at_any_depth_newest_first(tools: Toolbox, root: Path) -> None:
    make(root, "b.py", "src/a.py", "src/deep/c.py", "src/d.txt")
    assert await find(tools, "*.py") == ["src/deep/c.py", "src/a.py", "b.py"]


async def test_a_pattern_with_folders_counts_from_the_path(tools: Toolbox, root: Path) -> None:
    make(root, "src/a.py", "src/deep/c.py")
    assert await find(tools, "src/*.py") == ["src/a.py"]
    assert await find(tools, "*/*.py", "src") == ["src/deep/c.py"]


async def test_what_gitignore_leaves_out_is_not_found(tools: Toolbox, root: Path) -> None:
    make(root, "a.log", "keep.log", "node_modules/x.log", "src/b.log", "src/.hidden.log", ".git/c.log")
    (root / ".gitignore").write_text("node_modules/\n*.log\n!keep.log\n")
    (root / "src/.gitignore").write_text("!.hidden.log\n")
    assert await find(tools, "*.log") == ["src/.hidden.log", "keep.log"]


async def test_an_ignored_folder_is_looked_into_when_it_is_named(tools: Toolbox, root: Path) -> None:
    make(root, "node_modules/x/a.js")
    (root / ".gitignore").write_text("node_modules/\n")
    assert await find(tools, "*.js", "node_modules/x") == ["node_modules/x/a.js"]


async def test_links_and_looms_home_are_not_walked(tools: Toolbox, root: Path, outside: Path) -> None:
    make(root, "a.txt")
    (root / "out").symlink_to(outside)
    (root / "round").symlink_to(".")
    os.mkfifo(root / "pipe.txt")
    assert await find(tools, "*") == ["a.txt"]


async def test_many_files_are_capped_and_counted(tools: Toolbox, root: Path) -> None:
    make(root, *[f"f{number}" for number in range(MAX_FILES + 5)])
    outcome = await tools["find_files"].function("f*")
    assert outcome.content.endswith(f"[the newest {MAX_FILES} of {MAX_FILES + 5} files; narrow the pattern or path]")
    assert outcome.facts["matches"] == MAX_FILES + 5


async def test_nothing_found_is_said(tools: Toolbox) -> None:
    assert await find(tools, "*.rs") == ["No file matches *.rs."]
    assert await find(tools, "*.rs", ".state") == ["No file matches *.rs in .state."]


async def test_a_path_that_is_no_folder_is_refused(tools: Toolbox, root: Path) -> None:
    make(root, "a")
    for path in ("a", "missing"):
        with pytest.raises(ToolFailure, match="not a folder"):
            await find(tools, "*", path)


_RULES = st.sampled_from(
    ["*.log", "!a.log", "build/", "/build", "build/*", "!build/keep", "**/deep", "src/**/x", "# no", "", "a?c", "[ab]c",
     "\\!b", "deep/**", "!deep/", "*", "!*/", "src", "trailing ", "src/deep/", "!src/deep/x", "!x", "y", "*/x", "a**c",
     "[b-", "/*/*/x", "!src", "[[:alpha:]]c", "keep "]
)  # fmt: skip
_NAMES = (
    "a.log",
    "b.log",
    "build/keep",
    "build/x",
    "src/build/x",
    "src/deep/x",
    "src/deep/y/x",
    "abc",
    "ac",
    "!b",
    "deep",
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(top=st.lists(_RULES, max_size=5), below=st.lists(_RULES, max_size=3), start=st.sampled_from([".", "src"]))
def test_the_walk_leaves_out_what_git_leaves_out(top: list[str], below: list[str], start: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        make(root, *_NAMES)
        (root / ".gitignore").write_text("\n".join(top) + "\n")
        (root / "src/.gitignore").write_text("\n".join(below) + "\n")
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        listed = subprocess.run(
            ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-co", "--exclude-standard"],
            cwd=root / start, check=True, capture_output=True, text=True,
        ).stdout.split("\n")  # fmt: skip
        if start == "src" and _git_ignores(root, "src/"):
            return  # git has nothing to say there; who opens loom in such a folder wants to see what is in it
        # The workspace may be a folder inside a repository: the rules above it count too.
        walked = sorted(
            found.place.relative for found in walk(Workspace(root / start), Workspace(root / start).place("."))
        )
        assert walked == sorted(filter(None, listed))


def _git_ignores(root: Path, path: str) -> bool:
    asked = ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "-q", "--no-index", path]
    return subprocess.run(asked, cwd=root, check=False).returncode == 0

"""Searching finds the same with ripgrep and without."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from loom.tools import own_search, search_text, searching
from loom.tools.outcome import ToolFailure
from loom.tools.searching import MAX_LINE, MAX_MATCHES
from loom.tools.toolbox import Toolbox

ENGINES = [pytest.param("rg", marks=pytest.mark.skipif(not shutil.which("rg"), reason="no ripgrep here")), "python"]


@pytest.fixture(params=ENGINES, autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(search_text, "find_ripgrep", lambda: None)
    return str(request.param)


def make(root: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


async def search(tools: Toolbox, pattern: str, path: str = ".", **more: object) -> str:
    return (await tools["search_text"].function(pattern, path, **more)).content


async def test_matches_stand_under_their_file_with_line_numbers(tools: Toolbox, root: Path) -> None:
    make(root, src__a_dot_py="def login():\n    pass\n\ndef logout():\n", b_dot_py="# login\n", z="none\n")
    outcome = await tools["search_text"].function("log(in|out)")
    assert outcome.content == "b.py\n  1: # login\nsrc/a.py\n  1: def login():\n  4: def logout():"
    assert outcome.facts == {"path": ".", "action": "searched", "matches": 3, "truncated": False}


async def test_a_literal_pattern_means_itself(tools: Toolbox, root: Path) -> None:
    make(root, a="f(x) $HOME `id`; rm\nfx\n")
    assert await search(tools, "f(x) $HOME `id`;", literal=True) == "a\n  1: f(x) $HOME `id`; rm"
    assert "Nothing matches" in await search(tools, "F(X)", literal=True)
    assert await search(tools, "F(X)", literal=True, ignore_case=True) == "a\n  1: f(x) $HOME `id`; rm"


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(tools: Toolbox, root: Path) -> None:
    make(root, a="--files here\n-e\n")
    assert await search(tools, "--files") == "a\n  1: --files here"
    assert await search(tools, "-e$") == "a\n  2: -e"


async def test_a_glob_keeps_to_its_files(tools: Toolbox, root: Path) -> None:
    make(root, a_dot_py="x\n", src__b_dot_py="x\n", src__c_dot_txt="x\n", src__deep__d_dot_txt="x\n")
    assert await search(tools, "x", glob="*.py") == "a.py\n  1: x\nsrc/b.py\n  1: x"
    assert await search(tools, "x", glob="src/*.txt") == "src/c.txt\n  1: x"
    assert await search(tools, "x", "src", glob="deep/*") == "src/deep/d.txt\n  1: x"
    assert await search(tools, "x", glob="*.{py,txt}", ignore_case=True) == await search(tools, "x")


async def test_ignored_hidden_and_binary_files_are_treated_alike(tools: Toolbox, root: Path) -> None:
    make(root, a="x\n", _dot_hidden="x\n", ignored__b_dot_py="x\n", _dot_git__c="x\n", d_dot_log="x\n", e=b"x\n\0\0")
    make(root, _dot_gitignore="ignored/\n*.log\n")
    assert await search(tools, "x") == ".hidden\n  1: x\na\n  1: x"
    assert "Nothing matches" in await search(tools, "x", glob="*.log")
    assert await search(tools, "x", "ignored") == "ignored/b.py\n  1: x"
    assert await search(tools, "x", "d.log") == "d.log\n  1: x"


async def test_nothing_outside_is_searched(tools: Toolbox, root: Path, outside: Path) -> None:
    (root / "out").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret.txt")
    assert "Nothing matches" in await search(tools, "secret")
    for path in ("out", "file", "../outside", "/etc", ".state/loom"):
        with pytest.raises(ToolFailure):
            await search(tools, "secret", path)


async def test_looms_own_files_are_not_searched(tools: Toolbox) -> None:
    assert "Nothing matches" in await search(tools, "own database")


async def test_a_named_pipe_is_not_waited_for(tools: Toolbox, root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert "Nothing matches" in await asyncio.wait_for(search(tools, "x"), 60)
    with pytest.raises(ToolFailure, match="named pipe"):
        await search(tools, "x", "pipe")


async def test_many_matches_are_capped(tools: Toolbox, root: Path) -> None:
    make(root, a="x\n" * (MAX_MATCHES * 50))
    outcome = await tools["search_text"].function("x")
    assert outcome.content.endswith(f"[the first {MAX_MATCHES} matching lines; narrow the pattern, path or glob]")
    assert outcome.facts["matches"] == MAX_MATCHES
    assert outcome.facts["truncated"] is True


async def test_a_long_line_is_clipped_around_the_match(tools: Toolbox, root: Path) -> None:
    make(root, a="é" * 10_000 + "needle" + "y" * 10_000 + "\n")
    line = (await search(tools, "needle")).split("\n")[1]
    assert "éneedley" in line
    assert len(line) < MAX_LINE + 20
    assert abs(line.index("needle") - len(line) / 2) < 20


async def test_a_line_of_megabytes_does_not_stop_the_search(tools: Toolbox, root: Path) -> None:
    make(root, a="x" * 5_000_000 + "needle", b="needle\n")
    content = await search(tools, "needle")
    assert content.startswith("a\n")
    assert content.endswith("b\n  1: needle")


async def test_invalid_text_and_strange_names_are_shown_safely(tools: Toolbox, root: Path) -> None:
    make(root, a=b"caf\xe9 needle\r\n")
    (root / "two\nlines").write_text("needle\x0cafter\n")
    (Path(os.fsdecode(os.fsencode(root) + b"/z\xe9"))).write_text("needle\n")
    content = await search(tools, "needle")
    assert content == 'a\n  1: caf� needle\n"two\\nlines"\n  1: needle after\n"z\\udce9"\n  1: needle'


async def test_a_bad_pattern_is_said_to_be_one(tools: Toolbox) -> None:
    with pytest.raises(ToolFailure, match="no regular expression"):
        await search(tools, "(unclosed")
    for pattern in ("", "a\nb", "a\0b"):
        with pytest.raises(ToolFailure):
            await search(tools, pattern)
    with pytest.raises(ToolFailure, match="pattern"):
        await search(tools, "x", glob="!x")


async def test_look_around_works(tools: Toolbox, root: Path) -> None:
    make(root, a="foobar\nfoobaz\n")
    assert await search(tools, r"foo(?=baz)") == "a\n  2: foobaz"


async def test_a_missing_path_is_said_to_be_missing(tools: Toolbox) -> None:
    with pytest.raises(ToolFailure, match="There is no nowhere"):
        await search(tools, "x", "nowhere")


async def test_a_module_of_the_workspace_is_not_imported(tools: Toolbox, root: Path) -> None:
    make(
        root, json_dot_py="open('imported', 'w')\n", re_dot_py="open('imported', 'w')\n", loom____init___dot_py="1/0\n"
    )
    assert "json.py" in await search(tools, "imported")
    assert not (root / "imported").exists()


async def test_a_pattern_that_takes_for_ever_is_stopped(
    tools: Toolbox, root: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, a="a" * 5_000 + "b\n")
    monkeypatch.setattr(own_search, "PATIENCE", 0.5)
    if engine == "python":
        outcome = await tools["search_text"].function(r"(a+)+$")
        assert "stopped after" in outcome.content
        assert outcome.facts["truncated"] is True


def test_a_match_longer_than_the_line_shows_its_beginning() -> None:
    assert searching.clipped("b" * 1_000 + "a" * 5_000, 1_000, 6_000).count("a") > MAX_LINE // 3

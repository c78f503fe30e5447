"""Reading gives numbered lines, and a helpful word for what is no text."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from pathlib import Path

import pytest

from loom.tools.outcome import ToolFailure, ToolOutcome
from loom.tools.read_file import MAX_LINE, MAX_OUTPUT
from loom.tools.toolbox import Toolbox


async def read(tools: Toolbox, path: str, offset: int = 1, limit: int = 2000) -> ToolOutcome:
    return await tools["read_file"].function(path, offset, limit)


async def test_lines_are_numbered(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text("one\n\ntwo\n")
    outcome = await read(tools, "a.txt")
    assert outcome.content == "1\tone\n2\t\n3\ttwo"
    assert outcome.facts == {"path": "a.txt", "action": "read", "lines": 3, "truncated": False}


async def test_a_page_says_where_it_is_and_how_to_go_on(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 1001)))
    outcome = await read(tools, "a.txt", 10, 2)
    assert outcome.content == "10\tline 10\n11\tline 11\n[lines 10–11 of 1,000; go on with offset=12]"
    assert outcome.facts["truncated"] is True
    last = await read(tools, "a.txt", 1000, 50)
    assert last.content == "1000\tline 1000\n[lines 1,000–1,000 of 1,000]"


async def test_an_offset_behind_the_end_is_refused_with_the_number_of_lines(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text("one\ntwo")
    with pytest.raises(ToolFailure, match=r"a\.txt has only 2 lines"):
        await read(tools, "a.txt", 3)


@pytest.mark.parametrize(("offset", "limit"), [(0, 1), (-1, 1), (1, 0), (1, -5)])
async def test_numbers_that_are_no_lines_are_refused(tools: Toolbox, offset: int, limit: int) -> None:
    with pytest.raises(ToolFailure, match="from 1"):
        await read(tools, "a.txt", offset, limit)


async def test_an_empty_file_is_said_to_be_empty(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").touch()
    assert (await read(tools, "a.txt")).content == "a.txt is empty."


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "a PNG image"),
        (b"\x7fELF" + b"\0" * 100, "an ELF program"),
        (b"SQLite format 3\0" + b"\0" * 100, "an SQLite database"),
        (b"PK\x03\x04" + bytes(range(1, 9)) * 40, "a ZIP archive"),
        (b"words\0words", "binary data"),
        (bytes(range(1, 32)) * 40, "binary data"),
    ],
)
async def test_binary_content_is_named_and_measured(tools: Toolbox, root: Path, content: bytes, kind: str) -> None:
    (root / "thing.txt").write_bytes(content)
    outcome = await read(tools, "thing.txt")
    assert outcome.content.startswith(f"thing.txt is {kind}")
    assert f"{len(content)} bytes" in outcome.content or "kB" in outcome.content


async def test_bytes_that_are_not_utf8_are_shown_as_such(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_bytes(b"caf\xe9\nok\n")
    content = (await read(tools, "a.txt")).content
    assert content.startswith("1\tcaf�\n2\tok\n")
    assert "not valid text" in content


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
async def test_a_text_with_a_byte_order_mark_is_read_in_its_encoding(tools: Toolbox, root: Path, encoding: str) -> None:
    (root / "a.txt").write_text("grün\nblau\n", encoding=encoding)
    assert (await read(tools, "a.txt")).content == "1\tgrün\n2\tblau"


async def test_crlf_is_said_and_not_shown(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    assert (await read(tools, "a.txt")).content == "1\tone\n2\ttwo\n[lines end in CRLF]"


async def test_a_form_feed_ends_no_line(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text("one\x0cstill one\ntwo\u2028still two\n")
    assert (await read(tools, "a.txt")).facts["lines"] == 2


async def test_a_long_line_is_clipped_and_its_length_told(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text("x" * 1_000_000 + "\nshort\n")
    first, second = (await read(tools, "a.txt")).content.split("\n")
    assert first.startswith("1\t" + "x" * MAX_LINE + "…")
    assert "998,001 more characters" in first
    assert second == "2\tshort"


async def test_an_answer_has_a_largest_size(tools: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text(("y" * 1_900 + "\n") * 2_000)
    outcome = await read(tools, "a.txt")
    assert len(outcome.content) < MAX_OUTPUT + 3_000
    assert "go on with offset=" in outcome.content


async def test_a_file_of_fifty_megabytes_is_streamed(tools: Toolbox, root: Path) -> None:
    line = b"0123456789" * 9 + b"abcdefghi\n"
    with (root / "big.log").open("wb") as file:
        for _ in range(500):
            file.write(line * 1_000)
    tracemalloc.start()
    try:
        outcome = await read(tools, "big.log", 400_000, 3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outcome.content.startswith("400000\t0123")
    assert "of a file of 50 MB; go on with offset=400003" in outcome.content
    assert peak < 5_000_000


async def test_one_endless_line_is_never_held_whole(tools: Toolbox, root: Path) -> None:
    with (root / "one-line.json").open("wb") as file:
        file.truncate(0)
        for _ in range(50):
            file.write(b"x" * 1_000_000)
    tracemalloc.start()
    try:
        outcome = await read(tools, "one-line.json")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "49,998,000 more characters" in outcome.content
    assert peak < 5_000_000


async def test_a_named_pipe_does_not_hang_a_read(tools: Toolbox, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(ToolFailure, match="named pipe"):
        await asyncio.wait_for(read(tools, "pipe"), 60)

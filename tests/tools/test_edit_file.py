"""An edit changes one place, exactly, or says why it cannot."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loom.config import Settings
from loom.tools.edit_file import edited
from loom.tools.outcome import Preview, ToolFailure, ToolOutcome
from loom.tools.paths import Place
from loom.tools.toolbox import Toolbox, build_toolbox
from tests.tools.nothing_said import NothingSaid


async def preview(tools: Toolbox, path: str, old: str, new: str) -> Preview | None:
    ask = tools["edit_file"].preview
    assert ask is not None
    return await ask({"path": path, "old_text": old, "new_text": new})


async def edit(tools: Toolbox, path: str, old: str, new: str) -> ToolOutcome:
    return await tools["edit_file"].function(path, old, new)


async def test_all_places_are_replaced_when_that_is_asked_for(tools: Toolbox, root: Path) -> None:
    (root / "a.py").write_bytes(b"aa = aaa\r\nx\xff aa\r\n")
    ask = tools["edit_file"].preview
    assert ask is not None
    shown = await ask({"path": "a.py", "old_text": "aa", "new_text": "b", "replace_all": True})
    assert shown is not None and "+b = ba" in shown.body
    await tools["edit_file"].function("a.py", "aa", "b", replace_all=True)
    assert (root / "a.py").read_bytes() == b"b = ba\r\nx\xff b\r\n"
    with pytest.raises(ToolFailure):
        await tools["edit_file"].function("a.py", "aa", "b", replace_all=True)


async def test_the_one_place_is_replaced(tools: Toolbox, root: Path) -> None:
    (root / "a.py").write_text("def f():\n    return 1\n")
    outcome = await edit(tools, "a.py", "return 1", "return 2")
    assert (root / "a.py").read_text() == "def f():\n    return 2\n"
    assert outcome.content == "Edited a.py (+1 −1 lines)."
    assert outcome.facts == {
        "path": "a.py",
        "action": "edited",
        "added": 1,
        "removed": 1,
        "diff": "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2",
    }


async def test_the_preview_is_what_is_written(tools: Toolbox, root: Path) -> None:
    (root / "a.py").write_text("one\ntwo\n")
    shown = await preview(tools, "a.py", "two", "2")
    assert shown is not None
    assert (root / "a.py").read_text() == "one\ntwo\n"
    outcome = await edit(tools, "a.py", "two", "2")
    assert outcome.facts["diff"] == shown.body


async def test_a_change_between_preview_and_edit_stops_it(tools: Toolbox, root: Path) -> None:
    (root / "a.py").write_text("one\ntwo\n")
    await preview(tools, "a.py", "two", "2")
    (root / "a.py").write_text("ONE\ntwo\n")
    with pytest.raises(ToolFailure, match="has changed"):
        await edit(tools, "a.py", "two", "2")
    assert (root / "a.py").read_text() == "ONE\ntwo\n"


async def test_edits_that_were_asked_about_together_are_all_made(tools: Toolbox, root: Path) -> None:
    (root / "a.py").write_text("one\ntwo\nthree\n")
    await preview(tools, "a.py", "one", "1")
    await preview(tools, "a.py", "two", "2")
    await preview(tools, "a.py", "three", "3")
    await edit(tools, "a.py", "one", "1")
    await edit(tools, "a.py", "two", "2")
    (root / "a.py").write_text("1\n2\nsomebody else\nthree\n")
    with pytest.raises(ToolFailure, match="has changed"):
        await edit(tools, "a.py", "three", "3")


@pytest.mark.parametrize("ask", [True, False])
async def test_text_that_is_not_there_names_the_nearest_line(tools: Toolbox, root: Path, ask: bool) -> None:
    (root / "a.py").write_text("import os\n\ndef login(user):\n    pass\n")
    call = preview if ask else edit
    with pytest.raises(ToolFailure, match=r"nearest line is 3: «def login\(user\):»"):
        await call(tools, "a.py", "def login(usr):", "x")


async def test_text_that_differs_in_white_space_is_shown_as_it_is(tools: Toolbox, root: Path) -> None:
    (root / "a.py").write_text("def f():\n\treturn   1\n")
    with pytest.raises(ToolFailure, match="lines 1–2 differ from it only in white space") as failure:
        await edit(tools, "a.py", "def f():\n    return 1", "x")
    assert "«def f():\n\treturn   1»" in str(failure.value)


async def test_text_that_is_there_several_times_names_the_lines(tools: Toolbox, root: Path) -> None:
    (root / "a.py").write_text("x = 1\ny = 2\nx = 1\n\nx = 1\n")
    with pytest.raises(ToolFailure, match="3 times, at lines 1, 3, 5"):
        await edit(tools, "a.py", "x = 1", "x = 2")


async def test_overlapping_places_are_several(tools: Toolbox, root: Path) -> None:
    (root / "a").write_text("aaa")
    with pytest.raises(ToolFailure, match="2 times"):
        await edit(tools, "a", "aa", "b")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("", "x", "empty"), ("one", "one", "the same"), ("nothing of the kind", "x", "nor anything like it")],
)
async def test_what_cannot_be_is_refused_in_words(tools: Toolbox, root: Path, old: str, new: str, words: str) -> None:
    (root / "a").write_text("one\n")
    with pytest.raises(ToolFailure, match=words):
        await edit(tools, "a", old, new)


async def test_a_missing_and_a_binary_file_are_refused(tools: Toolbox, root: Path) -> None:
    (root / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    (root / "c.txt").write_text("wide", encoding="utf-16")
    with pytest.raises(ToolFailure, match="There is no a"):
        await edit(tools, "a", "x", "y")
    with pytest.raises(ToolFailure, match=r"b\.png is a PNG image"):
        await edit(tools, "b.png", "x", "y")
    with pytest.raises(ToolFailure, match="UTF-16"):
        await edit(tools, "c.txt", "wide", "y")


async def test_crlf_stays_crlf(tools: Toolbox, root: Path) -> None:
    (root / "a").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await edit(tools, "a", "one\ntwo", "1\n2\n2b")
    assert (root / "a").read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"
    await edit(tools, "a", "three", "3\n4")
    assert (root / "a").read_bytes() == b"1\r\n2\r\n2b\r\n3\r\n4\r\n"


async def test_bytes_that_are_not_utf8_survive_an_edit_beside_them(tools: Toolbox, root: Path) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbfcaf\xe9 one \xff\n")
    await edit(tools, "a", "one", "zwölf")
    assert (root / "a").read_bytes() == b"\xef\xbb\xbfcaf\xe9 zw\xc3\xb6lf \xff\n"


_WORDS = st.text(alphabet="ab\n\r é", max_size=6)


@given(before=st.binary(max_size=60).filter(lambda b: b"\0" not in b) | _WORDS.map(str.encode), old=_WORDS, new=_WORDS)
def test_an_edit_changes_nothing_but_the_one_place(before: bytes, old: str, new: str) -> None:
    place = Place(("a",))
    try:
        after = edited(place, before, old, new)
    except ToolFailure:
        return
    spellings = [(old, new), *[(_crlf(old), _crlf(new))]]
    assert any(before.count(o.encode()) == 1 and before.replace(o.encode(), n.encode()) == after for o, n in spellings)


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


@given(before=st.text(alphabet="abc\n é", min_size=1, max_size=40), data=st.data())
def test_an_edit_and_its_undoing_give_the_same_file(before: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(before) - 1))
    stop = data.draw(st.integers(start + 1, len(before)))
    old, new = before[start:stop], data.draw(st.text(alphabet="xyz\n", min_size=1, max_size=10))
    after = before[:start] + new + before[stop:]
    assume(before.count(old) == 1 and after.count(new) == 1 and old != new)

    async def there_and_back() -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            tools = build_toolbox(root, Settings(), NothingSaid(), len)
            (root / "a").write_text(before)
            try:
                await edit(tools, "a", old, new)
                await edit(tools, "a", new, old)
            except ToolFailure as failure:
                assert "times" in str(failure)  # overlapping occurrences, which str.count does not see
                return
            assert (root / "a").read_text() == before

    asyncio.run(there_and_back())

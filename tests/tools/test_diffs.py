"""A diff says exactly what changes."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from loom.tools.diffs import MAX_COMPARED, MAX_KEPT, make_diff


def apply(old: str, diff: str) -> str:
    """What a diff makes of a text, by the rules of the format and nothing else."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", old)
    result: list[str] = []
    at = 0
    body = diff.split("\n")[2:]
    for index, line in enumerate(body):
        ended = "" if index + 1 < len(body) and body[index + 1].startswith("\\") else "\n"
        if line.startswith("@@"):
            head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
            assert head is not None
            start = int(head[1]) - (0 if head[2] == "0" else 1)
            result += lines[at:start]
            at = start
        elif line.startswith("+"):
            result.append(line[1:] + ended)
        elif line.startswith(("-", " ")):
            assert lines[at] == line[1:] + ended
            if line.startswith(" "):
                result.append(lines[at])
            at += 1
    return "".join(result + lines[at:])


_LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", "--- x", "+++ y", "@@ z", "\\ w", "\x0c", "\u2028", "d\r"]), max_size=30
)
_TEXTS = st.tuples(_LINES, st.sampled_from(["", "\n"])).map(lambda pair: "\n".join(pair[0]) + pair[1])


@given(_TEXTS, _TEXTS)
def test_applying_the_diff_gives_the_new_text(old: str, new: str) -> None:
    assert apply(old, make_diff(old, new, "x").text) == new


def test_a_new_file_is_all_added() -> None:
    diff = make_diff(None, "one\ntwo\n", "src/a.py")
    assert diff.text == "--- /dev/null\n+++ b/src/a.py\n@@ -0,0 +1,2 @@\n+one\n+two"
    assert (diff.added, diff.removed) == (2, 0)


def test_a_missing_last_line_end_is_shown() -> None:
    diff = make_diff("one\n", "one", "a")
    assert "-one\n+one\n\\ No newline at end of file" in diff.text


def test_three_lines_stand_around_a_change() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21))
    diff = make_diff(old, old.replace("10\n", "ten\n"), "a")
    assert diff.text.split("\n")[2:] == [
        "@@ -7,7 +7,7 @@", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13",
    ]  # fmt: skip


def test_changes_far_apart_are_two_hunks_and_close_ones_are_one() -> None:
    old = "".join(f"{n}\n" for n in range(40))
    assert make_diff(old, old.replace("3\n", "x\n", 1).replace("39\n", "y\n"), "a").text.count("@@ -") == 2
    assert make_diff(old, old.replace("20\n", "x\n").replace("26\n", "y\n"), "a").text.count("@@ -") == 1


def test_large_texts_that_differ_everywhere_are_shown_whole_all_the_same() -> None:
    old = "".join(f"old {n}\n" for n in range(MAX_COMPARED))
    new = "".join(f"new {n}\n" for n in range(MAX_COMPARED))
    diff = make_diff("same\n" + old, "same\n" + new, "a")
    assert apply("same\n" + old, diff.text) == "same\n" + new
    assert (diff.added, diff.removed) == (MAX_COMPARED, MAX_COMPARED)


def test_what_is_kept_beside_a_result_is_cut_with_a_word() -> None:
    diff = make_diff(None, "x" * (MAX_KEPT + 1_000) + "\n", "a")
    assert len(diff.kept) < MAX_KEPT + 100
    assert diff.kept.endswith("more characters of this diff")

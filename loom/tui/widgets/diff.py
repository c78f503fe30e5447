"""Unified diffs in colour."""

from __future__ import annotations

from typing import Literal

from textual.content import Content

from loom.text import show_block

LineKind = Literal["plain", "added", "removed", "hunk", "file"]

STYLES: dict[LineKind, str] = {
    "plain": "",
    "added": "$text-success on $success 15%",
    "removed": "$text-error on $error 15%",
    "hunk": "$text-accent",
    "file": "$foreground-muted",
}


def line_kinds(lines: list[str]) -> list[LineKind]:
    """What each line of a unified diff is.

    The header `---`/`+++` is only a header outside of a hunk: inside, `--- x` is a removed line `-- x`.
    """
    kinds: list[LineKind] = []
    in_hunk = False
    for line in lines:
        if line.startswith("@@"):
            in_hunk = True
            kinds.append("hunk")
        elif line.startswith(("diff --git", "index ")):
            in_hunk = False
            kinds.append("file")
        elif not in_hunk:
            kinds.append("file" if line.startswith(("--- ", "+++ ")) else "plain")
        elif line.startswith("+"):
            kinds.append("added")
        elif line.startswith("-"):
            kinds.append("removed")
        else:
            kinds.append("plain")
    return kinds


def diff_content(diff: str, max_lines: int | None = None) -> Content:
    """The diff as coloured text, safe to draw; lines beyond `max_lines` are counted in a last line."""
    lines = show_block(diff.rstrip("\n")).split("\n")
    kinds = line_kinds(lines)
    shown = list(zip(lines, kinds, strict=True))
    # The file's name stands in the card's title.
    shown = [(line, kind) for line, kind in shown if kind != "file"] or shown
    more = 0
    if max_lines is not None and len(shown) > max_lines:
        more = len(shown) - max_lines
        shown = shown[:max_lines]
    content = Content("\n").join(Content.styled(line, STYLES[kind]) for line, kind in shown)
    return content.append_text(f"\n… {more} more lines", "$foreground-muted") if more else content

"""What a search found, ready to be shown: where the match is, what stands beside it, which turns belong together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from loom.archive.records import Revision, SearchHit, Turn, TurnKind
from loom.archive.references import named_references
from loom.text import storable
from loom.tools.recall_text import Recalled, made_head, recalled

NAME = "conversation_recall"
"""The tool whose own answers are never worth recalling."""


def matching(turn: Turn, hit: SearchHit, rank: int, arguments: Mapping[str, Any] | str | None) -> Recalled:
    whole = recalled(turn, arguments)
    # The archive's text of a call and ours may differ in their spaces: the match is in the archive's.
    text = whole.text if hit.content in ("", whole.text) else storable(hit.content)
    return Recalled(
        turn.turn_number,
        f"{whole.head} match {rank}{_also_in(hit)}",
        text,
        match=_where(text, hit),
        rank=rank,
        from_tool=whole.from_tool,
    )


def from_elsewhere(hit: SearchHit, rank: int) -> Recalled:
    who = f"tool:{hit.tool_name or '?'}" if hit.role == "tool" else "pin:" if hit.is_pin else f"{hit.role}:"
    head = made_head(hit.turn_number, who, hit.created_at, f"session {hit.session_reference} {_title(hit)}".strip())
    text = storable(hit.content)
    return Recalled(
        hit.turn_number,
        f"{head} match {rank}{_also_in(hit)}",
        text,
        match=_where(text, hit),
        rank=rank,
        from_tool=hit.role == "tool",
        session=hit.session_reference,
    )


def revised(turn: Recalled, hit: SearchHit, revision: Revision | None) -> Recalled:
    """The turn with a pointer to the later message that takes it back, if there is one."""
    if revision is None:
        return turn
    where = "" if revision.session_id == hit.session_id else f" in session {revision.session_reference}"
    when = revision.created_at[:10]
    return replace(
        turn,
        head=f"{turn.head}; see also T{revision.turn_number}{where}: later decision on the same subject",
        note=f"[T{revision.turn_number}{where}, {when}: {short(revision.passage, 200)}]",
    )


def _also_in(hit: SearchHit) -> str:
    return f"; also in {named_references(hit.also_in)}" if hit.also_in else ""


def _title(hit: SearchHit) -> str:
    title = " ".join(hit.session_title.split())
    return f"“{title[:60]}”" if title else ""


def _where(text: str, hit: SearchHit) -> tuple[int, int]:
    """Where in the text the first highlight of the snippet is."""
    first, last = hit.highlights[0] if hit.highlights else (0, 0)
    snippet = storable(hit.snippet)
    found = snippet[first:last]
    if found:
        # The snippet may begin and end with marks that are not in the text: compare from the highlight on.
        for length in (len(snippet), last + 40, last):
            at = text.find(snippet[first : min(length, len(snippet))].rstrip("…. \n"))
            if at >= 0:
                return at, at + len(found)
        at = text.casefold().find(found.casefold())
        if at >= 0:
            return at, at + len(found)
    return 0, 0


def worth_showing(turn: Turn) -> bool:
    """As a neighbour: what was said, not what was looked up before, and nothing that is loom's own."""
    return turn.tool_name != NAME and turn.kind not in (TurnKind.RECEIPT, TurnKind.NOTE, TurnKind.THINKING)


def runs(found: Mapping[int, Recalled]) -> list[list[Recalled]]:
    """Turns that follow one another, together."""
    runs: list[list[Recalled]] = []
    for number in sorted(found):
        if runs and runs[-1][-1].turn_number >= number - 1:
            runs[-1].append(found[number])
        else:
            runs.append([found[number]])
    return runs


def ranges(numbers: Sequence[int]) -> str:
    """`T3, T7–T9`, at most a dozen of them."""
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    words = [f"T{first}" if first == last else f"T{first}–T{last}" for first, last in spans[:4]]
    return ", ".join(words) + (f" and {len(spans) - 4} more ranges" if len(spans) > 4 else "")


def short(text: str, limit: int = 100) -> str:
    line = " ".join(storable(text).split())
    return f"“{line if len(line) <= limit else line[: limit - 1] + '…'}”"

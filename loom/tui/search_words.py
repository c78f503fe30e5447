"""What the archive browser says about a search beside its hits."""

from __future__ import annotations

from collections.abc import Sequence

from loom.archive.records import SearchPage
from loom.text import plural, show_line
from loom.tui.filter_completion import Asked
from loom.tui.widgets.facet_bar import Facets, Scope


def counted(page: SearchPage, most: int) -> str:
    """How many hits, of at most `most`, among how many turns, in what time: `7 hits · 3,004 turns · 23 ms`."""
    count = len(page.hits)
    found = f"{count}{'+' if count >= most else ''} hit{'' if count == 1 else 's'}"
    return f"{found} · {plural(page.searched_turns, 'turn')} · {page.elapsed_ms:.0f} ms"


def outcome(
    query: str,
    asked: Asked,
    facets: Facets,
    page: SearchPage,
    near: Sequence[str],
    *,
    can_widen: bool,
    named: int = 0,
) -> str:
    """Nothing when all is well; else what was not searched or not understood, what was searched in vain, words that are
    spelt `near`ly like it, and how to search wider; first of all that the query names a turn. Safe to draw."""
    if page.fault:
        return show_line(page.fault, 300)
    said = [f"Enter goes to T{named} of this session."] if named else []
    if page.waiting_turns:
        said.append(f"{page.waiting_turns:,} older turns are still being indexed and were not searched.")
    said += [show_line(doubt, 300) for doubt in page.doubts]
    if page.has_words:
        return " ".join(said)
    where = "the session that it names" if asked.names_session else facets.words()
    turns = plural(page.searched_turns, "turn")
    found = "Nothing but what is near in meaning" if page.hits else "Nothing"
    said.insert(1 if named else 0, f"{found} found for “{show_line(query, 80)}” in {turns} of {where}.")
    said += [show_line(obstacle, 300) for obstacle in page.obstacles]
    if near:
        said.append(f"Nearly so: {', '.join(show_line(word, 40) for word in near)}.")
    if facets.is_limited:
        said.append("^R, ^O and ^G lift the limits.")
    if can_widen and facets.scope is not Scope.ALL:
        said.append("^T searches more.")
    return " ".join(said)

"""`loom context`: what a session's window held, request by request, as it was sent."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from loom.archive import RequestLine, Session
from loom.cli.output import write_line
from loom.cli.reading import opened
from loom.cli.workspace import find_workspace
from loom.context.compare import Comparison, compare
from loom.context.course import cache_shares, course, spans_in, sparkline
from loom.context.seen import SeenPart, SeenRequest, Standing, counting_words
from loom.context.tokens import TokenCounter
from loom.cowork.past_requests import PastRequests, find_request
from loom.errors import LoomError
from loom.locations import find_locations
from loom.text import show, show_line
from loom.times import local_time

NEWEST = 20
"""Requests listed."""
_HIGH = 10
"""Lines of the picture."""

STANDINGS = {
    Standing.SAME: "as it was sent (its digest agrees)",
    Standing.DIFFERENT: "NOT as it was sent: the digest of what the archive gives is another one",
    Standing.UNKNOWN: "as far as the turns tell: an older loom sent it and kept no digest, or that is damaged",
}


def run(parsed: argparse.Namespace) -> int:
    """Print what was asked for."""
    if parsed.full and parsed.at is None:
        raise LoomError("--full shows one request.", "Say which with --at.")
    for line in asyncio.run(_lines(parsed)):
        write_line(line)
    return 0


async def _lines(parsed: argparse.Namespace) -> Iterable[str]:
    locations = find_locations()
    if not locations.archive.exists():
        raise LoomError("The archive is empty: no request was ever sent.")
    async with opened(locations.archive) as store:
        session = await store.resolve_reference(parsed.session, str(find_workspace(parsed.workspace)))
        past = PastRequests(store, TokenCounter(), session.id)
        lines = await past.lines()
        if not lines:
            raise LoomError(f"No request has been sent in session {session.reference} yet.")
        width = shutil.get_terminal_size((100, 24)).columns
        if parsed.at is not None:
            seen = await past.seen(find_request(parsed.at, lines))
            return [_json(_seen_document(seen))] if parsed.json else list(_request(seen, width, full=parsed.full))
        if parsed.diff is not None:
            # Both are found before one is put together, which takes a second.
            wanted = [find_request(place, lines) for place in parsed.diff]
            before, after = [await past.seen(request) for request in wanted]
            found = compare(before, after)
            return [_json(_diff_document(found))] if parsed.json else list(_diff(found, width))
        if parsed.json:
            return [_json({name: line[name] for name in line}) for line in lines]
        return list(_overview(session, lines, await past.seen(lines[-1].request), width))


# ---- for people -----------------------------------------------------------------------------------------------------


def _overview(session: Session, lines: Sequence[RequestLine], newest: SeenRequest, width: int) -> Iterator[str]:
    yield f"{session.reference}  {show_line(session.title or 'untitled', 60)}  ({show_line(session.model_name, 60)})"
    yield ""
    drawn = course(lines, width, _HIGH)
    yield from ("".join(stroke.text for stroke in row).rstrip() for row in drawn.rows)
    yield drawn.legend
    if shares := cache_shares(lines):
        mean = sum(shares) / len(shares)
        yield f"from the provider's cache: {mean:.0%} of the input on average  {sparkline(shares, max(8, width - 60))}"
    yield ""
    yield f"request {newest.request:,}, {_sizes(newest)}"
    yield from _segments(newest)
    yield ""
    yield f"{'request':>8} {'expected':>10} {'counted':>10} {'cached':>7}  turns"
    for line in list(reversed(lines))[:NEWEST]:
        counted = f"{line.reported_tokens:,}" if line.reported_tokens is not None else "-"
        cached = "-" if line.cached_share is None else f"{line.cached_share:.0%}"
        numbers = f"{line.request:>8,} {line.expected_tokens:>10,} {counted:>10} {cached:>7}"
        yield f"{numbers}  {spans_in(line, '-')}"
    if len(lines) > NEWEST:
        yield f"and {len(lines) - NEWEST:,} before; --json lists all, --at N shows one"


def _sizes(seen: SeenRequest) -> str:
    return f"{seen.about}{seen.tokens:,} of {seen.window:,} tokens; {counting_words(seen)}"


def _segments(seen: SeenRequest) -> Iterator[str]:
    for segment, tokens in seen.segments.items():
        yield f"  {segment.value:<14}{tokens:>10,}  {100 * tokens / (seen.window or 1):5.1f}%"


def _request(seen: SeenRequest, width: int, *, full: bool) -> Iterator[str]:
    yield f"request {seen.request:,}  {local_time(seen.created_at)}  {show_line(seen.model_name, 60)}"
    yield f"{_sizes(seen)}; {STANDINGS[seen.standing]}"
    yield from (f"missing: {show_line(each)}" for each in seen.missing)
    yield ""
    for part in seen.parts:
        head = _head(part)
        if full:
            yield f"--- {head}"
            yield show(part.text)
        else:
            yield f"{head}  {show_line(part.text, max(20, width - len(head) - 2))}"


def _head(part: SeenPart) -> str:
    """Turn, whose words they are, tokens."""
    turn = f"T{part.turn}" if part.turn is not None else ""
    what = show_line(part.tool, 24) if part.tool else part.segment.value if part.side == "loom" else part.kind
    return f"{turn:<6} {part.side:<5} {what:<18}{part.tokens:>8,}{' cut' if part.shortened else '    '}"


def _diff(found: Comparison, width: int) -> Iterator[str]:
    yield f"request {found.before.request:,} -> {found.after.request:,}"
    yield f"{found.before_tokens:,} -> {found.after.tokens:,} tokens; the same beginning: {found.prefix_share:.0%}"
    if found.before_tokens != found.before.tokens:
        yield (
            f"counted as request {found.after.request:,} is; request {found.before.request:,} by itself was "
            f"{found.before.tokens:,}"
        )
    for seen in (found.before, found.after):
        if seen.standing is not Standing.SAME:
            yield f"request {seen.request:,} is {STANDINGS[seen.standing]}"
    yield ""
    for segment, (one, other) in found.segments.items():
        if one != other:
            yield f"  {segment.value:<14}{one:>10,} -> {other:>10,}  {other - one:+,}"
    for sign, parts in (("-", found.left), ("+", found.came)):
        for part in parts:
            head = f"{sign} {_head(part)}"
            yield f"{head}  {show_line(part.text, max(20, width - len(head) - 2))}"
    for earlier, later in found.changed:
        yield f"~ {_head(later)}  {earlier.tokens:,} -> {later.tokens:,} tokens"


# ---- for pipes ------------------------------------------------------------------------------------------------------


def _seen_document(seen: SeenRequest) -> dict[str, object]:
    return asdict(seen)


def _diff_document(found: Comparison) -> dict[str, object]:
    return {
        "before": found.before.request,
        "after": found.after.request,
        "standing": [found.before.standing, found.after.standing],
        "segments": found.segments,
        "came": [asdict(part) for part in found.came],
        "left": [asdict(part) for part in found.left],
        "changed": [[asdict(one), asdict(other)] for one, other in found.changed],
        "tokens": [found.before_tokens, found.after.tokens],
        "prefix_tokens": found.prefix_tokens,
        "prefix_share": round(found.prefix_share, 4),
    }


def _json(document: object) -> str:
    return json.dumps(document)

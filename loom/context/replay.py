"""Puts an earlier request together again: from its manifest, out of the turns that the archive has.

The same code that assembled it lays it out, from the numbers in its recipe; the digest then says whether what came out
is what was sent. What it is handed is all that it reads: it may run in any thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse

from loom.archive.records import Manifest, Turn
from loom.context.contents import Contents
from loom.context.edges import Beginning, Edges
from loom.context.fingerprints import Fingerprints, part_words
from loom.context.held import Origin
from loom.context.measure import Count, part_tokens
from loom.context.recipes import Recipe, recipe_from_json
from loom.context.scale import by_segment, factor_of, shared, taken
from loom.context.seen import SeenPart, SeenRequest, Standing
from loom.context.segments import segment_of
from loom.context.trimming import TrimRules
from loom.context.usage import Segment

BESIDE = ("state", "pins", "hint")
"""The texts that stand beside the newest message, in that order."""
_JOINT = "\n\n"
"""Between the pieces of the instructions."""
_WHOLE = TrimRules(preview_tokens=0, trim_chars=0)


def replay(manifest: Manifest, turns: Sequence[Turn], summary: Turn | None, count: Count) -> SeenRequest:
    """The request of this manifest.

    `turns` are the whole exchanges that were in it, ascending, up to its last turn; `summary` is the turn of the
    summary that its recipe names.
    """
    recipe = recipe_from_json(manifest.recipe)
    texts = manifest.texts
    contents = _contents(recipe, turns, summary, count, manifest)
    messages = contents.messages([texts[name] for name in BESIDE if texts.get(name)])
    parts = (
        *_own_parts(texts, recipe, count),
        *_parts(messages, list(contents.origins()), texts, count),
    )
    ours = manifest.estimated_tokens
    expected = recipe.tokens if recipe else ours
    tokens = taken(expected, ours, manifest.reported_tokens)
    kept = {each: manifest.segments[each] for each in Segment if each in manifest.segments}
    factor = factor_of(ours, manifest.reported_tokens) or (recipe.factor if recipe else 0.0)
    factor = factor or (tokens / ours if ours else 1.0)
    counted = _by_our_count(kept, ours)
    segments = by_segment(counted, factor, tokens)
    standing = _standing(recipe, messages, texts)
    missing = tuple(_missing(manifest, recipe, turns, summary))
    return SeenRequest(
        request=manifest.request,
        exchange=manifest.exchange,
        created_at=manifest.created_at,
        model_name=manifest.model_name,
        window=manifest.window_tokens,
        high_water=recipe.high if recipe else None,
        tokens=tokens,
        factor=factor,
        expected_tokens=expected,
        estimated_tokens=ours,
        reported_tokens=manifest.reported_tokens,
        cache_read_tokens=manifest.cache_read_tokens,
        segments=segments,
        counted_segments=counted,
        turns=manifest.turns,
        parts=tuple(_scaled(parts, factor, segments if standing is Standing.SAME else {})),
        standing=standing,
        missing=missing,
    )


def _contents(
    recipe: Recipe | None, turns: Sequence[Turn], summary: Turn | None, count: Count, manifest: Manifest
) -> Contents:
    contents = Contents(recipe.rules if recipe else _WHOLE, count)
    first = manifest.turns[0][0] if manifest.turns else 1
    edges = recipe.edges if recipe else Edges(left_to=first - 1)
    contents.fill(turns, Beginning(edges, recipe.summary if recipe else 0), summary)
    return contents


def _standing(recipe: Recipe | None, messages: Sequence[ModelMessage], texts: Mapping[str, str]) -> Standing:
    if recipe is None or not recipe.digest:
        return Standing.UNKNOWN
    digest = Fingerprints().digest(messages, texts.get("instructions", ""), texts.get("tools", ""))
    return Standing.SAME if digest == recipe.digest else Standing.DIFFERENT


def _missing(manifest: Manifest, recipe: Recipe | None, turns: Sequence[Turn], summary: Turn | None) -> Iterator[str]:
    there = {turn.turn_number for turn in turns}
    gone = [turn for first, last in manifest.turns for turn in range(first, last + 1) if turn not in there]
    if gone:
        yield f"T{gone[0]}{f' and {len(gone) - 1} more turns' if len(gone) > 1 else ''} cannot be read any more"
    if recipe is not None and recipe.summary and summary is None:
        yield f"the summary T{recipe.summary} cannot be read any more"
    if recipe is not None:
        yield from (
            f"the {name} cannot be read any more" for name in ("tools", "instructions") if name not in manifest.texts
        )


def _by_our_count(kept: Mapping[Segment, int], ours: int) -> dict[Segment, int]:
    """An older loom kept them as the gauge showed them: then they add up to another number."""
    whole = sum(kept.values())
    return dict(kept) if whole == ours or not whole else shared(kept, ours / whole, ours)


def _scaled(parts: Sequence[SeenPart], factor: float, segments: Mapping[Segment, int]) -> Iterator[SeenPart]:
    """The parts on the request's scale: what a segment takes, shared out among them. Of a segment that is not given
    (something of it may be gone, or longer than it was) each part by itself."""
    found: dict[int, int] = {}
    for segment in {part.segment for part in parts}:
        counts = {at: part.counted for at, part in enumerate(parts) if part.segment is segment}
        whole = segments.get(segment, round(sum(counts.values()) * factor))
        found |= shared(counts, factor, whole)
    yield from (replace(part, tokens=found.get(at, 0)) for at, part in enumerate(parts))


def _own_parts(texts: Mapping[str, str], recipe: Recipe | None, count: Count) -> Iterator[SeenPart]:
    """What stands in front of the messages."""
    if tools := texts.get("tools"):
        yield SeenPart("loom", "tools", Segment.TOOLS, tools, count(tools))
    for segment, text in _instructions(texts.get("instructions", ""), recipe):
        if text:
            yield SeenPart("loom", segment.value, segment, text, count(text))


def _instructions(text: str, recipe: Recipe | None) -> tuple[tuple[Segment, str], ...]:
    """The instructions in their three pieces, as their segments are counted; what joins them goes with the piece in
    front of it."""
    project = len(text) - (recipe.project_chars if recipe else 0)
    memory = project
    if recipe is not None and recipe.memory_chars:
        memory -= recipe.memory_chars + (len(_JOINT) if recipe.project_chars else 0)
    return (
        (Segment.INSTRUCTIONS, text[:memory]),
        (Segment.MEMORY, text[memory:project]),
        (Segment.PROJECT, text[project:]),
    )


def _parts(
    messages: Sequence[ModelMessage], origins: Sequence[Origin], texts: Mapping[str, str], count: Count
) -> Iterator[SeenPart]:
    where = {id(origin.part): origin for origin in origins}
    own = {texts[name]: segment for name, segment in _OWN.items() if texts.get(name)}
    for message in messages:
        side = "model" if isinstance(message, ModelResponse) else "user"
        for part in message.parts:
            yield _part(part, side, where.get(id(part)), own, count)


_OWN = {"receipt": Segment.RECEIPT, "state": Segment.STATE, "pins": Segment.PINS, "hint": Segment.HINT}


def _part(part: Any, side: str, origin: Origin | None, own: Mapping[str, Segment], count: Count) -> SeenPart:
    text = part_words(part)
    segment = segment_of(part)
    if origin is None and text in own:
        side, segment = "loom", own[text]
    elif part.part_kind in ("tool-return", "retry-prompt"):
        side = "tool"
    return SeenPart(
        side=side,
        kind=part.part_kind,
        segment=segment,
        text=text,
        counted=part_tokens(part, count),
        turn=origin.turn if origin else None,
        tool=getattr(part, "tool_name", None) or "",
        call_id=getattr(part, "tool_call_id", None) or "",
        shortened=origin is not None and not origin.whole,
    )

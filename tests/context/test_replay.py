"""Whatever happened in a session, every request that was sent comes back as it was."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from loom.archive.records import Manifest, Turn
from loom.context.assembly import Assembly
from loom.context.fingerprints import Fingerprints
from loom.context.manifests import manifest_of
from loom.context.repair import repair
from loom.context.replay import replay
from loom.context.seen import Standing, counting_words
from tests.context.happenings import happenings, play
from tests.context.windows import a_window
from tests.support.window_rows import Rows, words


def manifest(assembly: Assembly, fingerprints: Fingerprints) -> Manifest:
    return manifest_of(
        assembly,
        session_id="s",
        request=1,
        exchange=1,
        model_name="offline",
        window=10_000,
        instructions="Be brief.",
        tools="{}",
        digest=fingerprints.digest(assembly.messages, "Be brief.", "{}"),
    )


def in_it(kept: Manifest, rows: Rows) -> list[Turn]:
    """The exchanges that the request had anything of, up to its last turn."""
    ranges = kept.turns
    touched = {t.exchange for t in rows.turns if any(first <= t.turn_number <= last for first, last in ranges)}
    return [t for t in rows.turns if t.exchange in touched and t.turn_number <= kept.recipe["last_turn"]]


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_every_request_comes_back(events: list[tuple[str, int]], size: int) -> None:
    rows, fingerprints = Rows(), Fingerprints()
    window = a_window(size)
    window.set_state("<loom-state>\nfocus: x\n</loom-state>")
    for assembly, _ in play(events, window, rows):
        kept = manifest(assembly, fingerprints)
        seen = replay(kept, in_it(kept, rows), None, words)
        assert (seen.standing, seen.missing) == (Standing.SAME, ())
        assert [part.text for part in seen.parts][:2] == ["{}", "Be brief."]


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_it_has_the_numbers_that_the_gauge_had(events: list[tuple[str, int]], size: int) -> None:
    rows, fingerprints = Rows(), Fingerprints()
    for assembly, _ in play(events, a_window(size), rows):
        kept = manifest(assembly, fingerprints)
        seen = replay(kept, in_it(kept, rows), None, words)
        assert (seen.tokens, seen.segments) == (assembly.tokens, assembly.segments)
        for segment, tokens in seen.segments.items():
            in_parts = [part.tokens for part in seen.parts if part.segment is segment]
            assert not in_parts or sum(in_parts) == tokens


@given(st.integers(1, 3_000), st.floats(0.5, 2.5), st.floats(0.5, 2.5))
@settings(deadline=None, max_examples=60)
def test_once_it_was_counted_it_has_the_numbers_that_the_gauge_has(size: int, before: float, now: float) -> None:
    rows, fingerprints, window = Rows(), Fingerprints(), a_window(9_000)
    window.add(rows.exchange_with_output("read it", "x" * size))
    window.report(int(window.assemble().counted * before))
    window.add(rows.ask("and?"))
    assembly = window.assemble()
    reported = int(assembly.counted * now)
    window.report(reported)
    usage, kept = window.usage(), replace(manifest(assembly, fingerprints), reported_tokens=reported)
    seen = replay(kept, in_it(kept, rows), None, words)
    assert (seen.tokens, seen.segments) == (usage.used, usage.segments) == (reported, usage.segments)
    assert seen.expected_tokens == assembly.tokens and seen.about == ""


def test_a_manifest_of_an_older_loom_is_read_on_the_same_scale() -> None:
    rows, window = Rows(), a_window()
    window.add(rows.ask("what is this?"))
    assembly = window.assemble()
    kept = manifest(assembly, Fingerprints())
    doubled = {name: 2 * tokens for name, tokens in kept.segments.items()}
    recipe = {name: value for name, value in kept.recipe.items() if name not in ("factor", "memory_chars")}
    older = replace(kept, segments=doubled, recipe=recipe | {"tokens": 2 * assembly.counted})
    seen = replay(older, in_it(kept, rows), None, words)
    assert seen.segments == doubled and seen.tokens == sum(doubled.values())
    assert seen.counted_segments == assembly.counted_segments


def test_what_is_gone_is_not_counted_to_what_is_there() -> None:
    rows, window = Rows(), a_window()
    window.add(rows.exchange_with_output("read it", "x" * 3_000))
    window.add(rows.exchange_with_output("read it again", "y"))
    window.add(rows.ask("and?"))
    kept = manifest(window.assemble(), Fingerprints())
    seen = replay(kept, in_it(kept, rows)[4:], None, words)
    assert seen.missing and max(part.tokens for part in seen.parts if part.turn) < 100


@given(st.sampled_from([float("nan"), float("inf"), -1.0, 1e300, 0.0]), st.integers(-9, 99))
def test_a_damaged_recipe_is_no_scale(factor: float, chars: int) -> None:
    rows, window = Rows(), a_window()
    window.add(rows.ask("what is this?"))
    assembly = window.assemble()
    kept = manifest(assembly, Fingerprints())
    damaged = replace(kept, recipe=kept.recipe | {"factor": factor, "memory_chars": chars, "project_chars": -chars})
    seen = replay(damaged, in_it(kept, rows), None, words)
    assert seen.segments == assembly.segments
    assert "".join(part.text for part in seen.parts if part.side == "loom") == "{}Be brief."


def test_a_report_that_cannot_be_of_this_request_is_no_scale() -> None:
    rows, window = Rows(), a_window()
    window.add(rows.ask("what is this?"))
    assembly = window.assemble()
    kept = replace(manifest(assembly, Fingerprints()), reported_tokens=7)
    seen = replay(kept, in_it(kept, rows), None, words)
    assert seen.tokens == assembly.tokens and seen.about == "~" and "cannot be of this request" in counting_words(seen)


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_looking_only_at_the_seams_misses_nothing(events: list[tuple[str, int]], size: int) -> None:
    for assembly, _ in play(events, a_window(size), Rows()):
        assert repair(assembly.messages) == assembly.messages


def test_a_result_whose_call_has_left_names_it_all_the_same() -> None:
    rows, fingerprints = Rows(), Fingerprints()
    events = [*[("ask", 1)] * 6, ("run", 1), ("call", 1), ("answer", 8_464), ("result", 2_454)]
    for assembly, _ in play(events, a_window(2_200), rows):
        kept = manifest(assembly, fingerprints)
        assert replay(kept, in_it(kept, rows), None, words).standing is Standing.SAME


def test_another_text_in_a_turn_is_told_from_the_one_that_was_sent() -> None:
    rows, other, window = Rows(), Rows(), a_window()
    window.add(rows.exchange_with_output("read it", "one thing"))
    window.add(rows.ask("and?"))
    kept = manifest(window.assemble(), Fingerprints())
    other.exchange_with_output("read it", "another thing")
    other.ask("and?")
    assert replay(kept, in_it(kept, rows), None, words).standing is Standing.SAME
    assert replay(kept, in_it(kept, other), None, words).standing is Standing.DIFFERENT


def test_turns_that_are_gone_are_named() -> None:
    rows, window = Rows(), a_window()
    window.add(rows.exchange_with_output("read it", "one thing"))
    window.add(rows.ask("and?"))
    kept = manifest(window.assemble(), Fingerprints())
    seen = replay(kept, in_it(kept, rows)[2:], None, words)
    assert seen.standing is Standing.DIFFERENT and "T1 and 1 more turns" in seen.missing[0]

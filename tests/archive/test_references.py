"""A session is meant by its place, its reference, its id, or the beginning of either."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import AmbiguousReference, ConversationStore, UnknownReference
from loom.archive import references as making
from loom.archive.database import connect
from loom.archive.references import free_reference


async def _named(store: ConversationStore, workspace: Path, *references: str) -> dict[str, str]:
    """Sessions with these references, oldest first: reference -> id."""
    ids = {}
    for reference in references:
        workspace.mkdir(exist_ok=True)
        session = await store.create_session(workspace, "offline", "", title=f"about {reference}")
        ids[reference] = session

        def rename(connection: sqlite3.Connection, of: str = session, to: str = reference) -> None:
            connection.execute("UPDATE cowork_sessions SET reference = ? WHERE id = ?", (to, of))

        await store._access.write(rename)
    return ids


async def test_a_reference_is_short_and_never_all_digits(store: ConversationStore) -> None:
    with closing(connect(store.path)) as connection:
        for _ in range(2000):
            reference = free_reference(connection)
            assert len(reference) == 4
            assert reference.isalnum()
            assert reference == reference.lower()
            assert not reference.isdigit()


async def test_a_reference_grows_when_the_short_ones_are_taken(
    store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_ALPHABET", "a")
    for _ in range(4):
        await store.create_session(tmp_path, "offline", "")
    assert sorted(s.reference for s in await store.list_sessions()) == ["a" * n for n in (4, 5, 6, 7)]


async def test_a_place_in_the_list(store: ConversationStore, tmp_path: Path) -> None:
    here = await _named(store, tmp_path / "here", "aaaa", "bbbb")
    there = await _named(store, tmp_path / "there", "cccc")
    assert (await store.resolve_reference("0")).id == there["cccc"]
    assert (await store.resolve_reference("0", tmp_path / "here")).id == here["bbbb"]
    assert (await store.resolve_reference("1", tmp_path / "here")).id == here["aaaa"]


async def test_a_reference_an_id_and_their_beginnings(store: ConversationStore, tmp_path: Path) -> None:
    ids = await _named(store, tmp_path, "k3xz", "2026a", "k9")
    for typed, meant in (
        ("k3xz", "k3xz"),
        (" K3XZ ", "k3xz"),
        ("k3", "k3xz"),
        ("2026", "2026a"),
        ("k9", "k9"),
        (ids["k9"], "k9"),
        (ids["k9"][:13], "k9"),
    ):
        assert (await store.resolve_reference(typed)).id == ids[meant], typed


async def test_an_exact_reference_goes_before_longer_ones(store: ConversationStore, tmp_path: Path) -> None:
    ids = await _named(store, tmp_path, "abcd", "abcde")
    assert (await store.resolve_reference("abcd")).id == ids["abcd"]


async def test_a_beginning_that_several_have_names_them(store: ConversationStore, tmp_path: Path) -> None:
    await _named(store, tmp_path, "zzz1", "zzz2")
    with pytest.raises(AmbiguousReference, match=r"zzz2 \(about zzz2\); zzz1") as raised:
        await store.resolve_reference("zzz")
    assert raised.value.references == ("zzz2", "zzz1")


async def test_the_workspace_decides_between_several(store: ConversationStore, tmp_path: Path) -> None:
    ids = await _named(store, tmp_path / "here", "zzz1")
    await _named(store, tmp_path / "there", "zzz2")
    assert (await store.resolve_reference("zzz", tmp_path / "here")).id == ids["zzz1"]
    assert (await store.resolve_reference("zzz2", tmp_path / "here")).reference == "zzz2"


async def test_a_place_that_the_list_does_not_have_means_no_other_session(
    store: ConversationStore, tmp_path: Path
) -> None:
    await _named(store, tmp_path / "there", "0abc", "12ab", "2026a")
    for digit in "0123456789":
        with pytest.raises(UnknownReference, match="There is no session here yet" if digit == "0" else "no place"):
            await store.resolve_reference(digit, tmp_path / "here")
    with pytest.raises(UnknownReference, match="no place 12 in the list"):
        await store.resolve_reference("12", tmp_path / "there")
    assert (await store.resolve_reference("2026", tmp_path / "here")).reference == "2026a"


async def test_a_hidden_session_needs_its_whole_name(store: ConversationStore, tmp_path: Path) -> None:
    ids = await _named(store, tmp_path, "hide")
    await store.delete_session(ids["hide"])
    assert (await store.resolve_reference("hide")).id == ids["hide"]
    for typed in ("hid", "0"):
        with pytest.raises(UnknownReference):
            await store.resolve_reference(typed)


@pytest.mark.parametrize(
    "typed", ["", "  ", "nope", "77777777", "99999999999999999999", "%", "_", "\0", "\ud800", "[red]", "²"]
)
async def test_what_means_nothing_is_said_so(store: ConversationStore, tmp_path: Path, typed: str) -> None:
    await _named(store, tmp_path, "abcd")
    with pytest.raises(UnknownReference):
        await store.resolve_reference(typed)

"""Sessions are listed, named, hidden, brought back and forked; their turns stay."""

from __future__ import annotations

import os
import random
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn, TurnKind, UnknownSession, UnknownTurn
from loom.archive.database import connect
from loom.archive.records import NewSession
from loom.archive.sessions import MAX_TITLE, adopt_session
from loom.archive.workspaces import identify
from tests.archive.test_appends import check_chain


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git checkout with one commit and a folder inside."""
    folder = tmp_path / "project"
    (folder / "inside").mkdir(parents=True)
    _git(folder, "init", "-q")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "root")
    return folder


async def test_a_new_session_has_what_it_was_made_with(store: ConversationStore, tmp_path: Path) -> None:
    session = await store.create_session(str(tmp_path), "anthropic:claude", "Be\0kind. \ud800", title=" A  title\n")
    found = await store.get_session(session)
    assert found is not None
    assert (found.workspace_path, found.model_name, found.title) == (str(tmp_path), "anthropic:claude", "A title")
    assert (found.system_prompt, found.session_state) == ("Be\0kind. \ufffd", "{}")
    assert (found.turn_count, found.is_active, found.parent_id, found.workspace_commit) == (0, True, None, None)


async def test_an_unknown_session_is_none(store: ConversationStore) -> None:
    assert await store.get_session("nowhere") is None


async def test_the_first_message_gives_the_title_and_the_newest_the_focus(
    store: ConversationStore, session: str
) -> None:
    await store.append_turn(session, "user", "\n \n  Fix the login \t \nIt fails since May.")
    await store.append_turn(session, "assistant", "Which one?")
    await store.append_turn(session, "user", "x" * 3000)
    await store.append_turn(session, "user", " \n ")
    await store.append_turn(session, "user", None, kind=TurnKind.FILE)
    (found,) = await store.list_sessions()
    assert found.title == "Fix the login"
    assert found.focus == "x" * MAX_TITLE


async def test_one_append_gives_title_and_focus_too(store: ConversationStore, session: str) -> None:
    await store.append_turns(session, [NewTurn(role="user", content=c) for c in ("first\r\nmore", "second")])
    (found,) = await store.list_sessions()
    assert (found.title, found.focus) == ("first", "second")


async def test_a_given_title_stays(store: ConversationStore, session: str) -> None:
    await store.rename_session(session, "Mine\nand " + "long " * 50)
    await store.append_turn(session, "user", "something else")
    (found,) = await store.list_sessions()
    assert found.title.startswith("Mine and long")
    assert len(found.title) <= MAX_TITLE


async def test_the_newest_activity_comes_first(store: ConversationStore, tmp_path: Path) -> None:
    made = [await store.create_session(tmp_path, "offline", "") for _ in range(4)]
    await store.append_turn(made[1], "user", "again")
    assert [s.id for s in await store.list_sessions()] == [made[1], made[3], made[2], made[0]]
    assert [s.id for s in await store.list_sessions(limit=2, offset=1)] == [made[3], made[2]]


async def test_the_order_is_that_of_activity_whatever_happens(store: ConversationStore, tmp_path: Path) -> None:
    chance = random.Random(7)
    made = [await store.create_session(tmp_path, "offline", "") for _ in range(3)]
    for step in range(150):
        match chance.randrange(8):
            case 0:
                made.append(await store.create_session(tmp_path, "offline", ""))
            case 1:
                await store.delete_session(chance.choice(made))
            case 2:
                await store.restore_session(chance.choice(made))
            case 3:
                # A clock that was set, or a conversation of another day.
                moment = f"{chance.choice([2001, 2031, 2032])}-01-01T00:00:00.{step:06}Z"
                await store.append_turn(chance.choice(made), "user", "imported", created_at=moment)
            case _:
                for _ in range(chance.choice([1, 1, 3])):
                    await store.append_turn(made[chance.choice([-1, -1, 0, 1])], "user", "again")
        listed = await store.list_sessions(include_inactive=True)
        assert [s.last_active_at for s in listed] == sorted((s.last_active_at for s in listed), reverse=True)
        assert {s.id for s in listed} == set(made)
        shown = [s.id for s in listed if s.is_active]
        assert [s.id for s in await store.list_sessions()] == shown
        assert [s.id for s in await store.list_sessions(tmp_path)] == shown


async def test_going_on_with_one_session_leaves_the_indexes_of_the_list_alone(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    async def listed_at() -> list[str]:
        with closing(connect(store.path, readonly=True)) as connection:
            return [row[0] for row in connection.execute("SELECT listed_at FROM cowork_sessions ORDER BY rowid")]

    other = await store.create_session(tmp_path, "offline", "")
    await store.append_turn(session, "user", "one")
    before = await listed_at()
    await store.append_turn(session, "user", "two")
    assert await listed_at() == before
    await store.append_turn(other, "user", "three")
    assert all(now > then for now, then in zip(await listed_at(), before, strict=True))


async def test_a_turn_of_the_past_does_not_make_a_session_older(store: ConversationStore, session: str) -> None:
    (before,) = await store.list_sessions()
    await store.append_turn(session, "user", "imported", created_at="2001-01-01T00:00:00Z")
    (after,) = await store.list_sessions()
    assert after.last_active_at == before.last_active_at


async def test_a_workspace_lists_its_own_sessions(store: ConversationStore, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    session = await store.create_session(tmp_path / "one", "offline", "")
    (tmp_path / "link").symlink_to(tmp_path / "one")
    assert [s.id for s in await store.list_sessions(tmp_path / "one")] == [session]
    assert [s.id for s in await store.list_sessions(tmp_path / "link")] == [session]
    assert await store.list_sessions(tmp_path / "two") == []


async def test_a_moved_checkout_finds_its_sessions(store: ConversationStore, checkout: Path) -> None:
    root = _git(checkout, "rev-parse", "HEAD")
    here = await store.create_session(checkout, "offline", "")
    inside = await store.create_session(checkout / "inside", "offline", "")
    _git(checkout, "commit", "-q", "--allow-empty", "-m", "later")
    moved = checkout.rename(checkout.parent / "moved")
    assert [s.id for s in await store.list_sessions(moved)] == [here]
    assert [s.id for s in await store.list_sessions(moved / "inside")] == [inside]
    assert (await store.list_sessions(moved))[0].workspace_commit == root
    new = await store.create_session(moved, "offline", "")
    assert [s.id for s in await store.list_sessions(moved)] == [new, here]


async def test_a_merged_history_does_not_change_the_workspace(store: ConversationStore, checkout: Path) -> None:
    session = await store.create_session(checkout, "offline", "")
    _git(checkout, "checkout", "-q", "--orphan", "other")
    _git(checkout, "commit", "-q", "--allow-empty", "-m", "another root", "--date=2099-01-01T00:00:00Z")
    _git(checkout, "checkout", "-q", "main")
    _git(checkout, "merge", "-q", "--allow-unrelated-histories", "-m", "merged", "other")
    again = await ConversationStore.open(store.path)
    moved = checkout.rename(checkout.parent / "moved")
    assert [s.id for s in await again.list_sessions(moved)] == [session]
    await again.close()


async def test_git_variables_of_the_surroundings_do_not_matter(
    store: ConversationStore, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(checkout / ".git"))
    session = await store.create_session(tmp_path, "offline", "")
    found = await store.get_session(session)
    assert found is not None
    assert found.workspace_commit is None


async def test_git_is_asked_about_a_history_wherever_one_begins_and_nowhere_else(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _git(checkout, "rev-parse", "HEAD")
    _git(tmp_path, "clone", "-q", "--bare", str(checkout), "bare")
    _git(checkout, "worktree", "add", "-q", str(tmp_path / "beside"))
    assert identify(tmp_path / "beside").commit == identify(tmp_path / "bare" / "objects").commit == root
    asked = tmp_path / "asked"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f"#!/bin/sh\necho $PWD >> {asked}\n")
    (tmp_path / "bin" / "git").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    identify(tmp_path)
    identify(checkout / "inside")
    assert asked.read_text().split() == [str(checkout / "inside")]


async def test_a_workspace_name_that_is_no_text_is_kept_readable(store: ConversationStore, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    session = await store.create_session(folder, "offline", "")
    assert [s.id for s in await store.list_sessions(folder)] == [session]


async def test_a_deleted_session_is_hidden_and_comes_back_whole(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "kept")
    await store.delete_session(session)
    assert await store.list_sessions() == []
    (hidden,) = await store.list_sessions(include_inactive=True)
    assert not hidden.is_active
    assert [turn.content for turn in await store.get_turns(session)] == ["kept"]
    await store.restore_session(session)
    assert [s.id for s in await store.list_sessions()] == [session]


async def test_a_fork_has_the_turns_up_to_a_point(store: ConversationStore, session: str) -> None:
    for n in range(5):
        await store.append_turn(session, "user", f"turn {n}\0", usage={"input_tokens": 1}, append_key=str(n))
    await store.update_session_state(session, {"last_turn": 5})
    fork = await store.fork_session(session, 3)
    source, copy = await store.get_turns(session), await store.get_turns(fork)
    assert [(t.turn_number, t.content, t.digest) for t in copy] == [
        (t.turn_number, t.content, t.digest) for t in source[:3]
    ]
    found = await store.get_session(fork)
    assert found is not None
    assert (found.parent_id, found.fork_turn, found.turn_count, found.exchange_count) == (session, 3, 3, 3)
    assert (found.session_state, found.system_prompt) == ("{}", "You are loom.")
    assert await store.append_turn(fork, "user", "another way") == 4
    assert await store.append_turn(session, "user", "this way") == 6
    with closing(connect(store.path, readonly=True)) as connection:
        check_chain(await store.get_turns(fork), connection, fork)


async def test_a_fork_of_the_whole_keeps_the_state(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "only one")
    await store.update_session_state(session, {"last_turn": 1, "focus": "é\0"})
    for at in (None, 1):
        found = await store.get_session(await store.fork_session(session, at))
        assert found is not None
        assert found.session_state == '{"last_turn":1,"focus":"é\\u0000"}'


async def test_a_fork_needs_a_turn_that_is_there(store: ConversationStore, session: str) -> None:
    with pytest.raises(UnknownTurn, match="no turn T1"):
        await store.fork_session(session, 1)
    with pytest.raises(UnknownTurn, match="no turn T-1"):
        await store.fork_session(session, -1)
    with pytest.raises(UnknownSession):
        await store.fork_session("nowhere")
    assert len(await store.list_sessions()) == 1


async def test_model_and_state_change(store: ConversationStore, session: str) -> None:
    await store.update_model(session, "openai:new")
    await store.update_session_state(session, {"a": [1, "😀"]})
    found = await store.get_session(session)
    assert found is not None
    assert (found.model_name, found.session_state) == ("openai:new", '{"a":[1,"😀"]}')


async def test_what_does_not_exist_cannot_be_changed(store: ConversationStore) -> None:
    for change in (
        store.rename_session("nowhere", "x"),
        store.delete_session("nowhere"),
        store.restore_session("nowhere"),
        store.update_model("nowhere", "x"),
        store.update_session_state("nowhere", {}),
        store.resume_session("nowhere"),
    ):
        with pytest.raises(UnknownSession):
            await change


async def test_a_resumed_session_gives_its_newest_turns(store: ConversationStore, session: str) -> None:
    for n in range(7):
        await store.append_turn(session, "user", str(n))
    assert [turn.content for turn in await store.resume_session(session, limit=3)] == ["4", "5", "6"]


async def test_checkouts_of_one_history_are_listed_together_by_their_activity(
    store: ConversationStore, checkout: Path, tmp_path: Path
) -> None:
    _git(tmp_path, "clone", "-q", str(checkout), "clone")
    made = [await store.create_session(folder, "offline", "") for folder in (checkout, tmp_path / "clone", checkout)]
    assert [s.id for s in await store.list_sessions(checkout)] == made[::-1]
    assert [s.id for s in await store.list_sessions(tmp_path / "clone")] == made[::-1]


async def test_a_session_comes_back_under_another_reference_where_its_own_is_taken(
    store: ConversationStore, session: str
) -> None:
    there = await store.get_session(session)
    assert there is not None
    back = NewSession(
        id="00000000-0000-4000-8000-000000000001",
        reference=there.reference,
        title="It was in a lost log",
        workspace_path=there.workspace_path,
        workspace_commit=None,
        model_name="offline",
        system_prompt="",
        started_at="2026-01-01T00:00:00.000000Z",
        parent_id=None,
        fork_turn=None,
    )
    with closing(connect(store.path)) as connection:
        assert adopt_session(connection, back)
        assert not adopt_session(connection, back), "it is there by now"
    found = await store.get_session(back.id)
    assert found is not None
    assert found.title == back.title and found.reference != there.reference


@pytest.mark.parametrize("damage", ["'k]'", "'5'", "'[5]'", "'null'", "CAST(x'ff5d' AS TEXT)"])
async def test_damage_in_one_row_hides_no_session(store: ConversationStore, session: str, damage: str) -> None:
    other = await store.create_session("/elsewhere", "offline", "")
    with closing(connect(store.path)) as connection:
        connection.execute(f"UPDATE cowork_sessions SET tags = {damage} WHERE id = ?", (session,))
    assert [s.id for s in await store.list_sessions()] == [other, session]
    detail = await store.get_session(session)
    assert detail is not None
    assert detail.tags == ()

"""What was said in other sessions: recalled where the person allows it, and cited with its session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loom.config import Settings
from loom.tools import recall
from loom.tools.outcome import ToolFailure
from loom.tools.recall_frame import READ_ON
from tests.support.checkout import git
from tests.tools.talk import Talk


async def test_what_stands_beside_a_match_in_another_session_is_shown_and_can_be_read_on(talk: Talk) -> None:
    wide = Settings(recall_scope="all", recall_tokens=1_000)
    question = await talk.user("Which of the boats is the Albatross?")
    answer = await talk.assistant("The green one. " + "Its planks are new. " * 1_000)
    first = await talk.store.get_session(talk.session)
    assert first is not None
    await talk.begin()
    own = await talk.user("Now something else.")
    content = await talk.recall("search", query="albatross", scope="all", settings=wide)
    assert f"[Turn {question}] user: (2026-01-15 14:30, session {first.reference} “Which of the boats" in content
    assert f"[Turn {answer}] assistant: (2026-01-15 14:31, session {first.reference}" in content
    assert f"\n[{READ_ON} action=range session={first.reference} start_turn={answer} offset=" in content
    piece = await talk.recall("range", session=first.reference, start_turn=answer, offset=19_900, settings=wide)
    assert "Its planks are new." in piece
    assert f"[Turn {answer}] assistant: (2026-01-15 14:31, session {first.reference})" in piece
    both = await talk.recall("range", session=first.reference, start_turn=2, end_turn=9, settings=wide)
    assert "The green one." in both and "The session ends with turn 2." in both
    mine = await talk.store.get_session(talk.session)
    assert mine is not None
    assert "something else" in await talk.recall("range", session=mine.reference, start_turn=own)


async def test_a_session_beyond_the_scope_is_not_read(talk: Talk, tmp_path: Path) -> None:
    await talk.user("The secret is Quetzalcoatl.")
    here = await talk.store.get_session(talk.session)
    assert here is not None
    there = await talk.store.create_session(tmp_path / "elsewhere", "offline", "")
    await talk.store.append_turn(there, "user", "Another secret.")
    other = await talk.store.get_session(there)
    assert other is not None
    await talk.begin()
    await talk.user("Hello.")
    with pytest.raises(ToolFailure, match="Only this session"):
        await talk.recall("range", session=here.reference, start_turn=1)
    near = Settings(recall_scope="workspace")
    assert "Quetzalcoatl" in await talk.recall("range", session=here.reference, start_turn=1, settings=near)
    for unknown in (other.reference, "0", "zzzzzz"):
        with pytest.raises(ToolFailure, match="none goes by"):
            await talk.recall("range", session=unknown, start_turn=1, settings=near)
    await talk.store.delete_session(here.id)
    with pytest.raises(ToolFailure, match="none goes by"):
        await talk.recall("range", session=here.reference, start_turn=1, settings=near)


async def test_a_session_that_another_loom_deleted_goes_on_recalling(talk: Talk) -> None:
    await talk.user("Let's deploy with Capistrano.")
    await talk.user("I changed my mind: we no longer deploy with Capistrano.")
    await talk.store.delete_session(talk.session)
    content = await talk.recall("search", query="capistrano")
    assert "[Turn 1] user: (2026-01-15 14:30) match" in content and "see also T2" in content


async def test_of_what_a_fork_copied_its_own_turn_is_recalled(talk: Talk) -> None:
    for text in ("one", "We use JWT refresh tokens", "three"):
        await talk.user(text)
    first = await talk.store.get_session(talk.session)
    assert first is not None
    wide = Settings(recall_scope="all")
    fork = await talk.store.get_session(await talk.store.fork_session(first.id))
    assert fork is not None
    content = await talk.recall("search", query="JWT", scope="workspace", settings=wide)
    assert f"[Turn 2] user: (2026-01-15 14:30) match 1; also in {fork.reference}\n" in content
    talk.session = fork.id
    content = await talk.recall("search", query="JWT", scope="all", settings=wide)
    assert f"[Turn 2] user: (2026-01-15 14:30) match 1; also in {first.reference}\n" in content
    assert "1 match in all sessions" in content


async def test_a_match_that_stands_beside_another_in_the_session_it_was_copied_from_is_shown_once(talk: Talk) -> None:
    await talk.user("There is one zebra in the yard.")
    first = talk.session
    fork = await talk.store.fork_session(first)
    await talk.user("The zebra crossing is closed.")
    talk.session = fork
    content = await talk.recall(
        "search", query="zebra crossing", scope="workspace", settings=Settings(recall_scope="workspace")
    )
    once, beside = "\n  There is one zebra in the yard.", "\n  The zebra crossing is closed."
    assert content.index(beside) < content.index(once)
    assert content.count(once) == 1 and "match 2" in content


async def test_what_was_taken_back_in_another_session_is_told_where_that_may_be_seen(talk: Talk) -> None:
    await talk.user("We deploy with Capistrano.")
    await talk.begin()
    later = await talk.user("We no longer deploy with Capistrano.", "2026-02-01T09:00:00.000000Z")
    second = await talk.store.get_session(talk.session)
    assert second is not None
    content = await talk.recall("search", query="capistrano", scope="all", settings=Settings(recall_scope="all"))
    assert f"see also T{later} in session {second.reference}: later decision" in content
    await talk.begin()
    await talk.user("Capistrano was slow.")
    assert "see also" not in await talk.recall("search", query="capistrano")


async def test_words_of_other_sessions_are_not_given_away(talk: Talk) -> None:
    await talk.user("The secret project is called Quetzalcoatl.")
    await talk.begin()
    await talk.user("Hello.")
    assert "Spelt" not in await talk.recall("search", query="quetsalkotl")
    everywhere = await talk.recall(
        "search", query="quetsalkotl -hello", scope="all", settings=Settings(recall_scope="all")
    )
    assert "“quetzalcoatl”" in everywhere


async def test_other_sessions_are_searched_only_when_the_person_allows(talk: Talk) -> None:
    first = talk.session
    await talk.user("the zebra of the first session")
    await talk.begin()
    await talk.user("nothing here")
    narrow = await talk.recall("search", query="zebra", scope="all")
    assert "first session" not in narrow
    assert "scope=all is not allowed here" in narrow
    wide = await talk.recall("search", query="zebra", scope="workspace", settings=Settings(recall_scope="all"))
    session = await talk.store.get_session(first)
    assert session is not None
    assert f"session {session.reference}" in wide
    assert "  the zebra of the first session" in wide


async def test_what_forks_have_in_common_is_shown_once(talk: Talk) -> None:
    for text in ("one", "two", "Which boat is it?"):
        await talk.user(text)
    first = talk.session
    for name in ("Albatross", "Cormorant", "Albatross II"):
        talk.session = await talk.store.fork_session(first)
        await talk.assistant(f"It is the {name}, I think.")
    await talk.begin()
    await talk.user("Now something else.")
    content = await talk.recall("search", query="albatross", scope="all", settings=Settings(recall_scope="all"))
    assert content.count("  Which boat is it?") == 1
    assert content.count("[Turn 4] assistant:") >= 2


async def test_what_is_left_out_of_other_sessions_is_named_with_them(talk: Talk) -> None:
    references = []
    for _ in range(3):
        await talk.user("The zeppelin " + "is long and round " * 100)
        session = await talk.store.get_session(talk.session)
        assert session is not None
        references.append(session.reference)
        await talk.begin()
    wide = Settings(recall_scope="all", recall_tokens=500)
    content = await talk.recall("search", query="zeppelin", scope="all", settings=wide)
    left_out = content[content.index("[left out for length: ") :].splitlines()[0]
    named = [f"session {reference}: T1" in left_out for reference in references]
    assert any(named) and not re.search(r"(?<!: )T1", left_out)


async def test_a_session_of_another_checkout_is_of_the_same_workspace(talk: Talk, tmp_path: Path) -> None:
    git(talk.workspace, "init", "-q")
    git(talk.workspace, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(tmp_path, "clone", "-q", str(talk.workspace), "clone")
    there = await talk.store.create_session(tmp_path / "clone", "offline", "")
    await talk.store.append_turn(there, "user", "Said in the clone.")
    other = await talk.store.get_session(there)
    assert other is not None
    await talk.user("Hello.")
    near = Settings(recall_scope="workspace")
    content = await talk.recall("range", session=other.reference, start_turn=1, settings=near)
    assert "Said in the clone." in content


async def test_a_session_is_for_range_alone_and_cited_in_full(talk: Talk) -> None:
    await talk.user("The secret is Quetzalcoatl.")
    first = await talk.store.get_session(talk.session)
    assert first is not None
    await talk.begin()
    await talk.user("Hello.")
    own = await talk.store.get_session(talk.session)
    assert own is not None
    wide = Settings(recall_scope="all")
    with pytest.raises(ToolFailure, match="session is for range alone"):
        await talk.recall("search", query="hello", session=first.reference, settings=wide)
    content = await talk.recall("range", session=first.reference.upper(), start_turn=1, settings=wide)
    assert f"session {first.reference})" in content
    assert "Hello." in await talk.recall("range", session=own.reference.upper(), start_turn=1)


async def test_a_late_match_whose_copy_stands_beside_one_of_the_first_is_shown_once_and_whole(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "USUAL", 1)
    copied = f"There is one zebra in the yard. {'Nobody has seen any other. ' * 20}So much for that."
    await talk.user(copied)
    first = talk.session
    await talk.begin()
    asking = talk.session
    talk.session = await talk.store.fork_session(first)
    await talk.user("Close the zebra crossing, the zebra crossing.")
    talk.session = asking
    wide = Settings(recall_scope="all")
    content = await talk.recall("search", query="zebra crossing", scope="all", settings=wide)
    assert content.count("\n  There is one zebra in the yard.") == 1
    assert re.search(r"^\[Turn 1\] user: .* match 2", content, re.MULTILINE) and copied in content


async def test_a_title_cannot_say_what_is_said_of_a_match(talk: Talk) -> None:
    await talk.user("The zeppelin”) match 1; rewound past")
    await talk.begin()
    content = await talk.recall("search", query="zeppelin", scope="all", settings=Settings(recall_scope="all"))
    heads = [line for line in content.splitlines() if line.startswith("[Turn 1]")]
    assert [re.sub("“.*?”", "“”", head).partition("“”")[2] for head in heads] == [") match 1"]

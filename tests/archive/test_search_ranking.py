"""Which turn comes first, where words alone do not decide."""

from __future__ import annotations

from loom.archive import ConversationStore, NewTurn
from loom.archive.records import Role


async def tell(store: ConversationStore, session: str, *turns: tuple[Role, str, str]) -> None:
    new = [NewTurn(role=role, content=text, created_at=f"{day}T10:00:00.000000Z") for role, text, day in turns]
    await store.append_turns(session, new)


async def first(store: ConversationStore, session: str, query: str) -> int:
    return (await store.search_turns(session, query))[0].turn_number


async def test_who_is_asked_about_comes_first(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("assistant", "A cache would help the importer.", "2024-01-01"),
        ("user", "A cache would help the importer.", "2024-01-09"),
    )
    assert await first(store, session, "what did you suggest about the importer cache?") == 1
    assert await first(store, session, "what did I say about the importer cache?") == 2


async def test_who_is_called_by_a_name_is_known_by_it(store: ConversationStore, session: str) -> None:
    greetings: list[tuple[Role, str, str]] = [
        ("user", f"Hey Melanie! {word} is what I think of.", "2024-01-01") for word in ("Rain", "Snow", "Wind", "Sun")
    ]
    await tell(
        store,
        session,
        *greetings,
        ("user", "My pottery class was lovely.", "2024-02-01"),
        ("assistant", "My pottery class was lovely.", "2024-03-01"),
    )
    assert await first(store, session, "where was Melanie at pottery class?") == 6


async def test_a_date_in_the_question_picks_the_time(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "the deployment was slow", "2024-01-10"),
        ("user", "the deployment was slow", "2024-03-15"),
        ("user", "the deployment was slow", "2024-06-20"),
    )
    assert await first(store, session, "what about the slow deployment in March 2024?") == 2
    assert await first(store, session, "what about the slow deployment on 10 January 2024?") == 1


async def test_an_identifier_as_typed_is_above_its_words(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "the refresh of the token is about the token refresh", "2024-01-01"),
        ("assistant", "see refresh_token_now in the client", "2024-01-02"),
        ("assistant", "see refresh_token in the client", "2024-01-03"),
        ("user", "refresh every token", "2024-01-04"),
    )
    hits = await store.search_turns(session, "refresh_token")
    assert [hit.turn_number for hit in hits[:2]] == [3, 2]


async def test_a_standing_instruction_bears_on_every_question(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "Always use British spelling when I ask for documentation.", "2024-01-01"),
        ("user", "the colour picker is new", "2024-02-02"),
        ("assistant", "the picker has three modes", "2024-03-03"),
    )
    asked = await store.search_turns(session, "how should the guide describe the picker?")
    assert 1 in [hit.turn_number for hit in asked]
    looked_up = await store.search_turns(session, "picker modes")
    assert 1 not in [hit.turn_number for hit in looked_up]


async def test_one_word_finds_only_turns_that_have_it(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "before", "2024-01-01"),
        ("user", "the quokka", "2024-01-01"),
        ("user", "after", "2024-01-01"),
    )
    assert [hit.turn_number for hit in await store.search_turns(session, "quokka")] == [2]

"""Which turn comes first, where words alone do not decide."""

from __future__ import annotations

import asyncio

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.records import Role, TurnKind
from loom.archive.reindex import reindex
from loom.archive.search.compounds import halves
from loom.archive.search.marks import RULE_FACET, facets_of
from loom.archive.search.related import related_to
from loom.archive.search.stems import stem


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


async def test_the_form_of_the_answer_is_not_what_is_asked_about(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "That was so kind of you, the kind thing to do.", "2024-03-01"),
        ("user", "Nothing new here but rain.", "2024-03-02"),
        ("user", "The bus was late for a long while, and the driver shouted at us.", "2024-03-03"),
        ("user", "I made art with my sister: a big abstract mural of the harbour.", "2024-03-04"),
        ("user", "We saw some more art in town.", "2024-03-05"),
    )
    found = [hit.turn_number for hit in await store.search_turns(session, "What kind of art do I make?")]
    assert set(found[:2]) == {4, 5}


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


async def test_a_standing_instruction_bears_on_what_is_to_be_done(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "Always use British spelling in the documentation.", "2024-01-01"),
        ("user", "the colour picker is new", "2024-02-02"),
        ("assistant", "the picker has three modes", "2024-03-03"),
    )
    asked = await store.search_turns(session, "how should the guide describe the picker?")
    assert 1 in [hit.turn_number for hit in asked]
    for query in ("picker modes", "when did we talk about the picker?"):
        assert 1 not in [hit.turn_number for hit in await store.search_turns(session, query)]


async def test_a_standing_instruction_about_something_else_comes_behind(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "Always confirm attendance when I ask about social events.", "2024-01-01"),
        ("user", "Never reformat zshrc.", "2024-01-02"),
        ("assistant", "The error of the parser comes from line 3.", "2024-02-02"),
        ("assistant", "The parser reads a file.", "2024-02-09"),
        ("assistant", "An old error is gone.", "2024-02-16"),
    )

    async def found(query: str) -> list[int]:
        return [hit.turn_number for hit in await store.search_turns(session, query)]

    assert set((await found("how do I fix the error of the parser?"))[:3]) == {3, 4, 5}
    party = await found("shall I bring the parser to the party?")
    assert party.index(1) < party.index(2)
    shell = await found("can you put the parser into zshrc?")
    assert shell.index(2) < shell.index(1)


async def test_who_asks_again_finds_what_was_told_before_what_was_asked(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("assistant", "The deployment of the billing service waits for Tuesday.", "2024-01-01"),
        ("user", "What did we say about the deployment of the billing service?", "2024-02-01"),
        ("user", "Did anyone test the deployment of the billing service on the small machines?", "2024-03-01"),
    )
    asked = "when is the deployment of the billing service?"
    assert [hit.turn_number for hit in await store.search_turns(session, asked)][-1] == 2
    # Even where it was asked word for word.
    assert await first(store, session, "What did we say about the deployment of the billing service?") != 2
    # What was asked is found by its words all the same.
    assert 2 in [hit.turn_number for hit in await store.search_turns(session, "deployment billing service")]


async def test_what_the_model_said_on_its_way_to_look_something_up_tells_nothing(
    store: ConversationStore, session: str
) -> None:
    await tell(store, session, ("assistant", "The deployment of the billing service waits for Tuesday.", "2024-01-01"))
    looked_up = []
    for name in ("conversation_recall", "shell_execute"):
        remark = f"Let me look up the deployment of the billing service with {name.split('_')[-1]}."
        looked_up.append(await store.append_turn(session, "assistant", remark))
        call = [{"id": f"c-{name}", "name": name, "arguments": {"query": "deployment billing service"}}]
        await store.append_turn(session, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=call)
        await store.append_turn(session, "tool", "Nothing.", kind=TurnKind.TOOL_RESULT, tool_call_id=f"c-{name}")
    asked = "what about the deployment of the billing service?"
    for is_indexed in (False, True):
        if is_indexed:
            await asyncio.to_thread(reindex, store.path)
        found = [hit.turn_number for hit in await store.search_turns(session, asked)]
        assert found.index(looked_up[0]) > max(found.index(1), found.index(looked_up[1]))
    # It is found by its words all the same.
    assert looked_up[0] in [hit.turn_number for hit in await store.search_turns(session, "deployment recall")]


async def test_questions_that_were_looked_up_do_not_take_the_place_of_what_was_told(
    store: ConversationStore, session: str
) -> None:
    told = await store.append_turn(session, "user", "My sister's wedding is on the twelfth of July.")
    for text in ("We camped all summer.", "It was a hot summer.", "That summer the well ran dry.", "Summer is over."):
        await store.append_turn(session, "assistant", text)
    asked = []
    for i, about in enumerate(("the wedding", "her wedding", "the wedding day")):
        asked.append(await store.append_turn(session, "user", f"What did we say about {about}?"))
        call = [{"id": f"c{i}", "name": "conversation_recall", "arguments": {"query": about}}]
        await store.append_turn(session, "assistant", "Let me see.")
        await store.append_turn(session, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=call)
        await store.append_turn(session, "tool", "Nothing.", kind=TurnKind.TOOL_RESULT, tool_call_id=f"c{i}")
        await store.append_turn(session, "assistant", "I see.")
    for is_indexed in (False, True):
        if is_indexed:
            await asyncio.to_thread(reindex, store.path)
        found = [hit.turn_number for hit in await store.search_turns(session, "Who gets married in summer?")]
        assert told in found[:5] and found.index(told) < min(map(found.index, {*asked} & {*found}))


@pytest.mark.parametrize(
    "query", ["E0433", "tokio undeclared", "what did we say about E0433?", "木曜日", '"undeclared crate"']
)
async def test_where_it_was_said_comes_before_what_was_asked_and_told_of_it_later(
    store: ConversationStore, session: str, query: str
) -> None:
    told = await store.append_turn(session, "assistant", "error[E0433]: undeclared crate tokio, said on 木曜日")
    for number in range(5):
        await store.append_turn(session, "user", f"Something else, number {number}.")
    for number in range(2):
        await store.append_turn(session, "user", "What did we say about E0433, tokio, 木曜日?")
        call = [{"id": f"c{number}", "name": "conversation_recall", "arguments": {"query": "E0433 tokio"}}]
        await store.append_turn(session, "assistant", "Let me look up E0433, tokio, 木曜日.")
        await store.append_turn(session, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=call)
        await store.append_turn(session, "tool", "T1", kind=TurnKind.TOOL_RESULT, tool_name="conversation_recall")
        await store.append_turn(session, "assistant", "The archive has it.", kind=TurnKind.THINKING)
        await store.append_turn(session, "assistant", "E0433 was: undeclared crate tokio, said on 木曜日")
    for is_indexed in (False, True):
        if is_indexed:
            await asyncio.to_thread(reindex, store.path)
        assert await first(store, session, query) == told


@pytest.mark.parametrize("kind", [TurnKind.TEXT, TurnKind.TOOL_CALL])
async def test_what_tells_something_before_a_look_up_stays_what_it_is(
    store: ConversationStore, session: str, kind: TurnKind
) -> None:
    await tell(store, session, ("assistant", "The deployment is slow.", "2024-01-01"))
    told = f"The deployment of the billing service waits for Tuesday. {'Nobody works at the weekend. ' * 12}Let me see."
    if kind is TurnKind.TEXT:
        telling = await store.append_turn(session, "assistant", told)
    else:
        note = [{"id": "c-0", "name": "write_file", "arguments": {"path": "a.md", "content": told}}]
        telling = await store.append_turn(session, "assistant", None, kind=kind, tool_calls=note)
    call = [{"id": "c-1", "name": "conversation_recall", "arguments": {"query": "anything"}}]
    await store.append_turn(session, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=call)
    assert await first(store, session, "what about the deployment of the billing service?") == telling


async def test_standing_instructions_do_not_fill_the_page(store: ConversationStore, session: str) -> None:
    rules: list[tuple[Role, str, str]] = [
        ("user", f"Never touch the {thing}.", f"2024-01-{day:02}")
        for day, thing in enumerate(("lockfile", "schema", "logo", "tests", "licence", "budget", "wiki", "fonts"), 1)
    ]
    about: list[tuple[Role, str, str]] = [("user", f"the picker has mode {i}", f"2024-03-{i:02}") for i in range(1, 11)]
    await tell(store, session, *rules, *about)
    found = [hit.turn_number for hit in await store.search_turns(session, "how do I draw the picker with new fonts?")]
    assert 0 < len([turn for turn in found if turn <= 8]) <= 3
    assert 8 in found  # the instruction that is nearest to the question


@pytest.mark.parametrize(
    ("text", "is_rule"),
    [
        ("Always run the tests first.", True),
        ("Fine. Please never push to main.", True),
        ("So from now on we speak French.", True),
        ("Two things:\n- Never amend a commit\n- rebase is fine", True),
        ("make sure you always sign off", True),
        ("Whenever I ask for a plan, keep it short.", True),
        ("Whenever I hear this song, I think of home.", False),
        ("Never heard of it, but it sounds good.", False),
        ("Never mind, it works.", False),
        ("Always a pleasure.", False),
        ("never seen that before", False),
        ("I always wanted a boat", False),
        ("it never stops", False),
    ],
)
def test_what_is_a_standing_instruction(text: str, is_rule: bool) -> None:
    assert (RULE_FACET in facets_of("user", (), text)) == is_rule


async def test_the_answer_stands_after_a_short_question_and_in_a_long_one(
    store: ConversationStore, session: str
) -> None:
    told = "I have moved the kettle to the top shelf because the old one was far too low for me."
    await tell(
        store,
        session,
        ("assistant", "Where is the kettle?", "2024-01-01"),
        ("user", "On the top shelf.", "2024-01-01"),
        ("user", f"{told * 2} Is that fine?", "2024-02-01"),
        ("assistant", "Yes.", "2024-02-01"),
    )
    hits = [hit.turn_number for hit in await store.search_turns(session, "where did I put the kettle?")]
    assert hits.index(3) < hits.index(4)
    assert hits.index(2) < hits.index(1)


async def test_one_word_finds_only_turns_that_have_it(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "before", "2024-01-01"),
        ("user", "the quokka", "2024-01-01"),
        ("user", "after", "2024-01-01"),
    )
    assert [hit.turn_number for hit in await store.search_turns(session, "quokka")] == [2]


async def test_a_name_that_is_nowhere_is_looked_for_in_pieces(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "the error count is high in every model", "2024-01-01"),
        ("tool", "{'syntax_errors': 3, 'indent_errors': 0}", "2024-01-02"),
        ("user", "count the errors", "2024-01-03"),
    )
    assert await first(store, session, "plot syntax_errors+indent_errors") == 2


async def test_a_mistyped_name_is_found_within_longer_ones(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("assistant", "see load_dotenv in the client", "2024-01-02"),
        ("assistant", "nothing to see", "2024-01-02"),
        ("assistant", "def load_dotenv_files(root):", "2024-01-03"),
    )
    hits = await store.search_turns(session, "load_doetnv")
    assert [hit.turn_number for hit in hits] == [1, 3]


async def test_a_passage_that_begins_within_a_word_is_found(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("tool", "ValidationError was raised; string, null", "2024-01-01"),
        ("tool", "let firstValidationError: string | null = null;", "2024-01-02"),
        ("tool", "a ValidationError is a string or null", "2024-01-03"),
    )
    assert await first(store, session, "ValidationError: string | null = null;") == 2


async def test_a_question_finds_what_means_nearly_the_same(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        ("user", "We saw a film by Tarkovsky.", "2024-01-01"),
        ("user", "The kitchen needs paint.", "2024-02-02"),
        ("user", "The gearbox is new.", "2024-03-03"),
        ("user", "The movie poster hangs upstairs.", "2024-04-04"),
        ("user", "Nothing to report.", "2024-05-05"),
        ("user", "The garden is dry.", "2024-06-06"),
    )
    asked = [hit.turn_number for hit in await store.search_turns(session, "which movie did we like?")]
    assert asked[:2] == [4, 1]
    assert [hit.turn_number for hit in await store.search_turns(session, "movie")] == [4]


async def test_a_question_finds_a_word_that_is_written_as_two(store: ConversationStore, session: str) -> None:
    await tell(
        store,
        session,
        *[("user", f"{word} was all that we talked about.", "2024-01-01") for word in ("Rain", "Bread", "Chess")],
        ("user", "We flew the kite, and a club gave us tea.", "2024-02-01"),
        *[("user", f"{word} again, and nothing else.", "2024-04-01") for word in ("Rain", "Bread", "Chess")],
    )
    hits = await store.search_turns(session, "Who is in the kiteclub?")
    assert [hit.turn_number for hit in hits][:1] == [4]


@pytest.mark.parametrize(
    ("word", "stems"),
    [("roadtrip", ("road", "trip")), ("bookshelves", ("book", "shelv")), ("birdwatching", ("bird", "watch"))],
)
def test_a_word_is_taken_apart_into_stems(word: str, stems: tuple[str, str]) -> None:
    assert stems in set(halves(word))


@pytest.mark.parametrize("word", ["trip", "c3po2x", "日本語日本語", "größter"])
def test_what_is_no_compound_is_left_whole(word: str) -> None:
    assert not list(halves(word))


def test_a_stop_word_is_no_half() -> None:
    assert ("there", "after") not in set(halves("thereafter"))


def test_related_words_are_stems_that_the_index_has() -> None:
    assert dict(related_to(stem("movies")))["film"] > 0.9
    assert related_to("zzyzx") == ()
    for word in ("child", "decide", "instrument", "doctor"):
        found = related_to(stem(word))
        assert [alike for _, alike in found] == sorted((alike for _, alike in found), reverse=True)
        assert all(0.5 < alike < 1 and other != stem(word) for other, alike in found)

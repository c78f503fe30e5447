"""What a query means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.archive.search.dates import closeness, date_bound, date_cues
from loom.archive.search.query import parse
from loom.archive.search.similarity import similarity
from loom.archive.search.stems import stem
from loom.archive.search.words import CHUNK, MAX_NAME, chunks, fold, names_of, parts_of, terms_of

NOW = datetime(2024, 5, 15, 12, 0, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("words", "base"),
    [
        ("planned planning plans", "plan"),
        ("went going goes gone", "go"),
        ("studies studied studying study", "studi"),
        ("authentication authenticated authenticate", "authent"),
        ("bought buying buys", "buy"),
        ("happily happy", "happi"),
        ("relational relate related", "relat"),
        ("children child", "child"),
        ("hopping hopped hop", "hop"),
        ("sky", "sky"),
        ("日本", "日本"),
        ("x2", "x2"),
    ],
)
def test_forms_of_a_word_share_a_stem(words: str, base: str) -> None:
    for word in words.split():
        wanted = {base} if base != "happi" else {"happi", "happili"}
        assert stem(word) in wanted, word


@given(st.text(max_size=40))
def test_every_word_has_a_stem(word: str) -> None:
    assert isinstance(stem(word), str)


def test_names_are_whole_and_in_components() -> None:
    names = names_of("see src/auth.py:12 and a.b_c(refreshToken, E0433) --no-auto-test v1.2.3 plain words. End.")
    assert {"src/auth.py:12", "auth.py", "a.b_c", "b_c", "refreshtoken", "e0433", "no-auto-test", "v1.2.3"} <= names
    assert not names & {"plain", "words", "end", "see"}


def test_long_words_are_names_too() -> None:
    assert names_of("Die Datenbankverbindung steht, Café geschlossen") == {"datenbankverbindung"}
    assert names_of("設定は日本語で書いてください設定は") == set()


def test_the_words_inside_an_identifier_are_found() -> None:
    assert {"refresh", "token"} <= parts_of("refreshToken")
    assert {"http", "server", "error"} <= parts_of("HTTPServerError")


@given(st.text(max_size=200).map(lambda text: text * 700))
def test_chunks_are_the_text(text: str) -> None:
    parts = list(chunks(text))
    assert all(len(part) <= CHUNK for part in parts)
    assert text.startswith("".join(parts[:1]))
    assert text.endswith("".join(parts[-1:]))
    for word in set(text.split()):
        assert len(word) > MAX_NAME or any(word in part for part in parts)


@pytest.mark.parametrize("term", ["needle", "src/deep/refreshToken.py", "秘密鍵"])
@pytest.mark.parametrize("between", ["12,", "的"])
def test_a_term_is_whole_wherever_a_text_without_spaces_is_cut(term: str, between: str) -> None:
    wanted = terms_of(f",{term},")
    for before in range(CHUNK - len(term) - 1, CHUNK + 1):
        terms = terms_of(f"{between * before}"[:before] + f",{term},{between * 9}")
        assert wanted.words <= terms.words
        assert wanted.parts <= terms.parts
        assert wanted.names <= terms.names


@given(st.text(max_size=200))
def test_no_term_has_white_space_in_it(text: str) -> None:
    terms = terms_of(text)
    for term in terms.words | terms.parts | terms.names:
        assert term.split() == [term]


def test_accents_are_folded_and_other_scripts_kept() -> None:
    assert fold("Café ÀÉÎ") == "cafe aei"
    assert fold("Straße ΣΊΣΥΦΟΣ") == fold("STRASSE σίσυφος")
    assert fold("が パ 한국") == "が パ 한국"


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert [term.word for term in parse("what did we say about the parser?").terms] == ["parser"]
    assert [term.word for term in parse("who are you").terms] == ["who", "are", "you"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What kind of art does she make?", ["art", "make"]),
        ("How many different types of flour did he buy?", ["flour", "buy"]),
        ("How many times did he swim?", ["swim"]),
        ("In what ways would she likely help?", ["help"]),
        ("What is something that the dog likes?", ["dog", "likes"]),
        ("Was the kind word a type or a sort?", ["kind", "word", "type", "sort"]),
        ("What kinds of?", ["kinds"]),
        ("what kind of art", ["art"]),
        ("any kind of art", ["kind", "art"]),
    ],
)
def test_what_a_question_says_of_the_form_of_its_answer_is_not_searched_for(question: str, words: list[str]) -> None:
    assert [term.word for term in parse(question).terms] == words


def test_filters_are_taken_out_of_the_words() -> None:
    query = parse('auth role:user tool:"read_file" before:2024-05 session:ab12 file:src/a.py')
    assert [term.word for term in query.terms] == ["auth"]
    assert query.filters.roles == {"user"}
    assert query.filters.tools == {"read_file"}
    assert (query.filters.before, query.filters.session, query.filters.files) == (("2024-05",), "ab12", ("src/a.py",))


def test_what_is_no_filter_is_searched_for() -> None:
    query = parse("role:nobody url:http")
    assert query.filters.roles == frozenset()
    assert {"role", "nobody", "url", "http"} <= {term.word for term in query.terms}


def test_a_minus_takes_out_and_a_flag_does_not() -> None:
    assert parse("parser -lexer").excluded == ("lexer",)
    assert parse("pytest --verbose").excluded == ()
    assert parse("-lexer").excluded == ()


def test_a_minus_takes_out_of_what_the_filters_leave() -> None:
    query = parse("tool:shell -out -of")
    assert query.excluded == ("out", "of")
    assert query.is_empty


@pytest.mark.parametrize("quotes", ['""', "“”"])
def test_a_long_phrase_is_one_and_does_not_make_one_of_what_stands_behind_it(quotes: str) -> None:
    long = " ".join(f"word{number}" for number in range(100))
    first, last = quotes
    query = parse(f"{first}{long}{last} and {first}two words{last} -{first}{long}{last}")
    assert query.phrases == (long, "two words")
    assert query.excluded_texts == (long,)
    assert parse(f"`{long}` and `two words`").passages[:2] == (long, "two words")


def test_quotes_are_phrases() -> None:
    assert parse('he said "Hello  World" twice').phrases == ("hello world",)
    assert parse('unbalanced " quote').phrases == ()


@pytest.mark.parametrize(
    ("text", "first", "days"),
    [
        ("on 3 May 2024", "2024-05-03", 1),
        ("May 3rd, 2024", "2024-05-03", 1),
        ("in May 2024", "2024-05-01", 31),
        ("2024-02-29", "2024-02-29", 1),
        ("yesterday", "2024-05-14", 1),
        ("last Tuesday", "2024-05-14", 1),
        ("last Wednesday", "2024-05-08", 1),
        ("last week", "2024-05-06", 7),
        ("two days ago", "2024-05-13", 1),
        ("a few days ago", "2024-05-12", 1),
        ("a couple of days ago", "2024-05-13", 1),
        ("eight days ago", "2024-05-07", 1),
        ("a week ago", "2024-05-05", 7),
        ("on Tuesday", "2024-05-14", 1),
        ("last Tues", "2024-05-14", 1),
        ("Wednesday", "2024-05-08", 1),
        ("this Wednesday", "2024-05-15", 1),
        ("the day before yesterday", "2024-05-13", 1),
        ("this morning", "2024-05-15", 1),
        ("tonight", "2024-05-15", 1),
        ("last weekend", "2024-05-11", 2),
        ("this week", "2024-05-13", 7),
        ("last month", "2024-04-01", 30),
        ("the month before last", "2024-03-01", 31),
        ("last year", "2023-01-01", 365),
        ("last summer", "2023-06-01", 92),
        ("this spring", "2024-03-01", 92),
        ("in the past few days", "2024-05-12", 3),
        ("in 2023", "2023-01-01", 365),
        ("on 2024/05/03", "2024-05-03", 1),
        ("on 3.5.2024", "2024-05-03", 1),
    ],
)
def test_dates_in_a_query(text: str, first: str, days: int) -> None:
    (cue,) = date_cues(f"what happened {text}?", NOW)
    assert datetime.fromtimestamp(cue.begin, UTC).date().isoformat() == first
    assert round((cue.end - cue.begin) / 86_400) == days


@pytest.mark.parametrize(
    "text",
    [
        "you may march on",
        "31 February 2024",
        "mar the sun",
        "second to none",
        "every Tuesday",
        "it sat on sun",
        "42.1.3",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert date_cues(text, NOW) == []


def test_the_night_and_the_hour_are_short() -> None:
    ((night,), (hour,)) = (date_cues(f"what was that {text}?", NOW) for text in ("last night", "an hour ago"))
    assert datetime.fromtimestamp(night.begin, UTC).isoformat() == "2024-05-14T18:00:00+00:00"
    assert (night.end - night.begin, hour.end - hour.begin) == (12 * 3600, 3600)
    assert hour.begin < NOW.timestamp() - 3600 < hour.end


def test_a_date_in_figures_is_read_in_both_ways() -> None:
    begun = {
        datetime.fromtimestamp(cue.begin, UTC).date().isoformat() for cue in date_cues("the call of 5/3/2024", NOW)
    }
    assert begun == {"2024-03-05", "2024-05-03"}


@given(st.text(alphabet="0123456789 aglstorydeks-/.", max_size=40), st.integers(1, 9999))
def test_no_text_breaks_the_dates(text: str, year: int) -> None:
    for cue in date_cues(f"{text} years ago last Monday in {text}", NOW.replace(year=max(1000, min(year, 9000)))):
        assert cue.begin < cue.end


def test_a_date_without_a_year_is_of_any_year() -> None:
    (cue,) = date_cues("on 15 March", NOW)
    for year in (2019, 2020, 2023, 2024):
        assert closeness(cue, datetime(year, 3, 15, 9, tzinfo=UTC).timestamp()) == 1
        assert closeness(cue, datetime(year, 3, 18, 9, tzinfo=UTC).timestamp()) == 0.5
        assert closeness(cue, datetime(year, 9, 15, 9, tzinfo=UTC).timestamp()) == 0


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2024-03-04", "2024-03-04T00:00:00+00:00"),
        ("2024-03", "2024-03-01T00:00:00+00:00"),
        ("2024", "2024-01-01T00:00:00+00:00"),
        ("2024-03-04T05:06:07Z", "2024-03-04T05:06:07+00:00"),
        ("today", "2024-05-15T00:00:00+00:00"),
        ("yesterday", "2024-05-14T00:00:00+00:00"),
        ("3d", "2024-05-12T12:00:00+00:00"),
        ("soon", None),
    ],
)
def test_bounds_of_time(value: str, moment: str | None) -> None:
    bound = date_bound(value, NOW)
    assert bound == (None if moment is None else datetime.fromisoformat(moment).timestamp())


def test_similarity_counts_edits() -> None:
    assert similarity("refreshtoken", "refreshtoken") == 1
    assert similarity("refreshtokne", "refreshtoken") > 0.9
    assert similarity("fallack_budget", "fallback_budget") > 0.9
    assert similarity("abc", "xyz") == 0


def by_the_cell(first: str, second: str) -> int:
    """The optimal string alignment distance as its definition has it."""
    rows = [list(range(len(second) + 1))]
    for i, a in enumerate(first, 1):
        rows.append([i])
        for j, b in enumerate(second, 1):
            cost = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and (a, first[i - 2]) == (second[j - 2], b):
                cost = min(cost, rows[i - 2][j - 2] + 1)
            rows[i].append(cost)
    return rows[-1][-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12), st.sampled_from([0.0, 0.5, 0.8, 1.0]))
def test_similarity_is_the_share_of_letters_that_no_edit_touches(first: str, second: str, least: float) -> None:
    edits, longer = by_the_cell(first, second), max(len(first), len(second), 1)
    reached = edits <= int(longer * (1 - least) + 1e-9)
    assert similarity(first, second, least) == (1 - edits / longer if reached else 0.0)

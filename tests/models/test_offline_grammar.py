"""What the offline model understands."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.models.offline_grammar import MAX_CLAUSES, parse
from loom.models.offline_requests import (
    Commit,
    Count,
    FindFiles,
    Git,
    Greeting,
    Help,
    ListFiles,
    ReadFile,
    RecallCalls,
    RecallRange,
    RecallSearch,
    RecallSummary,
    Remember,
    ReplaceText,
    Request,
    RunCommand,
    RunTests,
    SearchText,
    Think,
    Unknown,
    WriteFile,
)


def requests(message: str) -> list[Request]:
    return [clause.request for clause in parse(message)]


@pytest.mark.parametrize(
    ("message", "request_"),
    [
        ("list", ListFiles(".")),
        ("ls src", ListFiles("src")),
        ("List the files in src/loom, please.", ListFiles("src/loom")),
        ("what files are here?", ListFiles(".")),
        ("can you list the files here", ListFiles(".")),
        ("list `my folder`", ListFiles("my folder")),
        ("read README.md", ReadFile("README.md")),
        ("show me the file src/app.py.", ReadFile("src/app.py")),
        ("Please read src/app.py lines 10-20", ReadFile("src/app.py", 10, 20)),
        ("read src/app.py from line 20 to 10", ReadFile("src/app.py", 10, 20)),
        ("read src/app.py:7", ReadFile("src/app.py", 7, 7)),
        ("show lines 3 to 4 of a.txt", ReadFile("a.txt", 3, 4)),
        ('read "a b.txt"', ReadFile("a b.txt")),
        ("read @src/app.py", ReadFile("src/app.py")),
        ("list the files in @src.", ListFiles("src")),
        ('list "@types"', ListFiles("@types")),
        ("find files *.py", FindFiles("*.py")),
        ("find files named auth in src", FindFiles("auth", "src")),
        ("find README.md", FindFiles("README.md")),
        ("find *.toml in the tests", FindFiles("*.toml", "tests")),
        ('search "TODO" in src', SearchText("TODO", "src")),
        ('find "def main"', SearchText("def main")),
        ("search for refresh token", SearchText("refresh token")),
        ("grep def.*main in src", SearchText("def.*main", "src", literal=False)),
        ("grep 'a.b'", SearchText("a.b")),
        ("where is parse_date defined?", SearchText("parse_date")),
        ("find retries", SearchText("retries")),
        ('replace "old" with "new" in src/app.py', ReplaceText("src/app.py", "old", "new")),
        ("in a.py replace `x = 1` by `x = 2`", ReplaceText("a.py", "x = 1", "x = 2")),
        ("change foo to bar in a.py", ReplaceText("a.py", "foo", "bar")),
        ('replace "a\\nb" with "c" in f', ReplaceText("f", "a\nb", "c")),
        ("replace 'a\\nb' with '' in f", ReplaceText("f", "a\\nb", "")),
        ("run pytest -q", RunCommand("pytest -q")),
        ('run echo "a then b" | wc', RunCommand('echo "a then b" | wc')),
        ("run `make lint`", RunCommand("make lint")),
        ("$ ls -la", RunCommand("ls -la")),
        ("run rm -rf build!", RunCommand("rm -rf build!")),
        ("run the tests", RunTests()),
        ("Run all tests.", RunTests()),
        ("git status", Git(("status",))),
        ("show the diff", Git(("diff",))),
        ("git log", Git(("log", "--oneline", "-n", "10"))),
        ('git commit -m "a b"', Git(("commit", "-m", "a b"))),
        ('commit "fix it"', Commit("fix it")),
        ("commit all changes with the message 'fix: it'", Commit("fix: it")),
        ("commit fix the parser", Commit("fix the parser")),
        ("what did we say about auth?", RecallSearch("auth")),
        ("What did I tell you about the database earlier?", RecallSearch("the database")),
        ("recall JWT rotation", RecallSearch("JWT rotation")),
        ("do you remember the parser", RecallSearch("the parser")),
        ("remember what we said about auth?", RecallSearch("auth")),
        ("remember the parser?", RecallSearch("the parser")),
        ("remember when we chose SQLite", RecallSearch("we chose SQLite")),
        ("remember that we use tabs.", Remember("we use tabs.")),
        ("Please remember to run ruff first", Remember("run ruff first")),
        ("remember: never rename a setting", Remember("never rename a setting")),
        ("remember the port is 8123", Remember("the port is 8123")),
        ('remember that "a then b" is a title', Remember('"a then b" is a title')),
        ("note that the port is 8123", Remember("the port is 8123")),
        ("search the archive for jwt", RecallSearch("jwt")),
        ("what was turn 12?", RecallRange(12, 12)),
        ("turns 9-5", RecallRange(5, 9)),
        ("show T3 to T4", RecallRange(3, 4)),
        ("calls of shell_execute", RecallCalls("shell_execute")),
        ("summary of the session", RecallSummary()),
        ("where were we?", RecallSummary()),
        ("help", Help()),
        ("What can you do?", Help()),
        ("hello!", Greeting()),
        ("think about caching", Think("caching")),
        ("count to 1,000", Count(1000)),
        ("count to 99999999", Count(10_000)),
    ],
)
def test_a_plain_request_is_understood(message: str, request_: Request) -> None:
    assert requests(message) == [request_]


@pytest.mark.parametrize(
    "message",
    [
        "what is the weather",
        "write a poem about spring",
        "make it faster",
        "find, read, edit and test something",
        "Hello there, how are you today",
        "git",
        "日本語で書いて",
    ],
)
def test_what_is_no_request_is_unknown(message: str) -> None:
    (request,) = requests(message)
    assert isinstance(request, Unknown)


def test_a_commit_without_a_message_says_what_is_missing() -> None:
    (request,) = requests("commit")
    assert isinstance(request, Unknown) and "message" in request.advice


def test_a_command_with_an_open_quote_says_so() -> None:
    (request,) = requests("git commit -m 'oops")
    assert isinstance(request, Unknown) and "quote" in request.advice


def test_then_joins_requests_that_depend_on_each_other() -> None:
    clauses = parse('list src then read a.py, then run the tests and then commit "done"')
    assert [clause.request for clause in clauses] == [
        ListFiles("src"),
        ReadFile("a.py"),
        RunTests(),
        Commit("done"),
    ]
    assert [clause.follows for clause in clauses] == [False, True, True, True]


def test_lines_are_requests_of_their_own() -> None:
    clauses = parse("1. list\n2. read a.py\n\n- then run ls\n")
    assert [clause.request for clause in clauses] == [ListFiles("."), ReadFile("a.py"), RunCommand("ls")]
    assert [clause.follows for clause in clauses] == [False, False, True]


def test_then_inside_words_is_no_joint() -> None:
    assert requests("run echo first then nothing") == [RunCommand("echo first then nothing")]
    assert requests("search for if x then y") == [SearchText("if x then y")]


class TestWriting:
    def test_quoted_content_is_taken_exactly(self) -> None:
        assert requests('write a.txt with "hello"') == [WriteFile("a.txt", "hello")]
        assert requests(r'write a.txt with "a\n\tb\n"') == [WriteFile("a.txt", "a\n\tb\n")]
        assert requests(r"write a.txt with 'a\n'") == [WriteFile("a.txt", "a\\n")]

    def test_unquoted_content_goes_on_to_the_end_of_the_message(self) -> None:
        message = 'write notes.md with # Notes\n\nlist nothing\n  "quoted" stays'
        assert requests(message) == [WriteFile("notes.md", '# Notes\n\nlist nothing\n  "quoted" stays\n')]

    def test_content_may_begin_on_the_next_line(self) -> None:
        assert requests("create notes.md:\n  one\n  two\n") == [WriteFile("notes.md", "  one\n  two\n")]

    def test_a_fenced_block_is_the_content_and_requests_may_follow(self) -> None:
        message = "write src/a.py with\n```python\ndef f():\n    return `1`\n```\nrun the tests"
        assert requests(message) == [
            WriteFile("src/a.py", "def f():\n    return `1`\n"),
            RunTests(),
        ]

    @pytest.mark.parametrize(
        "message", ["write a.txt\n```\nhello\n```", 'write a.txt "hello\\n"', 'save "hello\\n" to a.txt']
    )
    def test_what_is_quoted_needs_no_with(self, message: str) -> None:
        assert requests(f"{message}\nlist") == [WriteFile("a.txt", "hello\n"), ListFiles(".")]

    def test_words_beside_what_is_quoted_are_no_request_to_write(self) -> None:
        for message in ('write "hello" to everybody', 'write a poem "Spring"', 'write a.txt "hello" twice'):
            assert isinstance(requests(message)[0], Unknown), message

    def test_a_fence_inside_a_longer_fence_is_content(self) -> None:
        message = "write a.md:\n````\n```\ncode\n```\n````"
        assert requests(message) == [WriteFile("a.md", "```\ncode\n```\n")]

    def test_a_block_that_is_not_closed_goes_on_to_the_end(self) -> None:
        assert requests("write a.md:\n```\ncode\nmore") == [WriteFile("a.md", "code\nmore\n")]

    def test_a_request_may_follow_on_the_same_line(self) -> None:
        assert requests("write a.txt with hello then read a.txt") == [
            WriteFile("a.txt", "hello\n"),
            ReadFile("a.txt"),
        ]

    def test_a_file_may_be_empty(self) -> None:
        assert requests("create src/__init__.py") == [WriteFile("src/__init__.py", "")]
        assert requests("create an empty file LICENSE") == [WriteFile("LICENSE", "")]

    def test_fenced_blocks_can_be_replaced(self) -> None:
        message = "in a.py replace\n```\nold\nlines\n```\nwith\n```\nnew\n```"
        assert requests(message) == [ReplaceText("a.py", "old\nlines\n", "new\n")]


def test_more_requests_than_are_taken_at_a_time_are_said_to_be_left() -> None:
    got = requests("\n".join(["list"] * (MAX_CLAUSES * 3)))
    assert len(got) <= MAX_CLAUSES + 2
    assert isinstance(got[-1], Unknown) and str(MAX_CLAUSES) in got[-1].advice


PLAIN = (
    "read write list then with replace in run git commit turn 12 find files lines 1-2 count to what did we say about"
)
SIGNS = [
    '"',
    "'",
    "`",
    "```",
    "~~~",
    ":",
    ";",
    "-",
    "\n",
    "\\",
    "“",
    "”",
    "\x00",
    "\x000\x00",
    "日本",
    "\ud800",
    "*",
    "a.py",
]
WORDS = st.sampled_from([*re.findall(r"\S+", PLAIN), *SIGNS])


@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map(" ".join)))
def test_no_text_makes_the_grammar_raise(message: str) -> None:
    clauses = parse(message)
    assert bool(clauses) == bool(message.strip()) or not message.strip()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=200))
def test_fenced_content_comes_out_byte_for_byte(content: str) -> None:
    fence = "`" * 12
    if fence in content:
        return
    block = content if content.endswith("\n") or not content else f"{content}\n"
    assert requests(f"write a.txt:\n{fence}\n{block}{fence}") == [WriteFile("a.txt", block)]


def test_huge_messages_are_taken_in_their_stride() -> None:
    assert requests("x" * 1_000_000)
    assert requests("lorem ipsum\n" * 100_000)
    assert requests('"' * 100_000)
    big = "y" * 2_000_000
    assert requests(f"write a.txt:\n{big}") == [WriteFile("a.txt", f"{big}\n")]

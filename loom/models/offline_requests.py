"""What a person can ask of the offline model: one record for each kind of request."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListFiles:
    path: str = "."


@dataclass(frozen=True, slots=True)
class ReadFile:
    path: str
    first: int = 0
    """Line number from 1; 0 means from the beginning."""
    last: int = 0
    """Inclusive; 0 means as far as the tool goes."""


@dataclass(frozen=True, slots=True)
class FindFiles:
    pattern: str
    path: str = "."


@dataclass(frozen=True, slots=True)
class SearchText:
    text: str
    path: str = "."
    literal: bool = True


@dataclass(frozen=True, slots=True)
class WriteFile:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class RunCommand:
    command: str


@dataclass(frozen=True, slots=True)
class RunTests:
    """Run the workspace's tests, whatever they are: needs a look at the files first."""


@dataclass(frozen=True, slots=True)
class Git:
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    message: str


@dataclass(frozen=True, slots=True)
class RecallSearch:
    query: str


@dataclass(frozen=True, slots=True)
class RecallRange:
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class RecallCalls:
    tool: str


@dataclass(frozen=True, slots=True)
class RecallSummary:
    pass


@dataclass(frozen=True, slots=True)
class Remember:
    """Note something in the workspace's memory, for later sessions."""

    note: str


@dataclass(frozen=True, slots=True)
class Help:
    pass


@dataclass(frozen=True, slots=True)
class Greeting:
    pass


@dataclass(frozen=True, slots=True)
class Think:
    topic: str


@dataclass(frozen=True, slots=True)
class Count:
    to: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """Words that are no request."""

    text: str
    advice: str = ""
    """What would make a request of it, where that can be told."""
    lines: int = 1
    """How many lines of the message it stands for."""


Request = (
    ListFiles
    | ReadFile
    | FindFiles
    | SearchText
    | WriteFile
    | ReplaceText
    | RunCommand
    | RunTests
    | Git
    | Commit
    | RecallSearch
    | RecallRange
    | RecallCalls
    | RecallSummary
    | Remember
    | Help
    | Greeting
    | Think
    | Count
    | Unknown
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One request of a message."""

    request: Request
    follows: bool = False
    """True when it was joined to the one before by "then": it is skipped if that one was denied or failed."""

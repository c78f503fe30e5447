"""What the offline model says: Markdown made of results, quoted and never invented. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from loom.models.offline_plan import Done, Plan, Progress, code, command_for_tests
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
from loom.text import plural

NAME = "offline model"
"""Stands in every introduction, so that a later answer can tell that one was given."""

INTRODUCTION = (
    f"I am loom's **{NAME}**: no intelligence, only a small grammar of plain requests over the real tools. "
    "Say `help` for the list; set a key or start a local server for a real model."
)

HELP = """\
What I understand:

| Say | What happens |
|---|---|
| `list src` | lists a directory |
| `read src/app.py`, `read src/app.py lines 10-20` | reads a file |
| `find files *.py`, `find files test in src` | finds files by name |
| `search "TODO" in src`, `grep def.*main` | searches text; grep takes a pattern |
| `write notes.md with …`, or a fenced block below it | writes a file |
| `replace "old" with "new" in src/app.py` | edits a file |
| `run make lint`, `run the tests` | runs a command |
| `git log`, `git status`, `git diff`, `commit "message"` | git; commit adds everything first |
| `what did we say about auth`, `what was turn 12`, `turns 5-9`, `summary` | looks it up in the archive |
| `remember that we use tabs` | notes it in MEMORY.md, for later sessions too |
| `think about …`, `count to 50`, `help` | shows off |

Join several with `then` or put one on a line: after a "no" or a failure, what follows by `then` is left out. In double
quotes `\\n`, `\\t` and `\\"` are escapes; single quotes, backticks and fenced blocks are verbatim.
"""

QUOTE_LINES = 40
QUOTE_CHARS = 3_000
"""A quoted result is cut to this many lines and characters; the whole result stands in its card."""

RECALLED_LINES = 6
"""Lines of each turn that is quoted from the archive."""

RECALLED_TURNS = 8
"""Turns that are quoted of a search. The best come first, and what is in view is the end of an answer."""

MAX_UNKNOWN = 3
"""Lines that were not understood are named up to this many."""

_TURN = re.compile(r"^\[Turn (\d+)\]\s*([^\n]*)$", re.MULTILINE)
_BEST = re.compile(r"\bmatch 1\b")
_SHOWN = re.compile(r"  .*\S|\[T\d")
"""What a turn says, and where it was taken back later."""
_LEFT_OUT = re.compile(r"^\[left out for length: (.+)\]$", re.MULTILINE)
_SPEAKER = re.compile(r"^(\w+): \(")
_PERSON = "The person said no"
_SAID = re.compile(r"They said:\s*(.+)", re.DOTALL)
_LANGUAGES = {
    ".py": "python", ".rs": "rust", ".go": "go", ".js": "javascript", ".ts": "typescript", ".toml": "toml",
    ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".sh": "bash", ".c": "c", ".html": "html", ".css": "css",
    ".sql": "sql",
}  # fmt: skip


def thinking(plan: Plan) -> str:
    """What the thinking part of the exchange's first response says; empty if nobody asked for thinking."""
    topics = [step.request.topic for step in plan.progress if isinstance(step.request, Think)]
    return "\n\n".join(
        f"The request is to think about {topic}. I have no intelligence to think with, so this is a show of how "
        f"reasoning is streamed and folded. First I would look at what {topic} is. Then I would look at what has been "
        "said about it before, and at the files that have to do with it. Then I would weigh the choices. None of this "
        "leads anywhere, and I know nothing that you did not tell me. That is all."
        for topic in topics
    )


def final_answer(plan: Plan, *, introduce: bool, ignored: str = "") -> str:
    """The answer after the last call: one section for each request.

    `introduce` puts the introduction first; `ignored` names what came with the message and cannot be read (images).
    """
    sections = [INTRODUCTION] if introduce else []
    if ignored:
        sections.append(f"I cannot look at {ignored}.")
    if plan.refused:
        sections.append(_not_understood(plan.refused, with_help=introduce))
    elif not plan.progress and not ignored:
        sections.append("There was nothing in that message for me.")
    sections.extend(_section(step) for step in plan.progress)
    return "\n\n".join(section.strip() for section in sections if section.strip())


def _not_understood(unknown: tuple[Unknown, ...], *, with_help: bool) -> str:
    named = [f"> {_one_line(each.text)}" for each in unknown[:MAX_UNKNOWN]]
    if rest := sum(each.lines for each in unknown[MAX_UNKNOWN:]):
        named.append(f"> … and {plural(rest, 'more line')}")
    # A backslash keeps a line a line.
    quoted = "\\\n".join(named)
    words = f"I did not understand this, and did nothing:\n\n{quoted}\n\n"
    return words + (HELP if with_help else "Say `help` for what I understand.")


def _section(step: Progress) -> str:
    request = step.request
    if step.skipped:
        return f"**Left out:** {describe(request)}, since what came before it did not work out."
    if step.missing:
        return f"I could not {describe(request)}: I have no tool `{step.missing}` here."
    if step.done and step.done[-1].status != "success":
        return _went_wrong(request, step.done[-1])
    if step.done:
        return _result(request, step.done)
    return _talk(request)


def _went_wrong(request: Request, done: Done) -> str:
    what = code(" ".join(done.arguments["args"])) if _is_git(done) else describe(request)
    if done.status == "denied":
        if not done.text.startswith(_PERSON):
            return f"I was **not allowed** to do this: {_noun(request, done)}. Nothing was changed."
        said = _SAID.search(done.text)
        reason = f"You said: “{_one_line(said[1])}”." if said else ""
        return f"You said **no** to {_noun(request, done)}. {reason} Nothing was changed.".replace("  ", " ")
    if done.status == "interrupted":
        return f"It was interrupted: {what}.\n\n{quote(done.text)}"
    return f"That **failed**: {what}.\n\n{quote(done.text)}"


def _is_git(done: Done) -> bool:
    return done.tool == "git_command" and isinstance(done.arguments.get("args"), list)


def _noun(request: Request, done: Done) -> str:
    """What a person said no to, in the words of the call itself."""
    match done.tool:
        case "shell_execute":
            return code(str(done.arguments.get("command", "")))
        case "git_command":
            args = done.arguments.get("args")
            return code("git " + " ".join(map(str, args if isinstance(args, list) else ())))
        case "write_file":
            return f"writing {code(str(done.arguments.get('path', '')))}"
        case "edit_file":
            return f"editing {code(str(done.arguments.get('path', '')))}"
    return describe(request)


def describe(request: Request) -> str:  # noqa: PLR0911, PLR0912  one return for each kind of request
    """The request as a verb phrase, Markdown: `read src/app.py`."""
    match request:
        case ListFiles(path=path):
            return f"list {code(path)}"
        case ReadFile(path=path):
            return f"read {code(path)}"
        case FindFiles(pattern=pattern):
            return f"find files like {code(pattern)}"
        case SearchText(text=text):
            return f"search for {code(text)}"
        case WriteFile(path=path):
            return f"write {code(path)}"
        case ReplaceText(path=path, old=old):
            return f"replace {code(old, 40)} in {code(path)}"
        case RunCommand(command=command):
            return f"run {code(command)}"
        case RunTests():
            return "run the tests"
        case Git(args=args):
            return code("git " + " ".join(args))
        case Commit(message=message):
            return f"commit {code(message)}"
        case RecallSearch(query=query):
            return f"look up {code(query)}"
        case RecallRange(first=first, last=last):
            return f"look up turn {first}" if first == last else f"look up turns {first} to {last}"
        case RecallCalls(tool=tool):
            return f"look up the calls of {code(tool)}"
        case RecallSummary():
            return "sum up the session"
        case Remember(note=note):
            return f"note {code(note)}"
        case Think(topic=topic):
            return f"think about {code(topic)}"
        case Count(to=to):
            return f"count to {to}"
        case Help() | Greeting():
            return "help"
        case Unknown(text=text):
            return code(text)


def _talk(request: Request) -> str:  # noqa: PLR0911  one return for each kind of request
    match request:
        case Help():
            return HELP
        case Greeting():
            return "Hello. Say `help` for what I understand."
        case Think(topic=topic):
            return f"I have thought about **{_one_line(topic)}** as far as I can, which is not at all."
        case Count(to=to):
            return ", ".join(str(number) for number in range(1, to + 1)) + "." if to else "Nothing to count."
        case Unknown(text=text, advice=advice):
            return f"I did not understand this:\n\n> {_one_line(text)}\n\n{advice or 'Say `help` for what I do.'}"
        case RunTests():
            return "I found no tests here."
    return ""


def _result(request: Request, done: tuple[Done, ...]) -> str:  # noqa: PLR0911, PLR0912  one return a kind
    text = done[-1].text
    match request:
        case ListFiles(path=path):
            return f"In {code(path)}:\n\n{quote(text)}"
        case ReadFile(path=path):
            return f"{code(path)}:\n\n{quote(text, _LANGUAGES.get(PurePosixPath(path).suffix, ''))}"
        case FindFiles(pattern=pattern):
            return f"Files like {code(pattern)}:\n\n{quote(text)}"
        case SearchText(text=words):
            return f"Where {code(words)} is:\n\n{quote(text)}"
        case WriteFile() | ReplaceText():
            # The tool's own sentence names the file and what became of it.
            return _one_line(text)
        case RunCommand(command=command):
            return f"Ran {code(command)}:\n\n{quote(text, end=True)}"
        case RunTests():
            if len(done) == 1:
                return f"I do not see how the tests are run here.\n\n{quote(text)}"
            return f"Ran the tests with {code(command_for_tests(done[0].text))}:\n\n{quote(text, end=True)}"
        case Git(args=args):
            language = "diff" if args and args[0] in ("diff", "show") else ""
            return f"{code('git ' + ' '.join(args))}:\n\n{quote(text, language)}"
        case Commit(message=message):
            return f"Committed as {code(message)}:\n\n{quote(text)}"
        case RecallSearch(query=query):
            return recalled(f"What the archive has on {code(query)}", text, most=RECALLED_TURNS, query=query)
        case RecallRange() | RecallCalls():
            return recalled("From the archive", text)
        case RecallSummary():
            return f"The session so far:\n\n{quote(text, 'yaml')}"
        case Remember(note=note):
            return f"Noted, for later sessions too: {code(note)}. `/memory` shows it and takes it back."
    return quote(text)


def recalled(heading: str, text: str, *, most: int | None = None, query: str = "") -> str:
    """Recalled turns as quotations, each cited by its number and quoted where it has the words of `query`; other text
    as it is. At most `most` turns and about QUOTE_CHARS characters, but the best match in any case."""
    marks = list(_TURN.finditer(text))
    if not marks:
        return f"{heading}:\n\n{quote(text)}"
    best = next((at for at, mark in enumerate(marks) if _BEST.search(mark[2])), 0)
    parts: list[str] = []
    is_cut: list[bool] = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        below = text[mark.end() : following.start() if following else len(text)].split("\n")
        lines = [line.strip() for line in below if _SHOWN.match(line)]
        is_cut.append(len(lines) > RECALLED_LINES)
        # A backslash keeps the line: Markdown would join them.
        shown = "\\\n".join(f"> {each}" for each in _few(lines, query)) or "> (nothing)"
        who = _plain(_SPEAKER.sub(r"\1 (", mark[2].strip()).rstrip(":")) or "turn"
        parts.append(f"**T{mark[1]}** {who}:\n{shown}")
    first, last = _kept(parts, best, len(parts) if most is None else most)
    # What is not indented is no turn's words.
    gone = _LEFT_OUT.search(text)
    said = [f"Left out for length: {_plain(gone[1])}."] if gone else []
    missing = _not_shown(cut=any(is_cut[first:last]), turns=len(parts) - (last - first))
    return "\n\n".join([f"{heading}:", *parts[first:last], *missing, *said])


def _few(lines: list[str], query: str) -> list[str]:
    """At most RECALLED_LINES of the lines, made plain, with those that have the most words of the query."""
    words = query.casefold().split()
    has = [sum(word in line.casefold() for word in words) for line in lines]
    at = has.index(max(has)) if has else 0
    first = 0 if at < RECALLED_LINES else min(at - RECALLED_LINES // 2, len(lines) - RECALLED_LINES)
    last = first + RECALLED_LINES
    before, behind = ["…"] if first else [], ["…"] if last < len(lines) else []
    return [*before, *map(_plain, lines[first:last]), *behind]


def _kept(parts: list[str], best: int, most: int) -> tuple[int, int]:
    """Where those begin and end that there is room for, one after the other, the best among them: from the first on, or
    from the best one on where that does not reach it."""
    first = max(0, min(best + 2, len(parts)) - most)
    if sum(map(len, parts[first:best])) > QUOTE_CHARS:
        first = best
    last, used = first, 0
    while last < min(len(parts), first + most) and used <= QUOTE_CHARS:
        used += len(parts[last])
        last += 1
    return first, last


def _not_shown(*, cut: bool, turns: int) -> list[str]:
    """One sentence, if anything is missing from what was quoted."""
    missing = [words for words, so in (("long turns are cut", cut), (_more_turns(turns), turns > 0)) if so]
    if not missing:
        return []
    words = " and ".join(missing)
    return [f"{words[0].upper()}{words[1:]}; the whole is in the call above."]


def _more_turns(count: int) -> str:
    return "1 more turn is left out" if count == 1 else f"{count:,} more turns are left out"


def quote(text: str, language: str = "", *, end: bool = False) -> str:
    """The text in a fence that it cannot break out of, cut to QUOTE_LINES and QUOTE_CHARS (its end, if `end`)."""
    lines = text.strip("\n").split("\n")
    kept = lines[-QUOTE_LINES:] if end else lines[:QUOTE_LINES]
    body = "\n".join(kept)
    cut = len(lines) - len(kept)
    if len(body) > QUOTE_CHARS:
        body = body[-QUOTE_CHARS:] if end else body[:QUOTE_CHARS]
        cut = max(cut, 1)
    if not body.strip():
        return "(no output)"
    longest = max((len(run) for run in re.findall("`{3,}", body)), default=2)
    fence = "`" * (longest + 1)
    block = f"{fence}{language}\n{body}\n{fence}"
    if not cut:
        return block
    return f"{block}\n\nThis is its {'end' if end else 'beginning'}; the whole is in the call above."


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return _plain(line if len(line) <= 200 else f"{line[:199]}…")


def _plain(line: str) -> str:
    """A line whose Markdown signs are only signs."""
    line = line if len(line) <= 400 else f"{line[:399]}…"
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", line)

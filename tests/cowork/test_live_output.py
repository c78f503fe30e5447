"""A command of the model's: shown and drafted while it runs, whole when it has ended, never lost when it is cut."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from loom.archive import Draft
from loom.archive.backups import create_backup
from loom.archive.records import Turn, TurnStatus
from loom.config import Settings
from loom.cowork.events import (
    ApprovalAsked,
    CommandOutput,
    Decision,
    Notice,
    Outcome,
    ToolFinished,
    ToolRunning,
)
from loom.cowork.live_output import CUT_OFF, DRAFT_BYTES, SHOWN_CHARS
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from tests.cowork.conftest import Start, Talk, chat
from tests.support.listening import PATIENCE
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Reply, Text

WAIT = "until [ -e go ]; do sleep 0.05; done"
"""A command that runs until the test makes the file `go`."""


def runs(*commands: str, ids: tuple[str, ...] = ("c1", "c2")) -> Reply:
    """An answer that calls for these commands."""
    return Reply(*[Call("shell_execute", {"command": c}, call_id=i) for c, i in zip(commands, ids, strict=False)])


def allow(talk: Talk) -> None:
    """Say yes to everything that is asked."""
    yes = Decision(allowed=True)
    talk.heard.on(ApprovalAsked, lambda asked: talk.session.answer(asked.call_id, yes))


async def begin(start: Start, provider: ScriptedProvider, *replies: Reply) -> Talk:
    """A talk in which every command may run, and the model is asked."""
    provider.add(*replies)
    talk = await start(choice=chat())
    allow(talk)
    talk.session.submit("Run it.")
    return talk


async def drafted(bench: Workbench, talk: Talk, so: Callable[[str], bool]) -> Draft:
    """The draft on the disk, as soon as this holds of all that it says."""
    async with asyncio.timeout(PATIENCE):
        while True:
            draft = await bench.store.get_draft(talk.session.session_id or "")
            if draft is not None and so("\n".join(turn.content or "" for turn in draft.turns)):
                return draft
            await asyncio.sleep(0.02)


async def no_draft(bench: Workbench, talk: Talk) -> bool:
    return await bench.store.get_draft(talk.session.session_id or "") is None


async def results(talk: Talk) -> list[Turn]:
    return [turn for turn in await talk.session.transcript() if turn.role == "tool"]


async def test_its_output_is_shown_and_drafted_while_it_runs_and_the_draft_goes_with_its_end(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    talk = await begin(start, provider, runs(f"echo begun; {WAIT}; echo done"), Reply(Text("It ran.")))
    assert (await talk.heard.until(ToolRunning)).call_id == "c1"
    shown = await talk.heard.until(CommandOutput)
    assert (shown.call_id, shown.end) == ("c1", "begun\n")
    (row,) = (await drafted(bench, talk, lambda words: "begun" in words)).turns
    assert (row.role, row.tool_name, row.tool_call_id) == ("tool", "shell_execute", "c1")
    assert row.content == f"begun\n{CUT_OFF}"
    (workspace / "go").touch()
    ended = await talk.heard.until(ToolFinished)
    assert (ended.turn.content, ended.turn.status) == ("begun\ndone\n[exit code 0]", TurnStatus.COMPLETE)
    assert talk.heard.of(CommandOutput)[-1].end == "begun\ndone\n"
    assert talk.heard.events.index(talk.heard.of(CommandOutput)[-1]) < talk.heard.events.index(ended)
    assert await no_draft(bench, talk)
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    assert len(await results(talk)) == 1


async def test_a_command_that_says_nothing_is_in_the_draft_too(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    talk = await begin(start, provider, runs(WAIT), Reply(Text("It ran.")))
    (row,) = (await drafted(bench, talk, bool)).turns
    assert row.content == CUT_OFF
    (workspace / "go").touch()
    await talk.heard.ended()
    assert talk.heard.of(CommandOutput) == []


async def test_a_crash_leaves_the_output_as_an_interrupted_result_and_the_model_is_told(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path, tmp_path: Path
) -> None:
    talk = await begin(start, provider, runs(f"echo built 12 of 40; {WAIT}"), Reply(Text("It ran.")))
    await drafted(bench, talk, lambda words: "built 12" in words)
    # The archive as a crash would leave it at this moment.
    copy = tmp_path / "crashed" / "archive.db"
    copy.parent.mkdir(mode=0o700)
    await asyncio.to_thread(create_backup, bench.locations.archive, copy)
    (workspace / "go").touch()
    await talk.heard.ended()

    crashed = await Workbench.open(Locations(copy.parent, copy.parent / "config.toml"), bench.settings)
    provider.add(Reply(Text("It was cut off.")))
    again = await start(choice=chat(), on=crashed, resume=talk.session.session_id)
    (result,) = await results(again)
    assert (result.status, result.content) == (TurnStatus.INTERRUPTED, f"built 12 of 40\n{CUT_OFF}")
    assert "The last command was cut off" in again.heard.of(Notice)[-1].text
    assert again.session.state.commands == (), "nothing is known of how it would have ended"
    await again.say("What happened?")
    told = [m["content"] for m in provider.requests[-1].messages if m["role"] == "tool"]
    assert told == [f"built 12 of 40\n{CUT_OFF}"]
    await again.session.close()
    await crashed.close()


async def test_esc_keeps_what_it_wrote_and_ends_all_that_it_started(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    talk = await begin(
        start, provider, runs("(trap '' TERM; sleep 600) & echo $! > child; echo half; wait", "echo never")
    )
    await talk.heard.until(CommandOutput, lambda shown: "half" in shown.end)
    assert talk.session.interrupt()
    assert (await talk.heard.ended()).outcome is Outcome.INTERRUPTED
    first, second = await results(talk)
    assert (first.status, first.content) == (TurnStatus.INTERRUPTED, "half\n[stopped: it may have taken effect]")
    assert (second.status, second.content) == (TurnStatus.INTERRUPTED, "Interrupted before it ran.")
    assert not Path(f"/proc/{(workspace / 'child').read_text().strip()}/cwd").exists()
    assert await no_draft(bench, talk)
    provider.add(Reply(Text("I see.")))
    await talk.say("Why?")
    told = [m["content"] for m in provider.requests[-1].messages if m["role"] == "tool"]
    assert told == [first.content, second.content]


async def test_time_up_is_a_result_like_any_other(start: Start, bench: Workbench, provider: ScriptedProvider) -> None:
    bench.settings = Settings(shell_timeout=1)
    talk = await begin(start, provider, runs("echo begun; sleep 600"), Reply(Text("Too slow.")))
    await talk.heard.ended()
    (result,) = await results(talk)
    assert (result.status, result.content) == (TurnStatus.COMPLETE, "begun\n[timed out: ended after 1 s]")
    assert await no_draft(bench, talk)


async def test_of_two_commands_of_one_answer_the_draft_has_the_one_that_runs(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    talk = await begin(start, provider, runs("echo one", f"echo two; {WAIT}"), Reply(Text("Both ran.")))
    draft = await drafted(bench, talk, lambda words: "two" in words)
    assert [row.tool_call_id for row in draft.turns] == ["c2"]
    assert [turn.content for turn in await results(talk)] == ["one\n[exit code 0]"]
    (workspace / "go").touch()
    await talk.heard.ended()
    assert [turn.content for turn in await results(talk)] == ["one\n[exit code 0]", "two\n[exit code 0]"]
    assert {shown.call_id for shown in talk.heard.of(CommandOutput)} == {"c1", "c2"}


async def test_call_ids_that_a_server_gives_again_cost_no_result(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    talk = await begin(start, provider, runs("echo one"), runs(f"echo two; {WAIT}"), Reply(Text("Both ran.")))
    await drafted(bench, talk, lambda words: "two" in words)
    (workspace / "go").touch()
    await talk.heard.ended()
    assert [turn.content for turn in await results(talk)] == ["one\n[exit code 0]", "two\n[exit code 0]"]


async def test_a_flood_is_shown_by_its_end_and_drafted_as_its_result_would_be(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    flood = f"echo BEGIN; head -c 9000000 /dev/zero | tr '\\0' 'x'; echo END; {WAIT}"
    talk = await begin(start, provider, runs(flood), Reply(Text("It ran.")))
    (row,) = (await drafted(bench, talk, lambda words: "END" in words)).turns
    (workspace / "go").touch()
    await talk.heard.ended()
    (result,) = await results(talk)
    content = result.content or ""
    assert content.startswith("BEGIN\n") and content.endswith("xEND\n[exit code 0]")
    assert "bytes left out here" in content and len(content) < DRAFT_BYTES + 300
    assert row.content == content.replace("[exit code 0]", CUT_OFF), "the same, but for how it ended"
    assert all(len(shown.end) <= SHOWN_CHARS for shown in talk.heard.of(CommandOutput))


async def test_bytes_that_are_no_text_and_progress_bars(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    odd = rf"printf '\377\0 1%%\r50%%\r100%%\n\033[31mred'; {WAIT}"
    talk = await begin(start, provider, runs(odd), Reply(Text("It ran.")))
    (row,) = (await drafted(bench, talk, lambda words: "red" in words)).turns
    raw = "\ufffd\0 1%\r50%\r100%\n\x1b[31mred"
    assert row.content == f"{raw}\n{CUT_OFF}"
    assert talk.heard.of(CommandOutput)[-1].end == "…␍100%\n\x1b[31mred"
    (workspace / "go").touch()
    await talk.heard.ended()
    assert (await results(talk))[0].content == f"{raw}\n[exit code 0]"


async def test_a_git_command_is_watched_as_well(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    hook = workspace / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\necho checking; {WAIT}\n")
    hook.chmod(0o755)
    commit = Call("git_command", {"args": ["commit", "--allow-empty", "-m", "Nothing"]}, call_id="g")
    talk = await begin(start, provider, Reply(commit), Reply(Text("Committed.")))
    (row,) = (await drafted(bench, talk, lambda words: "checking" in words)).turns
    assert row.tool_name == "git_command"
    (workspace / "go").touch()
    await talk.heard.ended()
    (result,) = await results(talk)
    assert result.facts["subject"] == "Nothing" and "checking" in (result.content or "")


async def test_what_goes_into_the_draft_is_counted_where_no_key_press_waits(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    counted: list[tuple[int, str]] = []
    count = bench.counter.count

    def noting(text: str) -> int:
        counted.append((threading.get_ident(), text))
        return count(text)

    bench.counter.count = noting  # type: ignore[method-assign]
    talk = await begin(start, provider, runs(f"echo streamed; {WAIT}"), Reply(Text("It ran.")))
    await drafted(bench, talk, lambda words: "streamed" in words)
    (workspace / "go").touch()
    await talk.heard.ended()
    drafts = [thread for thread, text in counted if CUT_OFF in text]
    assert drafts and threading.get_ident() not in drafts


class Counter:
    """Counts as the workbench does, and notes in which thread; `held` keeps a text that contains it waiting."""

    def __init__(self, bench: Workbench, marked: str) -> None:
        self._count = bench.counter.count
        self._marked = marked
        self.begun = asyncio.Event()
        self.go_on = threading.Event()
        self.on_the_loop = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        bench.counter.count = self.count  # type: ignore[method-assign]

    def count(self, text: str) -> int:
        if self._marked in text and not self.begun.is_set():
            self.on_the_loop = threading.get_ident() == self._thread
            self._loop.call_soon_threadsafe(self.begun.set)
            if not self.on_the_loop:
                self.go_on.wait(PATIENCE)
        return self._count(text)


async def test_keys_are_heard_while_a_result_is_counted_and_esc_then_costs_nothing_of_it(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    counter = Counter(bench, "all of it\n[exit code 0]")
    talk = await begin(start, provider, runs("echo all of it"), Reply(Text("never asked for")))
    await asyncio.wait_for(counter.begun.wait(), PATIENCE)
    assert not counter.on_the_loop
    assert talk.session.interrupt()
    counter.go_on.set()
    assert (await talk.heard.ended()).outcome is Outcome.INTERRUPTED
    (result,) = await results(talk)
    assert (result.status, result.content) == (TurnStatus.COMPLETE, "all of it\n[exit code 0]")
    assert [ended.turn.turn_number for ended in talk.heard.of(ToolFinished)] == [result.turn_number]
    assert await no_draft(bench, talk)


async def test_keys_are_heard_while_the_result_of_a_persons_command_is_counted(start: Start, bench: Workbench) -> None:
    counter = Counter(bench, "all of it\n[exit code 0]")
    talk = await start()
    talk.session.run_command("echo all of it; exit 0")
    await asyncio.wait_for(counter.begun.wait(), PATIENCE)
    assert not counter.on_the_loop
    talk.session.submit("And then?")
    assert talk.session.waiting == ("And then?",)
    counter.go_on.set()
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    (result,) = await results(talk)
    assert result.content == "all of it\n[exit code 0]"


async def test_a_command_that_was_stored_is_not_recovered_again(
    start: Start, provider: ScriptedProvider, bench: Workbench, workspace: Path
) -> None:
    talk = await begin(start, provider, runs(f"echo begun; {WAIT}"), Reply(Text("It ran.")))
    draft = await drafted(bench, talk, lambda words: "begun" in words)
    (workspace / "go").touch()
    await talk.heard.ended()
    # As if loom had been killed between the result and the end of its draft.
    await bench.store.save_draft(draft)
    resumed = talk.session.session_id
    await talk.session.close()
    again = await start(choice=chat(), resume=resumed)
    assert [turn.content for turn in await results(again)] == ["begun\n[exit code 0]"]

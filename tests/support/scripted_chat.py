"""A conversation whose events a test writes by hand: pictures need the same seconds every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loom.archive.records import Session, Turn
from loom.context.edges import Ranges
from loom.context.usage import Segment, WindowUsage
from loom.cowork.contents import WindowContents
from loom.cowork.events import ApprovalAsked, Decision, Event, Listener, QueueChanged, StateChanged
from loom.cowork.project import Project
from loom.cowork.trust import Answer
from loom.cowork.typed import Typed
from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.state import SessionState
from loom.state.model import Command, Constraint, FileTouched, Pin

STATE_YAML = """\
session:
  reference: k3f9
  workspace: /home/ada/src/shop
files_touched:
  - shop/login.py (edited, T5)
constraints:
  - "never touch the database schema (T1)"
commands:
  - "pytest -q -> 1 (T8)"
current_focus: run the tests
"""

STATE = SessionState(
    files_touched=(FileTouched("shop/login.py", "edited", 5),),
    constraints=(Constraint("never touch the database schema", 1),),
    commands=(Command("pytest -q", 1, 8),),
    current_focus="run the tests",
)

USAGE = WindowUsage(
    segments={
        Segment.TOOLS: 2_400,
        Segment.INSTRUCTIONS: 1_200,
        Segment.STATE: 300,
        Segment.USER: 2_000,
        Segment.ASSISTANT: 9_000,
        Segment.TOOL: 30_000,
    },
    window=200_000,
    window_assumed=True,
    reserve=8_000,
    high_water=172_800,
    used=44_900,
    estimated=True,
)


class ScriptedMemory:
    """A memory without a file."""

    def __init__(self) -> None:
        self.versions = [b""]
        self.project = Project(Path("/home/ada/src/shop"))

    async def look(self) -> Project:
        return self.project

    async def decide(self, answer: Answer, project: Project) -> None:
        return None

    async def read_memory(self) -> bytes:
        return self.versions[-1]

    async def write_memory(self, content: bytes, expected: bytes) -> None:
        self.versions.append(content)

    async def undo_memory(self) -> None:
        if len(self.versions) == 1:
            raise LoomError("There is no change of the memory to take back.")
        self.versions.pop()


class ScriptedChat:
    """Remembers what it was asked; `tell` sends an event to the screen."""

    def __init__(self, listener: Listener, turns: Sequence[Turn] = (), session: Session | None = None) -> None:
        self._listener = listener
        self.turns = list(turns)
        self.session = session
        self.choice = ModelChoice("offline", "no key and no local server", 200_000, True)
        self.state = STATE
        self.beside = ScriptedMemory()
        self.usage: WindowUsage | None = USAGE
        self.busy = False
        self.waiting: tuple[str, ...] = ()
        self.held = 0
        self.unanswered: Turn | None = None
        self.asked_again = 0
        self.pending: tuple[ApprovalAsked, ...] = ()
        self.read_only = False
        self.taken = False
        self.writer_since = ""
        self.begun_in = ""
        self.problem: LoomError | None = None
        self.sent: list[str] = []
        self.answers: list[tuple[str, Decision]] = []
        self.interrupts = 0
        self.saves = 0
        self.files = ["src/auth.py", "src/oauth.py", "with space.txt"]

    def tell(self, *events: Event) -> None:
        for event in events:
            self._listener(event)

    def state_yaml(self) -> str:
        return STATE_YAML

    async def prepare(self) -> None:
        return None

    def submit(self, text: str) -> None:
        self._take(Typed(text).spelled)

    def run_command(self, command: str) -> None:
        self._take(Typed(command, is_command=True).spelled)

    def _take(self, spelled: str) -> None:
        if self.busy:
            self.waiting = (*self.waiting, spelled)
            self.tell(QueueChanged(self.waiting))
        else:
            self.sent.append(spelled)

    def take_back(self) -> str | None:
        if not self.waiting:
            return None
        *rest, last = self.waiting
        self.waiting, self.held = tuple(rest), min(self.held, len(rest))
        self.tell(QueueChanged(self.waiting))
        return last

    def interrupt(self) -> bool:
        self.interrupts += 1
        self.held = len(self.waiting)
        self.tell(QueueChanged(self.waiting))
        return self.busy

    def hold(self, spelled: Sequence[str]) -> None:
        self.waiting, self.held = (*spelled, *self.waiting), self.held + len(spelled)

    def send_held(self) -> None:
        self.sent += self.waiting[: self.held]
        self.waiting, self.held = self.waiting[self.held :], 0
        self.tell(QueueChanged(self.waiting))

    async def ask_again(self) -> None:
        self.asked_again += 1
        self.unanswered = None

    def answer(self, call_id: str, decision: Decision) -> None:
        self.answers.append((call_id, decision))

    async def retry_save(self) -> None:
        self.saves += 1

    async def paths(self) -> list[str]:
        return list(self.files)

    async def transcript(self, before: int | None = None, limit: int = 100) -> list[Turn]:
        return [turn for turn in self.turns if before is None or turn.turn_number < before][-limit:]

    async def window_contents(self) -> WindowContents:
        return WindowContents((), ())

    async def set_model(self, name: str) -> None:
        raise LoomError(f"There is no model {name}.", "Set a key.")

    async def compact(self, focus: str) -> None:
        return None

    async def uncompact(self) -> None:
        return None

    async def clear(self) -> None:
        return None

    async def unclear(self) -> None:
        return None

    async def rewind(self, turn_number: int | None) -> str:
        return ""

    async def unrewind(self) -> None:
        return None

    async def bring_back(self, ranges: Ranges) -> None:
        return None

    async def pin_turn(self, turn_number: int) -> Pin:
        return self._pinned(Pin(f"turn {turn_number}", turn_number))

    async def pin_text(self, text: str) -> Pin:
        return self._pinned(Pin(text, 1_000 + len(self.state.pins)))

    def _pinned(self, pin: Pin) -> Pin:
        self.state = replace(self.state, pins=(*self.state.pins, pin))
        self.tell(StateChanged(self.state))
        return pin

    async def unpin(self, pin: Pin) -> None:
        self.state = replace(self.state, pins=tuple(p for p in self.state.pins if p != pin))
        self.tell(StateChanged(self.state))

    async def rename(self, title: str) -> None:
        return None

    async def change_tags(self, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(add)

    async def export(self, path: str) -> Path:
        return Path(path or "k3f9.md")

    async def close(self) -> None:
        return None

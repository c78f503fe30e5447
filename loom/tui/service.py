"""What the chat screen needs of a conversation. `loom.cowork.session.CoworkSession` is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from loom.archive.records import Session, Turn
from loom.context.usage import WindowUsage
from loom.cowork.events import ApprovalAsked, Decision
from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.state import SessionState
from loom.state.model import Pin
from loom.turn_numbers import Ranges

if TYPE_CHECKING:
    # The conversation's side is not needed to paint.
    from loom.cowork.contents import WindowContents
    from loom.cowork.project import Project
    from loom.cowork.trust import Answer as TrustAnswer


class Notebook(Protocol):
    """The workspace's memory, and the instructions of its project."""

    @property
    def project(self) -> Project:
        """Its files of instructions as they were read last, trusted or not."""

    async def look(self) -> Project:
        """The same as the files have them now."""

    async def decide(self, answer: TrustAnswer, project: Project) -> None:
        """Remember whether the model reads them; `project` is what the person was shown."""

    async def read_memory(self) -> bytes:
        """The whole of it."""

    async def write_memory(self, content: bytes, expected: bytes) -> None:
        """Replace it, if it still is what was expected."""

    async def undo_memory(self) -> None:
        """Take the newest change back."""


class ChatService(Protocol):
    """One conversation. Its events come through the listener that it was made with."""

    @property
    def session(self) -> Session | None:
        """None before the first message."""

    @property
    def choice(self) -> ModelChoice: ...

    @property
    def state(self) -> SessionState: ...

    @property
    def usage(self) -> WindowUsage | None:
        """None until the floor has been counted."""

    @property
    def busy(self) -> bool: ...

    @property
    def waiting(self) -> tuple[str, ...]:
        """What was typed during the exchange, oldest first, spelled as `loom.cowork.typed` has it."""

    @property
    def held(self) -> int:
        """How many of those, from the oldest on, wait since an interruption for `send_held`."""

    @property
    def unanswered(self) -> Turn | None:
        """The newest message or tool result, if it is stored and nothing came in answer to it."""

    @property
    def pending(self) -> tuple[ApprovalAsked, ...]: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def taken(self) -> bool:
        """Whether another loom took the session over: nothing can be stored here any more."""

    @property
    def writer_since(self) -> str:
        """Since when another loom writes the session that is read here, as the archive writes a time; empty when none
        does."""

    @property
    def begun_in(self) -> str:
        """Another folder than this one, in which the session was begun; empty when it is the same."""

    @property
    def problem(self) -> LoomError | None:
        """Why no message can be sent (a model that cannot be used); None when all is well."""

    @property
    def beside(self) -> Notebook:
        """What goes beside the conversation into every request."""

    def state_yaml(self) -> str:
        """The state as the model sees it."""

    async def prepare(self) -> None:
        """Build the agent; slow the first time, in a thread."""

    def submit(self, text: str) -> None:
        """Start an exchange, or queue the message while one runs or the agent is being built."""

    def run_command(self, command: str) -> None:
        """Run a command of the person's in the workspace, or queue it."""

    def take_back(self) -> str | None:
        """Take the newest out of the queue, spelled; None when nothing waits."""

    def interrupt(self) -> bool:
        """Stop the running exchange; False when none runs. What waits is held then."""

    def hold(self, spelled: Sequence[str]) -> None:
        """Put this into the queue, for `send_held`."""

    def send_held(self) -> None:
        """Let what is held go, in its order."""

    async def ask_again(self) -> None:
        """Ask for an answer to the message that got none; it is not stored again."""

    def answer(self, call_id: str, decision: Decision) -> None: ...

    async def retry_save(self) -> None: ...

    async def paths(self) -> list[str]:
        """The files of the workspace that a message may name with an @; slow in a large one."""

    async def transcript(self, before: int | None = None, limit: int = 100) -> list[Turn]:
        """The newest `limit` turns before turn `before` (of all if None), ascending."""

    async def window_contents(self) -> WindowContents:
        """What the window holds now, exchange by exchange, and the turns that moved its beginning."""

    async def set_model(self, name: str) -> None: ...

    async def compact(self, focus: str) -> None: ...

    async def uncompact(self) -> None:
        """Take the last compaction back."""

    async def clear(self) -> None: ...

    async def unclear(self) -> None:
        """Take the last clearing back."""

    async def rewind(self, turn_number: int | None) -> str:
        """Go back to before the exchange of this turn (the newest, if None); what was typed to begin it, spelled."""

    async def unrewind(self) -> None:
        """Take the last rewinding back."""

    async def bring_back(self, ranges: Ranges) -> None:
        """Put the exchanges of these turns, which left the window, into it again."""

    async def pin_turn(self, turn_number: int) -> Pin:
        """Keep this turn in the window whatever leaves it."""

    async def pin_text(self, text: str) -> Pin:
        """Keep these words in the window whatever leaves it."""

    async def unpin(self, pin: Pin) -> None:
        """Let it leave again."""

    async def rename(self, title: str) -> None: ...

    async def change_tags(self, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> tuple[str, ...]:
        """Put tags on the session and take others away; the tags that it has then."""

    async def export(self, path: str) -> Path:
        """Write the session as Markdown to `path` (a default place when empty) and give where it is."""

    async def close(self) -> None: ...

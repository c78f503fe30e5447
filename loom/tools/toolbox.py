"""Every tool of one workspace, as the rest of loom takes them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loom.config import Settings
from loom.tools.change import Changes
from loom.tools.edit_file import EditFile
from loom.tools.find_files import FindFiles
from loom.tools.git import Git
from loom.tools.list_directory import ListDirectory
from loom.tools.memory import MemoryTools
from loom.tools.memory_file import MemoryFile
from loom.tools.outcome import Effect, ToolSpec
from loom.tools.paths import Workspace
from loom.tools.pin import PinSource, PinTool
from loom.tools.read_file import ReadFile
from loom.tools.recall import Recall, RecallSource
from loom.tools.search_text import SearchText
from loom.tools.shell import Shell
from loom.tools.window_usage import WindowUsageTool
from loom.tools.write_file import WriteFile


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools, in the order in which a model is told of them (which never changes inside a session)."""

    specs: tuple[ToolSpec, ...]

    @property
    def by_name(self) -> Mapping[str, ToolSpec]:
        return {spec.name: spec for spec in self.specs}

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self.specs)

    def __getitem__(self, name: str) -> ToolSpec:
        """The tool of that name. Raises KeyError."""
        return self.by_name[name]


def build_toolbox(
    workspace: Path,
    settings: Settings,
    recall: RecallSource,
    count: Callable[[str], int],
    *,
    pins: PinSource | None = None,
    memory: Callable[[], MemoryFile] | None = None,
    window: Callable[[], str] | None = None,
    recall_room: Callable[[], int] | None = None,
    forbidden: Sequence[Path] = (),
) -> Toolbox:
    """The tools over one workspace. `count` gives the tokens of a text; `forbidden` are folders that no tool opens
    (loom's own home), inside the workspace or not. `memory` finds the workspace's memory (in a
    thread: it may ask git); `window` gives the gauge's reading in words, `recall_room` the most
    tokens that it has for one recall. Without the source of a tool there is no such
    tool."""
    place = Workspace(workspace, forbidden)
    changes = Changes(place)
    write, edit = WriteFile(changes), EditFile(changes)
    shell, git = Shell(place, settings), Git(place, settings)
    specs = [
        ToolSpec("list_directory", ListDirectory(place).list_directory, Effect.READ),
        ToolSpec("read_file", ReadFile(place).read_file, Effect.READ),
        ToolSpec("find_files", FindFiles(place).find_files, Effect.READ),
        ToolSpec("search_text", SearchText(place).search_text, Effect.READ),
        ToolSpec("write_file", write.write_file, Effect.WRITE, write.preview),
        ToolSpec("edit_file", edit.edit_file, Effect.WRITE, edit.preview),
        ToolSpec("shell_execute", shell.shell_execute, Effect.EXECUTE, shell.preview),
        ToolSpec("git_command", git.git_command, Effect.EXECUTE, git.preview),
        ToolSpec("conversation_recall", Recall(recall, settings, count, recall_room).conversation_recall, Effect.READ),
    ]
    if pins is not None:
        specs.append(ToolSpec("pin", PinTool(pins).pin, Effect.KEEP))
    if memory is not None:
        notes = MemoryTools(memory)
        specs.append(ToolSpec("read_memory", notes.read_memory, Effect.READ))
        specs.append(ToolSpec("write_memory", notes.write_memory, Effect.KEEP))
        specs.append(ToolSpec("update_memory", notes.update_memory, Effect.KEEP))
    if window is not None:
        specs.append(ToolSpec("window_usage", WindowUsageTool(window).window_usage, Effect.READ))
    return Toolbox(tuple(specs))

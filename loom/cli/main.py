"""Arguments in, exit code out: 0 done, 1 it failed, 2 bad input, 3 done without what was not allowed, 128 + n ended by
signal n (130: Ctrl+C)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import NoReturn

from loom import __version__
from loom.cli.ended import Ending
from loom.cli.output import prepare_streams, say, write_out
from loom.errors import LoomError

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

_OWN_OPTIONS = ("-h", "--help", "--version")
"""Of `loom` itself, which belong to no command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. Errors are one line on stderr that says what to do."""
    prepare_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    try:
        try:
            parsed = parser.parse_args(_with_command(arguments))
        except SystemExit:
            # What --help printed is still held.
            write_out(())
            raise
        code: int = parsed.run(parsed) if parsed.command == "cowork" else _run(parsed)
    except LoomError as error:
        from loom.text import show_line

        say(f"loom: {show_line(str(error), 2000)}")
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`loom sessions | head`): nothing is wrong.
        from loom.cowork.ending import silence

        silence()
        return 0
    return code


def _with_command(arguments: list[str]) -> list[str]:
    """The arguments with the command that they leave out: nothing, or options alone, are those of `cowork`."""
    begins = arguments[0] if arguments else "-"
    return ["cowork", *arguments] if begins.startswith("-") and begins not in _OWN_OPTIONS else arguments


def _run(parsed: argparse.Namespace) -> int:
    """Run a command that has no end of its own for each signal, as `cowork` has."""
    with Ending() as ending:
        try:
            code: int = parsed.run(parsed)
        except KeyboardInterrupt:
            return ending.exit_code
    return code


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command; the reference page is made from it too."""
    parser = argparse.ArgumentParser(
        prog="loom",
        description="A full-screen coworker for the terminal that never forgets.",
        epilog="`loom` alone is `loom cowork -w .`, and `loom -p TEXT` is `loom cowork -p TEXT`. Settings are in "
        "~/.config/loom/config.toml ($LOOM_HOME/config.toml if LOOM_HOME is set); as variables, LOOM_MODEL is `model`.",
    )
    parser.add_argument("--version", action="version", version=f"loom {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_AnyOrder)
    _add_cowork(commands)
    _add_sessions(commands)
    _add_search(commands)
    _add_export(commands)
    _add_import(commands)
    _add_context(commands)
    _add_check(commands)
    _add_backup(commands)
    _add_recover(commands)
    _add_purge(commands)
    return parser


class _AnyOrder(argparse.ArgumentParser):
    """Takes options between the other arguments too (`loom export REF --format html FILE`), and none behind `--`."""

    _passes: Iterator[Sequence[str]] | None = None
    advice = ""
    """What is said behind every error."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        # parse_known_intermixed_args asks this method in its turn: for the options, then for what they left. It would
        # take `--` away in the first pass, and what stands behind it for options in the second.
        if self._passes is not None:
            return super().parse_known_args([*args, *next(self._passes)], namespace)
        end = args.index("--") if "--" in args else len(args)
        self._passes = iter(([], args[end:]))
        try:
            parsed, unknown = self.parse_known_intermixed_args(args[:end], namespace)
        finally:
            self._passes = None
        if unknown:
            # The parser of all commands would say it, which knows nothing of this one.
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}{self.advice}")


_Commands = argparse._SubParsersAction  # argparse names no public type for this


def _workspace(parser: argparse.ArgumentParser, what: str = "the folder whose sessions REF may mean") -> None:
    parser.add_argument("-w", "--workspace", metavar="PATH", default=".", help=f"{what} (default: this one)")


def _session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", metavar="REF", help="the session: its reference, or its place in `loom sessions` (0 is the newest)"
    )


def _add_cowork(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "cowork",
        help="work with a model in a folder",
        description="Open the session picker of PATH, or, with -p, run one exchange and print the answer.",
        epilog="Exit code of -p: 0 complete; 1 the exchange failed or the answer stops short; 2 bad input; 3 complete, "
        "but a call was not allowed (see --allow); 128 + n ended by signal n, what had arrived is kept. A call that "
        "fails is the model's to work around: it is told on standard error and changes no exit code.",
    )
    _workspace(parser, "the folder to work in")
    parser.add_argument("-m", "--model", metavar="MODEL", help="a pydantic-ai model string, `auto` or `offline`")
    parser.add_argument(
        "-r",
        "--resume",
        metavar="REF",
        nargs="?",
        const="0",
        help="go on with a session: its reference, a unique beginning of it, or its place in the list "
        "(0 is the newest, and the default)",
    )
    parser.add_argument(
        "--fork",
        action="store_true",
        help="with --resume: go on in a new session that begins with all turns of that one, which stays as it is",
    )
    parser.add_argument("-p", "--prompt", metavar="TEXT", help="one exchange without a screen; `-` reads stdin")
    parser.add_argument(
        "--retry",
        action="store_true",
        help="with --resume, in place of -p: ask for the answer that the newest message (or tool result) did not get",
    )
    parser.add_argument("--output", choices=["text", "json"], default="text", help="what -p prints (default: text)")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="let the model read the project's instructions (AGENTS.md and kin), this time, without asking",
    )
    parser.add_argument(
        "--allow",
        choices=["nothing", "edits", "commands", "all"],
        default="nothing",
        help="what -p may do without asking; it cannot ask (default: nothing but reading)",
    )
    parser.set_defaults(run=_command("loom.cli.cowork"))


def _add_sessions(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "sessions",
        help="list sessions, newest first",
        description="List the sessions of a workspace, newest first: place, reference, last activity, title. "
        "`loom cowork --resume REF` goes on with one.",
    )
    _workspace(parser, "the folder whose sessions are listed")
    parser.add_argument("-a", "--all", action="store_true", help="of every workspace")
    parser.add_argument("--deleted", action="store_true", help="those that were deleted, which are in no other list")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most N (default: 50)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=_command("loom.cli.sessions"))


def _add_search(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "search",
        help="search what was said",
        description="Search every turn of this workspace's sessions. In QUERY, role:user tool:NAME file:PATH "
        "before:2026-03 after:3d leave only what they name, session:REF searches that session, wherever it is, and "
        '-word and -"two words" leave out what has them. Exit code 1 when nothing is found, 2 when a filter means '
        "nothing.",
        epilog="`tool:shell` means shell_execute, too, unless a tool is called just shell. A query with a -word goes "
        "behind `--`: loom search -- redis -cluster",
    )
    parser.advice = "; a query with a -word goes behind --: loom search -- redis -cluster"
    parser.add_argument("query", metavar="QUERY", nargs="+", help='words, "phrases", identifiers, paths, filters')
    _workspace(parser, "the folder whose sessions are searched")
    parser.add_argument("-s", "--session", metavar="REF", help="only in this session")
    parser.add_argument("-a", "--all", action="store_true", help="in every workspace")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most N (default: 10)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=_command("loom.cli.search"))


def _add_export(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "export",
        help="write a session to a file",
        description="Write every turn of a session to FILE, which only you can read. Times carry their offset "
        "from UTC; JSON has them as the archive does, in UTC.",
    )
    _session(parser)
    parser.add_argument("file", metavar="FILE", nargs="?", help="where to (default: standard output)")
    _workspace(parser)
    parser.add_argument("--format", choices=["markdown", "json", "html"], help="default: by FILE's ending, or markdown")
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")
    parser.set_defaults(run=_command("loom.cli.export"))


def _add_import(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "import",
        help="take sessions in from files, those of other agents too",
        description="Store the session that `loom export REF FILE.json` wrote, here or on another machine, with the "
        "turns, times and id that it had, or those of Claude Code, Codex, Gemini CLI, OpenCode, Crush, Goose, Kimi "
        "CLI, Mistral Vibe, Aider, gptsh or pydantic-deep as far as they are known; their files are only read. "
        "Exit code 1 when somebody has changed what loom wrote, 2 when a file is no session; the others are stored all "
        "the same. An import that was cut off, or whose file has grown, goes on when it is called again.",
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="what `loom export` wrote as JSON, or another agent's file, folder or database (sessions.db#ID for one of "
        "its sessions); `-` reads stdin",
    )
    parser.add_argument("--sub-agents", action="store_true", help="what sub-agents said, too, as sessions")
    parser.add_argument(
        "-l",
        "--list",
        metavar="AGENT",
        nargs="?",
        const="",
        help="list what other agents (or this one) have kept of the folder, in their usual places on this machine",
    )
    parser.add_argument("-a", "--all", action="store_true", help="with --list: of every folder")
    parser.add_argument("--json", action="store_true", help="with --list: one JSON object a line")
    parser.add_argument(
        "-w",
        "--workspace",
        metavar="PATH",
        help="the folder that it goes on in (default: the one it was begun in); with --list, the folder whose sessions "
        "are listed (default: this one)",
    )
    parser.set_defaults(run=_command("loom.cli.importing"))


def _add_context(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "context",
        help="what the model saw, request by request",
        description="The window of a session over time; any earlier request as it was sent; two of them compared. "
        "A request is named by its number (12) or by a turn (T57: the request that had it as its newest).",
    )
    _session(parser)
    _workspace(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--at", metavar="REQUEST", help="one request, part by part")
    which.add_argument("--diff", nargs=2, metavar=("A", "B"), help="what came, left and shrank from A to B")
    parser.add_argument("--full", action="store_true", help="with --at: every word of it")
    parser.add_argument("--json", action="store_true", help="JSON: one object, or one a line for the list of requests")
    parser.set_defaults(run=_command("loom.cli.context"))


def _add_check(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "check",
        help="look the archive over",
        description="Is everything there as it was stored? Changes nothing. Exit code 1 when something is wrong.",
    )
    parser.add_argument("--quick", action="store_true", help="the structure only, not every text")
    parser.add_argument("--reindex", action="store_true", help="make the full-text index anew first")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    parser.set_defaults(run=_command("loom.cli.check"))


def _add_backup(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "backup",
        help="make a verified copy of the archive",
        description="Copy the archive, also while it is in use, open the copy and compare it.",
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="where to (default: the backups folder of loom's home)")
    parser.set_defaults(run=_command("loom.cli.backup"))


def _add_recover(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "recover",
        help="save the turns of a damaged archive",
        description="Write what can be saved of FILE, which is only read, into a new archive. "
        "Exit code 1 when a session is not whole.",
    )
    parser.add_argument("file", metavar="FILE", help="the damaged archive")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the new archive (default: beside it, NAME-recovered.db)"
    )
    parser.set_defaults(run=_command("loom.cli.recover"))


def _add_purge(commands: _Commands[_AnyOrder]) -> None:
    parser = commands.add_parser(
        "purge",
        help="destroy a session",
        description="Take a session out of the archive, its index, log and backups, and search every file of loom's "
        "home for what is left. Exit code 1 when something is, or may be. A purge that was cut off goes on when it is "
        "called again.",
    )
    _session(parser)
    _workspace(parser)
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=_command("loom.cli.purge"))


def _command(module: str) -> Callable[[argparse.Namespace], int]:
    """The `run` of a module, which is imported when the command runs: `loom --help` and the first paint wait for
    none of the others."""

    def run(parsed: argparse.Namespace) -> int:
        code: int = import_module(module).run(parsed)
        return code

    return run

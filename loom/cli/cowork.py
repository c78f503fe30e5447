"""`loom cowork`: the screen, or one exchange without it."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from loom.cli.main import EXIT_FAILED
from loom.cli.output import say
from loom.cli.workspace import find_workspace
from loom.config import load_settings, unknown_variables
from loom.cowork.ending import EndingSignals, silence
from loom.errors import LoomError
from loom.locations import find_locations
from loom.text import show, show_line

if TYPE_CHECKING:
    # 0.2 s: not needed for one exchange without a screen.
    from loom.tui.app import LoomApp


def run(parsed: argparse.Namespace) -> int:
    """Start the app, or run one exchange with -p."""
    if parsed.fork and parsed.resume is None:
        raise LoomError("--fork needs the session to fork.", "Name it with --resume REF (0 is the newest).")
    if parsed.retry and (parsed.resume is None or parsed.prompt is not None):
        raise LoomError(
            "--retry asks for the answer to what is stored already.",
            "Name its session with --resume REF, without -p.",
        )
    workspace = find_workspace(parsed.workspace)
    locations = find_locations()
    settings = load_settings(locations.config, model=parsed.model)
    unknown = show_line(unknown_variables(os.environ), 500)
    if parsed.prompt is not None or parsed.retry:
        if unknown:
            say(f"loom: {unknown}")
        from loom.cli.headless import run_prompt

        return run_prompt(locations, settings, workspace, parsed)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LoomError("There is no terminal to draw on.", "Use -p TEXT for one exchange without a screen.")
    from loom.tui.app import LoomApp

    app = LoomApp(locations, settings, workspace, resume=parsed.resume, fork=parsed.fork, trust_project=parsed.trust)
    if unknown:
        app.remarks = (*app.remarks, unknown)
    code = asyncio.run(_shown(app))
    _print_unstored(app)
    _say_how_to_resume(app, workspace)
    return code or (EXIT_FAILED if app.unstored else 0)


async def _shown(app: LoomApp) -> int:
    """Have the app on the screen until it is left; the exit code."""
    with EndingSignals(lambda which: app.end(128 + which)) as signals:
        await app.run_async()
    return signals.exit_code or app.return_code or 0


def _print_unstored(app: LoomApp) -> None:
    """What no disk took goes to the terminal: there at least somebody can copy it."""
    if not app.unstored:
        return
    say("loom: this could be stored nowhere, and is printed here so that you can copy it:")
    for text in app.unstored:
        say(f"---\n{show(text)}")
    say("---")


def _say_how_to_resume(app: LoomApp, workspace: Path) -> None:
    session = app.left
    if session is None:
        return
    place = shlex.quote(show_line(str(workspace), 1_000))
    try:
        print(f"resume with: loom cowork -w {place} --resume {session.reference}", flush=True)
    except OSError:
        # The terminal that would show it is gone.
        silence()

"""`loom cowork`: the screen, or one exchange without it."""

from __future__ import annotations

import argparse
import sys

from loom.cli.workspace import find_workspace
from loom.config import load_settings
from loom.errors import LoomError
from loom.locations import find_locations


def run(parsed: argparse.Namespace) -> int:
    """Start the app, or run one exchange with -p."""
    workspace = find_workspace(parsed.workspace)
    locations = find_locations()
    settings = load_settings(locations.config, model=parsed.model)
    if parsed.prompt is not None:
        from loom.cli.headless import run_prompt

        return run_prompt(locations, settings, workspace, parsed)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LoomError("There is no terminal to draw on.", "Use -p TEXT for one exchange without a screen.")
    from loom.tui.app import LoomApp

    app = LoomApp(locations, settings, workspace, resume=parsed.resume, trust_project=parsed.trust)
    app.run()
    return app.return_code or 0

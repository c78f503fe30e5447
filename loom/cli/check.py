"""`loom check`: is everything that was stored still there, as it was stored?"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from loom.archive.check import check
from loom.archive.findings import CheckReport
from loom.archive.reindex import reindex
from loom.cli.output import write_line
from loom.cli.progress import shown_progress
from loom.errors import LoomError
from loom.locations import find_locations
from loom.text import plural, show_line


def run(parsed: argparse.Namespace) -> int:
    """Print what was found; 1 when something is wrong or could not be looked into."""
    archive = find_locations().archive
    try:
        archive.stat()
    except FileNotFoundError as error:
        raise LoomError(f"There is no archive at {archive} yet: nothing to check.") from error
    except OSError as error:
        raise LoomError(f"The archive {archive} cannot be reached: {error.strerror}.") from error
    if parsed.reindex:
        with shown_progress() as progress:
            turns = reindex(archive, progress)
        write_line(f"The full-text index was made anew from {plural(turns, 'turn')}.")
    with shown_progress() as progress:
        report = check(archive, quick=parsed.quick, progress=progress)
    write_line(_as_json(report) if parsed.json else _as_text(report))
    return 0 if report.sound else 1


def _as_text(report: CheckReport) -> str:
    size = f"{report.size / 1_000_000:.1f} MB"
    counted = (
        "" if report.turns is None else f"{plural(report.sessions or 0, 'session')}, {plural(report.turns, 'turn')}, "
    )
    lines = [f"{report.path}: {counted}{size}"]
    wrong = {finding.part for finding in report.findings}
    said = {**report.standing, **dict.fromkeys(wrong, "WRONG")}
    lines.append("  ".join(f"{part} {said.get(part, 'ok')}" for part in report.checked))
    for finding in report.findings:
        lines.append(f"{finding.part}: {show_line(f'{finding.what} {finding.remedy}'.strip(), 1000)}")
    lines += [f"not seen: {show_line(unseen, 1000)}" for unseen in report.unseen]
    lines += [f"note: {show_line(remark, 1000)}" for remark in report.remarks]
    lines.append(_in_short(report))
    return "\n".join(lines)


def _in_short(report: CheckReport) -> str:
    if report.findings:
        return f"{len(report.findings)} things are wrong." if len(report.findings) > 1 else "1 thing is wrong."
    return "Not everything could be looked into." if report.unseen else "Everything is in order."


def _as_json(report: CheckReport) -> str:
    return json.dumps({**asdict(report), "path": str(report.path), "sound": report.sound}, indent=2)

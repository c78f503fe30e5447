"""A session as one HTML page: no script, nothing loaded, every word literal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape

from loom.archive.records import Session, Turn, TurnKind, TurnStatus
from loom.text import plural, show, show_line

_STYLE = """\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
article { border-left: 3px solid #8886; margin: 1rem 0; padding: 0 0 0 1rem; }
article.user { border-color: #5b8def; } article.assistant { border-color: #4caf7d; }
article.tool { border-color: #c99a3a; }
h2 { font-size: .8rem; font-weight: 600; opacity: .7; margin: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: .9rem/1.45 ui-monospace, monospace; margin: .3rem 0; }
"""


def html(session: Session, turns: Iterable[Turn]) -> Iterator[str]:
    """The page in pieces."""
    title = escape(show_line(session.title or "Untitled session"))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"<p>Session {escape(session.reference)}, {plural(session.turn_count, 'turn')}, "
        f"{escape(show_line(session.model_name))}, {escape(show_line(session.workspace_path))}</p>\n"
    )
    for turn in turns:
        yield _article(turn)
    yield "</body>\n</html>\n"


def _article(turn: Turn) -> str:
    ending = "" if turn.status is TurnStatus.COMPLETE else f" · {turn.status.value}"
    name = f" · {turn.tool_name}" if turn.tool_name else ""
    head = escape(show_line(f"T{turn.turn_number} {turn.role}{name}{ending}"))
    body = escape(show(_words(turn)))
    return f'<article class="{turn.role}" id="T{turn.turn_number}">\n<h2>{head}</h2>\n<pre>{body}</pre>\n</article>\n'


def _words(turn: Turn) -> str:
    if turn.kind is not TurnKind.TOOL_CALL:
        return turn.content or ""
    calls = turn.tool_calls or []
    return "\n".join(f"{c.get('name')} {json.dumps(c.get('arguments'), ensure_ascii=False)}" for c in calls)

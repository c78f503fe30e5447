"""The offline model's grammar: a message cut into requests. Pure, and never raises."""

from __future__ import annotations

import re

from loom.models.offline_literals import MARKED, Masked, mask
from loom.models.offline_phrases import understand, without_courtesy
from loom.models.offline_requests import Clause, Unknown, WriteFile

MAX_LINES = 200
"""Lines of a message that are looked at; a longer one is a paste, and no list of requests."""

MAX_CLAUSES = 20
"""Requests that are taken from one message."""

_THEN = re.compile(r"[,;.]?\s+(?:and\s+)?then[,:]?\s+|;\s+", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_STARTS_THEN = re.compile(r"(?:and\s+)?then\b", re.IGNORECASE)
_JOINED = re.compile(rf"\s*(?:(?:with|by|to|in\s+\S+)\s*:?\s*)?(?:{MARKED})?\s*", re.IGNORECASE)
_WRITE = re.compile(
    rf"(?P<verb>write|create|save)\s+(?:to\s+)?(?P<word>(?:(?:a|an|the)\s+)?(?:new\s+)?(?:empty\s+)?"
    rf"(?:file\s+(?:called\s+|named\s+)?)?)(?P<path>{MARKED}|[^\s\x00:]+)"
    r"(?:\s*:|\s+(?:with|containing|that\s+says|saying)(?:\s+(?:the\s+)?(?:contents?|text))?\s*:?|(?P<bare>))"
    r"(?:\s+(?P<rest>.+)|\s*)",
    re.IGNORECASE | re.DOTALL,
)

_WRITE_TO = re.compile(
    rf"(?:write|save|put)\s+(?P<content>{MARKED})\s+(?:in)?to\s+(?:(?:a|the)\s+)?(?:new\s+)?"
    rf"(?P<word>(?:file\s+(?:called\s+|named\s+)?)?)(?P<path>{MARKED}|[^\s\x00:]+)",
    re.IGNORECASE,
)


def parse(message: str) -> tuple[Clause, ...]:
    """The requests of a message, in order; words that are none come back as `Unknown`.

    Lines are requests of their own; `then` and `;` join several on a line. Unquoted content of a `write` goes on to
    the end of the message.
    """
    masked = mask(message)
    lines = _join_blocks(masked)
    clauses: list[Clause] = []
    at = 0
    while at < len(lines) and at < MAX_LINES and len(clauses) <= MAX_CLAUSES:
        line = lines[at].strip()
        at += 1
        if not line:
            continue
        pieces = _pieces(masked, line)
        for number, piece in enumerate(pieces):
            follows = bool(clauses) and (number > 0 or _STARTS_THEN.match(_bare(piece)) is not None)
            open_end = number == len(pieces) - 1
            written = _write(masked, piece, lines[at:] if open_end else [])
            if written is not None:
                request, used_rest = written
                clauses.append(Clause(request, follows))
                at = len(lines) if used_rest else at
            else:
                clauses.append(Clause(understand(masked, _bare(piece)), follows))
    if left := sum(bool(line.strip()) for line in lines[at:]):
        clauses.append(Clause(Unknown("…", f"I take at most {MAX_CLAUSES} requests at a time.", left)))
    return tuple(clauses)


def _join_blocks(masked: Masked) -> list[str]:
    """The lines, with a fenced block (and a lone "with" between two) drawn up to the line it belongs to."""
    lines: list[str] = []
    for line in masked.text.split("\n"):
        stripped = line.strip()
        block = masked.literal(stripped)
        belongs = (block is not None and block.fenced) or (
            stripped and lines and "\x00" in lines[-1] and _JOINED.fullmatch(stripped) is not None
        )
        if belongs and any(lines):
            while not lines[-1].strip():
                lines.pop()
            lines[-1] = f"{lines[-1]} {stripped}"
        else:
            lines.append(line)
    return lines


def _bare(piece: str) -> str:
    """The piece without bullet and surrounding space."""
    bullet = _BULLET.match(piece)
    return piece[bullet.end() if bullet else 0 :].strip()


def _pieces(masked: Masked, line: str) -> list[str]:
    """The line cut at each "then" that is followed by a request; other "then"s belong to what stands before."""
    if len(line) > 4_000:
        return [line]
    pieces: list[str] = []
    begin = 0
    for separator in _THEN.finditer(line):
        following = _THEN.split(line[separator.end() :], maxsplit=1)[0]
        if re.search(r"\w", line[begin : separator.start()]) and _is_request(masked, following):
            pieces.append(line[begin : separator.start()])
            begin = separator.end()
    pieces.append(line[begin:])
    return pieces


def _is_request(masked: Masked, piece: str) -> bool:
    bare = _bare(piece)
    return _write(masked, bare, []) is not None or not isinstance(understand(masked, bare), Unknown)


def _written_to(masked: Masked, piece: str) -> re.Match[str] | None:
    """The match of a request to write a file; a bare name must look like a file's."""
    found = _WRITE.fullmatch(without_courtesy(piece))
    if found is None:
        return None
    if found["bare"] is not None and not (_names_file(masked, found) and _is_quoted(masked, found["rest"])):
        return None
    return found


def _names_file(masked: Masked, found: re.Match[str]) -> bool:
    path = masked.value(found["path"])
    return "file" in found["word"].lower() or "." in path or "/" in path


def _is_quoted(masked: Masked, rest: str | None) -> bool:
    """Whether content that no `with` leads in to is marked as such, or is not there."""
    return not rest or masked.literal(rest.strip()) is not None


def _write(masked: Masked, piece: str, following: list[str]) -> tuple[WriteFile, bool] | None:
    """The request to write a file, and whether it took the rest of the message; None if it is none."""
    put = _WRITE_TO.fullmatch(without_courtesy(_bare(piece)))
    if put is not None and _names_file(masked, put):
        return WriteFile(masked.value(put["path"]), masked.value(put["content"])), False
    found = _written_to(masked, _bare(piece))
    if found is None:
        return None
    path = masked.value(found["path"])
    if found["bare"] is not None and not found["rest"]:
        return WriteFile(path, ""), False
    rest = (found["rest"] or "").strip()
    literal = masked.literal(rest)
    if literal is not None:
        return WriteFile(path, literal.value), False
    text = masked.raw("\n".join([rest, *following] if rest else following)).strip("\n")
    return WriteFile(path, f"{text}\n" if text else ""), bool(following)

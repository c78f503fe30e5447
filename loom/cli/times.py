"""Moments, as a command prints them."""

from __future__ import annotations

from datetime import datetime


def local_time(moment: str) -> str:
    """`2026-11-22 08:10 +01:00`: a moment as the archive has it (ISO 8601), in the time of whoever reads it. In JSON
    it stays as it is, UTC."""
    stamp = datetime.fromisoformat(moment).astimezone().isoformat(sep=" ", timespec="minutes")
    return f"{stamp[:16]} {stamp[16:]}"

"""The unsent words of a loom that is gone."""

from __future__ import annotations

from loom.archive.unsent import Unsent


def put_unsent(unsent: Unsent, place: str, text: str) -> None:
    """Leave these words there."""
    words = unsent.at(place)
    words.keep(text)
    words.release()


def left_unsent(unsent: Unsent, place: str) -> list[str]:
    """What was left there, oldest first; it stays."""
    words = unsent.at(place)
    try:
        return words.take_up()
    finally:
        words.release()

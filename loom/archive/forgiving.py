"""Reads what can be read of a text with damaged bytes, so that one bad byte does not hide all the turns around it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from loom.archive.faults import is_undecodable

T = TypeVar("T")


def forgiving(connection: sqlite3.Connection, work: Callable[[], T]) -> T:
    """What `work` reads with the connection. Where a text is no UTF-8 it is done again, and the bytes that are none
    come as U+FFFD; `loom check` names their turn.

    From then on the connection reads so. Not from the start: a function of Python's for each text takes longer than
    the rest of reading it.
    """
    try:
        return work()
    except sqlite3.OperationalError as error:
        if not is_undecodable(error):
            raise
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    connection.text_factory = _replacing
    return work()


def _replacing(data: bytes) -> str:
    return data.decode("utf-8", "replace")

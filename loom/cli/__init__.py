"""The `loom` command."""

from loom.cli.main import main

__all__ = ["main"]

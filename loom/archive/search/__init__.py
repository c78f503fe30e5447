"""Full-text search over the archive: see `SearchEngine`."""

from loom.archive.search.engine import SearchEngine

__all__ = ["SearchEngine"]

"""loom: a full-screen coworker for the terminal that never forgets."""

__version__ = "0.1.0"

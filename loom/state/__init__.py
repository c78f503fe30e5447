"""Session state: what the window always holds about the session, taken mechanically from its turns."""

from loom.state.extract import advance, not_rewound, rebuild, rewinds
from loom.state.model import SessionState
from loom.state.render import SessionLine, to_yaml

__all__ = ["SessionLine", "SessionState", "advance", "not_rewound", "rebuild", "rewinds", "to_yaml"]

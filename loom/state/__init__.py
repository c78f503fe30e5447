"""Session state: what the window always holds about the session, taken mechanically from its turns."""

from loom.state.extract import advance, not_rewound, rebuild, rewinds
from loom.state.model import SessionState, read_state
from loom.state.render import SessionLine, to_yaml

__all__ = ["SessionLine", "SessionState", "advance", "not_rewound", "read_state", "rebuild", "rewinds", "to_yaml"]

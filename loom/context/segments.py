"""Which segment of the gauge a part of a message belongs to."""

from __future__ import annotations

from typing import Any

from pydantic_ai.messages import ToolReturnPart

from loom.context.trimming import RECALL_TOOL
from loom.context.usage import Segment


def segment_of(part: Any) -> Segment:
    """The segment of the gauge that a part belongs to."""
    if isinstance(part, ToolReturnPart):
        return Segment.RECALLED if part.tool_name == RECALL_TOOL else Segment.TOOL
    kind = getattr(part, "part_kind", "")
    if kind in ("user-prompt", "system-prompt", "speech"):
        return Segment.USER
    return Segment.TOOL if kind in ("tool-return", "retry-prompt", "retry-feedback") else Segment.ASSISTANT

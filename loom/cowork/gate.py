"""The gate before every tool: what runs by itself, what a person is asked, and what a failure becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import (
    DeferredToolApprovalResult,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
)

from loom.archive import Turn
from loom.cowork.approvals import Approvals
from loom.cowork.circles import Circles
from loom.tools.outcome import Preview, ToolFailure, ToolSpec
from loom.tools.permissions import Permissions


class Gate(AbstractCapability[None]):
    """Stops a call that changes something until the person, or what they allowed before, says yes; and one that only
    goes round in a circle."""

    def __init__(
        self,
        specs: Mapping[str, ToolSpec],
        permissions: Permissions,
        approvals: Approvals,
        running: Callable[[str], None],
        circles: Circles,
        turns: Sequence[Turn],
    ) -> None:
        super().__init__()
        self._specs = specs
        self._permissions = permissions
        self._approvals = approvals
        self._running = running
        self._circles = circles
        self._turns = turns
        self._previews: dict[str, Preview] = {}

    async def before_tool_execute(
        self, ctx: RunContext[None], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        if not ctx.tool_call_approved:
            try:
                self._circles.check(call.tool_name, call.args_as_dict(), self._turns)
            except ToolFailure as failure:
                raise ToolFailed(str(failure)) from failure
        spec = self._specs.get(call.tool_name)
        if spec is None or spec.preview is None or ctx.tool_call_approved:
            self._running(call.tool_call_id)
            return args
        try:
            preview = await spec.preview(args)
        except ToolFailure as failure:
            raise ToolFailed(str(failure)) from failure
        if preview is not None and self._permissions.needs_asking(spec, preview):
            self._previews[call.tool_call_id] = preview
            raise ApprovalRequired
        self._running(call.tool_call_id)
        return args

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[None], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        answers: dict[str, bool | DeferredToolApprovalResult] = {}
        for call in requests.approvals:
            answers[call.tool_call_id] = await self._ask(call)
        return DeferredToolResults(approvals=answers)

    async def _ask(self, call: ToolCallPart) -> DeferredToolApprovalResult:
        preview = self._previews.pop(call.tool_call_id)
        spec = self._specs[call.tool_name]
        # An earlier "always" in the same batch may have answered this one.
        if not self._permissions.needs_asking(spec, preview):
            return ToolApproved()
        decision = await self._approvals.ask(call.tool_call_id, call.tool_name, preview)
        if decision.allowed:
            if decision.always:
                self._permissions.allow(preview, wider=decision.wider)
            return ToolApproved()
        if not decision.by_person:
            return ToolDenied(f"Not allowed; nothing was changed. {decision.reason}".strip())
        reason = f" They said: {decision.reason}" if decision.reason else ""
        return ToolDenied(f"The person said no; nothing was changed.{reason}")

    async def on_tool_execute_error(
        self,
        ctx: RunContext[None],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        error: Exception,
    ) -> Any:
        # A plain exception would end the whole run: one broken call is the model's to work around.
        if isinstance(error, ToolFailure):
            raise ToolFailed(str(error)) from error
        raise ToolFailed(f"{call.tool_name} failed: {type(error).__name__}: {error}") from error

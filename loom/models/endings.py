"""Whether an answer that looks complete really is: pydantic-ai reports several that are not as a success."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

LENGTH = "The answer reached the model's output limit and stops short."
FILTERED = "The provider's content filter stopped the answer short."
CLOSED = "The connection closed before the model said that it was done: the answer may be incomplete."


def cut_short(response: ModelResponse) -> str:
    """Why the answer stops short, in a sentence; empty when it is whole.

    A stream that ends without a finish reason is given `stop` by the library (since 2.6x). The provider's own word
    stands in `provider_details["finish_reason"]`; where there are details without it, nobody said that it was done.
    Some small servers never say it, which cannot be told from a connection that closed.
    """
    match response.finish_reason:
        case "length":
            return LENGTH
        case "content_filter":
            return FILTERED
        case None:
            return CLOSED
    details = response.provider_details
    if response.finish_reason == "stop" and details is not None and "finish_reason" not in details:
        return CLOSED
    return ""

"""What went wrong at the model, in words: what happened, and what to do about it. Never a key, never a header."""

from __future__ import annotations

import errno
import html
import re
import socket
import ssl
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic_ai import exceptions as pai

from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.models.probing import parse_address
from loom.models.providers import find_provider
from loom.models.secrets import scrub
from loom.text import show_line

QUOTE = 300
"""Characters of the provider's own words that are quoted."""

PAGE = 4_000
"""Characters of a proxy's page that are looked at."""


class ErrorKind(StrEnum):
    """What kind of failure it was, for those who act on it."""

    AUTHENTICATION = "authentication"
    UNKNOWN_MODEL = "unknown model"
    RATE_LIMIT = "rate limit"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    SERVER = "server"
    CONNECTION = "connection"
    TIMEOUT = "time-out"
    OVERFLOW = "overflow"
    CONTENT_FILTER = "content filter"
    MALFORMED = "malformed"
    REJECTED = "rejected"
    LIMIT = "limit"
    OTHER = "other"


class ModelError(LoomError):
    """A request to the model that failed."""

    def __init__(self, kind: ErrorKind, what: str, remedy: str = "", *, retry_after: float | None = None) -> None:
        self.kind = kind
        self.retry_after = retry_after
        """Seconds that the provider asked to wait, if it said."""
        super().__init__(what, remedy)


_OVERFLOW_CODES = ("exceed_context_size_error", "context_length_exceeded", "exceeds the available context size")
"""llama.cpp (a 400, older versions a 500) and OpenAI: certain wherever they stand."""

_OVERFLOW_WORDS = (
    "context length",
    "context window",
    "context size",
    "context limit",
    "maximum context",
    "max_model_len",
    "too many tokens",
    "too many input tokens",
    "prompt is too long",
    "input is too long",
    "input length exceeds",
    "input token count",
    "reduce the length",
    "request_too_large",
    "exceeds the maximum number of tokens",
)
"""How proxies and servers word it; looked for in refused requests only (400, 413, 422)."""


def is_overflow(exc: BaseException) -> bool:
    """True when the request had more tokens than the model takes: shrink it and try again."""
    for error in _chain(exc):
        if isinstance(error, pai.ModelContextWindowExceededError):
            return True
        if not isinstance(error, pai.ModelAPIError):
            continue
        words = f"{error.provider_error_code} {error.provider_error_type} {error.message} {error.body}".lower()
        if any(code in words for code in _OVERFLOW_CODES):
            return True
        status = getattr(error, "status_code", None)
        if status == 413:
            return True
        refused = status in (400, 422) or (status is None and isinstance(error, pai.ModelRequestRejectedError))
        if refused and any(said in words for said in _OVERFLOW_WORDS):
            return True
    return False


_EMPTY_WORDS = ("ended without content or tool calls", "Exceeded maximum output retries")
"""How pydantic-ai words an answer without anything in it, once and each time that it asked again."""

_HTML_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_HTML_UNSEEN = re.compile(r"<(script|style|head)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)

_LIMITS = (
    re.compile(r"maximum context length (?:is|of) (\d[\d,]{2,})"),
    re.compile(r"max_model_len\D{0,20}(\d{3,})"),
    re.compile(r"['\"]n_ctx['\"]: ?(\d{3,})"),
    re.compile(r"available context size \((\d{3,})"),
    re.compile(r"tokens > (\d{3,}) maximum"),
    re.compile(r"maximum number of tokens(?: allowed)? \(?(\d{3,})"),
    re.compile(r"context (?:window|size|limit|length)(?: of| is|:)? (\d{3,}) ?tokens"),
)
"""How OpenAI, vLLM, llama.cpp (two ways), Anthropic, Google and others name the size of the window."""


def overflow_limit(exc: BaseException) -> int | None:
    """The model's context window in tokens as an overflow error names it; None if it does not."""
    for error in _chain(exc):
        if isinstance(error, pai.ModelAPIError):
            words = f"{error.message} {error.body}".lower()
            for limit in _LIMITS:
                if found := limit.search(words):
                    return int(found[1].replace(",", ""))
    return None


def explain_error(exc: BaseException, choice: ModelChoice) -> ModelError:
    """The failure in words. Any exception is taken; one that is not known is named."""
    if isinstance(exc, ModelError):
        return exc
    if isinstance(exc, LoomError):
        return ModelError(ErrorKind.OTHER, exc.what, exc.remedy)
    if is_overflow(exc):
        return ModelError(
            ErrorKind.OVERFLOW,
            f"The request is larger than the context window of {choice.name}.{_said(exc)}",
            "Set context_window to what the model takes, or /clear the window; nothing leaves the archive.",
        )
    for error in _chain(exc):
        found = _provider_error(error, choice) or _run_error(error, choice)
        if found is not None:
            return found
    return _transport(exc, choice) or ModelError(
        ErrorKind.OTHER, f"The request to {choice.name} failed: {type(exc).__name__}.{_said(exc)}", "Try again."
    )


def _provider_error(error: BaseException, choice: ModelChoice) -> ModelError | None:  # noqa: PLR0911  one a category
    name, said, who = choice.name, _said(error), _who(choice, error)
    match error:
        case pai.ModelAuthenticationError():
            return ModelError(ErrorKind.AUTHENTICATION, f"{who} did not accept the key.{said}", _set_key(choice))
        case pai.ModelNotFoundError():
            known = getattr(error, "suggested_model_id", None)
            remedy = f"Did you mean `{known}`?" if known else "Check the name, and the address if you set one."
            return ModelError(ErrorKind.UNKNOWN_MODEL, f"{who} has no model `{name.partition(':')[2]}`.{said}", remedy)
        case pai.ModelQuotaExceededError():
            return ModelError(
                ErrorKind.QUOTA,
                f"The quota or credit at {who} is used up.{said}",
                "Waiting will not help: look at the account, or choose another model with /model.",
            )
        case pai.ModelRateLimitError():
            wait = error.retry_after
            remedy = f"Try again in {_seconds(wait)}." if wait else "Wait a moment and try again."
            return ModelError(
                ErrorKind.RATE_LIMIT, f"{who} limits how often one may ask.{said}", remedy, retry_after=wait
            )
        case pai.ModelUnavailableError():
            wait = error.retry_after
            remedy = f"Try again in {_seconds(wait)}." if wait else "Try again in a minute, or choose another model."
            return ModelError(ErrorKind.OVERLOADED, f"{who} is overloaded or down.{said}", remedy, retry_after=wait)
        case pai.ModelServerError():
            return ModelError(ErrorKind.SERVER, f"{who} failed inside.{said}", "Try again.")
        case pai.ModelConnectionError() | pai.ModelRequestTimeout():
            return _transport(error, choice)
        case pai.ModelRequestRejectedError():
            return ModelError(
                ErrorKind.REJECTED,
                f"{who} refused the request.{said}",
                "Another model may take it; /model changes it.",
            )
    return None


def _run_error(error: BaseException, choice: ModelChoice) -> ModelError | None:
    said, who = _said(error), _who(choice, error)
    match error:
        case pai.ContentFilterError():
            return ModelError(
                ErrorKind.CONTENT_FILTER,
                f"{who} held the answer back by its content filter.{said}",
                "Word it otherwise, or choose another model.",
            )
        case pai.UsageLimitExceeded():
            return ModelError(
                ErrorKind.LIMIT,
                "The exchange reached its limit of requests to the model.",
                "Say `go on` to continue, or raise request_limit.",
            )
        case pai.UnexpectedModelBehavior() if any(words in error.message for words in _EMPTY_WORDS):
            return ModelError(
                ErrorKind.MALFORMED,
                f"{choice.name} gave an empty answer.",
                "Try again, or choose another model with /model.",
            )
        case pai.UnexpectedModelBehavior():
            return ModelError(
                ErrorKind.MALFORMED, f"{choice.name} answered with something that makes no sense.{said}", "Try again."
            )
        case ValueError() if type(error).__name__ in ("JSONDecodeError", "APIResponseValidationError"):
            return ModelError(
                ErrorKind.MALFORMED, f"The answer of {choice.name} is not what its API promises.{said}", "Try again."
            )
    return None


def _transport(exc: BaseException, choice: ModelChoice) -> ModelError | None:  # noqa: PLR0911  one return a cause
    chain = list(_chain(exc))
    where = _address(chain) or choice.name.partition(":")[0]
    if isinstance(exc, pai.ModelRequestTimeout):
        return ModelError(ErrorKind.TIMEOUT, f"{where} gave no answer in time.", "Try again.")
    for error in chain:
        if isinstance(error, socket.gaierror):
            return ModelError(
                ErrorKind.CONNECTION,
                f"The name of {where} cannot be resolved.",
                "Check the network and the address.",
            )
        if isinstance(error, ssl.SSLError):
            return ModelError(
                ErrorKind.CONNECTION,
                f"The certificate of {where} cannot be trusted: {show_line(scrub(str(error)), 120)}",
                "Check the address, the clock and SSL_CERT_FILE.",
            )
        if isinstance(error, OSError) and error.errno == errno.ECONNREFUSED:
            return ModelError(
                ErrorKind.CONNECTION,
                f"Nothing listens at {where}: the connection was refused.",
                "Start the server, or check the address.",
            )
    api = next((error for error in chain if isinstance(error, pai.ModelConnectionError)), None)
    if isinstance(api, pai.ModelTimeoutError) or any(isinstance(error, TimeoutError) for error in chain):
        if api is not None and api.phase == "connect":
            return ModelError(
                ErrorKind.TIMEOUT,
                f"{where} could not be reached in time.",
                "Check the network, or raise connect_timeout in the settings.",
            )
        # Before the answer or in the middle of it: the libraries do not tell.
        return ModelError(
            ErrorKind.TIMEOUT, f"{where} fell silent.", "Try again, or raise idle_timeout in the settings."
        )
    if api is None:
        return None
    if api.phase == "connect":
        return ModelError(ErrorKind.CONNECTION, f"{where} cannot be reached.{_said(api)}", "Check the network.")
    return ModelError(
        ErrorKind.CONNECTION,
        f"The connection to {where} broke off.",
        "What had arrived is kept. Try again.",
    )


def _chain(exc: BaseException) -> Iterator[BaseException]:
    """The exception, what caused it, and the members of groups; each once."""
    waiting: list[BaseException] = [exc]
    seen: set[int] = set()
    while waiting:
        error = waiting.pop(0)
        if id(error) in seen:
            continue
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            waiting.extend(error.exceptions)
        waiting.extend(cause for cause in (error.__cause__, error.__context__) if cause is not None)


def _who(choice: ModelChoice, error: BaseException) -> str:
    """Who answered: the provider, and where it listens if that is not the provider's own address."""
    provider = choice.name.partition(":")[0]
    where = _address(list(_chain(error)))
    return f"{provider} at {where}" if where and not where.endswith(":443") else provider


def _set_key(choice: ModelChoice) -> str:
    provider = find_provider(choice.name.partition(":")[0])
    if provider is None or not provider.keys:
        return "Check the credentials."
    return f"Check {' or '.join(provider.keys)}."


def _seconds(wait: float) -> str:
    return f"{wait:.0f} s" if wait < 120 else f"{wait / 60:.0f} minutes"


def _address(chain: list[BaseException]) -> str:
    """`host:port` that the request went to, from the first exception that knows its request; empty if none does."""
    for error in chain:
        try:
            url = str(getattr(error, "request").url)  # noqa: B009  a property that raises RuntimeError when unset
        except (AttributeError, RuntimeError):
            continue
        if (address := parse_address(url)) is not None:
            return f"{address.host}:{address.port}"
    return ""


def _said(error: BaseException) -> str:
    """The provider's own words, as a sentence to append; empty if there are none."""
    if isinstance(error, pai.UnexpectedModelBehavior):
        # Its body is the whole answer: what the person has on the screen already.
        words = error.message
    else:
        words = _message(getattr(error, "body", None))
        if not words and not isinstance(error, pai.ModelHTTPError):
            words = str(error) or type(error).__name__
    words = show_line(scrub(words), QUOTE).strip()
    if not words:
        return ""
    return f" It said: {words}{'' if words[-1] in '.!?…' else '.'}"


def _message(body: Any) -> str:
    """The message in an error body, whatever its shape."""
    for _ in range(4):
        if isinstance(body, list) and body:
            body = body[0]
        if not isinstance(body, dict):
            break
        body = next((body[key] for key in ("error", "message", "detail", "msg") if body.get(key)), None)
    return _without_markup(body) if isinstance(body, str) else ""


def _without_markup(body: str) -> str:
    """What a page of a proxy in front of the provider says, read as a person would: its title, else its words."""
    if not body.lstrip().startswith("<"):
        return body
    page = body[:PAGE]
    title = _HTML_TITLE.search(page)
    return html.unescape(title[1] if title and title[1].strip() else _HTML_UNSEEN.sub(" ", page))

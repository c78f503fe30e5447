"""Counting: the packaged vocabulary is OpenAI's, the estimate until it is loaded is honest, nothing blows up."""

from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from loom.context import o200k
from loom.context.estimate import estimate
from loom.context.measure import MEDIA_TOKENS, message_tokens, picture_size, picture_tokens
from loom.context.tokens import PIECE_CHARS, WHOLE_CHARS, TokenCounter


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    counter = TokenCounter()
    counter.load()
    return counter


def test_the_vocabulary_is_whole_and_openais() -> None:
    ranks = o200k.read_ranks()
    assert len(ranks) == 199_998
    assert (ranks[b"!"], ranks[b" the"], ranks[b" world"]) == (0, 290, 2375)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello world", [24912, 2375]),
        ("tiktoken is great!", [83, 8251, 2488, 382, 2212, 0]),
        ("お誕生日おめでとう", [8930, 9697, 243, 128225, 8930, 17693, 4344, 48669]),
        ("<|endoftext|>", [27, 91, 419, 1440, 919, 91, 29]),
    ],
)  # fmt: skip
def test_known_texts_have_their_known_tokens(text: str, tokens: list[int]) -> None:
    assert o200k.load_o200k().encode_ordinary(text) == tokens


def test_the_vocabulary_is_read_once() -> None:
    assert o200k.load_o200k() is o200k.load_o200k()


def test_a_damaged_vocabulary_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(o200k, "RAW_SHA256", "0" * 64)
    with pytest.raises(o200k.VocabularyDamaged, match="Install loom again"):
        o200k.read_ranks()


def test_counting_works_before_and_after_loading() -> None:
    counter = TokenCounter()
    text = "The quick brown fox jumps over the lazy dog. " * 20
    before = counter.count(text)
    assert not counter.loaded
    counter.load()
    assert counter.loaded
    assert counter.count(text) == pytest.approx(before, rel=0.1)
    assert counter.count("hello world") == 2
    assert counter.count("") == 0


rng = random.Random(7)
LOG = "2026-11-{:02d}T07:{:02d}:12.{:06d}Z INFO [worker-{}] com.example.AuthHandler - request {:016x} took {} ms"
KINDS = {
    "prose": ((o200k.__doc__ or "") + (TokenCounter.__doc__ or "") + (estimate.__doc__ or "")) * 4,
    "code": "\n".join(f"def method_{i}(self, value: int) -> str:\n    return self._names[value]" for i in range(80)),
    "log": "\n".join(
        LOG.format(
            rng.randint(1, 28),
            rng.randint(0, 59),
            rng.randint(0, 999_999),
            i,
            rng.getrandbits(64),
            rng.randint(1, 9999),
        )
        for i in range(200)
    ),
    "numbers": "\n".join("  ".join(f"{rng.uniform(-1e4, 1e4):12.4f}" for _ in range(8)) for _ in range(100)),
    "json": json.dumps([{"id": i, "value": rng.random(), "path": "/usr/lib/x.so"} for i in range(100)], indent=2),
    "base64": base64.b64encode(rng.randbytes(20_000)).decode(),
    "hashes": "\n".join(f"{rng.getrandbits(256):064x}" for _ in range(100)),
    "chinese": "我们决定使用数据库来保存所有的对话记录,这样程序崩溃之后也不会丢失。请先阅读配置文件。" * 10,
    "japanese": "データベースにすべての会話を保存することにしました。まず設定ファイルを読んでください。" * 10,
    "korean": "우리는 모든 대화를 데이터베이스에 저장하기로 결정했습니다. 먼저 설정을 읽어 주세요. " * 10,
    "russian": "Мы решили сохранять все разговоры в базе данных. Сначала прочитайте файл настроек. " * 10,
    "german": "Wir haben beschlossen, sämtliche Gespräche zu speichern, damit nichts verloren geht. " * 10,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_close_for(kind: str, counter: TokenCounter) -> None:
    text = KINDS[kind]
    allowed = 0.1 if kind in ("prose", "code", "log", "numbers", "json") else 0.2
    assert estimate(text) == pytest.approx(counter.count(text), rel=allowed)


@given(st.text(max_size=400))
@settings(deadline=None, max_examples=100)
def test_an_estimate_is_never_zero_for_words_and_never_more_than_bytes(text: str) -> None:
    assert (estimate(text) > 0) == bool(text)
    assert estimate(text) <= 3 * len(text)


@given(st.text(max_size=300))
@settings(deadline=None, max_examples=100)
def test_any_text_can_be_counted(text: str) -> None:
    loaded = shared()
    assert (loaded.count(text) > 0) == bool(text)


_loaded: list[TokenCounter] = []


def shared() -> TokenCounter:
    if not _loaded:
        _loaded.append(TokenCounter())
        _loaded[0].load()
    return _loaded[0]


@pytest.mark.parametrize("text", ["a" * 200_000, "é" * 50_000, " " * 100_000, "\ud800" * 50, "\x00" * 30_000])
def test_odd_texts_are_counted_in_pieces(text: str, counter: TokenCounter) -> None:
    assert 0 < counter.count(text) <= 3 * len(text)


def test_pieces_add_up_to_nearly_the_whole(counter: TokenCounter) -> None:
    text = KINDS["log"] * 6
    assert len(text) > 3 * PIECE_CHARS
    whole = len(o200k.load_o200k().encode_ordinary(text))
    assert counter.count(text) == pytest.approx(whole, rel=0.001)


def test_a_very_long_text_is_sampled(counter: TokenCounter) -> None:
    text = KINDS["code"] * 60
    assert len(text) > WHOLE_CHARS
    per_char = counter.count(KINDS["code"]) / len(KINDS["code"])
    assert counter.count(text) == pytest.approx(per_char * len(text), rel=0.02)


class TestMessages:
    def test_count_their_words_and_their_framing(self, counter: TokenCounter) -> None:
        request = ModelRequest(parts=[UserPromptPart("hello world")], instructions="not counted here")
        assert 2 < message_tokens(request, counter.count) < 10
        response = ModelResponse(parts=[TextPart("hello world"), ToolCallPart("ls", {"path": "."}, "c1")])
        assert message_tokens(response, counter.count) > message_tokens(request, counter.count)

    def test_count_a_tool_result_as_the_model_reads_it(self, counter: TokenCounter) -> None:
        text = "line\n" * 100
        result = ModelRequest(parts=[ToolReturnPart("t", text, "c1", metadata={"diff": "x" * 10_000})])
        assert counter.count(text) < message_tokens(result, counter.count) < counter.count(text) + 20

    def test_never_count_a_picture_as_nothing(self, counter: TokenCounter) -> None:
        unknown = BinaryContent(b"?" * 2_000_000, media_type="image/png")
        linked = ImageUrl("https://example.org/a.png")
        for item in (unknown, linked):
            tokens = message_tokens(ModelRequest(parts=[UserPromptPart(["look", item])]), counter.count)
            assert tokens >= MEDIA_TOKENS

    def test_count_a_document_by_its_size(self, counter: TokenCounter) -> None:
        pdf = BinaryContent(b"%PDF" * 50_000, media_type="application/pdf")
        assert message_tokens(ModelRequest(parts=[UserPromptPart([pdf])]), counter.count) >= 5 * MEDIA_TOKENS

    def test_count_schemas(self, counter: TokenCounter) -> None:
        tool = ToolDefinition(name="ls", description="Lists a directory.", parameters_json_schema={"type": "object"})
        assert counter.count_schema([tool]) > 20
        assert counter.count_schema([{"name": "ls"}]) > 12


class TestPictures:
    def test_are_measured_from_their_head(self) -> None:
        png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big")
        gif = b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little")
        webp = b"RIFF....WEBPVP8X" + b"\0" * 8 + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")
        frame = b"\xff\xc0\x00\x11\x08" + (480).to_bytes(2, "big") + (640).to_bytes(2, "big") + b"\0" * 8
        jpeg = b"\xff\xd8" + b"\xff\xe0\x00\x10" + b"\0" * 14 + frame
        assert [picture_size(head) for head in (png, gif, webp, jpeg)] == [(640, 480)] * 4

    @given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF"]))
    def test_with_a_damaged_head_do_no_harm(self, data: bytes, head: bytes) -> None:
        size = picture_size(head + data)
        assert size is None or picture_tokens(*size) > 0

    @pytest.mark.parametrize(
        ("size", "tokens"), [((1, 1), 255), ((512, 512), 350), ((1000, 1000), 1333), ((9000, 90), 765)]
    )
    def test_take_the_larger_of_two_published_formulas(self, size: tuple[int, int], tokens: int) -> None:
        assert picture_tokens(*size) == tokens

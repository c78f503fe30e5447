"""What the measurement of searching says when it is asked for something that there is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import search


def test_a_kind_that_there_is_none_of_is_refused_with_the_names_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["search", "--cache", str(tmp_path), "--only", "XYZ"])
    with pytest.raises(SystemExit) as left:
        search.main()
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert "no kind of query begins with 'XYZ'" in said
    for kind in ("rare word", "CJK, two characters", "nothing but filters"):
        assert f"\n  {kind}" in said
    assert not list(tmp_path.iterdir())


def test_the_beginning_of_a_name_is_enough() -> None:
    assert search.kinds_named("CJK") == ["CJK, two characters", "CJK, a clause"]
    assert search.kinds_named("") == list(search.Questions.KINDS)

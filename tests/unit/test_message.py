"""What a name that doesn't exist was meant to be, and documents with every text cleaned."""

import json
from pathlib import Path

import pytest

from dbbench.host import atomic_json
from dbbench.message import DEEPEST, MOST, clean, did_you_mean, nearest


def test_the_nearest_name_is_offered_whatever_its_case() -> None:
    assert nearest("SQLLITE", ["duckdb", "sqlite"]) == "sqlite"
    assert did_you_mean("child", ["Child", "Parent"]) == "; did you mean 'Child'?"


def test_nothing_is_offered_for_what_is_like_no_name_or_too_long_to_be_a_slip() -> None:
    assert did_you_mean("oracle", ["duckdb", "lmdb"]) == ""
    assert nearest("a" * 50, ["a" * 49]) == ""


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 0.5, null, "plain text"], "b": {}}', r'{"a": "\u001b[31mred\r\n", "\u0007": 1}', '{"a": "DEL \x7f"}',
        '{"a": "é \u202e"}', '{"a": "' + "long " * MOST + '"}', '"[[[[[[[[[[[[[[[[[[[[[[["',
        "[" * DEEPEST + "]" * DEEPEST, '{"]": ' * DEEPEST + "1" + ', "[": 1}' * DEEPEST,
    ],
)  # fmt: skip
def test_what_is_read_clean_is_what_cleaning_makes_of_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    assert atomic_json.read_clean(tmp_path / "a.json") == clean(json.loads(text))


@pytest.mark.parametrize("text", ["[" * 22 + "1" + "]" * 22, '{"]": ' * 22 + "1" + ', "[": 1}' * 22])
def test_a_document_that_is_too_deep_is_refused_whatever_its_texts_have(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    with pytest.raises(ValueError, match="nested too deeply"):
        atomic_json.read_clean(tmp_path / "a.json")

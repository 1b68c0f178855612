"""How few bytes data could take."""

import random
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbbench.datasets.absent import Absent
from dbbench.datasets.compressed import BETTER, too_few, too_few_of_records, too_few_of_vectors
from dbbench.datasets.records import RecordSet
from dbbench.suite.dataset import Records

ROWS = 20_000
TABLE = {"table": ["number"]}
RANDOM = pa.array(np.frombuffer(random.Random(1).randbytes(8 * ROWS), np.int64))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(**columns: Any) -> Any:
    batch = pa.record_batch(columns)
    folder = Path(tempfile.mkdtemp(dir="."))
    return SimpleNamespace(manifest={"csv_bytes": 19 * ROWS}, stream=lambda _name: [batch], directory=folder)


def test_nobody_keeps_random_numbers_in_less_than_they_take() -> None:
    least = too_few(files(number=RANDOM), TABLE, 128)
    assert 0.9 * 8 * ROWS <= least * BETTER <= 1.1 * 8 * ROWS
    assert too_few(files(number=RANDOM), TABLE, least - 1) == least
    assert not too_few(files(number=RANDOM), TABLE, least)


def test_few_words_take_what_tells_them_apart_and_random_texts_what_they_take() -> None:
    """An engine that packs which of four words it is into two bits is honest."""
    draw = random.Random(1)
    words = [pa.array(draw.choices(["red", "green", "blue", "yellow"], k=ROWS)) for _ in range(8)]
    assert not too_few(
        files(**{f"c{number}": each for number, each in enumerate(words)}),
        {"table": [f"c{n}" for n in range(8)]},
        8 * ROWS // 4,
    )
    unlike = pa.array([draw.randbytes(12).hex() for _ in range(ROWS)])
    assert 0.9 * 12 * ROWS <= too_few(files(text=unlike), {"table": ["text"]}, 128) * BETTER <= 1.5 * 12 * ROWS


def test_numbers_that_follow_one_another_take_next_to_nothing() -> None:
    assert not too_few(files(key=pa.array(np.arange(ROWS))), {"table": ["key"]}, 1_000)


def test_a_table_is_compressed_once() -> None:
    drawn = files(number=RANDOM)
    least = too_few(drawn, TABLE, 128)
    drawn.stream = None
    assert too_few(drawn, TABLE, 128) == least > 0


def test_without_a_table_that_is_known_nothing_is_too_few() -> None:
    assert not too_few(files(), {}, 0)


def test_most_of_a_record_is_random() -> None:
    records = RecordSet(Records(count=100, key_bytes=8, value_bytes=416), 1)
    assert too_few_of_records(records, 100, 9_999) == 10_000
    assert not too_few_of_records(records, 100, 10_000)


def test_columns_that_were_set_and_texts_that_are_absent_take_nothing() -> None:
    both = files(id=pa.array(np.arange(ROWS) + 1), number=RANDOM)
    least = too_few(both, {"table": ["id", "number"]}, 128)
    assert too_few(both, {"table": ["id"]}, 128) < least / 10
    half = Absent(deleted=np.arange(ROWS // 2) + 1)
    assert too_few(both, {"table": ["id", "number"]}, 128, half) == pytest.approx(least / 2, rel=0.1)


def vectors(numbers: Any) -> Any:
    kept = pa.FixedSizeListArray.from_arrays(pa.array(numbers.astype(np.float32)), 4)
    made = files(vector=kept)
    made.manifest["tables"] = {"vectors": {"rows": len(kept)}}
    return made


def test_vectors_take_what_tells_them_apart_unless_they_are_alike() -> None:
    drawn = vectors(np.random.default_rng(1).normal(size=4 * 10_240))
    least = too_few_of_vectors(drawn, 10_240, 128)
    assert least == 10_240 * 10 // 16  # ten bits each for 1,024 times as many as are looked among, of which half
    assert not too_few_of_vectors(drawn, 10_240, least)
    assert not too_few_of_vectors(drawn, 10, 0)
    assert too_few_of_vectors(vectors(np.zeros(4 * 10_240)), 10_240, 0) < 100

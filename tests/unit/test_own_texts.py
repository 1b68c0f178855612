"""Texts from the user's files: what is taken, what is searched for and checked, what is refused."""

import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbbench.datasets.cache import Files, check_rows, materialise
from dbbench.datasets.inverted import InvertedIndex
from dbbench.engine.base import Engine, Session
from dbbench.errors import NotVerified, Unsupported, UserError, WrongAnswer
from dbbench.loadgen.search_calls import vocabulary_of
from dbbench.suite.dataset import Dataset
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.search import SearchStep
from dbbench.workloads.context import StepContext
from dbbench.workloads.search import check_loaded, judged, own_words, refuse_unknown, searches

pytestmark = pytest.mark.usefixtures("own_cache")

CHANCE = random.Random(1)
WORDS = [f"w{'abcdefgh'[n % 8]}{'ijklmnop'[n // 8]}" for n in range(64)]
PLAIN = [" ".join(CHANCE.choices(WORDS, range(64, 0, -1), k=9)) for _ in range(40_000)]
OTHER = ["The <b>cat</b>, can't:\n don't!", "Über Straße", "猫 と 犬 cat", "", "snake_case x2"]


def given(**more: Any) -> dict[str, Any]:
    return {"file": "t.parquet", "column": "Text", "count": 5, **more}


def made(folder: Path, texts: list[Any], *, scale: float = 1.0, **more: Any) -> Files:
    """What a dataset makes of one column."""
    pq.write_table(pa.table({"Text": pa.array(texts, pa.large_string())}), folder / "t.parquet")
    dataset = Dataset.model_validate({"texts": given(**{"count": len(texts), **more})})
    return materialise(dataset, scale=scale, folder=folder)


def step(**more: Any) -> SearchStep:
    match = {"match": {"any": {"words": 2, "among": [1, 64]}}}
    return SearchStep.model_validate({"kind": "search", "name": "s", "title": "S", **match, **more})


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_plain_texts_are_found_by_their_words(tmp_path: Path, scale: float) -> None:
    files = made(tmp_path, PLAIN, scale=scale)
    bodies = files.table("texts").column("body")
    assert bodies.to_pylist() == PLAIN[: round(40_000 * scale)]
    assert {*vocabulary_of(files)} == {*WORDS}
    counted = Counter(" ".join(bodies.to_pylist()).split(" "))
    counts = [counted[word] for word in vocabulary_of(files)]
    assert counts == sorted(counts, reverse=True)
    index = InvertedIndex(vocabulary_of(files), files.mapped("postings", range(files.batches("postings"))), bodies)
    for kind in ("any", "all"):
        asked = ("wai", "wbj")
        among = any if kind == "any" else all
        right = [
            key for key, text in enumerate(bodies.to_pylist(), 1) if among(word in text.split(" ") for word in asked)
        ]
        assert index.find(kind, asked).keys.tolist() == right  # type: ignore[arg-type]  # one of the kinds
    refuse_unknown(files)


@pytest.mark.parametrize("other", [*filter(None, OTHER), "a" * 40])
def test_other_texts_are_searched_and_not_verified(tmp_path: Path, other: str) -> None:
    files = made(tmp_path, [*PLAIN[:200], other])
    with pytest.raises(NotVerified, match="aren't only words of a to z between single blanks"):
        refuse_unknown(files)
    words = [*islice(searches(step(), files, "1").words(), 50)]
    assert {each for query in words for each in query} <= {*vocabulary_of(files)}
    index = InvertedIndex(vocabulary_of(files), [], files.table("texts").column("body"))
    assert judged(step(), index, [(words[0], [1, 7])]) == ("", {"checked": 0, "matches": 2.0})
    for answer, more, what in (
        ([1, 1], {}, "a key twice"),
        ([202], {}, "the key 202, which no text has"),
        ([1, 2, 3], {"top": 2}, "3 rows instead of 2"),
        ([(1, "other")], {"payload": "text"}, "another text under the key 1"),
    ):
        assert what in judged(step(**more), index, [(words[0], answer)])[0]


def test_words_are_of_letters_and_digits(tmp_path: Path) -> None:
    found = {*vocabulary_of(made(tmp_path, OTHER))}
    assert found == {
        "the", "b", "cat", "can", "t", "don", "über", "straße", "猫", "と", "犬", "snake", "case", "x2",
    }  # fmt: skip


def test_a_text_is_searched_for_by_its_own_words(tmp_path: Path) -> None:
    index = InvertedIndex((), [], made(tmp_path, OTHER).table("texts").column("body"))
    assert own_words(index, np.array([1, 4, 5])) == [("the", "b", "cat", "can", "t", "don"), ("snake", "case", "x2")]


def test_texts_come_from_csv_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Id,Text\n1,one two\n2,three\n", encoding="utf-8")
    dataset = Dataset.model_validate({"texts": given(file="t.csv", count=2)})
    assert materialise(dataset, folder=tmp_path).table("texts").to_pylist() == [
        {"id": 1, "body": "one two"}, {"id": 2, "body": "three"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "more", "words"),
    [
        (["a", None], {}, r"row 2, column body: None is missing"),
        (["a", "bcd"], {"characters": 2}, "row 2, column body: 'bcd' is longer than 2 characters"),
        (["a", "b\0"], {}, "a text with a NUL in it"),
        (["a"], {"column": "Body"}, r"has no column 'Body' \(it has: Text\)"),
        (["!", ""], {}, "t.parquet, column Text: no text has a word"),
        (["a"], {"vocabulary": 2_000}, "no `vocabulary` with a `file`"),
    ],
)
def test_bad_input_is_refused_in_one_line(tmp_path: Path, texts: list[Any], more: Any, words: str) -> None:
    with pytest.raises((UserError, ValueError), match=words) as raised:
        made(tmp_path, texts, **more)
    assert "\n" not in str(raised.value) or "vocabulary" in more


def test_another_number_of_texts_is_refused_by_check(tmp_path: Path) -> None:
    made(tmp_path, ["a", "b"])
    text = f"""
dbbench: 1
name: own
title: Own
description: Own.
datasets: {{mine: {{texts: {given()}}}}}
scenarios:
  - {{name: own, title: Own, dataset: mine, steps: [{{kind: load, name: load, title: Load}},
     {{kind: search, name: s, title: S, match: {{all: {{among: [1, 90000]}}}}}}]}}
"""
    with pytest.raises(UserError, match="2 rows, and the suite says 5"):
        check_rows(parse_suite(text, str(tmp_path / "own.yaml")), tmp_path)


class Exact(Session):
    def __init__(self, files: Files) -> None:
        postings = files.mapped("postings", range(files.batches("postings")))
        self.index = InvertedIndex(vocabulary_of(files), postings, files.table("texts").column("body"))
        self.lost = 0

    def prepare_search(self, match: Any, *, top: int | None, payload: str) -> Any:
        return lambda words: self.index.find(match, words).keys.astype("int64")[self.lost :]


class Own(Engine):
    name, title, url, session_class = "own", "Own", "", Exact
    durability: ClassVar = {Tier.MEMORY: {}}


@pytest.mark.parametrize("texts", [PLAIN[:50], ["one two", "three one two"], ["one"]])
def test_loaded_texts_of_few_words_are_searched(tmp_path: Path, texts: list[str]) -> None:
    files = made(tmp_path, texts)
    session = Exact(files)
    context = StepContext(Own.__new__(Own), session, {}, files, {})
    if texts == ["one"]:
        with pytest.raises(NotVerified, match="the texts have too few words"):
            check_loaded(context)
        return
    check_loaded(context)
    session.lost = 1
    with pytest.raises(WrongAnswer, match=" rows instead of "):
        check_loaded(context)


def test_too_few_texts_for_a_scale_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="2 rows, and the suite says 4 at this scale"):
        made(tmp_path, ["a", "b"], count=8, scale=0.5)


def test_places_that_no_word_has_are_told(tmp_path: Path) -> None:
    files = made(tmp_path, ["one two three"])
    with pytest.raises(Unsupported, match="the texts have 3 different words: too few for those of `among`"):
        next(searches(step(match={"all": {}}), files, "1").words())

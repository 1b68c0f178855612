"""Documents: drawn from their fields, flattened for the reference, and compared by what they hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from dbbench.answers.compare import check_rows
from dbbench.answers.reference import answered
from dbbench.answers.stored import Question
from dbbench.datasets.cache import materialise
from dbbench.datasets.documents import canonical
from dbbench.datasets.generate import CHUNK_ROWS, arrow_schema, batches, chunk
from dbbench.engine import Dialect, Setup, Tier, Unsupported, fetch
from dbbench.errors import WrongAnswer
from dbbench.suite.dataset import Dataset, flattened
from dbbench_plugins.sqlite import SQLite
from tests.conftest import Opened
from tests.tables import table_of

ROWS = CHUNK_ROWS + 5
NAME = {"type": "varchar(8)", "values": {"kind": "choice", "weights": {'"quoted"': 1, "tab\t\\": 1, "ü": 2}}}
MONEY = {"type": "decimal(9, 2)", "values": {"kind": "quantiles", "points": {0: -2, 1: 5}, "step": 0.05}}
DAY = {"type": "date", "values": {"kind": "days", "first": "2024-02-27", "last": "2024-03-02"}}
MOMENT = {"type": "datetime", "values": {"kind": "days", "first": "2024-02-27", "last": "2024-03-02"}}
HALF = {"type": "double", "values": {"kind": "quantiles", "points": {0: 0, 1: 3}, "step": 0.5}}
FIELDS = {
    "name": NAME,
    "inner": {"fields": {"money": {**MONEY, "missing": 0.5}, "deep": {"fields": {"day": {**DAY, "missing": 0.25}}}}},
    "moments": {"items": MOMENT, "length": [0, 2]},
    "parts": {"items": {"fields": {"half": HALF, "name": {**NAME, "missing": 0.5}}}, "length": [1, 3], "missing": 0.1},
}


def dataset(fields: Mapping[str, Any] = FIELDS, *, rows: int = ROWS, **more: Any) -> Dataset:
    body = {"type": "json", "values": {"kind": "document", "fields": fields}, **more}
    return Dataset(seed=5, tables={"Doc": table_of({"Id": "integer", "Body": body}, rows=rows)})


def texts(given: Dataset, **how: Any) -> list[str]:
    found: list[str] = pa.Table.from_batches(batches(given, "Doc", **how)).column("Body").to_pylist()
    return found


DATASET = dataset()
TEXTS = texts(DATASET)
DOCUMENTS = [json.loads(text) for text in TEXTS]


def test_each_machine_draws_the_same_documents() -> None:
    drawn = hashlib.sha256("\n".join(TEXTS).encode()).hexdigest()
    assert drawn == "a79f544bbb1de1853827857cfb79d748a882382f373190eb0fb273a12cda975a"


def test_a_chunk_is_drawn_alone_and_another_seed_draws_other_texts() -> None:
    assert chunk(DATASET, "Doc", 1).column("Body").to_pylist() == TEXTS[CHUNK_ROWS:]
    assert texts(DATASET, seed=6) != TEXTS


def test_fields_have_their_types_and_lengths() -> None:
    assert {type(document["name"]) for document in DOCUMENTS} == {str}
    assert {document["name"] for document in DOCUMENTS} == {'"quoted"', "tab\t\\", "ü"}
    assert {len(document["moments"]) for document in DOCUMENTS} == {0, 1, 2}
    parts = [document["parts"] for document in DOCUMENTS if "parts" in document]
    assert {len(part) for part in parts} == {1, 2, 3}
    assert {part["half"] for each in parts for part in each} == {0, 0.5, 1, 1.5, 2, 2.5, 3}
    assert {moment[10:] for document in DOCUMENTS for moment in document["moments"]} == {" 00:00:00"}


def test_the_stated_share_of_fields_is_missing_and_none_is_null() -> None:
    parts = sum("parts" not in document for document in DOCUMENTS)
    money = sum("money" not in document.get("inner", {}) for document in DOCUMENTS)
    assert (parts / len(DOCUMENTS), money / len(DOCUMENTS)) == pytest.approx((0.1, 0.5), abs=0.01)
    assert "null" not in "".join(TEXTS)


def test_an_object_without_any_field_is_left_out() -> None:
    without = sum("inner" not in document for document in DOCUMENTS)
    assert without / len(DOCUMENTS) == pytest.approx(0.5 * 0.25, abs=0.01)
    assert not any("{}" in text for text in TEXTS)


def _one(field: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"one": field}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "at least 1 item"),
        (_one({}), "either `type` and `values`, or `fields`, or `items` and `length`"),
        (_one({**NAME, "fields": {"x": NAME}}), "either `type` and `values`, or `fields`, or `items` and `length`"),
        (_one({"items": NAME}), "either `type` and `values`"),
        (_one({**NAME, "length": [0, 1]}), "either `type` and `values`"),
        (_one({"items": NAME, "length": [3, 1]}), "the most no less than the least"),
        (_one({"items": NAME, "length": [-1, 1]}), "greater than or equal to 0"),
        (_one({"items": NAME, "length": [0, 1001]}), "less than or equal to 1000"),
        (_one({"items": {**NAME, "missing": 0.1}, "length": [0, 1]}), "elements that are never missing"),
        (_one({"items": {"items": NAME, "length": [0, 1]}, "length": [0, 1]}), "that have no arrays in them"),
        (_one({**NAME, "missing": 1}), "less than 1"),
        (_one({**NAME, "type": "integer"}), "a type that these values fit: char, varchar"),
        (_one({**NAME, "type": "varchar(2)"}), "texts of at most 2 characters"),
        (_one({"type": "integer", "values": {"kind": "sequence"}}), "'quantiles', 'choice', 'pattern', 'days', 'words'"),
        ({"a b": NAME}, "String should match pattern"),
        ({"a": {"fields": {"b": NAME}}, "a_b": NAME}, "each of another name, unlike Body_a_b"),
        ({"name": NAME, "Name": NAME}, "each of another name, unlike Body_Name"),
        ({"a" * 63: NAME}, "paths of at most 63 characters"),
    ],
)  # fmt: skip
def test_a_description_that_makes_no_documents_is_refused(fields: Mapping[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        dataset(fields)
    assert words in str(caught.value)


def test_a_description_that_is_too_deep_is_refused() -> None:
    field: Any = NAME
    for _ in range(70):
        field = {"fields": {"a": field}}
    with pytest.raises(ValidationError, match="paths of at most 63 characters"):
        dataset({"a": field})


def test_documents_are_no_keys_and_never_missing() -> None:
    with pytest.raises(ValidationError, match="none of them missing"):
        dataset(null_every=2)
    body = {"type": "json", "values": {"kind": "document", "fields": FIELDS}}
    with pytest.raises(ValidationError, match="other columns than the documents in Body"):
        Dataset.model_validate({"tables": {"Doc": {"rows": 1, "primary_key": "Body", "columns": {"Body": body}}}})
    table = {"rows": {"file": "x.csv"}, "primary_key": "Id", "columns": {"Id": {"type": "json"}}}
    with pytest.raises(ValidationError, match="values of the kind document"):
        Dataset.model_validate({"tables": {"Doc": table}})


def test_an_array_takes_no_name_of_a_table() -> None:
    tables = {**DATASET.model_dump()["tables"], "Doc_Body_parts": DATASET.model_dump()["tables"]["Doc"]}
    with pytest.raises(ValidationError, match="a name other than that of an array's table, Doc_Body_parts"):
        Dataset.model_validate({"tables": tables})


def test_the_reference_has_a_column_for_each_path_and_a_table_for_each_array() -> None:
    assert {name: list(table.columns) for name, table in flattened(DATASET.tables).items()} == {
        "Doc": ["Id", "Body_name", "Body_inner_money", "Body_inner_deep_day"],
        "Doc_Body_moments": ["Id", "Place", "Body_moments"],
        "Doc_Body_parts": ["Id", "Place", "Body_parts_half", "Body_parts_name"],
    }


def _asked(sql: str, tmp_path: Path, changes: Any = ()) -> list[tuple[Any, ...]]:
    small = dataset(rows=500)
    (answer,) = answered(Question(sql, changes=changes), small.tables, materialise(small), 2**30, str(tmp_path))
    return [tuple(row.values()) for row in answer.to_pylist()]


SMALL = [json.loads(text) for text in texts(dataset(rows=500))]


def test_the_reference_answers_from_paths(tmp_path: Path) -> None:
    found = _asked("SELECT Id, Body_name, Body_inner_money, Body_inner_deep_day FROM Doc", tmp_path)
    money = [document.get("inner", {}).get("money") for document in SMALL]
    days = [document.get("inner", {}).get("deep", {}).get("day") for document in SMALL]
    assert [row[1] for row in sorted(found)] == [document["name"] for document in SMALL]
    assert [None if row[2] is None else float(row[2]) for row in sorted(found, key=lambda row: row[0])] == money
    assert [row[3] and str(row[3]) for row in sorted(found, key=lambda row: row[0])] == days


def test_the_reference_answers_from_elements_of_arrays(tmp_path: Path) -> None:
    found = _asked("SELECT Id, Place, Body_parts_half, Body_parts_name FROM Doc_Body_parts", tmp_path)
    assert sorted(found, key=lambda row: row[:2]) == [
        (number, place, part["half"], part.get("name"))
        for number, document in enumerate(SMALL, 1)
        for place, part in enumerate(document.get("parts", ()))
    ]
    ((count,),) = _asked("SELECT COUNT(*) FROM Doc_Body_moments", tmp_path)
    assert count == sum(len(document["moments"]) for document in SMALL)


def test_nobody_can_tell_the_arrays_after_a_delete(tmp_path: Path) -> None:
    delete = ("DELETE FROM Doc WHERE Id <= 10", 1)
    assert _asked("SELECT COUNT(*) FROM Doc", tmp_path, [delete]) == [(490,)]
    with pytest.raises(ValueError, match="what a statement does to the arrays of Doc"):
        _asked("SELECT COUNT(*) FROM Doc_Body_parts", tmp_path, [delete])


def test_the_reference_follows_an_update_of_a_field(tmp_path: Path) -> None:
    update = ("UPDATE Doc SET Body_inner_money = Body_inner_money + 1 WHERE Id <= 10", 3)
    before = {key: value for key, value in _asked("SELECT Id, Body_inner_money FROM Doc WHERE Id <= 20", tmp_path)}  # noqa: C416
    after = dict(_asked("SELECT Id, Body_inner_money FROM Doc WHERE Id <= 20", tmp_path, [update]))
    assert after == {key: value if value is None or key > 10 else value + 3 for key, value in before.items()}


@pytest.mark.parametrize(
    "given",
    ['{"b": [1, 2.50], "a": {"c": "x", "d": 1}}', '{"a":{"d":1.0,"c":"x"},"b":[1e0,2.5]}', '{"a":{"c":"\\u0078","d":1},"b":[1,2.5]}'],
)  # fmt: skip
def test_the_same_document_may_be_written_otherwise(given: str) -> None:
    assert canonical(pa.array([given, None])).to_pylist() == ['{"a":{"c":"x","d":1},"b":[1,2.5]}', None]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"a":[2,1]}', "instead of"), ('{"a":["1",2]}', "instead of"), ('{"a":[1,2],"b":null}', "instead of"),
        ("{}", "instead of"), ('{"a":[1,2],"a":[1,2]}', "a field stands twice in one object"),
        ('{"a":[1,NaN]}', "NaN is no JSON"), ('{"a":[1,2]', "Expecting"), (None, "null instead of"),
        ({"a": [1, 2]}, "struct"),
    ],
)  # fmt: skip
def test_another_document_is_wrong(given: Any, words: str) -> None:
    expected = pa.table(
        [pa.array(['{"a":[1,2]}'])], schema=pa.schema([arrow_schema(DATASET.tables["Doc"]).field("Body")])
    )
    check_rows([('{"a": [1, 2]}',)], expected)
    with pytest.raises(WrongAnswer) as caught:
        check_rows([(given,)], expected)
    assert words in str(caught.value)


def test_an_engine_without_a_type_for_documents_says_so(opened: Opened) -> None:
    class NoDocuments(SQLite):
        sql = Dialect()

    with pytest.raises(Unsupported, match="no column type for json is known"):
        opened(NoDocuments, Tier.MEMORY).create(DATASET.tables)


@pytest.mark.parametrize("name", ["Doc", "VALUES"])
def test_sqlite_keeps_documents_in_its_binary_form(name: str, opened: Opened) -> None:
    engine = opened("sqlite+apsw", Tier.MEMORY, documents="jsonb")
    tables = {name: DATASET.tables["Doc"]}
    engine.create(tables)
    session = engine.connect()
    session.prepare_load(name, tables[name])([(1, TEXTS[0])])
    session.prepare_statement(engine.sql.translate(f"UPDATE {name} SET Body = json_set(Body, '$.name', 'x')", tables))()
    assert fetch(session, f'SELECT typeof("Body"), "Body" ->> \'name\' FROM "{name}"') == [("blob", "x")]


def test_sqlite_without_a_binary_form_says_so(tmp_path: Path) -> None:
    class Old(SQLite):
        @classmethod
        def versions(cls) -> dict[str, str]:
            return {"SQLite": "3.44.9"}

    with pytest.raises(Unsupported, match=r"SQLite 3.44.9 has no jsonb, which came with 3.45"):
        Old(Setup(tmp_path, Tier.MEMORY, {"documents": "jsonb"}))

"""Which types may stand for which, and what is told of it."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbbench.answers.compare import check_rows
from dbbench.answers.value_types import other_form
from dbbench.errors import WrongAnswer

MONEY, MOMENT = pa.decimal128(19, 4), pa.timestamp("s")
NEW_YEAR = datetime.datetime(2005, 1, 1)


@pytest.mark.parametrize(
    ("found", "own"),
    [
        (pa.int64(), pa.int32()), (pa.uint8(), pa.int64()), (pa.float64(), pa.float32()), (pa.decimal128(38, 0), MONEY),
        (pa.date32(), MOMENT), (pa.timestamp("us"), pa.date32()), (pa.large_string(), pa.string()),
        (pa.string_view(), pa.string()), (pa.null(), MONEY),
    ],
)  # fmt: skip
def test_the_suites_own_type_of_any_width_is_nothing_to_tell(found: pa.DataType, own: pa.DataType) -> None:
    assert other_form(found, pa.field("c", own), {}) == ""


@pytest.mark.parametrize(
    ("found", "own", "told"),
    [
        (pa.float64(), MONEY, "decimal as float"),
        (pa.int64(), MONEY, "decimal as integer"),
        (pa.decimal128(38, 0), pa.int64(), "integer as decimal"),
        (pa.float64(), pa.int32(), "integer as float"),
        (MONEY, pa.float32(), "float as decimal"),
    ],
)
def test_a_number_may_be_another_type_of_number_and_that_is_told(
    found: pa.DataType, own: pa.DataType, told: str
) -> None:
    assert other_form(found, pa.field("c", own), {}) == told


@pytest.mark.parametrize(
    ("found", "own", "name", "declared"),
    [
        (pa.string(), pa.int32(), "integer", "text"), (pa.string(), pa.int64(), "bigint", "text"),
        (pa.string(), MONEY, "decimal", "text"), (pa.string(), pa.float32(), "real", "text"),
        (pa.string(), pa.float64(), "double", "text"), (pa.string(), MOMENT, "datetime", "text"),
        (pa.string(), pa.date32(), "date", "text"), (pa.binary(), pa.string(), "varchar", "bytes"),
        (pa.binary(), pa.string(), "char", "bytes"), (pa.binary(), MONEY, "decimal", "bytes"),
    ],
)  # fmt: skip
def test_text_and_bytes_are_refused_unless_they_are_declared(
    found: pa.DataType, own: pa.DataType, name: str, declared: str
) -> None:
    field = pa.field("c", own)
    for wrong in ({}, {name: "float"}, {"another": declared}):
        with pytest.raises(WrongAnswer, match=f"^column c: {declared} in place of .* doesn't declare"):
            other_form(found, field, wrong)
    assert other_form(found, field, {name: declared}).endswith(f" as {declared}")


@pytest.mark.parametrize(("found", "own"), [(pa.int64(), pa.string()), (pa.int64(), MOMENT), (pa.bool_(), pa.string())])
def test_numbers_for_texts_or_dates_are_refused(found: pa.DataType, own: pa.DataType) -> None:
    with pytest.raises(WrongAnswer, match="in place of"):
        other_form(found, pa.field("c", own), {"varchar": "text", "datetime": "text", "integer": "text"})


@pytest.mark.parametrize(
    ("values", "own", "kind", "told"),
    [
        ([1, 2.5], [Decimal(1), Decimal("2.5")], MONEY, {"decimal as float"}),
        ([Decimal(1), 2.5], [Decimal(1), Decimal("2.5")], MONEY, {"decimal as float"}),
        (["2005-01-01", None], [NEW_YEAR, None], MOMENT, {"date as text"}),
        ([1, 2], [1, 2], pa.int32(), set()),
        ([None, None], [None, None], MONEY, set()),
    ],
)
def test_rows_tell_what_came_in_another_form(
    values: list[Any], own: list[Any], kind: pa.DataType, told: set[str]
) -> None:
    expected = pa.table({"c": pa.array(own, kind)})
    declared = {"datetime": "text"}
    assert check_rows([(value,) for value in values], expected, ordered=True, declared=declared) == told

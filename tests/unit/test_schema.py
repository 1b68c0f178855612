"""Types, rows at a scale, and models that stay as they are."""

import pytest
from pydantic import ValidationError

from dbbench.suite.data_types import DataType, parse_type
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Suite


@pytest.mark.parametrize(
    ("text", "data_type"),
    [
        ("integer", DataType("integer", ())), (" bigint ", DataType("bigint", ())),
        ("varchar(15)", DataType("varchar", (15,))), ("char(1)", DataType("char", (1,))),
        ("decimal(19,4)", DataType("decimal", (19, 4))), ("decimal(38, 38)", DataType("decimal", (38, 38))),
        ("decimal(1 , 0)", DataType("decimal", (1, 0))), ("currency", DataType("decimal", (19, 4))),
        ("datetime", DataType("datetime", ())),
    ],
)  # fmt: skip
def test_a_type_is_taken_apart(text: str, data_type: DataType) -> None:
    assert parse_type(text) == data_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text", "one of the types integer, "),
        ("Integer", "one of the types integer, "),
        ("", "one of the types integer, "),
        ("decimal(9", "a type with its brackets closed; .* write it in quotes"),
        ("varchar(-1)", "one of the types integer, "),
        ("integer(4)", "0 arguments for integer, like integer"),
        ("decimal(19)", r"2 arguments for decimal, like decimal\(19, 4\)"),
        ("char", r"1 argument for char, like char\(1\)"),
        ("varchar(0)", "a length of at least 1"),
        ("decimal(39, 0)", "a precision of 1 to 38"),
        ("decimal(0, 0)", "a precision of 1 to 38"),
        ("decimal(4, 5)", "a scale no larger"),
    ],
)
def test_a_type_that_is_none_says_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_type(text)


@pytest.mark.parametrize(
    ("scale", "rows"), [(1, 57_579), (0.1, 5_758), (2.5, 143_948), (1 / 57_579, 1), (0.000_001, 1)]
)
def test_rows_at_a_scale_are_rounded_and_at_least_one(scale: float, rows: int, invoices_data: Dataset) -> None:
    assert invoices_data.rows("Shipment", scale) == rows


def test_a_suite_stays_as_it_is(small: Suite) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        small.name = "other"


def test_a_suite_survives_the_way_to_a_worker_and_back(invoices: Suite) -> None:
    assert Suite.model_validate(invoices.model_dump(mode="json")) == invoices

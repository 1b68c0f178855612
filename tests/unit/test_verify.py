"""Each rule of verify, both ways: what is the same, and what is not."""

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbbench.answers.compare import as_table, check_batches, check_rows, check_value
from dbbench.errors import WrongAnswer
from dbbench.suite.data_types import parse_type

INT, BIG, REAL, DOUBLE = pa.int32(), pa.int64(), pa.float32(), pa.float64()
MONEY, TEXT, DATE, MOMENT = pa.decimal128(19, 4), pa.string(), pa.date32(), pa.timestamp("s")
NEW_YEAR, NEW_YEARS_DAY = datetime.datetime(2005, 1, 1), datetime.date(2005, 1, 1)
D = Decimal


def check(found: list[Any], expected: list[Any], kind: pa.DataType, *, ordered: bool = True) -> None:
    check_rows([(value,) for value in found], pa.table({"c": pa.array(expected, kind)}), ordered=ordered)


SAME = {
    "integer as float": (5.0, 5, INT),
    "integer as decimal": (D("5.00"), 5, INT),
    "large integer": (2**62 + 1, 2**62 + 1, BIG),
    "decimal as decimal": (D("1.5"), D("1.5"), MONEY),
    "decimal with more places, all of them 0": (D("1.500000"), D("1.5"), MONEY),
    "decimal as integer": (3, D("3"), MONEY),
    "decimal as integer beyond 64 bits": (-(2**64), D(-(2**64)), pa.decimal128(38, 0)),
    "decimal as integer of 64 bits without sign": (2**63, D(2**63), pa.decimal128(38, 0)),
    "decimal as float": (0.1, D("0.1"), MONEY),
    "decimal as float within half a last place": (1.00004, D("1"), MONEY),
    "large decimal as float within 10^-9": (1e9 + 0.9, D(10**9), MONEY),
    "negative decimal as float": (-1.00004, D("-1"), MONEY),
    "real within 10^-6": (1 + 9e-7, 1.0, REAL),
    "real as decimal": (D("0.5"), 0.5, REAL),
    "real as integer": (2, 2.0, REAL),
    "double within 10^-12": (1 + 9e-13, 1.0, DOUBLE),
    "zero": (0.0, 0.0, DOUBLE),
    "moment as datetime": (NEW_YEAR, NEW_YEAR, MOMENT),
    "moment as date": (NEW_YEARS_DAY, NEW_YEAR, MOMENT),
    "moment as YYYYMMDD": ("20050101", NEW_YEAR, MOMENT),
    "moment as ISO text with T": ("2005-01-01T00:00:00", NEW_YEAR, MOMENT),
    "moment as ISO text with fractions of 0": ("2005-01-01 00:00:00.000000", NEW_YEAR, MOMENT),
    "moment as padded text": ("2005-01-01  ", NEW_YEAR, MOMENT),
    "moment with a time": ("2005-01-01 13:45:59", datetime.datetime(2005, 1, 1, 13, 45, 59), MOMENT),
    "date as date": (NEW_YEARS_DAY, NEW_YEARS_DAY, DATE),
    "date as its midnight": (NEW_YEAR, NEW_YEARS_DAY, DATE),
    "date as text": ("2005-01-01", NEW_YEARS_DAY, DATE),
    "text padded": ("abc   ", "abc", TEXT),
    "text of spaces alone": ("  ", "", TEXT),
    "text beyond ASCII": ("é😀", "é😀", TEXT),
    **{f"null of {kind}": (None, None, kind) for kind in (INT, REAL, MONEY, TEXT, DATE, MOMENT)},
}

OTHER = {
    "float with a fraction": (5.5, 5, INT, "double where int32 was expected"),
    "text that is no number": ("x", 5, INT, "string where int32 was expected"),
    "integer beyond 64 bits": (2**64, 5, INT, "decimal128.* where int32 was expected"),
    "integer beyond 76 digits": (10**77, 5, INT, "precision"),
    "not a number": (float("nan"), 5, INT, "double where int32 was expected"),
    "neighbouring large integer": (2**62, 2**62 + 1, BIG, f"{2**62} instead of {2**62 + 1}"),
    "decimal off by its last place": (D("1.5001"), D("1.5"), MONEY, r"Decimal\('1.5001'\) instead of Decimal\('1.5000'\)"),
    "decimal off beyond its last place": (D("1.50001"), D("1.5"), MONEY, "would cause data loss"),
    "large decimal off by one unit": (D("1000000000.0001"), D(10**9), MONEY, "instead of"),
    "decimal as float off by more than half a last place": (1.00006, D("1"), MONEY, "1.00006 instead of 1 "),
    "large decimal as float off by more than 10^-9": (1e9 + 1.1, D(10**9), MONEY, "1000000001.1 instead of 1000000000 "),
    "real off by more than 10^-6": (1 + 2e-6, 1.0, REAL, "1.000002 instead of 1 "),
    "real of the other sign": (-1.0, 1.0, REAL, "-1 instead of 1 "),
    "double off by more than 10^-12": (1 + 2e-12, 1.0, DOUBLE, "1.000000000002 instead of 1 "),
    "double that is not a number": (float("nan"), 1.0, DOUBLE, "nan instead of 1 "),
    "double without end": (float("inf"), 1.0, DOUBLE, "inf instead of 1 "),
    "another microsecond": (datetime.datetime(2005, 1, 1, 0, 0, 0, 1), NEW_YEAR, MOMENT, "instead of"),
    "another time of day as text": ("2005-01-01 13:00:00", NEW_YEAR, MOMENT, "instead of"),
    "another fraction as text": ("2005-01-01 00:00:00.5", NEW_YEAR, MOMENT, "string where timestamp"),
    "year and month alone": ("200501", NEW_YEAR, MOMENT, "string where timestamp"),
    "text that is no date": ("soon", NEW_YEAR, MOMENT, "string where timestamp"),
    "time without a day": (datetime.time(1), NEW_YEAR, MOMENT, "where timestamp"),
    "date at another hour": (datetime.datetime(2005, 1, 1, 1), NEW_YEARS_DAY, DATE, "instead of"),
    "text in capitals": ("ABC", "abc", TEXT, "'ABC' instead of 'abc'"),
    "text padded before": (" abc", "abc", TEXT, "' abc' instead of 'abc'"),
    "text with a tab after": ("abc\t", "abc", TEXT, "instead of 'abc'"),
    "bytes that are no UTF-8": (b"\xff", "abc", TEXT, "binary where string was expected"),
    "an object": (object(), 5, INT, "Could not convert"),
    **{f"null for {kind}": (None, value, kind, "null instead of") for kind, value in [(INT, 0), (TEXT, ""), (MONEY, D(0)), (REAL, 0.0), (MOMENT, NEW_YEAR)]},
    "value for a null": (0, None, INT, "0 instead of null"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_the_same_value_in_another_form_is_accepted(name: str) -> None:
    found, expected, kind = SAME[name]
    check([found], [expected], kind)


@pytest.mark.parametrize("name", OTHER)
def test_another_value_is_wrong(name: str) -> None:
    found, expected, kind, message = OTHER[name]
    with pytest.raises(WrongAnswer, match=f"^column c: .*{message}"):
        check([found], [expected], kind)


@pytest.mark.parametrize(
    ("found", "expected", "kind"),
    [
        ([1, D("1.5"), 2.25], [D(1), D("1.5"), D("2.25")], MONEY),
        ([None, 1.5, D(2)], [None, D("1.5"), D(2)], MONEY),
        ([1, 2.0, None], [1, 2, None], INT),
        ([1, 2.5], [1.0, 2.5], REAL),
        ([None, NEW_YEAR, NEW_YEARS_DAY], [None, NEW_YEAR, NEW_YEAR], MOMENT),
        ([None, "20050101"], [None, NEW_YEAR], MOMENT),
        ([None, -1, 2**63, 2**70], [None, D(-1), D(2**63), D(2**70)], pa.decimal128(38, 0)),
    ],
)
def test_a_column_may_mix_forms_and_nulls(found: list[Any], expected: list[Any], kind: pa.DataType) -> None:
    check(found, expected, kind)
    check(found[::-1], expected, kind, ordered=False)


@pytest.mark.parametrize(("found", "expected"), [([3, 1, 2, 1], [1, 1, 2, 3]), ([None, 2, 1], [1, 2, None])])
def test_order_counts_only_where_the_answer_has_one(found: list[Any], expected: list[Any]) -> None:
    check(found, expected, INT, ordered=False)
    with pytest.raises(WrongAnswer):
        check(found, expected, INT, ordered=True)


def test_without_order_every_row_still_counts_as_often_as_it_comes() -> None:
    with pytest.raises(WrongAnswer, match=r"column c: 1 instead of 2 \(1 of 3 rows differ\)"):
        check([2, 1, 1], [1, 2, 2], INT, ordered=False)


def test_without_order_rows_are_compared_whole_and_not_column_by_column() -> None:
    expected = pa.table({"a": [1, 2], "b": ["x", "y"]})
    check_rows([(2, "y"), (1, "x")], expected, ordered=False)
    with pytest.raises(WrongAnswer, match=r"column b: 'y' instead of 'x' \(2 of 2 rows differ\)"):
        check_rows([(1, "y"), (2, "x")], expected, ordered=False)


def test_without_order_floats_that_differ_in_their_last_bits_still_find_their_rows() -> None:
    expected = pa.table({"weight": pa.array([0.3, 0.3], DOUBLE), "key": [1, 2]})
    check_rows([(0.1 + 0.2, 1), (0.3, 2)], expected, ordered=False)
    check_rows([(0.3, 2), (0.1 + 0.2, 1)], expected, ordered=False)


def test_the_message_has_the_first_difference_and_how_many_there_are() -> None:
    with pytest.raises(WrongAnswer, match=r"^column c: 20 instead of 2 \(3 of 4 rows differ\)$"):
        check([1, 20, 30, 40], [1, 2, 3, 4], INT)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "0 rows instead of 2"),
        ([(1, "x")] * 1_234, "1,234 rows instead of 2"),
        ([(1,), (2,)], "1 columns instead of 2"),
        ([(1, "x"), (2, "y", 3)], "3 columns instead of 2"),
        ([(), ()], "0 columns instead of 2"),
    ],
)
def test_another_number_of_rows_or_columns_is_wrong(rows: list[Any], message: str) -> None:
    with pytest.raises(WrongAnswer, match=f"^{message}$"):
        check_rows(rows, pa.table({"a": [1, 2], "b": ["x", "y"]}), ordered=True)


def test_no_rows_are_right_where_none_are_expected() -> None:
    check([], [], INT)


def test_rows_are_taken_from_any_iterator_in_pieces() -> None:
    count = 20_000  # more than verify takes at once

    def cursor() -> Iterator[tuple[Any, ...]]:
        yield from ((n, D(n) if n < 10_000 else float(n)) for n in range(count))

    numbers = pa.table({"n": pa.array(range(count), INT), "d": pa.array([D(n) for n in range(count)], MONEY)})
    check_rows(cursor(), numbers, ordered=True)
    with pytest.raises(WrongAnswer, match=r"column n: 0 instead of 1 \(20,000 of 20,000 rows differ\)"):
        check_rows(cursor(), numbers.set_column(0, "n", pa.array(range(1, count + 1), INT)), ordered=True)


EXPECTED = pa.table({"a": pa.array([1, 2, 3], INT), "b": pa.array([D("0.5"), D("1.5"), D("2.5")], MONEY)})


def test_batches_go_by_place_and_may_have_other_names_types_and_sizes() -> None:
    first = pa.record_batch({"x": pa.array([1, 2], BIG), "y": pa.array([0.5, 1.5], DOUBLE)})
    second = pa.record_batch({"x": pa.array([3], BIG), "y": pa.array([D("2.5")], pa.decimal128(38, 4))})
    check_batches([first, first.slice(0, 0), second], EXPECTED, ordered=True)
    check_batches([first.slice(0, 0)], as_table([]))  # rows that an engine returned as a list, none of them
    check_batches(iter([second, first]), EXPECTED, ordered=False)


def test_what_only_looks_like_a_batch_is_refused() -> None:
    with pytest.raises(WrongAnswer, match="a query returned Table in place of an Arrow batch"):
        check_batches([EXPECTED], EXPECTED, ordered=True)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([pa.record_batch({"a": [1]}), pa.record_batch({"a": ["x"]})], "batches that don't fit together: .*int64"),
        ([pa.record_batch({"a": [1]}), pa.record_batch({"a": [1], "b": [2]})], "batches that don't fit together"),
        ([pa.record_batch({"a": [1]}), EXPECTED], "batches that don't fit together"),
        ([1, 2], "something that is no row: .*int"),
        ([(1, 2), (1,)], "rows of 1 and of 2 columns"),
    ],
)
def test_what_is_no_table_is_wrong(given: list[Any], message: str) -> None:
    with pytest.raises(WrongAnswer, match=message):
        as_table(given)


def test_decimals_and_floats_may_come_in_turn() -> None:
    large = pa.table({"sum": pa.array([D(10**9), D(10**9)], MONEY)})
    decimals, floats = pa.record_batch({"": pa.array([D(10**9)], MONEY)}), pa.record_batch({"": [1e9 + 0.9]})
    check_batches([decimals, floats], large, ordered=True)
    check_batches([floats, decimals], large, ordered=False)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"a": [1, 2, 3]}, "1 columns instead of 2"),
        ({"b": [0.5, 1.5, 2.5], "a": [1, 2, 3]}, "column a: double where int32 was expected .*"),
    ],
)
def test_wrong_batches_are_told(batch: dict[str, list[float]], message: str) -> None:
    with pytest.raises(WrongAnswer, match=f"^{message}$"):
        check_batches([pa.record_batch(batch)], EXPECTED, ordered=True)


@pytest.mark.parametrize(
    ("found", "expected", "kind"),
    [
        (106, "106", "bigint"),
        (2.5, "2.5000", "currency"),
        (D("123456789012345678901.5"), "123456789012345678901.5000", "currency"),  # a sum may be wider than its column
        (0.5, "0.5", "real"),
        ("INV-1   ", "INV-1", "varchar(15)"),
        ("2004-01-01", "2004-01-01 00:00:00", "datetime"),
        (datetime.date(2004, 1, 1), "2004-01-01", "date"),
    ],
)  # fmt: skip
def test_one_value_is_compared_with_its_text_by_the_same_rules(found: Any, expected: str, kind: str) -> None:
    check_value(found, expected, parse_type(kind), "x")


def test_reals_may_be_added_up_as_the_decimals_that_they_are_written_as() -> None:
    check_value(601531.100030623, "601531.125", parse_type("real"), "x", 0.0)  # H2


def test_the_sum_of_a_column_of_doubles_may_be_added_up_one_by_one() -> None:
    check_value(sum([0.1] * 10**5), "10000", parse_type("double"), "x", 0.0)
    with pytest.raises(WrongAnswer):
        check_value(sum([0.1] * 10**5), "10000", parse_type("double"), "x")


def test_one_wrong_value_is_told_with_what_it_is() -> None:
    with pytest.raises(WrongAnswer, match=r"^COUNT\(\*\) of T: 105 instead of 106$"):
        check_value(105, "106", parse_type("bigint"), "COUNT(*) of T")

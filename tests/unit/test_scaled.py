"""Decimals as whole numbers, joins by position and groups by position: the same as by Arrow's own slow ways."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dbbench.answers import expressions, groups, joins, oracle, scaled
from dbbench.answers.joins import Held, joined
from dbbench.errors import UserError
from dbbench.suite.answer import Answer

SHORT, LONG = pa.decimal128(12, 2), pa.decimal128(38, 2)
LONGEST = Decimal(2**63) / 100


def column(values: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    """In two chunks, the second of which begins within its buffers."""
    whole = pa.array(values, kind)
    return pa.chunked_array([whole[:1], whole[1:]])


@pytest.mark.parametrize("kind", [SHORT, LONG])
def test_decimals_and_back(kind: pa.DataType) -> None:
    values = column([Decimal("-0.01"), None, Decimal("1234567890.12"), Decimal("-99.99"), None], kind)
    whole = scaled.integers(values)
    assert whole.to_pylist() == [-1, None, 123456789012, -9999, None]
    assert scaled.decimals(whole, kind).equals(values)
    assert scaled.plain(scaled.decimals(whole, pa.decimal64(18, 2))).to_pylist() == values.to_pylist()


@pytest.mark.parametrize("value", [LONGEST, -LONGEST - Decimal("0.01"), Decimal(2**64) / 100, Decimal(10**30)])
def test_a_decimal_of_more_than_8_bytes_is_no_whole_number(value: Decimal) -> None:
    assert scaled.integers(column([Decimal(1), value], LONG)) is None


@pytest.mark.parametrize(
    "text", ["a * b", "a + b", "a - b", "a * b * a", "a * (1 - b)", "-a", "a if a > b else 0", "coalesce(a, b)"]
)
@pytest.mark.parametrize("size", [0, 4, 8, 9, 10])
def test_arithmetic_is_exact_however_long(text: str, size: int) -> None:
    draw = random.Random(size)

    def drawn() -> list[Decimal]:
        return [Decimal(draw.randrange(-(10 ** (size + 2)), 10 ** (size + 2))).scaleb(-2) for _ in range(50)]

    first, second = drawn(), drawn()
    rows = pa.table({"a": column(first, SHORT), "b": column(second, SHORT)})
    found = expressions.column(text, rows)
    python = text.replace("coalesce(a, b)", "a")
    with localcontext(prec=100):
        wanted = [eval(python, {}, {"a": a, "b": b}) for a, b in zip(first, second, strict=True)]
    assert [Decimal(each) for each in scaled.plain(found).to_pylist()] == wanted


@pytest.mark.parametrize("value", [2.5, 3, -1, 0.055, 0.05, 10**11, -1e30, 2**31])
@pytest.mark.parametrize("test", [pc.less, pc.greater_equal, pc.equal])
def test_a_comparison_rounds_neither_side(value: float, test: Any) -> None:
    compare = {pc.less: "__lt__", pc.greater_equal: "__ge__", pc.equal: "__eq__"}[test]
    wholes = [-5, -1, 0, 2, 3, 2**31 - 1, None]
    parts = [Decimal(each) for each in ("-0.05", "0.05", "0.06", "3.00", "2.50", "-1.00")] + [None]
    for values, kind in ((wholes, pa.int32()), (parts, SHORT), (parts, LONG)):
        found = oracle._compared(test, column(values, kind), value)
        wanted = [None if each is None else getattr(Decimal(each), compare)(Decimal(str(value))) for each in values]
        assert found.to_pylist() == wanted


def summed(values: pa.ChunkedArray) -> Any:
    answer = Answer.model_validate({"table": "T", "sum": {"total": "T.a"}, "select": ["total"]})
    return groups.aggregated(answer, pa.table({"T.a": values})).column("total")


def test_a_sum_that_is_too_long_for_8_bytes_does_not_wrap_around() -> None:
    with pytest.raises(UserError, match="too long for a whole number of 8 bytes"):
        summed(column([2**62, 2**62, 2**62], pa.int64()))
    assert summed(column([2**62, 2**62, -(2**62)], pa.int64())).to_pylist() == [2**62]
    most = Decimal(10**18 - 1) / 100
    assert summed(column([most] * 20, LONG)).to_pylist() == [most * 20]
    assert summed(column([most] * 20, LONG)).type == LONG


def drawn_keys(seed: int, count: int, most: int) -> pa.ChunkedArray:
    draw = random.Random(seed)
    return column([None if draw.random() < 0.1 else draw.randrange(-3, most) for _ in range(count)], pa.int32())


def rows_of(table: pa.Table) -> list[str]:
    return sorted(map(str, table.select(sorted(table.column_names)).to_pylist()))


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
@pytest.mark.parametrize("two", [False, True], ids=["one key", "two keys"])
@pytest.mark.parametrize("most", [3, 40, 400])
def test_a_join_by_position_is_that_of_arrow(kind: str, two: bool, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = pa.table(
        {"a.k": drawn_keys(1, 60, most), "a.l": drawn_keys(2, 60, 3), "a.v": column([*range(60)], pa.int64())}
    )
    right = pa.table(
        {"b.k": drawn_keys(3, 50, most), "b.l": drawn_keys(4, 50, 3), "b.v": column([*range(50)], pa.int64())}
    )
    pairs = {"b.k": "a.k"} | ({"b.l": "a.l"} if two else {})
    wanted = {*left.column_names, *right.column_names}
    found = joined(left, Held(right), pairs, kind, wanted)
    monkeypatch.setattr(joins, "_bounds", lambda _: None)
    assert rows_of(found) == rows_of(joined(left, Held(right), pairs, kind, wanted))


def test_a_join_with_a_table_without_rows() -> None:
    left, right = pa.table({"a.k": pa.array([1, 2])}), pa.table({"b.k": pa.array([], pa.int64())})
    for kind, count in (("inner", 0), ("left", 2), ("semi", 0), ("anti", 2)):
        assert joined(left, Held(right), {"b.k": "a.k"}, kind, {"a.k", "b.k"}).num_rows == count


def test_groups_by_position_are_those_of_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    rows = pa.table(
        {
            "T.k": column([draw.randrange(-4, 20) for _ in range(300)], pa.int32()),
            "T.v": column([draw.randrange(-(2**31), 2**31) for _ in range(300)], pa.int32()),
            "T.m": column([draw.choice((None, 1.5)) for _ in range(300)], pa.float64()),
            "T.d": column([Decimal(draw.randrange(-(10**9), 10**9)).scaleb(-2) for _ in range(300)], SHORT),
        }
    )
    answer = Answer.model_validate(
        {
            "table": "T", "group_by": ["T.k"], "sum": {"s": "T.v", "t": "T.d"}, "min": {"least": "T.v", "low": "T.d"},
            "max": {"most": "T.v"}, "avg": {"mean": "T.d"}, "count": {"n": "*", "m": "T.v", "o": "T.m"}, "select": ["T.k"],
        }
    )  # fmt: skip
    found = groups.aggregated(answer, rows).sort_by("T.k")
    monkeypatch.setattr(groups, "_by_position", lambda *_: None)
    slowly = groups.aggregated(answer, rows).sort_by("T.k")
    assert found.schema.equals(slowly.schema)
    assert found.to_pylist() == slowly.to_pylist()

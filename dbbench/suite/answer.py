"""What a query must return, in one of four ways; each is more than the next.

Said without SQL, so that it can be computed without any engine; as rows, or a file of them; as what another engine returns;
or, unverified, as what most engines agree on.
"""

from __future__ import annotations

import ast
import datetime
import functools
import re
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as ReadOnly
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from dbbench.suite import expressions
from dbbench.suite.base import Identifier, Model
from dbbench.suite.data_types import DAYS, NUMBERS, TEXTS, TypeText
from dbbench.suite.plain import Dangling, Mapping, Path, items, mapping, sequence, unknown_table

#: `Table.Column` of the dataset, or a name from `compute`.
ColumnName = Annotated[str, Field(pattern=r"^[A-Za-z]\w*(\.[A-Za-z]\w*)?$")]
#: What an expression may call, with the number of its arguments.
FUNCTIONS: ReadOnly[str, int] = {
    "year": 1, "month": 1, "day": 1, "hour": 1, "length": 1, "missing": 1, "coalesce": 2, "like": 2, "part": 3,
}  # fmt: skip


@functools.lru_cache(1_000)
def parsed(text: str) -> ast.expr:
    """The tree of an answer's expression. Raises ValueError, which says what was expected."""
    tree = expressions.parse(text, FUNCTIONS)
    for node in ast.walk(tree):
        constants = node.args[1:] if isinstance(node, ast.Call) and node.func.id in ("like", "part") else []  # type: ignore[attr-defined]  # the parser lets only names be called
        if not all(isinstance(each, ast.Constant) for each in constants):
            raise ValueError("a text for `like`, and two numbers for `part`: where it begins, from 1, and its length")
        if type(getattr(node, "op", None)) in (ast.FloorDiv, ast.Mod):
            raise ValueError("+, -, * and / only, since systems differ in whole division and remainders")
    return tree


@functools.lru_cache(1_000)
def named(text: str) -> tuple[str, ...]:
    """The columns that an answer's expression names."""
    return tuple(expressions.names(parsed(text)))


def _checked(text: str) -> str:
    parsed(text)
    return text


Expression = Annotated[str, AfterValidator(_checked)]

#: A value of a column; a day or moment is a date or its text.
Scalar = int | float | str | datetime.date
#: The tests of a condition -> the types that they fit.
TESTS = {
    "above": (*NUMBERS, *DAYS),
    "below": (*NUMBERS, *DAYS),
    "between": (*NUMBERS, *DAYS),
    "equals": (*NUMBERS, *DAYS, *TEXTS),
    "one_of": (*NUMBERS, *DAYS, *TEXTS),
    "contains": TEXTS,
    "like": TEXTS,
    "missing": (*NUMBERS, *DAYS, *TEXTS),
    "among": (*NUMBERS, *DAYS, *TEXTS),
}


class Condition(Model):
    """One test of one column, an expression that `holds`, or conditions of which any must hold.

    A missing value passes no test but `missing`, negated or not, as in SQL.
    """

    column: str = ""
    above: float | datetime.date | str | None = None
    below: float | datetime.date | str | None = None
    between: tuple[float | datetime.date | str, float | datetime.date | str] | None = None
    equals: Scalar | None = None
    one_of: tuple[Scalar, ...] | None = None
    contains: str | None = None
    like: str | None = None
    missing: bool | None = None
    among: Answer | None = None
    holds: Expression | None = None
    any_of: tuple[Condition, ...] = ()
    negated: bool = False

    @property
    def test(self) -> str:
        """The name of its test; empty for `any_of`."""
        return next((name for name in TESTS if getattr(self, name) is not None), "")

    @model_validator(mode="after")
    def _one_test(self) -> Condition:
        given = [name for name in TESTS if getattr(self, name) is not None]
        if self.any_of and (self.column or given or self.holds):
            raise ValueError("either any_of, or a column with one test")
        if self.holds is not None:
            if self.column or given:
                raise ValueError("either holds, or a column with one test")
            return self
        if not self.any_of and (len(given) != 1 or not self.column):
            raise ValueError(f"one test for the column: {', '.join([*TESTS][:-1])} or {[*TESTS][-1]}")
        return self


class Join(Model):
    """A join: `column` of the table joined equals `equals` of those before it, and so does each pair of `also`.

    `named` is what the columns of the table are called after, to join a table once more. After a semi or anti join the
    table's columns are not there. A cross join, of each row with each, has no columns.
    """

    table: Identifier
    named: Identifier | None = None
    column: ColumnName | None = None
    equals: ColumnName | None = None
    also: dict[ColumnName, ColumnName] = {}
    kind: Literal["inner", "left", "right", "full", "semi", "anti", "cross"] = "inner"

    @model_validator(mode="after")
    def _by_columns(self) -> Join:
        if self.kind == "cross" and (self.column or self.equals or self.also):
            raise ValueError("no columns for a cross join")
        if self.kind != "cross" and not (self.column and self.equals):
            raise ValueError("`column` and `equals`, which must be the same")
        return self

    @property
    def pairs(self) -> dict[str, str]:
        """Columns of the table joined -> those that they equal."""
        return {self.column: self.equals, **self.also} if self.column and self.equals else {}

    @property
    def prefix(self) -> str:
        """What stands before the names of its columns."""
        return self.named or self.table


#: Aggregates: new name -> column.
AGGREGATES = ("sum", "count", "count_distinct", "avg", "min", "max")


class Answer(Model):
    """The rows that a query must return.

    `subqueries` are answers that stand for tables, by their names. Tables are joined, new columns computed from those
    there are, each also from those before it; then rows are filtered, grouped and aggregated, filtered again (`having`), ordered, cut (`limit`) and
    selected. Aggregates name the new column and the one that they take; `count` of `*` counts rows. Without `order_by` the
    order of the rows does not matter.
    """

    subqueries: dict[Identifier, Answer] = {}
    table: Identifier
    join: tuple[Join, ...] = ()
    compute: dict[Identifier, Expression] = {}
    where: tuple[Condition, ...] = ()
    group_by: tuple[ColumnName, ...] = ()
    sum: dict[Identifier, ColumnName] = {}
    count: dict[Identifier, ColumnName | Literal["*"]] = {}
    count_distinct: dict[Identifier, ColumnName] = {}
    avg: dict[Identifier, ColumnName] = {}
    min: dict[Identifier, ColumnName] = {}
    max: dict[Identifier, ColumnName] = {}
    having: tuple[Condition, ...] = ()
    select: tuple[str, ...] = Field(min_length=1)
    order_by: tuple[str, ...] = ()
    descending: tuple[str, ...] = ()
    limit: int | None = Field(default=None, ge=1)

    @property
    def aggregates(self) -> list[tuple[str, str, str]]:
        """New name, function, column."""
        return [(name, kind, column) for kind in AGGREGATES for name, column in getattr(self, kind).items()]

    @model_validator(mode="after")
    def _in_order(self) -> Answer:
        made = [*self.compute, *(name for name, _, _ in self.aggregates)]
        if len({*made}) < len(made):
            raise ValueError("a name of its own for each aggregate and each column computed")
        for name, answer in self.subqueries.items():
            if len({*map(last_part, answer.select)}) < len(answer.select):
                raise ValueError(f"columns with different names in the subquery {name}")
        if self.limit is not None and not self.order_by:
            raise ValueError("order_by where there is a limit")
        if {*self.descending} - {*self.order_by}:
            raise ValueError("columns of order_by in descending")
        return self


Condition.model_rebuild()
Answer.model_rebuild()


def last_part(name: str) -> str:
    """What a column of a subquery is called: `Column` of `Table.Column`."""
    return name.rpartition(".")[2]


def bound(answer: Answer, values: ReadOnly[str, Any]) -> Answer:
    """An answer with a value in the place of each parameter that its conditions name, as `:name`."""

    def put(thing: Any) -> Any:
        if isinstance(thing, dict):
            return {key: put(each) for key, each in thing.items()}
        if isinstance(thing, list | tuple):
            return [put(each) for each in thing]
        return values[name] if (name := parameter_name(thing)) in values else thing

    return Answer.model_validate(put(answer.model_dump(exclude_unset=True)))


def parameter_name(value: Any) -> str:
    """The name of the parameter that a value of a condition stands for; empty if it is none."""
    found = re.fullmatch(r":([A-Za-z_]\w*)", value) if isinstance(value, str) else None
    return found[1] if found else ""


def parameters_of(thing: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """All parameters in an answer, as plain data, with their places."""
    if name := parameter_name(thing):
        yield path, name
    elif isinstance(thing, dict | list):
        for key, each in thing.items() if isinstance(thing, dict) else enumerate(thing):
            yield from parameters_of(each, (*path, key))


class GivenRows(Model):
    """Rows as they stand in the suite; their order matters only if `ordered`."""

    columns: dict[Identifier, TypeText] = Field(min_length=1)
    rows: tuple[tuple[int | float | str | None, ...], ...] = Field(max_length=10_000)
    ordered: bool = False

    @model_validator(mode="after")
    def _as_wide(self) -> GivenRows:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(f"{len(self.columns)} values in each row, one for each column, unlike row {number}")
        return self


class AnswerFile(Model):
    """Rows of a CSV or Parquet file, by a path relative to the suite. A CSV file needs `columns` with their types."""

    file: str = Field(min_length=1)
    columns: dict[Identifier, TypeText] = {}
    ordered: bool = False


class EngineAnswer(Model):
    """What an engine returns, computed once in a process of its own: it is a reference, and no proof for itself."""

    engine: str = Field(pattern=r"^[a-z0-9][A-Za-z0-9+@._-]{0,99}$")
    ordered: bool = False


def _way(value: Any) -> str:
    """How an answer is given, by its keys; in words that are no keys, since they stand in places of faults."""
    if isinstance(value, str):
        return "answer:agree"
    keys = value if isinstance(value, dict) else type(value).model_fields
    return next((f"answer:{key}" for key in ("rows", "file", "engine") if key in keys), "answer:relational")


#: Rows that are known before the run.
KnownAnswer = Answer | GivenRows | AnswerFile | EngineAnswer
AnyAnswer = Annotated[
    Annotated[Answer, Tag("answer:relational")]
    | Annotated[GivenRows, Tag("answer:rows")]
    | Annotated[AnswerFile, Tag("answer:file")]
    | Annotated[EngineAnswer, Tag("answer:engine")]
    | Annotated[Literal["agree"], Tag("answer:agree")],
    Discriminator(_way),
]


def is_relational(answer: Mapping) -> bool:
    """Whether an answer, as plain data, names tables and columns of the dataset."""
    return bool(answer) and _way(answer) == "answer:relational"


def dangling(answer: Mapping, tables: Mapping, path: Path) -> Iterator[Dangling]:
    """What of an answer, as plain data, refers to a table or column that isn't there, or doesn't fit."""
    for name, answered in mapping(answer, "subqueries").items():
        inner = mapping(mapping(answer, "subqueries"), name)
        yield from dangling(inner, tables, (*path, "subqueries", name))
        if name in tables:
            yield (*path, "subqueries", name), "a name that no table has", ()
        columns: Mapping = {last_part(str(column)): {} for column in sequence(answered, "select")}
        tables = {**tables, name: {"columns": columns}}
    joined = [(("join", index), join) for index, join in items(answer, "join")]
    called: dict[str, Any] = {}
    for place, part in [((), answer), *joined]:
        yield from unknown_table(part.get("table"), tables, (*path, *place, "table"))
        name = part.get("named") if isinstance(part.get("named"), str) else part.get("table")
        if not isinstance(name, str):
            continue
        if name in called:
            yield (*path, *place, "table"), "another name, with `named`, for a table that is joined once more", ()
        called[name] = part.get("table")
    named = {name: mapping(tables, table) for name, table in called.items()}
    known = columns_of(named, [str(answer.get("table"))]) or columns_of(tables, tables)
    found: list[tuple[tuple[str | int, ...], Any, list[str]]] = []
    for place, join in joined:
        name = join.get("named") if isinstance(join.get("named"), str) else str(join.get("table"))
        own = columns_of(named, [name]) or columns_of(tables, tables)
        found += [((*place, "column"), join.get("column"), own), ((*place, "equals"), join.get("equals"), known)]
        for column, equal in mapping(join, "also").items():
            found += [((*place, "also", column), column, own), ((*place, "also", column), equal, known)]
        known = known if join.get("kind") in ("semi", "anti") else known + own
    for name, text in mapping(answer, "compute").items():
        found += [(("compute", name), column, known) for column in _names(text)]
        known = [*known, str(name)]
    groups = sequence(answer, "group_by")
    made = {key: (kind, column) for kind in AGGREGATES for key, column in mapping(answer, kind).items()}
    given = [*groups, *made] if groups or made else known
    for place, condition in _conditions(answer, "where", ()):
        found.append(((*place, "column"), condition.get("column"), known))
        found += [((*place, "holds"), column, known) for column in _names(condition.get("holds"))]
        yield from (
            dangling(mapping(condition, "among"), tables, (*path, *place, "among")) if "among" in condition else ()
        )
    for place, condition in _conditions(answer, "having", ()):
        found.append(((*place, "column"), condition.get("column"), given))
        found += [((*place, "holds"), column, given) for column in _names(condition.get("holds"))]
    found += [((kind, key), column, known) for key, (kind, column) in made.items() if column != "*"]
    found += [(("group_by", index), column, known) for index, column in enumerate(groups)]
    for key in ("select", "order_by", "descending"):
        found += [((key, index), column, given) for index, column in enumerate(sequence(answer, key))]
    for place, column, names in found:
        if isinstance(column, str) and column not in names:
            what = "a column of group_by, or a name from an aggregate" if names is not known and names is given else ""
            yield (*path, *place), what or "a column of the tables joined, as Table.Column", names
    yield from _unfit(answer, named, path)


def _conditions(thing: Mapping, key: str, path: Path) -> Iterator[tuple[Path, Mapping]]:
    """All conditions with a column, also those below `any_of`."""
    for index, condition in items(thing, key):
        if "any_of" in condition:
            yield from _conditions(condition, "any_of", (*path, key, index))
        else:
            yield (*path, key, index), condition


def _names(text: Any) -> list[str]:
    """The columns of an expression; of what is none, none: the model says what is wrong with it."""
    try:
        return expressions.names(parsed(text)) if isinstance(text, str) else []
    except ValueError:
        return []


def columns_of(tables: Mapping, names: Iterable[Any]) -> list[str]:
    """`Table.Column` of each column of the tables named; unknown tables have none."""
    return [f"{name}.{column}" for name in names for column in mapping(mapping(tables, name), "columns")]


def _unfit(answer: Mapping, tables: Mapping, path: Path) -> Iterator[Dangling]:
    """Columns that a test or an aggregate does not fit."""
    wanted: list[tuple[Path, Any, tuple[str, ...]]]
    wanted = [
        ((kind, key), column, NUMBERS) for kind in ("sum", "avg") for key, column in mapping(answer, kind).items()
    ]
    for place, condition in _conditions(answer, "where", ()):
        wanted += [
            ((*place, "column"), condition.get("column"), types) for test, types in TESTS.items() if test in condition
        ]
    for place, name, types in wanted:
        table, _, column = str(name).partition(".")
        kind = mapping(mapping(mapping(tables, table), "columns"), column).get("type")
        if isinstance(kind, str) and kind.partition("(")[0] in {*NUMBERS, *TEXTS, *DAYS} - {*types}:
            what = {NUMBERS: "numbers", TEXTS: "texts"}.get(types, "numbers or days")
            yield (*path, *place), f"a column of {what}", ()

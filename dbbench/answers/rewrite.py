"""A query's text as the reference answers it rightly: parsed, names in lower case, DataFusion's faults rewritten.

Each rewriting here is one of DataFusion's faults, with a test of its own that fails without it
(`tests/unit/test_traps.py`).
"""

import itertools
import re
import string
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects import Postgres

from dbbench.engine.sql.dialect import Dialect
from dbbench.suite.dataset import Table

Kind = tuple[str, tuple[int, ...]]
#: Reads an order that doesn't say where nulls stand otherwise than PostgreSQL does.
_NULLS_SMALL = type("NullsSmall", (Postgres,), {"NULL_ORDERING": "nulls_are_small"})
_WHOLE = ("integer", "bigint")
_LETTERS = [exp.Literal.string(letters) for letters in (string.ascii_uppercase, string.ascii_lowercase)]
#: A time with a zone, and what is said of it.
_ZONED = re.compile(r"\d+-\d+-\d+[ T]\d+:\d+[\d:.]*\s*([+-]\d+(:?\d+)*|[A-Za-z][\w/]*)")
NO_ZONE = "a time without a zone"


def query(sql: str, tables: Mapping[str, Table], parameters: Mapping[str, Any] | None = None) -> exp.Query:
    """The tree of a text, rewritten. Raises ValueError for one that is no query."""
    tree = parsed(sql, tables, parameters)
    if not isinstance(tree, exp.Query):
        raise ValueError("it is no query")  # noqa: TRY004 - a fault of the text, not of a type
    return tree


def open_orders(tree: exp.Query) -> list[exp.Ordered]:
    """What a text is ordered by where it doesn't say where nulls stand."""
    return [each for each in tree.find_all(exp.Ordered) if each.args.get("nulls_first") is None]


def readings(tree: exp.Query) -> Iterator[exp.Query]:
    """The query for each place of nulls that systems have, as far as it makes a difference: large, small, or last."""
    down = [bool(each.args.get("desc")) for each in open_orders(tree)]
    for places in dict.fromkeys((tuple(down), tuple(not each for each in down), (False,) * len(down))):
        made = tree.copy()
        for term, is_first in zip(open_orders(made), places, strict=True):
            term.set("nulls_first", is_first)
        yield made


def other_matches(tree: exp.Query, has_capitals: Callable[[str], bool]) -> Iterator[exp.Query]:
    """How LIKE may match otherwise: it ignores capitals in some systems, in some a backslash is one more character.

    Some ignore those of ASCII alone. `has_capitals` says it of a column's name. Nothing is returned for what makes no
    difference.
    """
    likes = [*tree.find_all(exp.Like)]
    texts = [str(each.expression.name) if each.expression.is_string else "A" for each in likes]
    columns = (name for each in likes for name in _names(each.this) or ["?"])
    any_case = any(text != text.lower() for text in texts) or (
        any(text != text.upper() for text in texts) and any(has_capitals(name) for name in columns)
    )
    plain = any("\\" in each.expression.name and not isinstance(each.parent, exp.Escape) for each in likes)
    beyond_ascii = any(not each.expression.is_string or not each.expression.name.isascii() for each in likes)
    cases = ["exact", *["any"] * any_case, *["ASCII"] * (any_case and beyond_ascii)]
    for plainly, case in [*itertools.product(sorted({False, plain}), cases)][1:]:
        made = tree.copy()
        for each in [*made.find_all(exp.Like)]:
            pattern = each.expression
            if plainly and pattern.is_string and not isinstance(each.parent, exp.Escape):
                pattern.set("this", pattern.name.replace("\\", "\\\\"))
            if case == "any":
                each.replace(exp.ILike(**each.args))
            for part in ("this", "expression") if case == "ASCII" else ():
                each.set(part, exp.func("TRANSLATE", each.args[part], *_LETTERS))
        yield made


def parsed(sql: str, tables: Mapping[str, Table], parameters: Mapping[str, Any] | None = None) -> exp.Expr:
    """A statement's tree, rewritten, with values in the place of its parameters. Raises ValueError."""
    text = Dialect().translate(sql, tables)
    try:
        trees = _trees(text, Postgres)
        others = _trees(text, _NULLS_SMALL) if any(each.find(exp.Ordered) for each in trees) else []
    except sqlglot.errors.SqlglotError as exc:
        words = [
            f"{each['description']} line {each['line']}, column {each['col']}" for each in getattr(exc, "errors", ())
        ]
        raise ValueError(words[0] if words else str(exc)) from exc
    if len(trees) != 1:
        raise ValueError(f"it has {len(trees)} statements")
    kinds = _kinds(tables)
    tree = trees[0]
    for term, other in zip(tree.find_all(exp.Ordered), others[0].find_all(exp.Ordered) if others else (), strict=True):
        if term.args["nulls_first"] != other.args["nulls_first"]:
            term.set("nulls_first", None)
    tree = tree.transform(
        lambda node: _bound(node, parameters) if isinstance(node, exp.Placeholder) else node, copy=False
    )
    for name in tree.find_all(exp.Identifier):
        name.args |= {"this": name.this.lower(), "quoted": True}
    for rewrite in (_memberships, _numbered, lambda node: _exact(node, kinds)):
        # Inner ones first, as each is moved into what stands around it.
        for node in reversed(list(tree.walk())):
            made = rewrite(node)
            if made is not node:
                tree = made if node is tree else tree
                node.replace(made)
    return tree


def assigned(sql: str, tables: Mapping[str, Table]) -> set[str]:
    """The words of what an UPDATE sets, in capitals. Raises ValueError for a text that can't be read as one."""
    tree = parsed(sql, tables)
    if not isinstance(tree, exp.Update):
        raise ValueError("it is no UPDATE")  # noqa: TRY004 - a fault of the text, not of a type
    targets = [each.this if isinstance(each, exp.EQ) else each for each in tree.expressions]
    return {word for each in targets for word in re.findall(r"\w+", each.sql().upper())}


def _trees(text: str, dialect: type[Postgres]) -> list[exp.Expr]:
    return [each for each in sqlglot.parse(text, read=dialect) if each is not None]


def written(tree: exp.Expr) -> str:
    """A tree as DataFusion reads it."""
    return tree.sql(dialect="postgres")


def _bound(node: exp.Expr, values: Mapping[str, Any] | None) -> exp.Expr:
    if values is None:
        return exp.Null()
    if node.name not in values:
        raise ValueError(f"the parameter {node.name or '?'} has no value")
    value = values[node.name]
    return exp.convert(value if value is None or isinstance(value, int | float | Decimal) else str(value))


def _kinds(tables: Mapping[str, Table]) -> dict[str, Kind | None]:
    """The type of each column's name, in lower case; None where tables differ."""
    found: dict[str, Kind | None] = {}
    for table in tables.values():
        for name, column in table.columns.items():
            kind: Kind = (column.data_type.name, column.data_type.arguments)
            found[name.lower()] = kind if found.get(name.lower(), kind) == kind else None
    return found


def _memberships(node: exp.Expr) -> exp.Expr:
    """Rewrite NOT IN (SELECT ...), wrong inside OR, NOT and IS NULL, and correlated: as `<> ALL` it is right."""
    if isinstance(node, exp.Not) and isinstance(node.this, exp.In) and node.this.args.get("query"):
        inner = node.this
        return exp.NEQ(this=inner.this.copy(), expression=exp.All(this=inner.args["query"].copy()))
    if isinstance(node, exp.In) and node.args.get("query") and not isinstance(node.parent, exp.Not):
        around = node.parent
        while isinstance(around, exp.And):
            around = around.parent
        if not isinstance(around, exp.Where):
            return exp.EQ(this=node.this.copy(), expression=exp.Any(this=node.args["query"].copy()))
    return node


def _numbered(node: exp.Expr) -> exp.Expr:
    """Rewrite EXCEPT ALL and INTERSECT ALL, which are wrong: equal rows of each side are numbered, ALL is left out."""
    if not isinstance(node, exp.Except | exp.Intersect) or node.args.get("distinct"):
        return node
    if any(each.is_star for each in node.left.selects):
        raise ValueError("EXCEPT ALL and INTERSECT ALL need their columns named in place of *")
    names = {f"n{place}": each.alias_or_name or f"n{place}" for place, each in enumerate(node.left.selects)}
    inner = ", ".join(names)
    outer = ", ".join(f"{name} AS {exp.to_identifier(given, quoted=True)}" for name, given in names.items())
    side = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {inner}) AS n FROM (SELECT 1) AS side({inner})"
    found = sqlglot.parse_one(f"SELECT {outer} FROM ({side} {node.key} {side}) AS sides", read=Postgres)
    empty = [each for each in found.find_all(exp.Subquery) if each.alias == "side"]
    for each, given in zip(empty, (node.left, node.right), strict=True):
        each.set("this", given.copy())
    for key in ("order", "limit", "offset", "with_"):
        if node.args.get(key):
            found.set(key, node.args[key].copy())
    return found


def _exact(node: exp.Expr, kinds: Mapping[str, Kind | None]) -> exp.Expr:
    """Sums of 64-bit numbers and of long decimals wrap around silently; casts to whole numbers cut; 1e0 is a float.

    A zone is taken for UTC silently. Raises ValueError for one: no column has any. It raises one as well for sums of 4
    bytes, and whole numbers of fractions, of which systems have different ones.
    """
    match node:
        case exp.Literal(is_string=True) if _ZONED.fullmatch(node.this) and _is_time(node.parent, kinds):
            raise ValueError(f"{NO_ZONE}, unlike '{node.this}'")
        case exp.AtTimeZone() | exp.DataType(this=exp.DType.TIMESTAMPTZ | exp.DType.TIMESTAMPLTZ):
            raise ValueError(NO_ZONE)
        case exp.Literal(is_string=False) if "e" in node.this.lower() and not isinstance(node.parent, exp.Cast):
            return exp.cast(exp.Literal.string(node.this), "double")
        case exp.Sum(this=exp.Column() as column) if kinds.get(column.name) == ("real", ()):
            raise ValueError(f"SUM(CAST({column.name} AS double precision)), as some systems add reals up in 4 bytes")
        case exp.Sum():
            return node.transform(lambda each: _wide(each, kinds)) if _names(node) else node
        case exp.Cast() if node.is_type("int", "bigint", "smallint") and not isinstance(node.this, exp.Round):
            inner = node.this.unnest()
            means = inner.find(exp.Avg) or any(
                each.is_number and not each.is_int for each in inner.find_all(exp.Literal)
            )
            if means and isinstance(inner, exp.Avg | exp.Add | exp.Sub | exp.Mul | exp.Div):
                raise ValueError("ROUND or FLOOR in a cast of a fraction: some systems cut it, others round")
            known = [kinds.get(name) for name in _names(node.this)]
            if (
                known
                and None not in known
                and not {kind[0] for kind in known if kind} <= {*_WHOLE, "char", "varchar", "date", "datetime"}
            ):
                return exp.cast(exp.Round(this=node.this.copy()), node.to.copy())
    return node


def _is_time(around: exp.Expr | None, kinds: Mapping[str, Kind | None]) -> bool:
    """Whether what stands around a literal makes a date or a time of it."""
    if isinstance(around, exp.Cast):
        return around.is_type(*exp.DataType.TEMPORAL_TYPES)
    known = [kinds.get(name) for name in _names(around)] if isinstance(around, exp.Predicate) else []
    return any(kind is not None and kind[0] in ("date", "datetime") for kind in known)


def _names(node: exp.Expr) -> list[str]:
    return [column.name for column in node.find_all(exp.Column)]


def _wide(node: exp.Expr, kinds: Mapping[str, Kind | None]) -> exp.Expr:
    """A column in a sum, in a type that the sum fits."""
    if not isinstance(node, exp.Column) or (kind := kinds.get(node.name)) is None:
        return node
    name, arguments = kind
    if name == "bigint":
        return exp.cast(node.copy(), "decimal(20, 0)")
    return exp.cast(node.copy(), f"decimal(76, {arguments[1]})") if name == "decimal" and arguments[0] > 28 else node


def keys_behind(sql: str, tables: Mapping[str, Table]) -> tuple[str, str]:
    """The first table of a query, and a query for keys of its rows that the answer is made of.

    Raises ValueError where that can't be told.
    """
    tree: exp.Expr = parsed(sql, tables)
    while isinstance(tree, exp.Select) and (first := tree.args.get("from_")) and isinstance(first.this, exp.Subquery):
        tree = first.this.this
    source = tree.args["from_"].this if isinstance(tree, exp.Select) and tree.args.get("from_") else None
    name = next((each for each in tables if isinstance(source, exp.Table) and each.lower() == source.name), None)
    if name is None or source is None:
        raise ValueError("the rows that its answer is made of can't be told from its text")
    key = exp.column(tables[name].key_columns[0].lower(), table=source.alias_or_name, quoted=True)
    keys = tree.copy()
    for part in keys.args.keys() - {"with_", "from_", "joins", "where"}:
        keys.set(part, None)
    keys.set("expressions", [exp.alias_(key, "key", quoted=True)])
    return name, f"SELECT DISTINCT * FROM ({written(keys)}) AS k ORDER BY 1 LIMIT 1000"

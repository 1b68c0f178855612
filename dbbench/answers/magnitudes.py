"""How much is added up behind an answer: floats that cancel out leave a rest that each engine has another of.

The rest is measured by the sum of the summands' magnitudes, which the reference computes from the text, rewritten.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbbench.suite.dataset import Table

#: Digits that a float holds of any decimal.
_EXACT_DIGITS = 15


def adds_inexactly(tree: exp.Query, tables: Mapping[str, Table]) -> bool:
    """Whether a text adds up more than whole numbers and short decimals."""
    inexact = _inexact(tree, tables)
    return any(_mentions(each, inexact) for each in tree.find_all(exp.Sum, exp.Avg))


def magnitudes(tree: exp.Query, outputs: Sequence[str]) -> exp.Query:
    """A query for the largest sum of magnitudes behind each of some outputs of numbers."""
    tree = tree.copy()
    for part in ("order", "limit", "offset"):
        tree.set(part, None)
    for select in reversed([*tree.find_all(exp.Select)]):  # inner ones first, which move with what stands around them
        if not select.find_ancestor(exp.Where, exp.Having):
            select.set("expressions", [_positive(output) for output in select.expressions])
    columns = [exp.Max(this=exp.Abs(this=exp.column(name, quoted=True))) for name in outputs]
    named = [exp.alias_(column, f"m{place}") for place, column in enumerate(columns)]
    return exp.select(*named).from_(exp.alias_(exp.Subquery(this=tree), "summed", quoted=True))


def _positive(output: exp.Expr) -> exp.Expr:
    """An output with magnitudes in its sums and means, and nothing subtracted from these."""
    match output:
        case exp.Sum() | exp.Avg():
            added = output.copy()
            inner = added.this.expressions[0] if isinstance(added.this, exp.Distinct) else added.this
            inner.replace(exp.cast(exp.Abs(this=inner.copy()), "double"))
            return added
        case exp.Sub() if output.find(exp.Sum, exp.Avg):
            left, right = (exp.Abs(this=_positive(side)) for side in (output.left, output.right))
            return exp.paren(exp.Add(this=left, expression=right), copy=False)
        case exp.Div():
            return exp.Div(**{**output.copy().args, "this": _positive(output.left)})
        case exp.Subquery():
            return output.copy()  # visited before
    made = output.copy()
    for child in [*made.iter_expressions()]:
        child.replace(_positive(child))
    return made


def _inexact(tree: exp.Query, tables: Mapping[str, Table]) -> set[str]:
    """Names of columns whose values a float may not hold, in the tables and in the text."""
    found = {column.name for alias in tree.find_all(exp.TableAlias) for column in alias.columns}
    for table in tables.values():
        for name, column in table.columns.items():
            kind = column.data_type
            if kind.name in ("real", "double") or (kind.name == "decimal" and kind.arguments[0] > _EXACT_DIGITS):
                found.add(name.lower())
    aliases = [each for each in tree.find_all(exp.Alias) if each.alias not in found]
    while more := {each.alias for each in aliases if _mentions(each.this, found)} - found:
        found |= more
    return found


def _mentions(node: exp.Expr, names: set[str]) -> bool:
    """Whether something inexact is in an expression."""
    floats = node.find(exp.Avg, exp.Div) or any(each.is_type("double", "float") for each in node.find_all(exp.Cast))
    return bool(floats and not isinstance(node, exp.Avg)) or any(
        each.name in names for each in node.find_all(exp.Column)
    )

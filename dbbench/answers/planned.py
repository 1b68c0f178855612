"""Each SQL text of a suite, planned by the reference on empty tables: finds faults before a run."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from dbbench.answers import ranks, reference, rewrite
from dbbench.suite.answer import SqlAnswer
from dbbench.suite.data_types import TEXTS
from dbbench.suite.dataset import Table, flattened
from dbbench.suite.document import Document
from dbbench.suite.loader import document_of
from dbbench.suite.model import Suite
from dbbench.suite.plain import items, mapping
from dbbench.suite.steps.query import QueryStep

#: Columns that systems have beside a table's own.
_HIDDEN = frozenset({"rowid", "_rowid_", "oid", "ctid", "xmin", "rownum"})
_MISSING = re.compile(r"No field named (\S+)\.(?:\s|$)")
_MISFIT = re.compile(r"(Cannot coerce .*)|Cannot cast string '(.*)' to value of (\w+) type")
#: What a type of DataFusion's holds.
_KINDS = {"Int": "a whole number", "Date": "a day, like 2026-01-31", "Time": "a moment, like 2026-01-31 10:00:00"}
#: A column that a plan compares as another type than its own.
_IMPLICIT = re.compile(r"CAST\((?:\w+\.)?(\w+) AS (?:Int|UInt|Float|Decimal|Date|Timestamp)")
_Path = tuple[str | int, ...]


def check(suite: Suite, text: str, file: str) -> list[str]:
    """A line for each query whose answer the reference can't compute. Raises SuiteError with all faults."""
    document, notes = document_of(text, file), []
    for number, scenario in items(document.data, "scenarios"):
        tables = suite.datasets[scenario["dataset"]].tables
        models = {getattr(each, "swept", None) or each.name: each for each in suite.scenarios[number].steps}
        if not tables:
            continue
        planner = _Planner(tables, document)
        for place, step in items(scenario, "steps"):
            path: _Path = ("scenarios", number, "steps", place)
            model = models[step["name"]]
            query = model if isinstance(model, QueryStep) and isinstance(model.answer, SqlAnswer) else None
            asked = (*path, "answer", "sql") if "sql" in mapping(step, "answer") else (*path, "sql")
            for where, sql in _texts(step, path):
                why = planner.plan(sql, where, query if where == asked else None)
                if why and query and where == asked:
                    notes.append(f"{file}: {step['name']}: answer not computed: {why}")
    document.stop_at_faults()
    return notes


def _texts(thing: Any, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Each text that every engine runs, with its place."""
    for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
        if key == "sql" and isinstance(value, str):
            yield (*path, key), value
        elif isinstance(value, dict | list) and key != "dialects":
            yield from _texts(value, (*path, key))


class _Planner:
    """The empty tables of a dataset, and the suite whose faults are noted."""

    def __init__(self, tables: Mapping[str, Table], document: Document) -> None:
        self.tables, self.document = flattened(tables), document
        self.context = reference.empty(tables)
        self.columns = {
            name.lower(): [column.lower() for column in table.columns] for name, table in self.tables.items()
        }
        self.names = [column for each in (self.tables, tables) for table in each.values() for column in table.columns]

    def plan(self, sql: str, path: _Path, query: QueryStep | None) -> str:
        """Note the faults of a text; why the reference can't answer it. `query` is the step that it is to answer."""
        try:
            if query is None:
                self.context.sql(rewrite.written(rewrite.parsed(sql, self.tables)))
                return ""
            assert isinstance(query.answer, SqlAnswer)
            ranked = ranks.ranked(rewrite.query(sql, self.tables), self.columns, query.answer.ordered)
            self._read(query, path, ranked.names)
            plan = self.context.sql(rewrite.written(ranked.tree))
            plan.execution_plan()
            self._compared(ranked.tree, plan.optimized_logical_plan().display_indent(), path)
        except Exception as exc:  # whatever a parser or DataFusion raises
            why = " ".join(str(exc).removeprefix("DataFusion error: ").split())
            self._fault(why, sql, path, asked=query is not None)
            return why
        return ""

    def _read(self, query: QueryStep, path: _Path, names: tuple[str, ...]) -> None:
        own = {name.lower(): name for name in self.names}
        known = [own.get(name, name) for name in names if not name.startswith(" ")]
        if query.read and query.read.rpartition(".")[2].lower() not in map(str.lower, known):
            at = (*path[: path.index("steps") + 2], "read")
            self.document.fault(at, f"one of the columns that the query returns: {', '.join(known)}", known)

    def _fault(self, why: str, sql: str, path: _Path, *, asked: bool) -> None:
        if missing := _MISSING.search(why):
            name = missing[1].replace('"', "").rpartition(".")[2]
            aliases = {each.lower() for each in re.findall(r"\bAS\s+\"?(\w+)", sql, re.IGNORECASE)}
            if name not in {*map(str.lower, self.names), *aliases, *_HIDDEN}:
                self.document.fault_in_text(path, name, "a column of the tables that the text names", self.names)
        elif asked and why.startswith(rewrite.NO_ZONE):
            self.document.fault_in_text(path, why.partition("unlike ")[2].strip("'"), rewrite.NO_ZONE)
        elif asked and (misfit := _MISFIT.search(why)):
            word = misfit[2] or ""
            kind = next((words for key, words in _KINDS.items() if misfit[3] and misfit[3].startswith(key)), "a number")
            expected = kind if word else f"values of types that fit ({misfit[1]})"
            self.document.fault_in_text(path, word, expected)

    def _compared(self, tree: exp.Expr, plan: str, path: _Path) -> None:
        """Columns of texts that are compared with numbers or days, which most systems refuse."""
        kinds = {
            column.lower(): table.columns[column].data_type.name
            for table in self.tables.values()
            for column in table.columns
        }
        cast = {column.name for each in tree.find_all(exp.Cast) for column in each.find_all(exp.Column)}
        for name in dict.fromkeys(_IMPLICIT.findall(plan)):
            if kinds.get(name) in TEXTS and name not in cast:
                self.document.fault_in_text(path, name, "a text compared with texts")

"""The statements of a transaction as one function: what runs inside the clock between its beginning and its commit.

Functions between the loop and the driver took a tenth of a transaction of SQLite. So the function is put together as
source, as dataclasses are, and is what anyone would write by hand. In the source are numbered names alone: SQL, the
suite's names and the driver's functions are what they stand for.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import count
from typing import Any, NoReturn

from dbbench.engine.base import Engine
from dbbench.engine.null import does_work
from dbbench.engine.offered import prepared
from dbbench.engine.sql.session import SQLEngine, SQLSession
from dbbench.errors import DbbenchError, WrongAnswer
from dbbench.loadgen.transaction_draws import Group, Plan, Text, Values

#: body(values of a call): carries out the statements in the session that they are prepared for.
Body = Callable[[Values], None]
#: Takes what a statement was called with, and what it returned.
Keep = Callable[[tuple[Any, Any]], object]
_KEEPS = "  # kept"
_FETCH = {0: "", 1: ".fetchone()", None: ".fetchall()"}


class RolledBack(DbbenchError):
    """A transaction that its suite rolls back on purpose."""


def body(engine: Engine, session: Any, plan: Plan) -> Body:
    """The statements of a transaction, prepared. It raises RolledBack, and WrongAnswer for a row that isn't there."""
    return bodies(engine, session, plan, {})[0]


def bodies(engine: Engine, session: Any, plan: Plan, keep: Mapping[int, Keep]) -> tuple[Body, Body]:
    """The body, and one that also gives what its statements return to `keep`, by the `id` of each text."""
    writer = _Writer(engine, session, plan, keep)
    return writer.made(keeps=False), writer.made(keeps=True)


def prepare_text(engine: Engine, session: Any, text: Text) -> Callable[..., Any]:
    """call(*values): the statement, prepared once where the driver can."""
    if not does_work(engine):  # it has no rows, but what follows has to go on
        prepare: Callable[..., Callable[..., Any]] = prepared(engine, session, "call")
        return prepare("", text.wanted, row=(1,) * len(text.row))
    assert isinstance(session, SQLSession)
    return session.prepare_call(_sql(engine, text), text.wanted)


def _sql(engine: Engine, text: Text) -> str:
    assert isinstance(engine, SQLEngine)
    return engine.sql.placeholder.join(text.pieces)


class _Writer:
    """Writes the source; `bound` is what the names in it stand for that aren't values."""

    def __init__(self, engine: Engine, session: Any, plan: Plan, keep: Mapping[int, Keep]) -> None:
        self.engine, self.session, self.plan, self.keep = engine, session, plan, keep
        self.bound: dict[str, Any] = {}
        self.execute = session.driver_execute if isinstance(session, SQLSession) else None
        self._values = (f"v{number}" for number in count())
        lists = {id(group): next(self._values) for group in plan.repeated}
        names = self._named(plan.parameters)
        lines = [f"{_listed((*names.values(), *lists.values()))} = values"]
        for group in plan.groups:
            if group.repeat is None:
                lines += self._statements(group, names, "return")
            else:
                each = self._named(group.parameters)
                lines.append(f"for {_listed(each.values())} in {lists[id(group)]}:")
                lines += _indented(self._statements(group, {**names, **each}, "continue"))
        self.lines = ["def body(values):", *_indented(lines)]

    def made(self, *, keeps: bool) -> Body:
        """The function, with or without the lines that keep what was returned."""
        source = "\n".join(line for line in self.lines if keeps or _KEEPS not in line)
        namespace = dict(self.bound)
        exec(compile(source, "<a transaction>", "exec"), namespace)  # noqa: S102 - nothing of the user's is in it
        made: Body = namespace["body"]
        return made

    def _named(self, names: Iterable[str]) -> dict[str, str]:
        return {name: next(self._values) for name in names}

    def _statements(self, group: Group, names: dict[str, str], leave_out: str) -> list[str]:
        """The lines of a group; `names` takes those of its rows. `leave_out` is the word for going on after it.

        A row must have the values of the names that are there already. If the SQL doesn't ask for the first of them,
        rows are read up to the first that begins with it. No suite can say this.
        """
        lines = []
        for text in group.statements:
            lines.append(f"row = {self._call(text, names)}" if text.row or text.keeps else self._call(text, names))
            if keep := self.keep.get(id(text)):
                lines.append(f"{self._stands_for(keep)}(({_listed(names[name] for name in text.names)}, row)){_KEEPS}")
            if not text.row:
                continue
            missing, unlike = self._bind(_missing, text), self._bind(_unlike, text)
            known = _listed(names[name] for name in dict.fromkeys((*text.names, *text.row)) if name in names)
            found = [next(self._values) for _ in text.row]
            same = [(value, names[name]) for value, name in zip(found, text.row, strict=True) if name in names]
            lines += [
                "if row is None or None in row:",
                f"    {leave_out if text.missing == 'skip' else f'{missing}({known})'}",
                f"if len(row) != {len(text.row)}:",
                f"    {unlike}(row)",
                f"{_listed(found)} = row",
            ]
            if same and does_work(self.engine):
                values, wanted = map(_listed, zip(*same, strict=True))
                lines += [f"if {values} != {wanted}:", f"    {self._bind(_differs, text)}(row, {wanted})"]
            names |= dict(zip(text.row, found, strict=True))
        return lines

    def _call(self, text: Text, names: dict[str, str]) -> str:
        values = [names[name] for name in text.names]
        if text.row and text.row[0] in names and text.row[0] not in text.names and does_work(self.engine):
            rows = self._stands_for(self.session.prepare_rows(_sql(self.engine, text)))
            return f"{self._stands_for(_search)}({rows}({', '.join(values)}), {names[text.row[0]]})"
        if self.execute is None:
            return f"{self._stands_for(prepare_text(self.engine, self.session, text))}({', '.join(values)})"
        execute, sql = self._stands_for(self.execute), self._stands_for(_sql(self.engine, text))
        return f"{execute}({sql}, {_listed(values)}){_FETCH[text.wanted]}"

    def _bind(self, function: Callable[..., NoReturn], text: Text) -> str:
        return self._stands_for(partial(function, text, self.plan.name))

    def _stands_for(self, what: Any) -> str:
        name = f"b{len(self.bound)}"
        self.bound[name] = what
        return name


def _listed(names: Iterable[str]) -> str:
    """A tuple of names, as a target or a value."""
    return f"({''.join(f'{name}, ' for name in names)})"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _missing(text: Text, name: str, known: tuple[Any, ...]) -> NoReturn:
    if text.missing == "rollback":
        raise RolledBack(name)
    raise WrongAnswer(f"no row, or a NULL in it, in the transaction {name}: {_words(text)}, with {known}")


def _unlike(text: Text, name: str, row: Any) -> NoReturn:
    raise WrongAnswer(f"a row of {len(row)} columns in the transaction {name}, where `row` names {len(text.row)}")


def _differs(text: Text, name: str, row: Any, wanted: Any) -> NoReturn:
    raise WrongAnswer(f"{tuple(row)} and not {wanted} in the transaction {name}: {_words(text)}")


def _words(text: Text) -> str:
    return " ".join("?".join(text.pieces).split())


def _search(rows: Any, key: Any) -> Any:
    """The first row that begins with `key`."""
    for row in rows:
        if row[0] == key:
            break
    else:
        row = None
    if close := getattr(rows, "close", None):
        close()  # what is left unread hinders the commit of some drivers
    return row

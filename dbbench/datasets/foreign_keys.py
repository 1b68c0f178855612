"""Foreign keys between tables in files: names that fit, and values that are all among another table's primary key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from dbbench.datasets.found_tables import FoundTable, Reference
from dbbench.datasets.own_files import rows_from
from dbbench.suite.dataset import Column

#: Names of keys that say nothing of the table: a reference has the table's name before them.
_BARE = ("id", "key", "pk", "no", "nr", "num", "number", "code", "name")
#: Rows that are collected before those that come twice are dropped.
_ROWS = 1 << 20


def find_foreign_keys(tables: Sequence[FoundTable]) -> list[FoundTable]:
    """Note in each table its foreign keys, and why others that look like one are none. Returns the tables, parents first.

    A column gets the type of the key that it refers to: all its values are among those.
    """
    for child in tables:
        for parent in tables:
            for columns in _named_alike(child, parent) if child is not parent and parent.key else ():
                one_to_one = columns == child.key and tables.index(child) < tables.index(parent)
                if columns in [each.columns for each in child.foreign_keys] or one_to_one:
                    continue
                if reason := _reason_against(child, columns, parent, tables):
                    child.no_foreign_keys.append(f"{', '.join(columns)} to {parent.name}: {reason}")
                else:
                    child.foreign_keys.append(Reference(columns, parent.name))
    ordered = _parents_first(tables)
    for child in ordered:
        _take_types(child, {table.name: table for table in tables})
    return ordered


def _named_alike(child: FoundTable, parent: FoundTable) -> Iterator[tuple[str, ...]]:
    """Columns of a table that are named as if they held the key of another."""
    names = [column.name for column in child.columns]
    if len(parent.key) > 1:
        same = {"".join(_words(name)): name for name in reversed(names)}
        columns = tuple(same.get("".join(_words(part)), "") for part in parent.key)
        if all(columns):
            yield columns
        return
    targets = _targets(parent.name, parent.key[0])
    yield from ((name,) for name in names if targets & _ends(_words(name)))


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def _ends(words: Sequence[str]) -> set[str]:
    return {"".join(words[place:]) for place in range(len(words))}


def _targets(table: str, key: str) -> set[str]:
    """How a column that refers to a table may end: customer_id, customer_no or customer for customers(customer_id)."""
    words = _words(key)
    if len(words) > 1 and len(words[0]) == 1:
        words = words[1:]  # the letter of a table, as in o_orderkey
    plain = "".join(words)
    whole = "".join(_words(table))
    singular = {whole, re.sub("s$", "", whole), re.sub("es$", "", whole), re.sub("ies$", "y", whole)}
    targets = singular | {one + plain for one in singular}
    return targets if plain in _BARE else targets | {plain}


def _reason_against(
    child: FoundTable, columns: tuple[str, ...], parent: FoundTable, tables: Sequence[FoundTable]
) -> str:
    """The reason why columns named like a foreign key are none; empty if they are one."""
    mine, theirs = _typed(child, columns), _typed(parent, parent.key)
    if [column.data_type[0] for column in mine.values()] != [column.data_type[0] for column in theirs.values()]:
        return "the types differ"
    if child.name in _ancestors(parent, tables):
        return "that table refers to this one"
    stranger = _stranger(child, mine, parent, theirs)
    return f"{', '.join(map(str, stranger))} is not among its keys" if stranger else ""


def _typed(table: FoundTable, names: Sequence[str]) -> dict[str, Column]:
    """Columns to be read and compared: whole numbers of any length as the longer ones."""
    known = table.model()
    return {
        name: known[name].model_copy(update={"type": known[name].type.replace("integer", "bigint")}) for name in names
    }


def _stranger(
    child: FoundTable, mine: Mapping[str, Column], parent: FoundTable, theirs: Mapping[str, Column]
) -> tuple[object, ...]:
    """Values of a row that no key of the other table has; empty if there are none. Rows with a null count as none.

    As many different values are held as the other table has rows, and some more.
    """
    keys = pa.Table.from_batches(rows_from(theirs, parent.paths)).rename_columns([f"their {name}" for name in theirs])
    seen = keys.slice(0, 0).rename_columns(list(mine))
    waiting: list[pa.RecordBatch] = []
    for batch in rows_from(mine, child.paths):
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= _ROWS:
            seen, waiting = _different(seen, waiting), []
            if seen.num_rows > keys.num_rows:
                break
    seen = _different(seen, waiting)
    missing = seen.join(keys, keys=list(mine), right_keys=keys.column_names, join_type="left anti")
    return tuple(missing.slice(0, 1).to_pylist()[0].values()) if missing.num_rows else ()


def _different(seen: pa.Table, more: Sequence[pa.RecordBatch]) -> pa.Table:
    """The different rows without nulls."""
    names = seen.column_names
    found = pa.concat_tables([seen, pa.Table.from_batches(more, seen.schema).drop_null()])
    return found.group_by(names).aggregate([]).select(names)


def _ancestors(table: FoundTable, tables: Sequence[FoundTable]) -> set[str]:
    """The tables that a table refers to, and those that they refer to."""
    found: set[str] = set()
    waiting = [table]
    while waiting:
        parents = {each.table for each in waiting.pop().foreign_keys} - found
        found |= parents
        waiting.extend(one for one in tables if one.name in parents)
    return found


def _parents_first(tables: Sequence[FoundTable]) -> list[FoundTable]:
    """The tables in their order, but each after those that it refers to."""
    ordered: list[FoundTable] = []
    while len(ordered) < len(tables):
        placed = {table.name for table in ordered}
        ready = (t for t in tables if t not in ordered and {each.table for each in t.foreign_keys} <= placed)
        ordered.append(next(ready))
    return ordered


def _take_types(child: FoundTable, tables: Mapping[str, FoundTable]) -> None:
    """Give the columns of foreign keys the types of the keys; the parents have theirs already."""
    types = {column.name: column for column in child.columns}
    taken: set[str] = set()
    for each in list(child.foreign_keys):
        parent = {column.name: column.type for column in tables[each.table].columns}
        wanted = dict(zip(each.columns, (parent[name] for name in tables[each.table].key), strict=True))
        if any(name in taken and types[name].type != kind for name, kind in wanted.items()):
            child.foreign_keys.remove(each)
            child.no_foreign_keys.append(f"{', '.join(each.columns)} to {each.table}: the types differ")
            continue
        taken |= set(wanted)
        for name, kind in wanted.items():
            types[name].type = kind

"""Keys of tables in files: a primary key of one column, or of two or three together, and foreign keys.

Rows are compared by 64-bit hashes of what would be loaded. Where all hashes differ the rows do; two rows with the same
hash are taken for the same, which costs a key once in many millions of files and never gives a wrong one. A foreign key
has a name that fits, and values that are all among another table's primary key.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbbench.datasets.found_tables import FoundTable, Reference
from dbbench.datasets.own_files import rows_from
from dbbench.suite.dataset import Column

#: Ends of names that parts of keys often have.
_ENDS = r"(id|key|pk|no|nr|num|number|code|date|day|week|month|year|time|hour|line|item|seq|position|version|at)$"
#: Columns that are tried: those with such names and some leftmost ones; at most this number in all.
_LEFTMOST, _TRIED = 3, 6
#: Columns of a key at most.
_MOST = 3
#: Texts longer than these are no part of a key.
_LONGEST = 64
#: Hashes that are held at a time, 8 bytes each. A table of more rows is read several times.
_HASHES = 1 << 24

Hashes = npt.NDArray[np.uint64]
#: Names of keys that say nothing of the table: a reference has the table's name before them.
_BARE = ("id", "key", "pk", "no", "nr", "num", "number", "code", "name")
#: Rows that are collected before those that come twice are dropped.
_ROWS = 1 << 20


def parts_of_a_key(columns: Mapping[str, Column]) -> list[str]:
    """The columns that may be part of a key of several, the likeliest first."""
    able = [name for name, column in columns.items() if not column.nullable and _may_be_part(column)]
    likely = [name for name in able if re.search(_ENDS, name.lower())]
    return [*likely, *(name for name in able[:_LEFTMOST] if name not in likely)][:_TRIED]


def key_of_several(columns: Mapping[str, Column], paths: Sequence[Path], rows: int) -> tuple[str, ...]:
    """Two columns, or three, that together have no values twice, in the order of the table; empty if there are none."""
    tried = parts_of_a_key(columns)
    groups = [group for size in range(2, _MOST + 1) for group in combinations(tried, size)]
    if not rows or not groups:
        return ()
    groups.insert(0, tuple(tried))  # where all of them have values twice, so has each group
    for hashes in _hashes(columns, tried, paths):
        groups = [group for group in groups if not _twice(_together(hashes, group))]
        if not groups:
            return ()
    everything, *groups = groups
    if not _unique(columns, everything, paths, rows):
        return ()
    for group in groups:
        if _unique(columns, group, paths, rows):
            return tuple(name for name in columns if name in group)
    return ()


def _may_be_part(column: Column) -> bool:
    name, arguments = column.data_type
    return name in ("integer", "bigint", "date", "datetime") or (name == "varchar" and arguments[0] <= _LONGEST)


def _unique(columns: Mapping[str, Column], group: Sequence[str], paths: Sequence[Path], rows: int) -> bool:
    """Whether no two rows have the same values in these columns."""
    passes = rows // _HASHES + 1
    for number in range(passes):
        found = [_together(hashes, group) for hashes in _hashes(columns, group, paths)]
        if passes > 1:
            found = [some[some % np.uint64(passes) == number] for some in found]
        if _twice(np.concatenate(found)):
            return False
    return True


def _hashes(columns: Mapping[str, Column], names: Iterable[str], paths: Sequence[Path]) -> Iterator[dict[str, Hashes]]:
    """Hashes of some columns' values, for each batch of rows."""
    for batch in rows_from({name: columns[name] for name in names}, paths):
        yield {name: _numbers(batch.column(name)) for name in batch.schema.names}


def _numbers(values: pa.Array) -> Hashes:
    """A number of 64 bits for each value: other numbers, days and moments have others, texts their hashes."""
    if pa.types.is_string(values.type):
        encoded = values.dictionary_encode()
        of_each = np.fromiter(map(hash, encoded.dictionary.to_pylist()), np.int64, len(encoded.dictionary))
        codes: npt.NDArray[np.int64] = np.asarray(encoded.indices, np.int64)
        return of_each[codes].view(np.uint64)
    if pa.types.is_date(values.type):
        values = values.cast(pa.int32())
    return np.asarray(values.cast(pa.int64())).view(np.uint64)


def _together(hashes: Mapping[str, Hashes], group: Iterable[str]) -> Hashes:
    """One hash for the values of several columns, mixed as SplitMix64 does."""
    mixed = np.zeros(1, np.uint64)
    for name in group:
        mixed = (mixed ^ hashes[name]) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _twice(hashes: Hashes) -> bool:
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())


def find_foreign_keys(tables: Sequence[FoundTable]) -> list[FoundTable]:
    """Note in each table its foreign keys, and why others that look like one are none. Returns tables, parents first.

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

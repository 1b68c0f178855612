"""What a file's columns are: names, types and a key, found by looking at every row.

A type is the narrowest that holds all values. Numbers that begin with a zero are texts, as codes are. Decimals that all
have the same number of places stay decimals; others become doubles.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbbench.datasets.found_keys import key_of_several
from dbbench.datasets.found_tables import FEWEST_QUERIES, Found, FoundTable, FoundVectors
from dbbench.datasets.own_files import PARQUET, beyond, csv_names, moments, names_in, read_csv, refusals, rows_from
from dbbench.datasets.own_vectors import are_vectors
from dbbench.errors import UserError
from dbbench.message import cleaned

#: What values of each kind look like in a CSV file, the narrowest first.
_FORMS = {
    "integer": r"^-?(0|[1-9]\d{0,17})$",
    "whole": r"^-?(0|[1-9]\d*)$",
    "decimal": r"^-?(0|[1-9]\d{0,14})\.\d{1,4}$",
    "double": r"^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    "date": r"^\d{4}-\d\d-\d\d$",
    "datetime": r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.0+)?)?(Z|[+-]\d\d:?\d\d)?$",
}
_CODE = r"^-?0\d"
#: Names that keys often have.
_LIKELY = r"(^|_)(id|key|pk)$|[a-z](Id|ID|Key)$"
#: Digits that a decimal has besides those of its values, up to as many as fit 64 bits.
_ROOM, _SHORT = 2, 18
_MOST_DIGITS = 38
_NUMBERS = ("integer", "whole", "decimal", "double")
_INTEGER = 2**31 - 1
#: More than most databases have in a table.
MOST_COLUMNS = 4_096
#: The fewest rows of which some are held back as queries.
FEWEST_VECTORS = 2 * FEWEST_QUERIES
#: Rows of a Parquet file that are looked at together.
_ROWS_AT_ONCE = 1 << 17


def look_at_all(asked: Iterable[tuple[str, str, list[Path], tuple[str, ...]]]) -> list[FoundTable]:
    """Look at each table, with the arguments of `look_at`."""
    return [look_at(*each) for each in asked]


def look_at(name: str, pattern: str, paths: list[Path], key: tuple[str, ...] = ()) -> FoundTable:
    """Find a table's columns from its files; without `key`, read them again as often as the search for one needs.

    Raises UserError, with file and row, for what can't be read as one table.
    """
    kinds = _kinds(paths)
    columns = {source: _Column(kind) for source, kind in kinds.items()}
    rows = 0
    ends: dict[Path, int] = {}
    left_out: list[str] = []
    for path in paths:
        with refusals(path):
            counted = _counted(path, kinds)
            for source, (values, nulls) in counted.items():
                columns[source].count(values, nulls)
            for batch in _batches(path, without=counted):
                for source in batch.schema.names:
                    columns[source].add(batch.column(source))
                rows += batch.num_rows
            ends[path] = rows
    found, vectors = [], []
    for source, identifier in zip(columns, _identifiers(columns), strict=True):
        column = columns[source].result(source, identifier, ends)
        if not source:
            left_out.append("a column without a name: give it one")
        elif column.type:
            found.append(column)
        elif columns[source].dimensions:
            vectors.append(FoundVectors(source, columns[source].dimensions))
        else:
            left_out.append(f"{source}: {column.note}")
    if not found and not vectors:
        raise UserError(f"{pattern}: no column that dbbench can use")
    table = FoundTable(name, pattern, paths, rows, found, key, left_out=left_out, vectors=vectors)
    if unknown := [part for part in key if part not in table.model()]:
        raise UserError(f"--key: {name} has no column {unknown[0]!r}")
    for made, known in table.model().items():
        if columns[known.source].doubtful:
            deque(rows_from({made: known}, paths), maxlen=0)  # it says where, if the column's type can't have the value
    if not key and found:
        table.key = _key(columns, table, ends) or key_of_several(table.model(), paths, rows)
        if any(re.search(_LIKELY, part) for part in table.key):
            table.doubled = ""
    return table


def _kinds(paths: list[Path]) -> dict[str, pa.DataType]:
    """The columns with the type that each has in all files together, which is text if one of them is CSV.

    Raises UserError if the files differ in their columns, or a column has no such type.
    """
    texts = any(path.suffix.lower() not in PARQUET for path in paths)
    kinds: dict[str, pa.DataType] = {}
    given: dict[str, str] = {}
    for path in paths:
        with refusals(path):
            names = names_in(path)
            if len(names) > MOST_COLUMNS:
                raise UserError(
                    f"{path} has {len(names):,} columns, and a table at most {MOST_COLUMNS:,}; leave some out"
                )
            if path != paths[0] and {*names} != {*kinds}:
                raise UserError(f"{path} has other columns than {paths[0]}")
            types = [pa.string()] * len(names) if texts else pq.read_schema(path).types
            for name, kind in zip(names, map(_plain, types), strict=True):
                together = _together(kinds.get(name, kind), kind)
                if together is None:
                    raise UserError(
                        f"{path}: column {name!r} is {kind}, and {given[name]}; "
                        "write it with one type in all files, or import each file as a table of its own"
                    )
                if together != kinds.get(name):
                    kinds[name], given[name] = together, f"{kind} in {path}"
    return kinds


def _plain(kind: pa.DataType) -> pa.DataType:
    """A type without what doesn't matter for values: that they are encoded by a dictionary, or in which zone."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    return kind


def _together(kind: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """What pyarrow makes of two types, as a double of a whole number and a double; None if it can't cast both."""
    if kind == other:
        return kind
    try:
        schemas = [pa.schema({"column": each}) for each in (kind, other)]
        found = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        if not pa.types.is_nested(found):
            for each in (kind, other):
                pa.nulls(1, each).cast(found)
    except pa.ArrowException:
        return None
    return found


def _counted(path: Path, kinds: dict[str, pa.DataType]) -> dict[str, tuple[int, int]]:
    """Columns of a Parquet file whose metadata are enough: number of values, nulls. Nobody has to read them.

    At least one column is left, by which the rows are counted.
    """
    if path.suffix.lower() not in PARQUET:
        return {}
    file = pq.ParquetFile(path)
    schema, groups = file.schema_arrow, [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    if len({*schema.names}) < len(schema) or any(pa.types.is_nested(kind) for kind in schema.types):
        return {}  # the leaves of a nested column have places of their own
    found = {}
    for place, each in enumerate(schema):
        statistics = [group.column(place).statistics for group in groups]
        known = bool(statistics) and all(one is not None and one.has_null_count for one in statistics)
        if known and _by_count(kinds[each.name]):
            nulls = sum(one.null_count for one in statistics)
            found[each.name] = (file.metadata.num_rows - nulls, nulls)
    if len(found) == len(schema):
        found.popitem()
    return found


def _by_count(kind: pa.DataType) -> bool:
    """Whether a column's type in a suite follows from its type in the file, and whether it has nulls. None is a key."""
    return bool(pa.types.is_decimal(kind) or pa.types.is_boolean(kind))


def _batches(path: Path, without: Collection[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a file, without some columns."""
    if path.suffix.lower() in PARQUET:
        file = pq.ParquetFile(path)
        columns = [name for name in file.schema_arrow.names if name not in without] if without else None
        yield from file.iter_batches(_ROWS_AT_ONCE, columns=columns)
        if not file.metadata.num_rows:
            yield pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
        return
    yield from read_csv(path, column_types=dict.fromkeys(csv_names(path), pa.string()))


class _Column:
    """What the values of a column so far allow."""

    def __init__(self, kind: pa.DataType) -> None:
        self.kind = kind
        self.forms = list(_FORMS)
        self.nulls = self.values = self.longest = self.digits = 0
        self.places: set[int] = set()
        self.least = self.most = 0
        self.fractions = self.zoned = False
        #: Whether there is a moment, a text or a number that no suite may have, or a value of another type.
        self.doubtful = False
        #: Whether each value is greater than the one before, so that it is a key.
        self.ascending = True
        self.last: Any = None
        #: Of lists of floats: their lengths, and the row of the first one with a number that no vector has.
        self.lengths: set[int] = set()
        self.broken = 0

    @property
    def dimensions(self) -> int:
        """The length of all its lists, if they may be vectors that a suite searches; else 0."""
        size = max(self.lengths, default=0)
        fit = len(self.lengths) == 1 and 2 <= size <= 4_096 and self.values >= FEWEST_VECTORS
        return size if fit and not (self.nulls or self.broken) else 0

    def count(self, values: int, nulls: int) -> None:
        """Take over how many values there are of a column that nobody reads."""
        self.values += values
        self.nulls += nulls

    def add(self, values: pa.Array) -> None:
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if values.null_count:
            self.nulls += values.null_count
            values = values.drop_null()
        self.values += len(values)
        if not len(values):
            return
        self.doubtful |= _plain(values.type) != self.kind
        if _is_text(self.kind):
            self._add_texts(values.cast(pa.string()))
        elif are_vectors(self.kind):
            self.lengths |= {*pc.unique(pc.list_value_length(values)).to_pylist()}
            numbers = pc.list_flatten(values).cast(pa.float32(), safe=False)
            place = pc.is_finite(numbers).fill_null(fill_value=False).index(False).as_py()
            if place >= 0 and not self.broken:
                self.broken = self.values - len(values) + pc.list_parent_indices(values)[place].as_py() + 1
        elif pa.types.is_integer(self.kind):
            self._bounds(values)
        elif pa.types.is_timestamp(self.kind):
            self.fractions |= not pc.all(pc.equal(values, pc.floor_temporal(values, unit="second"))).as_py()
            self.zoned |= self.kind.tz is not None
            self.doubtful |= pc.any(beyond(values)).as_py()
        elif pa.types.is_floating(self.kind):
            self.doubtful |= not pc.all(pc.is_finite(values)).as_py()

    def _add_texts(self, texts: pa.Array) -> None:
        self.longest = max(self.longest, pc.max(pc.utf8_length(texts)).as_py())
        self.doubtful |= pc.any(pc.match_substring(texts, "\0")).as_py()
        if {*_NUMBERS} & {*self.forms} and pc.any(pc.match_substring_regex(texts, _CODE)).as_py():
            self.forms = [form for form in self.forms if form not in _NUMBERS]
        for form in list(self.forms):
            fits = pc.match_substring_regex(texts, _FORMS[form])
            if not (pc.all(fits).as_py() and self._are_days(texts, form)):
                self.forms.remove(form)
        if {"whole", "decimal"} & {*self.forms}:
            digits = pc.utf8_length(pc.replace_substring_regex(texts, r"[-.]", ""))
            self.digits = max(self.digits, pc.max(digits).as_py())
        if "whole" in self.forms and self.digits <= _MOST_DIGITS:
            self._bounds(texts.cast(pa.int64() if "integer" in self.forms else pa.decimal128(_MOST_DIGITS, 0)))
        else:
            self._order(texts)
        if "decimal" in self.forms:
            places = pc.utf8_length(pc.replace_substring_regex(texts, r"^.*\.", ""))
            self.places |= set(pc.unique(places).to_pylist())
        elif "double" in self.forms:
            self.doubtful |= not pc.all(pc.is_finite(texts.cast(pa.float64()))).as_py()
        if "datetime" in self.forms:
            self.zoned |= pc.any(pc.match_substring_regex(texts, r"(Z|[+-]\d\d:?\d\d)$")).as_py()

    def _are_days(self, texts: pa.Array, form: str) -> bool:
        """Whether texts that look like days or moments are some: there is no 30 February."""
        try:
            if form == "date":
                texts.cast(pa.date32())
            elif form == "datetime":
                self.doubtful |= pc.any(beyond(moments(texts))).as_py()
        except pa.ArrowInvalid:
            return False
        return True

    def _bounds(self, numbers: pa.Array) -> None:
        bounds = pc.min_max(numbers).as_py()
        self.least, self.most = min(self.least, bounds["min"]), max(self.most, bounds["max"])
        self._order(numbers)

    def _order(self, values: pa.Array) -> None:
        if not self.ascending:
            return
        first, last = values[0].as_py(), values[-1].as_py()
        if self.last is not None and (type(first) is not type(self.last) or first <= self.last):
            self.ascending = False
        self.ascending = self.ascending and bool(pc.all(pc.greater(values[1:], values[:-1])).as_py() is not False)
        self.last = last

    def result(self, source: str, name: str, ends: Mapping[Path, int]) -> Found:
        """The column as it was found; `ends` has the rows of all files together up to the end of each."""
        kind, note = self._type(ends)
        return Found(source, name, kind, self.nulls > 0 or not self.values, note)

    def _type(self, ends: Mapping[Path, int]) -> tuple[str, str]:
        """The type in a suite and a note; no type if there is none for it."""
        kind = self.kind
        if are_vectors(kind) and self.broken and not self.nulls:
            return (
                "",
                f"its list in {_row(self.broken, ends)} has a number that is missing, NaN or too large for float32",
            )
        if are_vectors(kind):
            need = f"these need no nulls, one length from 2 to 4,096, and {FEWEST_VECTORS:,} rows or more"
            return "", f"its lists can't be vectors: {need}"
        if not self.values and _can_be_text(kind):
            return "varchar(1)", "no values"
        if _is_text(kind):
            return self._text_type()
        if pa.types.is_boolean(kind):
            return "integer", "true and false became 1 and 0"
        if pa.types.is_integer(kind):
            if self.most > 2**63 - 1:
                return "decimal(20, 0)", "unsigned numbers of 64 bits"
            return self._whole(), ""
        if pa.types.is_floating(kind):
            return ("double" if kind == pa.float64() else "real"), ""
        if pa.types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= 38:
            return f"decimal({kind.precision}, {kind.scale})", ""
        if pa.types.is_date(kind):
            return "date", ""
        if pa.types.is_timestamp(kind):
            if self.fractions:
                return "varchar(40)", "moments with fractions of a second, which `datetime` lacks, became texts"
            return "datetime", "moments became UTC" if self.zoned else ""
        return "", f"there is no type for {kind}"

    def _text_type(self) -> tuple[str, str]:
        if "whole" in self.forms:
            if self.digits > _MOST_DIGITS:
                return f"varchar({self.longest})", f"numbers of more than {_MOST_DIGITS} digits became texts"
            if self.least < -(2**63) or self.most > 2**63 - 1:
                return f"decimal({self.digits}, 0)", "numbers of more than 64 bits"
            return self._whole(), ""
        if "decimal" in self.forms and len(self.places) == 1:
            (places,) = self.places
            digits = max(self.digits, places + 1)
            # Room for what updates make of them, where that takes no longer type.
            return f"decimal({max(digits, min(digits + _ROOM, _SHORT))}, {places})", ""
        if "double" in self.forms:
            return "double", ""
        if "date" in self.forms:
            return "date", ""
        if "datetime" in self.forms:
            return "datetime", "moments became UTC" if self.zoned else ""
        return f"varchar({max(1, self.longest)})", ""

    def _whole(self) -> str:
        return "integer" if self.least >= -_INTEGER and self.most <= _INTEGER else "bigint"


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _can_be_text(kind: pa.DataType) -> bool:
    try:
        pa.nulls(0, kind).cast(pa.string())
    except pa.ArrowNotImplementedError:
        return False
    return True


def _key(columns: dict[str, _Column], table: FoundTable, ends: Mapping[Path, int]) -> tuple[str, ...]:
    """The first column without nulls, of numbers or texts, in which no value comes twice; those named like a key first.

    Of one that is named so and is none, two values that come twice are noted.
    """
    able = [
        column
        for column in table.columns
        if not column.nullable and _may_be_key(columns[column.source].kind, column.type)
    ]
    able.sort(key=lambda column: not re.search(_LIKELY, column.name))
    for column in able:
        if columns[column.source].ascending and columns[column.source].last is not None:
            return (column.name,)
    model = table.model()
    for column in able if table.rows else ():
        # As they are loaded: -0 is 0.
        values = _until_twice(batch.column(0) for batch in rows_from({column.name: model[column.name]}, table.paths))
        if values is None:
            return (column.name,)
        if re.search(_LIKELY, column.name) and not table.doubled:
            table.doubled = f"{column.name} is named like a key, but {_twice(values, ends)}"
    return ()


def _may_be_key(kind: pa.DataType, text: str) -> bool:
    return not pa.types.is_boolean(kind) and re.match("(integer|bigint|varchar.*|date)$", text) is not None


def _until_twice(batches: Iterable[pa.Array]) -> pa.ChunkedArray | None:
    """The values up to a batch with one that comes twice, so that most columns cost little; None if all differ."""
    seen: list[pa.Array] = []
    for batch in batches:
        seen.append(batch)
        if pc.count_distinct(batch).as_py() < len(batch):
            return pa.chunked_array(seen)
    values = pa.chunked_array(seen)
    return values if pc.count_distinct(values).as_py() < len(values) else None


def _twice(values: pa.ChunkedArray, ends: Mapping[Path, int]) -> str:
    """Two of the values that come twice, or the only one, with their rows."""
    counts = values.value_counts()
    described = []
    for value in counts.field(0).filter(pc.greater(counts.field(1), 1))[:2]:
        places = pc.indices_nonzero(pc.equal(values, value))[:2].to_pylist()
        first, second = (_row(place + 1, ends) for place in places)
        described.append(f"{cleaned(str(value.as_py()), 40)} is in {first} and {second}")
    return ", and ".join(described)


def _row(number: int, ends: Mapping[Path, int]) -> str:
    """A row of all files together in words: by its number in its file, which is named if there are several."""
    if len(ends) == 1:
        return f"row {number:,}"
    path = next(path for path, end in ends.items() if number <= end)
    before = max((end for end in ends.values() if end < number), default=0)
    return f"row {number - before:,} of {cleaned(str(path))}"


def identifier(text: str) -> str:
    """A plain name made of any text."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")[:60]
    return name if re.match("[A-Za-z]", name) else f"c_{name}".rstrip("_")


def _identifiers(names: Iterable[str]) -> list[str]:
    """A plain name for each column; no two differ only in the size of letters, as few databases tell them apart."""
    given: list[str] = []
    taken: set[str] = set()
    for name in names:
        made, number = identifier(name), 2
        while made.lower() in taken:
            made, number = f"{identifier(name)}_{number}", number + 1
        taken.add(made.lower())
        given.append(made)
    return given

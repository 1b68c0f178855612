"""A table's rows from CSV and Parquet files, in the suite's types. Misfits are refused, with file and line."""

import contextlib
import csv
import datetime
import fnmatch
import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from dbbench.datasets.generate import CHUNK_ROWS, arrow_type
from dbbench.errors import UserError
from dbbench.suite.answer import AnswerFile
from dbbench.suite.dataset import Column, FromFile, Table
from dbbench.suite.model import Suite

#: Bytes of a CSV file that are read at a time; a row must fit in.
_BLOCK = 16 * 2**20
#: Names in folders that are looked at for one glob.
_MOST_NAMES = 100_000
#: What may separate the fields of a CSV file, and rows by which it is found.
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 100
#: The years that moments may have: those of 64 bits of nanoseconds, as which many programs count them.
_YEARS = (1678, 2261)
#: Ends of names that are read as Parquet; any other file is CSV.
PARQUET = (".parquet", ".pq")


def files_of(pattern: str, folder: Path) -> list[Path]:
    """The regular files that a path or a glob relative to `folder` names, sorted. Raises UserError if there is none."""
    place = _place(pattern, folder)
    with refusals(place):
        found = [place] if place.exists() else sorted(_matches(place), key=str)
        if not found:
            raise UserError(f"there is no file {place}; paths are relative to the suite's folder")
        for path in found:
            if not path.is_file():
                raise UserError(f"{path} is not a regular file")
    return found


def check_files(suite: Suite, folder: Path, *, outside: bool) -> None:
    """Raise UserError if a file that a suite names is missing, or lies outside the suite's folder.

    A file outside is opened only where the user has allowed it by `outside`.
    """
    if not outside and (strangers := files_outside(suite, folder)):
        more = f" and {len(strangers) - 3:,} more" if len(strangers) > 3 else ""
        raise UserError(
            f"the suite reads files outside its folder: {', '.join(map(str, strangers[:3]))}{more}; "
            "if you trust it with them, add --allow-outside"
        )
    for pattern in _patterns(suite):
        files_of(pattern, folder)


def all_rows(table: Table, paths: Sequence[Path], rows: int | None = None) -> Iterator[pa.RecordBatch]:
    """The first `rows` rows of a table's files, or all. Raises UserError if their number differs from the suite's."""
    assert isinstance(table.rows, FromFile)
    count = 0
    for batch in rows_from(table.columns, paths, rows):
        count += batch.num_rows
        yield batch
    expected = table.rows.count if rows is None else rows
    if expected is not None and count != expected:
        scaled = " at this scale" * (rows is not None)
        raise UserError(f"{', '.join(map(str, paths))}: {count:,} rows, and the suite says {expected:,}{scaled}")


def files_outside(suite: Suite, folder: Path) -> list[Path]:
    """The files that a suite names and that are not in its folder. A path or glob that leads out is not followed."""
    here = (Path(os.path.abspath(folder)), folder.resolve())
    found = []
    for pattern in _patterns(suite):
        place = Path(os.path.abspath(_place(pattern, folder)))
        inside = any(place.is_relative_to(each) for each in here)
        found += [path.resolve() for path in files_of(pattern, folder)] if inside else [place]
    return [path for path in found if not any(path.is_relative_to(each) for each in here)]


def _patterns(suite: Suite) -> list[str]:
    """The files that a suite names: of answers, then of rows."""
    answers = [step.expected_answer for scenario in suite.scenarios for step in scenario.steps]
    rows = [pattern for dataset in suite.datasets.values() for pattern in dataset.sources.values()]
    return [*(answer.file for answer in answers if isinstance(answer, AnswerFile)), *rows]


def _place(pattern: str, folder: Path) -> Path:
    return folder / os.path.expanduser(pattern)


def _matches(place: Path) -> list[Path]:
    """The paths that a glob names. Raises UserError where too many names would have to be looked at."""
    found, looked = [Path(place.anchor)], 0
    for part in place.relative_to(place.anchor).parts:
        if not glob.has_magic(part):
            found = [path / part for path in found if os.path.lexists(path / part)]
            continue
        above, found = found, []
        for path in above:
            names = os.listdir(path) if os.access(path, os.R_OK) and path.is_dir() else []
            looked += len(names)
            if looked > _MOST_NAMES:
                raise UserError(f"{place} goes through more than {_MOST_NAMES:,} names; name fewer folders")
            fitting = fnmatch.filter(names, part)
            found += [path / name for name in fitting if part.startswith(".") or not name.startswith(".")]
    return found


def rows_from(
    columns: Mapping[str, Column], paths: Sequence[Path], rows: int | None = None
) -> Iterator[pa.RecordBatch]:
    """The first `rows` rows of the files, or all, in batches of at most CHUNK_ROWS. Raises UserError for misfits."""
    wanted = _wanted(columns)
    count = 0
    for path in paths:
        line = 1
        for raw in _raw(path, wanted, columns):
            batch = _typed(raw, path, line, columns, wanted, count)
            line += batch.num_rows
            if rows is not None:
                batch = batch[: rows - count]
            count += batch.num_rows
            for first in range(0, batch.num_rows, CHUNK_ROWS):
                yield batch[first : first + CHUNK_ROWS]
            if count == rows:
                return


def estimated_bytes(table: Table, paths: Sequence[Path], rows: int | None) -> int:
    """Bytes that the first `rows` rows of the files, or all, take, about: those of the files, not compressed."""
    assert isinstance(table.rows, FromFile)
    whole = sum(map(_plain_bytes, paths))
    return whole * rows // table.rows.count if rows and table.rows.count else whole


def _plain_bytes(path: Path) -> int:
    with refusals(path):
        if path.suffix.lower() not in PARQUET:
            return path.stat().st_size
        import pyarrow.parquet as pq

        metadata = pq.ParquetFile(path).metadata
        return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))


@contextlib.contextmanager
def refusals(path: Path) -> Iterator[None]:
    """What pyarrow and the system say of a file, as a UserError with the file and, where it is known, the row."""
    try:
        yield
    except UnicodeDecodeError as exc:
        raise UserError(f"{path} is not UTF-8; save the file as UTF-8") from exc
    except pa.ArrowException as exc:
        raise UserError(_told(path, str(exc))) from exc
    except OSError as exc:
        raise UserError(f"{path} can't be read: {exc.strerror or exc}") from exc


def _raw(path: Path, wanted: dict[str, str], columns: Mapping[str, Column]) -> Iterator[pa.RecordBatch]:
    """Batches as they are in a file, of the wanted columns."""
    with refusals(path):
        if path.suffix.lower() in PARQUET:
            import pyarrow.parquet as pq

            refuse_missing(path, wanted)
            yield from pq.ParquetFile(path).iter_batches(CHUNK_ROWS, columns=list(wanted))
        else:
            yield from _csv(path, wanted, columns)


def read_csv(path: Path, **convert: Any) -> Iterator[pa.RecordBatch]:
    """The rows of a CSV file with a header, UTF-8; an empty field is a null, an empty one in quotes an empty text.

    Raises pyarrow.ArrowInvalid, with the number of the row, and UserError if it can't be told what separates its
    fields, or whether an empty line of its one column is a row.
    """
    delimiter, header = _csv_header(path)
    alone = len(header) == 1
    with path.open(encoding="utf-8-sig") as file:
        before = sum(1 for _ in takewhile("\n".__eq__, file))
    options = pyarrow.csv.ConvertOptions(
        null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False, **convert
    )
    batches = pyarrow.csv.open_csv(
        path,
        # Only one thread counts rows.
        read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK, use_threads=False, skip_rows=before * alone),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=not alone
        ),
        convert_options=options,
    )
    return _without_empty_end(path, batches) if alone else iter(batches)


def _without_empty_end(path: Path, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of one column but the empty lines after the last value. Raises UserError for others."""
    read = empty = 0
    for batch in batches:
        known = batch.column(0).is_valid().to_numpy(zero_copy_only=False)
        if not (empty or known.all()):
            empty = read + int(known.argmin()) + 1
        end = int(np.flatnonzero(known)[-1]) + 1 if known.any() else 0
        if empty == 1 or (end and 0 < empty < read + end):
            raise UserError(
                f'{path}, row {empty}: an empty line, which may be a row or none; write "" for an empty text, '
                "or a Parquet file for a missing value"
            )
        yield batch[:end]
        read += batch.num_rows


def _csv(path: Path, wanted: dict[str, str], columns: Mapping[str, Column]) -> Iterator[pa.RecordBatch]:
    kinds = {source: arrow_type(columns[name].data_type) for source, name in wanted.items()}
    # A moment may have fractions or a zone: it is taken as text, and must be one in whole seconds.
    kinds = {source: pa.string() if pa.types.is_timestamp(kind) else kind for source, kind in kinds.items()}
    refuse_missing(path, wanted)
    yield from read_csv(path, column_types=kinds, include_columns=list(wanted))


def names_in(path: Path) -> list[str]:
    """The names of a file's columns. Raises UserError if there are none, or one comes twice."""
    if path.suffix.lower() not in PARQUET:
        return csv_names(path)
    import pyarrow.parquet as pq

    return _different(path, pq.read_schema(path).names)


def csv_names(path: Path) -> list[str]:
    """The names of a CSV file's columns. Raises UserError as `names_in` does."""
    return _different(path, _csv_header(path)[1])


def _csv_header(path: Path) -> tuple[str, list[str]]:
    """What separates the fields of a CSV file, and its first row. Raises UserError if either can't be told."""
    headers: dict[str, list[str]] = {}
    even = []
    for delimiter in _DELIMITERS:
        header, *rows = _first_rows(path, delimiter) or [[]]
        if not header:
            raise UserError(f"{path} is empty: its first line should have the names of the columns")
        if len(header) > 1:
            headers[delimiter] = header
            if all(len(row) == len(header) for row in rows):
                even.append(delimiter)
    likely = even if len(headers) > 1 else [*headers]
    if headers and len(likely) != 1:
        choice = " or ".join(_DELIMITERS[each] for each in headers)
        raise UserError(f"{path}: {choice} may separate its fields; write names and texts that have them in quotes")
    return (likely[0], headers[likely[0]]) if headers else (",", header)


def _first_rows(path: Path, delimiter: str) -> list[list[str]]:
    """The first rows of a CSV file, up to one that Python's reader can't take."""
    rows: list[list[str]] = []
    with path.open(encoding="utf-8-sig", newline="") as file, contextlib.suppress(csv.Error):
        rows.extend(islice(filter(None, csv.reader(file, delimiter=delimiter)), _SAMPLE))
    return rows


def _different(path: Path, names: list[str]) -> list[str]:
    if doubled := [name for name, count in Counter(names).items() if count > 1]:
        raise UserError(f"{path} has two columns {doubled[0]!r}; give one of them another name")
    return names


def _wanted(columns: Mapping[str, Column]) -> dict[str, str]:
    """Columns that come from the file: name there -> name in the table."""
    return {column.source or name: name for name, column in columns.items() if column.values is None}


def refuse_missing(path: Path, wanted: Iterable[str]) -> None:
    """Raise UserError if a file lacks one of these columns."""
    names = names_in(path)
    if missing := {*wanted} - {*names}:
        raise UserError(f"{path} has no column {min(missing)!r} (it has: {', '.join(names)})")


def _typed(
    raw: pa.RecordBatch, path: Path, line: int, kinds: Mapping[str, Column], wanted: dict[str, str], before: int
) -> pa.RecordBatch:
    """A batch in its columns' types. `line` is the number of its first row in the file, `before` the rows so far."""
    found = {name: raw.column(source) for source, name in wanted.items()}
    columns = []
    for name, column in kinds.items():
        if column.values is not None:  # a sequence: the number of the row
            first = before + getattr(column.values, "start", 1)
            drawn = pa.array(np.arange(first, first + raw.num_rows, dtype=np.int64))
            columns.append(drawn.cast(arrow_type(column.data_type)))
            continue
        values, kind = found[name], arrow_type(column.data_type)
        try:
            values = moments(values) if pa.types.is_timestamp(kind) else values.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as exc:
            raise UserError(f"{path}, column {name}: {exc}") from exc
        if (place := _loss(found[name], values)) >= 0:
            shown = found[name][place].cast(pa.string())
            raise UserError(f"{path}, row {line + place}, column {name}: {shown} is more than the column's type holds")
        for wrong, what in _faults(values, column.data_type, nullable=column.nullable):
            place = pc.index(wrong, True).as_py()
            if place >= 0:
                shown = values[place].as_py()
                shown = str(shown) if pa.types.is_timestamp(kind) else shown
                raise UserError(f"{path}, row {line + place}, column {name}: {shown!r} is {what}")
        columns.append(values)
    return pa.record_batch(columns, names=list(kinds))


def _loss(raw: pa.Array, values: pa.Array) -> int:
    """The place of the first float that isn't the decimal, or moment that isn't the day, made of it; -1 if none."""
    if pa.types.is_floating(raw.type) and pa.types.is_decimal(values.type):
        near = 1e-6 if raw.type.bit_width < 64 else 1e-12
        raw, values = raw.cast(pa.float64()), values.cast(pa.float64())
        lost = pc.greater(pc.abs(pc.subtract(values, raw)), pc.multiply(pc.abs(raw), near))
    elif pa.types.is_timestamp(raw.type) and pa.types.is_date(values.type):
        lost = pc.not_equal(values.cast(raw.type), raw)
    else:
        return -1
    return int(pc.index(lost, True).as_py())


def _faults(values: pa.Array, data_type: Any, *, nullable: bool) -> Iterator[tuple[pa.Array, str]]:
    """Places of values that a column can't have, and their faults."""
    if not nullable:
        yield pc.is_null(values), "missing, and the column is not `nullable: true`"
    if pa.types.is_string(values.type):
        most = data_type.arguments[0]
        yield pc.fill_null(pc.greater(pc.utf8_length(values), most), False), f"longer than {most} characters"
        yield pc.fill_null(pc.match_substring(values, "\0"), False), "a text with a NUL in it, which few databases take"
    if pa.types.is_floating(values.type):
        yield pc.fill_null(pc.invert(pc.is_finite(values)), False), "no number"
    if pa.types.is_timestamp(values.type):
        yield (
            beyond(values),
            f"not within the years {_YEARS[0]} to {_YEARS[1]}, which many programs are limited to; leave the column out or make it a text",
        )


def beyond(moments: pa.Array) -> pa.Array:
    """True for moments that no `datetime` can be."""
    first, after = (pa.scalar(datetime.datetime(year, 1, 1), moments.type) for year in (_YEARS[0], _YEARS[1] + 1))
    return pc.fill_null(pc.or_(pc.less(moments, first), pc.greater_equal(moments, after)), False)


def moments(values: pa.Array) -> pa.Array:
    """Moments in whole seconds, in UTC where they have a zone. Raises pyarrow.ArrowInvalid for fractions."""
    if pa.types.is_string(values.type):
        zoned = pc.any(pc.match_substring_regex(values, r"(Z|[+-]\d\d:?\d\d)$")).as_py()
        zone = "UTC" if zoned else None
        try:
            values = values.cast(pa.timestamp("us", zone))  # of any year
        except pa.ArrowInvalid:
            values = values.cast(pa.timestamp("ns", zone))  # of more digits
    if getattr(values.type, "tz", None):
        values = values.cast(pa.timestamp(values.type.unit, "UTC")).cast(pa.timestamp(values.type.unit))
    return values.cast(pa.timestamp("s"))


def _told(path: Path, text: str) -> str:
    """Pyarrow's message about a file, with the line first where it is known."""
    text = text.partition(". Detail:")[0].strip()
    row = re.search(r"Row #(\d+):?\s*", text)
    where = f", row {int(row[1]) - 1}" if row else ""  # its first row is the header
    return f"{path}{where}: {text.replace(row[0], '') if row else text}"

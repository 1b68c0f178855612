"""Vectors from a list column of Parquet files. Rows drawn from the seed are the queries, all others the vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbbench.datasets.generate import CHUNK_ROWS, random_source
from dbbench.datasets.neighbours import Matrix
from dbbench.datasets.own_files import PARQUET, refusals, refuse_missing
from dbbench.datasets.vectors import VectorSet
from dbbench.errors import UserError
from dbbench.suite.dataset import Vectors


def are_vectors(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists of floats."""
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(lists and pa.types.is_floating(kind.value_type))


def vector_set(spec: Vectors, seed: int, scale: float, paths: Sequence[Path] | None) -> VectorSet:
    """Vectors that are drawn, or those of files."""
    return OwnVectors(spec, seed, scale, paths) if paths else VectorSet(spec, seed, scale)


@dataclass(frozen=True)
class OwnVectors(VectorSet):
    """The vectors of some files at one scale: the first rows, as many as there are vectors and queries."""

    paths: Sequence[Path] = ()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All vectors, with keys and labels. Raises UserError for what is none, and for another number of rows."""
        number, rest = 0, np.empty((0, self.spec.dimensions), np.float32)
        for rows, asked in self._rows():
            rest = np.concatenate([rest, rows[~asked]])
            while len(rest) >= CHUNK_ROWS:
                yield self._batch(number, rest[:CHUNK_ROWS])
                number, rest = number + 1, rest[CHUNK_ROWS:]
        if len(rest):
            yield self._batch(number, rest)

    def queries(self, kind: str) -> Matrix:
        """The rows that are queries."""
        return self._queries

    @cached_property
    def _queries(self) -> Matrix:
        return np.concatenate([rows[asked] for rows, asked in self._rows()])

    def _rows(self) -> Iterator[tuple[Matrix, NDArray[np.bool_]]]:
        """Rows of the files, and which of them are queries."""
        wanted, count = self.count + self.spec.queries, 0
        order = np.argsort(random_source(self.seed, "vectors", "queries", 0).random_raw(wanted), kind="stable")
        asked = np.zeros(wanted, bool)
        asked[order[: self.spec.queries]] = True
        for path in self.paths:
            first = 1
            for rows in self._of(path):
                found = self._matrix(rows, f"{path}, column {self.spec.column}", first)[: max(wanted - count, 0)]
                yield found, asked[count : count + len(found)]
                first, count = first + len(rows), count + len(rows)
                if count >= wanted and self.scale < 1:
                    return
        if count != wanted:
            raise UserError(
                f"{', '.join(map(str, self.paths))}: {count:,} rows, and the suite says {self.count:,} vectors and "
                f"{self.spec.queries:,} queries{' at this scale' * (self.scale != 1)}"
            )

    def _of(self, path: Path) -> Iterator[pa.Array]:
        if path.suffix.lower() not in PARQUET:
            raise UserError(f"{path} is no Parquet file (.parquet or .pq), which vectors are read from")
        import pyarrow.parquet as pq

        with refusals(path):
            refuse_missing(path, [self.spec.column])
            for batch in pq.ParquetFile(path).iter_batches(CHUNK_ROWS, columns=[self.spec.column]):
                yield batch.column(0)

    def _matrix(self, rows: pa.Array, where: str, first: int) -> Matrix:
        """Some lists as a matrix; `first` is the number of their first row in the file."""
        size = self.spec.dimensions
        if not are_vectors(rows.type):
            raise UserError(f"{where}: {rows.type}, and vectors are lists of floats")
        _refuse(rows.is_null().to_numpy(zero_copy_only=False), where, first, "no vector")
        lengths = pc.list_value_length(rows).to_numpy()
        wrong = lengths != size
        _refuse(wrong, where, first, f"{lengths[wrong.argmax()] if len(wrong) else 0} numbers instead of {size}")
        numbers = rows.flatten().cast(pa.float32(), safe=False)  # a null becomes NaN
        found: Matrix = numbers.to_numpy(zero_copy_only=False).reshape(-1, size)
        _refuse(~np.isfinite(found).all(axis=1), where, first, "a number that is missing, NaN or too large for float32")
        if self.spec.metric == "cosine":
            _refuse(~found.any(axis=1), where, first, "a zero vector, which has no cosine; choose another metric")
        return found


def _refuse(wrong: Any, where: str, first: int, what: str) -> None:
    if wrong.any():
        raise UserError(f"{where}, row {first + int(wrong.argmax())}: {what}")

"""Vectors from a seed, bit for bit the same on every machine; queries; and the distances of each query's neighbours.

A vector is a linear map of a point in 24 dimensions, with noise of a tenth. The points lie around 100 centres, of which
the n-th has a share proportional to 1/n. Their standard deviation is 0.3 to 0.7 of that of the centres, drawn for each
centre. All of it is whole-number arithmetic, in float64 where every sum is exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbbench.datasets.generate import CHUNK_ROWS, below, pick, random_source
from dbbench.datasets.neighbours import AT_ONCE, Matrix, nearest_distances
from dbbench.datasets.scaled import Scaled
from dbbench.errors import UserError
from dbbench.host.ahead import in_order
from dbbench.suite.dataset import Vectors
from dbbench.suite.steps.nearest import MOST

#: The dimensions of the points, and the centres that they lie around.
LATENT, CENTRES = 24, 100
#: The standard deviation of a centre's points, in 1,024ths of that of the centres: the least, and the range above it.
_SPREAD, _MORE = 307, 411
#: The map's coefficients are normal draws without their last bits; noise is a tenth of a vector's spread; one is 2 to
#: the 25th.
_COEFFICIENT_BITS, _NOISE, _ONE = 8, 81, 2.0**-25

#: A table of the dataset: its name, schema and batches.
Part = tuple[str, pa.Schema, Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class VectorSet(Scaled[Vectors]):
    """The vectors of one dataset at one scale."""

    @property
    def shape(self) -> Vectors:
        """The order for an engine: their number at this scale, dimensions, metric; nothing of labels and queries."""
        return Vectors(count=self.count, dimensions=self.spec.dimensions, metric=self.spec.metric)

    def label(self, share: float) -> int:
        """The label that this share of the vectors has."""
        return self.spec.labels.index(share) + 1

    @property
    def bytes(self) -> int:
        """Bytes of all numbers."""
        return self.count * self.spec.dimensions * 4

    def tables(self) -> Iterator[Part]:
        """The vectors, and the queries of each kind."""
        yield "vectors", self.schema, self.batches()
        for kind in self._kinds:
            matrix = self.queries(kind)
            column = _vectors(matrix)
            yield (
                kind,
                pa.schema([pa.field("vector", column.type)]),
                iter([pa.record_batch([column], names=["vector"])]),
            )

    @property
    def schema(self) -> pa.Schema:
        """Key, label and vector."""
        vector = pa.list_(pa.float32(), self.spec.dimensions)
        return pa.schema([pa.field("key", pa.int64()), pa.field("label", pa.int32()), pa.field("vector", vector)])

    @property
    def _kinds(self) -> tuple[str, ...]:
        return ("inside", "outside") if self.spec.outside else ("inside",)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All vectors, with their keys and labels."""
        return in_order(self.chunk, range(-(-self.count // CHUNK_ROWS)))

    def chunk(self, number: int) -> pa.RecordBatch:
        """Chunk `number` (from 0) of the vectors."""
        count = min(CHUNK_ROWS, self.count - number * CHUNK_ROWS)
        return self._batch(number, self._draw("vectors", number, count))

    def _batch(self, number: int, rows: Matrix) -> pa.RecordBatch:
        """These vectors as chunk `number`: with keys, and labels drawn from the seed."""
        first = number * CHUNK_ROWS + 1
        keys = np.arange(first, first + len(rows), dtype=np.int64)
        return pa.record_batch([keys, self._labels(number, len(rows)), _vectors(rows)], schema=self.schema)

    def queries(self, kind: str) -> Matrix:
        """Queries drawn as the vectors are; those from outside are farther from their centre, as centres are apart."""
        numbers = range(-(-self.spec.queries // CHUNK_ROWS))
        each = [self._draw(kind, n, min(CHUNK_ROWS, self.spec.queries - n * CHUNK_ROWS)) for n in numbers]
        return np.concatenate(each)

    def _labels(self, number: int, count: int) -> NDArray[np.int32]:
        shares = [round(share * 1e9) for share in self.spec.labels]
        rest = 10**9 - sum(shares)
        if not shares:
            return np.zeros(count, np.int32)
        drawn = pick(random_source(self.seed, "vectors", "label", number), count, [rest, *shares])
        return drawn.astype(np.int32)

    @cached_property
    def _model(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Centres, how far each one's points spread, and the map."""
        centres = _normal(random_source(self.seed, "vectors", "centres", 0), (CENTRES, LATENT))
        spreads = below(random_source(self.seed, "vectors", "spreads", 0), CENTRES, _MORE) + _SPREAD
        drawn = _normal(random_source(self.seed, "vectors", "map", 0), (LATENT, self.spec.dimensions))
        return centres, spreads, (drawn >> _COEFFICIENT_BITS).astype(np.float64)

    def _draw(self, kind: str, number: int, count: int) -> Matrix:
        centres, spreads, coefficients = self._model
        weights = [2**20 // place for place in range(1, CENTRES + 1)]
        chosen = pick(random_source(self.seed, kind, "centre", number), count, weights)
        offsets = _normal(random_source(self.seed, kind, "point", number), (count, LATENT))
        points = centres[chosen] + (offsets * spreads[chosen, None] >> 10)
        if kind == "outside":
            points += _normal(random_source(self.seed, kind, "beyond", number), (count, LATENT))
        noise = _normal(random_source(self.seed, kind, "noise", number), (count, self.spec.dimensions))
        total = (noise * _NOISE).astype(np.float64)
        # One product after another, as no matrix product adds in the same order everywhere.
        for place in range(LATENT):
            total += points[:, place, None].astype(np.float64) * coefficients[place]
        return (total * _ONE).astype(np.float32)

    def distances(self, drawn: pa.Table) -> Iterator[Part]:
        """Distances of the nearest of all vectors to each query, ascending; then of those with each label.

        Raises UserError if no vector has one of the labels.
        """
        labels = drawn.column("label").to_numpy()
        for kind in self._kinds:
            queries = self.queries(kind)
            for label in range(len(self.spec.labels) + 1):
                count = int((labels == label).sum()) if label else len(labels)
                if not count:
                    share = self.spec.labels[label - 1]
                    raise UserError(
                        f"none of {self.count:,} vectors has the label whose share is {share:g}; choose a larger --scale"
                    )
                found = nearest_distances(self.spec.metric, _blocks(drawn, label), queries, min(MOST, count))
                column = pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), found.shape[1])
                batch = pa.record_batch([column], names=["distances"])
                yield distances_name(kind, label), batch.schema, iter([batch])


def _blocks(drawn: pa.Table, label: int) -> Iterator[Matrix]:
    """All vectors, label 0, or those with a label, some at a time: memory has no room for many of them in float64."""
    for batch in drawn.to_batches(max_chunksize=AT_ONCE):
        _, vectors, labels = arrays(batch)
        yield vectors[labels == label] if label else vectors


def distances_name(kind: str, label: int) -> str:
    """The table with the distances of the nearest of all vectors, label 0, or of those with a label."""
    return f"{kind}-{label}"


def arrays(batch: pa.RecordBatch) -> tuple[Any, Any, Any]:
    """Keys, vectors and labels of some vectors, as an engine takes them."""
    keys, labels, vectors = batch.columns
    return keys.to_numpy(), vectors.flatten().to_numpy().reshape(len(keys), -1), labels.to_numpy()


def matrix(column: Any) -> Any:
    """A column of lists of one length as a matrix, without a copy where it is in one piece."""
    pieces = [chunk.flatten().to_numpy().reshape(-1, column.type.list_size) for chunk in column.chunks]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _vectors(rows: Matrix) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


def _normal(source: np.random.PCG64, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Whole numbers, nearly normally distributed about 0: sums of four of 16 bits, with a deviation of 37,837."""
    words = source.random_raw(shape[0] * shape[1])
    halves = (words & np.uint64(0xFFFF0000FFFF)) + (words >> np.uint64(16) & np.uint64(0xFFFF0000FFFF))
    sums = (halves & np.uint64(0xFFFFFFFF)) + (halves >> np.uint64(32))
    return sums.astype(np.int64).reshape(shape) - 2 * 0xFFFF

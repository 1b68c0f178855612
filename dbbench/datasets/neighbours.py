"""The distances of the nearest vectors, exactly: what a search is compared with.

A first look in float32, whose error is bounded, chooses candidates that must have all of them; these are measured in
float64. Vectors are centred first, as float32 has too few digits for small distances between large numbers.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dbbench.suite.dataset import Distance

Matrix = NDArray[np.float32]
Distances = NDArray[np.float64]

#: Vectors that a block has at most.
AT_ONCE = 2**17
#: Queries looked at together, and groups of vectors for each neighbour.
_AT_ONCE, _GROUPS = 64, 8
#: What engines that compute in float32 may be off by, relative to a squared distance or to the product of two lengths.
_SLACK, _SLACK_OF_PRODUCT = 1e-5, 1e-6


def distances(metric: Distance, vectors: NDArray[np.floating], queries: NDArray[np.floating]) -> Distances:
    """The distance of each vector to the query of its row. See `Distance`."""
    one, other = vectors.astype(np.float64), queries.astype(np.float64)
    if metric == "ip":
        other = -other
    elif metric == "cosine":
        one, other = _unit(one), _unit(other)
    if metric != "ip":
        one = other = one - other
    found: Distances = np.einsum("ij,ij->i", one, other)
    return found / 2 if metric == "cosine" else found


def all_distances(metric: Distance, vectors: Matrix, queries: Matrix) -> Distances:
    """The distance of each vector to each query, a row for each query, in float64."""
    one, other = vectors.astype(np.float64), queries.astype(np.float64)
    if metric == "ip":
        return -(other @ one.T)
    if metric == "cosine":
        return 1 - _unit(other) @ _unit(one).T
    middle = one.mean(axis=0)
    one, other = one - middle, other - middle
    lengths = np.einsum("ij,ij->i", one, one), np.einsum("ij,ij->i", other, other)
    found: Distances = lengths[1][:, None] + lengths[0] - 2 * other @ one.T
    return found


def slack(metric: Distance, limits: Distances, longest: float, queries: Matrix) -> Distances:
    """What is added to each query's limit, so that the rounding of float32 makes no neighbour a wrong one.

    `longest` is the length of the longest vector, for products alone.
    """
    if metric == "l2":
        return limits * _SLACK
    if metric == "cosine":
        return np.full(len(limits), _SLACK_OF_PRODUCT)
    found: Distances = _SLACK_OF_PRODUCT * longest * np.linalg.norm(queries.astype(np.float64), axis=1)
    return found


def nearest_distances(metric: Distance, blocks: Iterable[Matrix], queries: Matrix, count: int) -> Distances:
    """The distances of the `count` nearest vectors of each query, ascending; of all if there are fewer."""
    found = np.empty((len(queries), 0))
    for vectors in blocks:
        if len(vectors):
            nearer = _nearest(metric, vectors, queries, min(count, len(vectors)))
            found = np.sort(np.concatenate([found, nearer], axis=1), axis=1)[:, :count]
    return found


def _nearest(metric: Distance, vectors: Matrix, queries: Matrix, count: int) -> Distances:
    """The same of one block, of vectors enough."""
    centred, targets, offsets = _prepared(metric, vectors, queries)
    lengths = np.sqrt(np.einsum("ij,ij->i", centred, centred))
    # Of a sum of products in float32 (Higham 2002, 3.1), and of what is added to it.
    unit = (vectors.shape[1] + 4) * 2.0**-24
    error = unit * (lengths.max() * np.linalg.norm(targets, axis=1) + offsets.max())
    found = np.empty((len(queries), count))
    for first in range(0, len(queries), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        scores = offsets - targets[some] @ centred.T
        asking, rows = _candidates(scores, count, 2 * error[some])
        exact = distances(metric, vectors[rows], queries[some][asking])
        order = np.lexsort((exact, asking))
        starts = np.searchsorted(asking[order], np.arange(len(scores)))
        found[some] = exact[order][starts[:, None] + np.arange(count)]
    return found


def _prepared(metric: Distance, vectors: Matrix, queries: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Vectors and queries, and what is added to each product, so that nearer vectors have smaller sums."""
    one, other = vectors.astype(np.float64), queries.astype(np.float64)
    if metric == "cosine":
        one, other = _unit(one), _unit(other)
    middle = one.mean(axis=0)
    one -= middle
    if metric == "ip":  # what is taken off every vector changes each product of a query by the same
        return one.astype(np.float32), other.astype(np.float32), np.zeros(len(one), np.float32)
    other -= middle
    return one.astype(np.float32), other.astype(np.float32), (np.einsum("ij,ij->i", one, one) / 2).astype(np.float32)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    found: NDArray[np.float64] = rows / np.where(lengths > 0, lengths, 1)[:, None]
    return found


def _candidates(scores: Matrix, count: int, error: Distances) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Queries and vectors, in the order of the queries: all whose score may be among the `count` lowest of the query's.

    The vectors are in groups. As many groups as are asked for have a score up to the limit, so the `count`-th lowest is
    no higher, and only groups with such a score are looked at.
    """
    size = max(1, scores.shape[1] // (_GROUPS * count))
    full = scores.shape[1] // size * size
    groups = scores[:, :full].reshape(len(scores), -1, size)
    least = groups.min(axis=2)
    limits = np.partition(least, count - 1, axis=1)[:, count - 1] + error
    asking, chosen = np.nonzero(least <= limits[:, None])
    inside, places = np.nonzero(groups[asking, chosen] <= limits[asking, None])
    late, further = np.nonzero(scores[:, full:] <= limits[:, None])
    all_asking = np.concatenate([asking[inside], late])
    rows = np.concatenate([chosen[inside] * size + places, further + full])
    order = np.argsort(all_asking, kind="stable")
    return all_asking[order], rows[order]

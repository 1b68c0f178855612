"""Faults in searches for the nearest vectors, besides the lies about them."""

import gc
from copy import copy

import numpy as np

from dbbench_faulty.right import CELLS, VectorClient, VectorFile
from dbbench_faulty.shared import mutant


class NoMetrics(VectorFile):
    clause = "names its metrics"
    metrics = ()


class LastPiece(VectorFile):
    clause = "adds in pieces"

    def index(self):
        self.held = self.held[-1:]
        super().index()


@mutant(VectorFile, "prepares more than once", first=0)
class FirstNumber(VectorClient):
    def prepare_nearest(self, k, *, where, effort):
        self.engine.first = self.engine.first or k
        return super().prepare_nearest(self.engine.first, where=where, effort=effort)


class NeverSaves(VectorFile):
    clause = "keeps what was added"

    def write(self):
        everything, self.all = self.all, [each[:9] for each in self.all]
        super().write()
        self.all = everything


@mutant(VectorFile, "appends vectors")
class Snapshot(VectorClient):
    def prepare_nearest(self, k, *, where, effort):
        then = copy(self.engine)
        return lambda vector: then.nearest(vector, k, where, effort or CELLS)


class Buried(VectorFile):
    clause = "appends what was removed"
    gone = ()

    def remove(self, keys):
        self.gone = keys
        super().remove(keys)

    def append(self, *given):
        new = ~np.isin(given[0], self.gone)
        super().append(*(each[new] for each in given))


class Forgets(VectorFile):
    clause = "keeps what was removed and appended"

    def remove(self, keys):
        kept = self.file.read_bytes()
        super().remove(keys)
        self.file.write_bytes(kept)


class TimedOnly(VectorFile):
    clause = "runs a whole trial"

    def nearest(self, query, k, where, effort):
        found = super().nearest(query, k, where, effort)
        return found if gc.isenabled() else found[:-1]

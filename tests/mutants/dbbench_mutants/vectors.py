"""Faults in searches for the nearest vectors."""

import gc

import numpy as np
from dbbench_mutants.right import VectorClient, VectorFile
from dbbench_mutants.shared import mutant


class NoMetrics(VectorFile):
    clause = "names its metrics"
    metrics = ()


class OneMetric(VectorFile):
    clause = "finds the nearest by each metric"

    def create_vectors(self, vectors):
        self.metric = "l2"


class LastPiece(VectorFile):
    clause = "adds in pieces"

    def index(self):
        self.all = self.held[-1]


class AnyLabel(VectorFile):
    clause = "searches behind a filter"

    def nearest(self, query, k, where, given=None):
        return super().nearest(query, k, None, given)


@mutant(VectorFile, "prepares more than once", first=0)
class FirstNumber(VectorClient):
    def prepare_nearest(self, k, *, where, effort):
        self.engine.first = self.engine.first or k
        return super().prepare_nearest(self.engine.first, where=where, effort=effort)


class NeverSaves(VectorFile):
    clause = "keeps what was added"

    def save(self):
        np.savez(self.file, *(each[:9] for each in self.all), metric=self.metric)


class KeepsSome(VectorFile):
    clause = "removes vectors"

    def remove(self, keys):
        super().remove(keys[::2])


@mutant(VectorFile, "appends vectors")
class Snapshot(VectorClient):
    def prepare_nearest(self, k, *, where, effort):
        given = self.engine.all
        return lambda vector: self.engine.nearest(vector, k, where, given)


class Buried(VectorFile):
    clause = "appends what was removed"
    gone = ()

    def remove(self, keys):
        self.gone = keys
        super().remove(keys)

    def append(self, given):
        new = ~np.isin(given[0], self.gone)
        super().append([each[new] for each in given])


class Forgets(VectorFile):
    clause = "keeps what was removed and appended"

    def remove(self, keys):
        left = ~np.isin(self.all[0], keys)
        self.all = [each[left] for each in self.all]


class TimedOnly(VectorFile):
    clause = "runs a whole trial"

    def nearest(self, query, k, where, given=None):
        found = super().nearest(query, k, where, given)
        return found if gc.isenabled() else found[:-1]

"""Texts from a column of CSV or Parquet files, and the inverted index of words where all engines see the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbbench.datasets.own_files import all_rows, estimated_bytes
from dbbench.datasets.texts import POSTINGS, TextSet, postings, vocabulary_batch
from dbbench.errors import UserError
from dbbench.suite.dataset import TEXT, TEXT_KEY, TEXT_TABLE, Column, FromFile, Table, Texts
from dbbench.suite.values import Sequence as Series

#: A text whose words no tokenizer sees otherwise, or leaves out for their length.
_PLAIN = "^[a-z]{1,39}( [a-z]{1,39})*$"
_NO_WORD = r"[^\p{L}\p{N}]+"


def text_set(spec: Texts, seed: int, scale: float, paths: Sequence[Path] | None) -> TextSet:
    """Texts that are drawn, or those of files."""
    return OwnTexts(spec, seed, scale, paths) if paths else TextSet(spec, seed, scale)


@dataclass(frozen=True)
class OwnTexts(TextSet):
    """The texts of some files at one scale: the first of them. Their keys are the numbers of their rows."""

    paths: Sequence[Path] = ()

    @cached_property
    def _own(self) -> Table:
        key = Column(type="integer", values=Series(kind="sequence"))
        columns = {
            TEXT_KEY: key,
            TEXT: self.tables[TEXT_TABLE].columns[TEXT].model_copy(update={"source": self.spec.column}),
        }
        return Table(rows=FromFile(file=self.spec.file, count=self.spec.count), primary_key=TEXT_KEY, columns=columns)

    @property
    def bytes(self) -> int:
        """Bytes of all texts and of their inverted index, about."""
        return 2 * estimated_bytes(self._own, self.paths, self.count)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Keys and texts. Raises UserError for what is none, and for another number of rows."""
        return all_rows(self._own, self.paths, None if self.scale == 1 else self.count)

    def index(self, stored: pa.Table) -> Iterator[tuple[str, pa.Schema, Iterator[pa.RecordBatch]]]:
        """The words, the most frequent first; and the inverted index, which is empty unless all texts are plain."""
        bodies = stored.column(TEXT)
        counted = [pa.table([*_words(each).value_counts().flatten()], ["word", "count"]) for each in bodies.chunks]
        order = [("count_sum", "descending"), ("word", "ascending")]
        ranked = pa.concat_tables(counted).group_by("word").aggregate([("count", "sum")]).sort_by(order).column("word")
        if not len(ranked):
            raise UserError(f"{', '.join(map(str, self.paths))}, column {self.spec.column}: no text has a word")
        yield vocabulary_batch(ranked.combine_chunks())
        plain = all(pc.all(pc.match_substring_regex(each, _PLAIN)).as_py() for each in bodies.chunks)
        yield "postings", POSTINGS, self._posted(stored, ranked) if plain else iter(())

    def _posted(self, stored: pa.Table, ranked: pa.ChunkedArray) -> Iterator[pa.RecordBatch]:
        for batch in stored.to_batches():
            keys, texts = batch.columns
            numbers = pc.index_in(_words(texts), ranked).to_numpy()
            yield postings(
                keys.to_numpy(), pc.count_substring(texts, " ").to_numpy() + np.int64(1), numbers, len(ranked)
            )


def _words(texts: pa.Array) -> pa.Array:
    """The words of all texts, in their order."""
    words = pc.split_pattern_regex(pc.utf8_lower(texts), _NO_WORD).flatten()
    return words.filter(pc.not_equal(words, ""))

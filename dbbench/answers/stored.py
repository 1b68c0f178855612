"""Questions to the reference, and its answers, stored as Arrow files beside the dataset in the cache."""

import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc

from dbbench.datasets.cache import Files
from dbbench.errors import UserError
from dbbench.host import plain_file

#: How the reason begins where a query needs more memory than the reference may take.
MORE_MEMORY = "it needs more than"
#: Raised whenever the same question would get another answer than before; part of the cache's key.
GENERATION = 12
#: What the metadata of an answer's file say: who computed it, why there is none, if there never is, and which row was
#: left out.
BY, _REFUSED, FINAL, LEFT_OUT = b"by", b"refused", b"final", b"left out"
#: The last column of an answer whose order or limit matters: of the first row of a rank the place, from 1.
RANK = " rank"
#: What the metadata of that column say: how many rows are returned, and how many stand before them.
_ROWS, _SKIP = b"rows", b"skip"
#: Marks an output that is more than a column of a table: "yes", or "divided" where systems may round its last place
#: otherwise.
COMPUTED_KEY = b"computed"
COMPUTED = {"computed": "yes"}
#: The largest sum of magnitudes behind an output, where floats or long decimals are added up.
MAGNITUDE = b"magnitude"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """A query, with values of its parameters; None puts a null in the place of each.

    `ordered` overrides what the text says of its order. `changes` are statements that were called before it, and how
    often. `without` leaves one row out on which the answer depends, drawn by this text; which it is stands in the
    answer's file.
    """

    sql: str
    ordered: bool | None = None
    parameters: Mapping[str, Any] | None = field(default_factory=dict)
    changes: Sequence[tuple[str, int]] = ()
    without: str = ""


def find(identity: Sequence[object], files: Files, suffix: str = ".arrow") -> Path | None:
    """The file of `stored`, if it exists undamaged."""
    for path in files.directory.glob(f"{_name(identity)}-*{suffix}"):
        if path.stem == f"{_name(identity)}-{plain_file.digest(path)}":
            return path
        _log.warning("dbbench: the cached answer %s is damaged; it is computed anew", path)
        path.unlink(missing_ok=True)
    return None


def stored(
    identity: Sequence[object], write: Callable[[IO[bytes]], None], files: Files, suffix: str = ".arrow"
) -> Path:
    """A file in the dataset's folder, written now if it isn't there as it was written.

    `identity` is all that its bytes depend on besides the dataset. The file's name ends in the hash of its bytes.
    """
    if known := find(identity, files, suffix):
        return known
    with tempfile.TemporaryDirectory(prefix=".answer-", dir=files.directory) as folder:
        new = Path(folder) / "new"
        with plain_file.replacing(new, durable=True) as file:
            write(file)
        path = files.directory / f"{_name(identity)}-{plain_file.digest(new)}{suffix}"
        os.replace(new, path)
    plain_file.sync_folder(files.directory)
    return path


def _name(identity: Sequence[object]) -> str:
    text = json.dumps([GENERATION, *identity], default=str)
    return f"answer-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def write_answers(answers: Sequence[pa.Table], to: IO[bytes] | Path) -> None:
    """Write answers of which each is right, one after another; to a path as a file that appears when it is whole."""
    if isinstance(to, Path):
        with plain_file.replacing(to) as file:
            write_answers(answers, file)
        return
    for answer in answers:
        with pa.ipc.new_stream(to, answer.schema) as writer:
            writer.write_table(answer)


def reference_name() -> str:
    """The reference, with its version."""
    from importlib import metadata

    return f"DataFusion {metadata.version('datafusion').partition('.')[0]}"


def kept_answer(name: str, files: Files) -> Path:
    """An answer of an earlier run, by its file's name. Raises UserError if it isn't there as it was written."""
    path = files.directory / name
    known = re.fullmatch(r"answer-[0-9a-f]{24}-([0-9a-f]+)\.arrow", name)
    if known is None or not path.is_file() or plain_file.digest(path) != known[1]:
        raise UserError(f"the answer {name!r} of this run is no longer in {files.directory.parent}; run the suite anew")
    return path


def read_answers(path: Path) -> list[pa.Table]:
    """The answers of a file, mapped: each is right."""
    found = []
    with pa.memory_map(str(path)) as source:
        while source.tell() < source.size():
            found.append(pa.ipc.open_stream(source).read_all())
    return found


def refusal(reason: str) -> pa.Table:
    """The reason for having no answer, in its place."""
    return pa.schema([], {_REFUSED: reason}).empty_table()


def refused(answers: Sequence[pa.Table]) -> str:
    """The reason why there is no answer; empty if there is one."""
    return said(answers, _REFUSED)


def marked(answer: pa.Table, key: bytes, text: str) -> pa.Table:
    """An answer of whose file the metadata say something, too."""
    return answer.replace_schema_metadata({**(answer.schema.metadata or {}), key: text})


def said(answers: Sequence[pa.Table], key: bytes) -> str:
    """What the metadata of an answer's file say of it; empty if nothing."""
    return str((answers[0].schema.metadata or {}).get(key, b""), "utf-8")


def row_count(answer: pa.Table) -> int:
    """How many rows an answer's query returns."""
    return int(answer.schema.field(RANK).metadata[_ROWS]) if RANK in answer.column_names else int(answer.num_rows)


def with_window(answer: pa.Table, ranks: npt.NDArray[np.int64], rows: int, skipped: int) -> pa.Table:
    """An answer with the rank of each row; `rows` are returned, after the first that are skipped."""
    field = pa.field(RANK, pa.int64(), metadata={_ROWS: str(rows), _SKIP: str(skipped)})
    return answer.append_column(field, pa.array(ranks))


def ranks_of(answer: pa.Table, *, ordered: bool = False) -> tuple[pa.Table, npt.NDArray[np.int64], int]:
    """The outputs, the rank of each row, and how many rows stand before the first that is returned.

    Without ranks each row has its own where the rows are `ordered`, else all have the same.
    """
    if RANK in answer.column_names:
        skipped = int(answer.schema.field(RANK).metadata[_SKIP])
        return answer.drop_columns([RANK]), answer.column(RANK).to_numpy(), skipped
    return answer, np.arange(answer.num_rows) if ordered else np.zeros(answer.num_rows, np.int64), 0


def only_column(answer: pa.Table, number: int) -> pa.Table:
    """One of an answer's outputs, with the ranks."""
    return answer.select([number, RANK] if RANK in answer.column_names else [number])

"""Answers that were computed, kept as Arrow files beside the dataset in the cache."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.ipc

from dbbench.datasets.cache import Files
from dbbench.errors import UserError
from dbbench.host import plain_file

#: Raised whenever the same question would get another answer than before; part of the cache's key.
GENERATION = 7
#: What the metadata of an answer's file say: who computed it; why there is none; that it has several, each of them right;
#: which row was left out.
BY, _REFUSED, _PARTS, _LEFT_OUT = b"by", b"refused", b"parts", b"left out"
_log = logging.getLogger(__name__)


def find(identity: Sequence[object], files: Files, suffix: str = ".arrow") -> Path | None:
    """The file of `stored`, if it is there as it was written."""
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
    name = _name(identity)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}-", dir=files.directory)
    try:
        with open(descriptor, "wb") as file:
            write(file)
        plain_file.sync_file(Path(temporary))
        path = files.directory / f"{name}-{plain_file.digest(Path(temporary))}{suffix}"
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    plain_file.sync_folder(files.directory)
    return path


def _name(identity: Sequence[object]) -> str:
    text = json.dumps([GENERATION, *identity], default=str)
    return f"answer-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def write_answer(answer: pa.Table, to: IO[bytes] | Path) -> None:
    """Write an answer's rows, to a file that appears when it is whole."""
    if isinstance(to, Path):
        with plain_file.replacing(to) as file:
            write_answer(answer, file)
        return
    with pa.ipc.new_file(to, answer.schema) as writer:
        writer.write_table(answer)


def reference_name() -> str:
    """The reference, with its version."""
    return f"DataFusion {metadata.version('datafusion').partition('.')[0]}"


def kept_answer(name: str, files: Files) -> Path:
    """An answer of an earlier run, by its file's name. Raises UserError if it isn't there as it was written."""
    path = files.directory / name
    known = re.fullmatch(r"answer-[0-9a-f]{24}-([0-9a-f]+)\.arrow", name)
    if known is None or not path.is_file() or plain_file.digest(path) != known[1]:
        raise UserError(f"the answer {name!r} of this run is no longer in {files.directory.parent}; run the suite anew")
    return path


def read_answer(path: Path) -> pa.Table:
    """The rows of an answer's file, mapped."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
        return reader.read_all()


def together(answers: Sequence[pa.Table]) -> pa.Table:
    """Answers of which each is right, as one table to be kept."""
    known = [[each.num_rows, each.schema.field(-1).metadata] for each in answers]
    whole = pa.concat_tables([each.cast(answers[0].schema) for each in answers])
    parts = [[rows, {key.decode(): value.decode() for key, value in (marks or {}).items()}] for rows, marks in known]
    return whole.replace_schema_metadata({_PARTS: json.dumps(parts)}) if len(answers) > 1 else answers[0]


def apart(answer: pa.Table) -> list[pa.Table]:
    """The answers that were put together."""
    if _PARTS not in (answer.schema.metadata or {}):
        return [answer.replace_schema_metadata()]
    found, start = [], 0
    for rows, marks in json.loads(answer.schema.metadata[_PARTS]):
        last = answer.schema.field(-1).with_metadata(marks)
        schema = answer.schema.set(len(answer.schema) - 1, last).remove_metadata()
        found.append(answer.slice(start, rows).cast(schema))
        start += rows
    return found


def refusal(reason: str) -> pa.Table:
    """In the place of an answer, why there is none."""
    return pa.schema([], {_REFUSED: reason}).empty_table()


def refused(answer: pa.Table) -> str:
    """Why there is no answer; empty if there is one."""
    why: bytes = (answer.schema.metadata or {}).get(_REFUSED, b"")
    return why.decode()


def leaving_out(answer: pa.Table, row: tuple[str, str, int] | None) -> pa.Table:
    """An answer that is computed without a row: table, and name and value of its key."""
    marks = {**(answer.schema.metadata or {}), _LEFT_OUT: json.dumps(row)}
    return answer.replace_schema_metadata(marks) if row else answer


def left_out(answer: pa.Table) -> tuple[str, str, int]:
    """The row that an answer is without."""
    table, key, value = json.loads(answer.schema.metadata[_LEFT_OUT])
    return table, key, value

"""Answers that were computed, kept as Arrow files beside the dataset in the cache."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.ipc

from dbbench.datasets.cache import Files
from dbbench.errors import UserError
from dbbench.host import plain_file

#: Raised whenever an oracle would come out otherwise than before; part of the cache's key.
GENERATION = 5
_log = logging.getLogger(__name__)


def stored(identity: Sequence[object], rows: Callable[[], Iterable[pa.Table]], files: Files) -> Path:
    """The Arrow file that holds an answer's rows on this dataset, computed now if it isn't there as it was written.

    `rows` gives them in one piece or several. `identity` is all that the rows depend on besides the dataset. The file's name ends in the hash of its bytes.
    """
    text = json.dumps([GENERATION, *identity])
    name = f"answer-{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    for path in files.directory.glob(f"{name}-*.arrow"):
        if path.stem == f"{name}-{plain_file.digest(path)}":
            return path
        _log.warning("dbbench: the cached answer %s is damaged; it is computed anew", path)
        path.unlink(missing_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}-", dir=files.directory)
    try:
        with open(descriptor, "wb") as file:
            _write(rows(), file)
        plain_file.sync_file(Path(temporary))
        path = files.directory / f"{name}-{plain_file.digest(Path(temporary))}.arrow"
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    plain_file.sync_folder(files.directory)
    return path


def _write(pieces: Iterable[pa.Table], file: IO[bytes]) -> None:
    writer = None
    for piece in pieces:
        writer = writer or pa.ipc.new_file(file, piece.schema)
        writer.write_table(piece)
    assert writer is not None, "an answer of no piece has no columns"
    writer.close()


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

"""A flush of SQLite's either brings everything to its place, or says that it couldn't."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench.engine import Setup, Tier, registry


@pytest.mark.parametrize("name", ["sqlite", "sqlite+apsw"])
def test_a_checkpoint_that_a_reader_holds_up_is_an_error(tmp_path: Path, name: str) -> None:
    if name == "sqlite+apsw":
        pytest.importorskip("apsw")
    engine = registry.load(name)(Setup(tmp_path, Tier.PROCESS, {"busy_seconds": 0}))
    engine.open()
    reader, writer = engine.connect(), engine.connect()
    writer.execute("CREATE TABLE T (Id INTEGER)")
    reader.execute("BEGIN")
    list(reader.execute("SELECT * FROM T"))
    writer.execute("INSERT INTO T VALUES (1)")
    with pytest.raises(RuntimeError, match="the checkpoint is not complete: another connection"):
        engine.flush()
    reader.execute("COMMIT")
    engine.flush()
    for opened in (reader, writer, engine):
        opened.close()

"""Arrow without pandas, in processes of their own: pandas is in this one already."""

import subprocess
import sys

import pytest

pytest.importorskip("pandas", reason="what is not installed can't be imported by accident")
SPARED = "import sys, dbbench.datasets.generate, pyarrow as pa\n"


def _run(text: str) -> None:
    subprocess.run([sys.executable, "-c", SPARED + text], check=True)


def test_arrays_import_no_pandas() -> None:
    _run("pa.array([1]).to_numpy(); pa.table({'a': [1]}).to_pylist(); assert 'pandas' not in sys.modules")


def test_a_plugin_can_still_use_it() -> None:
    table = "pa.table({'a': [1]}).to_pandas()"
    _run(f"made = {table}; assert made['a'].tolist() == [1]; assert pa.Table.from_pandas(made).num_rows == 1")

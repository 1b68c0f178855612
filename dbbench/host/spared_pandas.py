"""Importing this spares pandas: pyarrow would import it at the first array, where it is installed.

That takes 0.4 s and 30 MB of each process, which would count as an engine's. pyarrow tries once, so that try is made to
fail. A plugin can still import pandas, and call `to_pandas`.
"""

import sys

import pyarrow as pa


class _Refused:
    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError(name)


sys.meta_path.insert(0, _Refused)
try:
    pa.array([])
finally:
    sys.meta_path.remove(_Refused)

"""The right answers, computed without any engine under test, and how results are compared with them."""

from dbbench.host import spared_pandas  # noqa: F401 - before DataFusion, which makes an array when it is imported

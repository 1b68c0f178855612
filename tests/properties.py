"""How properties are tried: on few drawn examples, the same each time."""

from hypothesis import settings

FEW = settings(derandomize=True, deadline=None, database=None, max_examples=40)

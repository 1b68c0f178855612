"""What chDB's plugin does with the memory of a result."""

import gc
import weakref

from dbbench_plugins.chdb import _owned


class Memory:
    """As chDB's own: the memory goes with the object, and a view of it doesn't keep the object."""

    def view(self) -> memoryview:
        return memoryview(b"Arrow")


def test_a_result_lives_as_long_as_the_rows_that_were_read_from_it() -> None:
    memory = Memory()
    lives, buffer = weakref.ref(memory), _owned(memory)
    del memory
    gc.collect()
    part = buffer.slice(1, 3)
    assert part.to_pybytes() == b"rro"
    del buffer
    assert lives() is not None
    del part
    gc.collect()
    assert lives() is None

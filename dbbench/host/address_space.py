"""The address space of this process, which its user or system may have limited."""

import os
import sys

from dbbench.errors import UserError

#: What our libraries map, most of it in reserve: measured on 2 processors, and where 8, 32 and 64 were feigned.
_NEEDED, _FOR_A_PROCESSOR, _MOST_PROCESSORS = 3 * 2**30, 100 * 2**20, 64


def check() -> None:
    """Raise UserError if the limit is below what our libraries map.

    Below it some would abort, interrupt this process, or try again for minutes: none of that can be told afterwards.
    """
    if sys.platform != "win32":
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        needed = _NEEDED + min(os.cpu_count() or 1, _MOST_PROCESSORS) * _FOR_A_PROCESSOR
        if 0 <= limit < needed:
            raise UserError(
                f"the address space is limited to {limit >> 20:,} MiB, and dbbench maps up to {needed >> 20:,} MiB, "
                f"though it uses little of it; raise the limit: ulimit -v {needed >> 10}"
            )

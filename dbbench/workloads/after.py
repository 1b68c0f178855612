"""After the last step: what of the data is there when the engine has been closed and opened again."""

from __future__ import annotations

from collections.abc import Sequence

from dbbench import filecache
from dbbench.engine import offers
from dbbench.errors import WrongAnswer
from dbbench.suite import Tier
from dbbench.workloads.bench import Bench
from dbbench.workloads.contents import check_after
from dbbench.workloads.keyvalue import everything, sample

#: What stands before what was found.
WHEN = "after the last step, seen anew"


def check(bench: Bench, wrote: Sequence[str]) -> dict[str, str]:
    """What is wrong: step -> in words. `wrote` names the steps that may have written.

    An engine that keeps files and promises more than the tier memory is closed and opened again. From any other, and
    from a server at a URL, a new session reads. In the last round every row is compared.
    """
    if not wrote:
        return {}
    engine = bench.engine
    if not engine.url and engine.tier is not Tier.MEMORY and filecache.present(engine.directory):
        bench.restart(lambda: None)
        return _checked(bench, wrote)
    with bench.new_session():
        return _checked(bench, wrote)


def _checked(bench: Bench, wrote: Sequence[str]) -> dict[str, str]:
    if bench.records is None:
        return check_after(bench, every_row=bench.last_round)
    try:
        if bench.last_round and offers(type(bench.engine), "scan"):
            everything(bench)
        elif offers(type(bench.engine), "read"):
            sample(bench, "read")
    except WrongAnswer as exc:
        return {wrote[-1]: str(exc)}
    return {}

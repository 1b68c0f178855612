"""After the last step: what of the data is there when the engine has been closed and opened again."""

from collections.abc import Callable, Mapping, Sequence

from dbbench.engine.offered import offers
from dbbench.errors import NotVerified, WrongAnswer
from dbbench.host import page_cache
from dbbench.suite.model import Tier
from dbbench.workloads import nearest, search
from dbbench.workloads.contents import check_after
from dbbench.workloads.context import StepContext
from dbbench.workloads.keyvalue import everything, sample

#: What stands before what was found.
WHEN = "after the last step, seen anew"


#: Step -> what compares once more what it left.
Again = Mapping[str, Callable[[], None]]


def check(context: StepContext, wrote: Sequence[str], again: Again) -> dict[str, str]:
    """What is wrong: step -> in words. `wrote` names the steps that may have written; `again` raises WrongAnswer.

    An engine that has files or a private server, and promises more than the tier memory, is closed and opened again; in
    the first round a private server is killed first. From any other, and from a server at a URL, a new session reads.
    In the last round every row is compared.
    """
    if not wrote:
        return {}
    engine = context.engine
    keeps = engine.processes() or page_cache.present(engine.directory)
    if not engine.url and engine.info().tier is not Tier.MEMORY and keeps:
        if context.round == 1:
            context.kill_server()
        context.restart(lambda: None)
        return compared(context, wrote, again)
    with context.new_session():
        return compared(context, wrote, again)


def compared(context: StepContext, wrote: Sequence[str], again: Again) -> dict[str, str]:
    """What is wrong with the data that the session sees; all else as for `check`."""
    found = {}
    for name, compare in again.items():
        try:
            compare()
        except WrongAnswer as exc:
            found[name] = str(exc)
    if context.vectors is not None:
        return _searched(context, wrote, nearest.check_loaded) | found
    if context.texts is not None:
        found |= _searched(context, wrote, search.check_loaded)
    if context.records is None:
        return check_after(context, every_row=context.last_round) | found
    try:
        if context.last_round and offers(type(context.engine), "scan"):
            everything(context)
        elif offers(type(context.engine), "read"):
            sample(context, "read")
    except WrongAnswer as exc:
        found[wrote[-1]] = str(exc)
    return found


def _searched(
    context: StepContext, wrote: Sequence[str], check_loaded: Callable[[StepContext], None]
) -> dict[str, str]:
    try:
        check_loaded(context)
    except WrongAnswer as exc:
        return {wrote[-1]: str(exc)}
    except NotVerified:
        return {}
    return {}

"""What commits that outlive a loss of power can't do without: a wait for the disk and a page of bytes each.

The kernel counts both of all processes that work for an engine. Both counts are upper bounds, as other work waits
and writes as well. So an engine below the floor did not sync, and one above it may not have synced.
"""

import os

from dbbench.datasets.compressed import too_few
from dbbench.host.interference import PAGE, sync_probe
from dbbench.host.usage import Reading
from dbbench.suite.model import Tier
from dbbench.suite.steps import AnyStep
from dbbench.workloads.context import StepContext
from dbbench.workloads.ondisk import opened_by, processes

#: The share of the commits that must show: now and then a disk is ready before a thread has begun to wait for it.
SHARE = 0.5
#: Of fewer commits the share says nothing.
_COMMITS = 20
#: What the probe must show of each sync for a floor to hold in its place: a memory file system shows nothing.
_SHOWN = 0.9
_RING = "anon_inode:[io_uring]"
_DIRECT = getattr(os, "O_DIRECT", 0)


def below(step: AnyStep, context: StepContext, commits: int, used: Reading) -> str:
    """Say what shows that commits which followed one another didn't reach the disk; empty where nothing does.

    `used` is what the step used. Nothing shows at a URL, and for an engine that promises less than the tier `power`.
    """
    engine = context.engine
    if not commits or engine.url or not context.does_work or engine.info().tier is not Tier.POWER:
        return ""
    waits, written = used.waits, used.written
    enough = commits >= _COMMITS
    few_waits = enough and waits is not None and waits < commits * SHARE
    few_bytes = enough and written is not None and written < commits * PAGE * SHARE
    least = too_few(context.files, context.tables, written) if step.kind == "load" and written is not None else 0
    if not (few_waits or few_bytes or least):
        return ""
    opened = [each for process in processes(engine) for each in opened_by(process)]
    sync = sync_probe(engine.directory.parent)
    if sync is None:
        return ""
    # Who looks for the end of its writes again and again need not wait; direct writes may be shorter than a page.
    few_waits = few_waits and sync.waits >= _SHOWN and not any(name == _RING for name, _ in opened)
    counts = sync.written >= _SHOWN * PAGE
    few_bytes = few_bytes and counts and not any(flags & _DIRECT for _, flags in opened)
    if few_waits:
        return f"commits didn't reach the disk: it waited {waits:,} times for {commits:,} commits"
    if few_bytes:
        return f"commits didn't reach the disk: {written:,} bytes written for {commits:,} commits"
    if least and counts:
        return f"rows didn't reach the disk: {written:,} bytes written, which take {least:,} or more, compressed"
    return ""

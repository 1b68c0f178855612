"""Judging what kill -9 left, and counting sync calls in strace's output."""

import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from dbbench.durability import checks as checks_module
from dbbench.durability.check import judge
from dbbench.durability.checker import Checker
from dbbench.durability.checks import CheckRequest, check_all, checked_tiers
from dbbench.durability.writer import spans
from dbbench.engine import registry
from dbbench.engine.probe import Probed
from dbbench.errors import UserError
from dbbench.host import atomic_json
from dbbench.report.terminal.durability import lines
from dbbench.results.crash_checks import CheckVerdict, Kills, Syncs, TierCheck, TierChecks
from dbbench.runs import strace
from dbbench.suite.model import Tier
from tests.conftest import Dbbench
from tests.fabricated import MACHINE

GOOD = Kills(20, 1000, 1003)
SYNCED = Syncs(50, 0, {"fdatasync": 50})
UNSYNCED = Syncs(50, 50)

# Judging

JUDGED = {
    "process, all there": (Tier.PROCESS, GOOD, UNSYNCED, "ext4", CheckVerdict.PASSED, ""),
    "power, all there and synced": (Tier.POWER, GOOD, SYNCED, "ext4", CheckVerdict.PASSED, ""),
    "power, never synced": (Tier.POWER, GOOD, UNSYNCED, "ext4", CheckVerdict.FAILED, "no sync call in 50 of 50 commits"),
    "power, once not synced": (
        Tier.POWER, GOOD, Syncs(50, 1, {"fsync": 90}), "ext4", CheckVerdict.FAILED, "no sync call in 1 of 50 commits"),
    "power, not counted": (Tier.POWER, GOOD, Syncs(uncounted="no strace"), "ext4", CheckVerdict.DECLARED, "no strace"),
    "power, too few": (Tier.POWER, GOOD, Syncs(49, 0), "ext4", CheckVerdict.DECLARED, "strace shows 49 of 50 commits"),
    "power, hidden": (Tier.POWER, GOOD, Syncs(50, 50, {}, ("io_uring_setup",)), "ext4", CheckVerdict.DECLARED, "io_uring_setup"),
    "power, hidden but synced": (Tier.POWER, GOOD, Syncs(50, 0, {"fsync": 50}, ("io_submit",)), "xfs", CheckVerdict.PASSED, ""),
    "power in memory": (Tier.POWER, GOOD, SYNCED, "tmpfs", CheckVerdict.DECLARED, "this is tmpfs"),
    "power in memory, not synced": (Tier.POWER, GOOD, UNSYNCED, "tmpfs", CheckVerdict.FAILED, "no sync call"),
    "process in memory": (Tier.PROCESS, GOOD, UNSYNCED, "tmpfs", CheckVerdict.PASSED, ""),
    "lost": (Tier.PROCESS, Kills(20, 1000, 999, lost=1), SYNCED, "ext4", CheckVerdict.FAILED, "1 of 1,000 acknowledged commits lost"),
    "lost though synced": (Tier.POWER, Kills(20, 1000, 999, lost=1), SYNCED, "ext4", CheckVerdict.FAILED, "lost"),
    "half": (Tier.PROCESS, Kills(20, 1000, 1000, half=2), SYNCED, "ext4", CheckVerdict.FAILED, "2 half transactions"),
    "unreadable": (Tier.PROCESS, Kills(3, 9, unreadable="damaged"), SYNCED, "ext4", CheckVerdict.FAILED, "after kill 3"),
    "memory, lost": (Tier.MEMORY, Kills(20, 10, 0, lost=10, half=1), UNSYNCED, "ext4", CheckVerdict.NOT_PROMISED, "10 of 10"),
    "memory, all there": (Tier.MEMORY, GOOD, UNSYNCED, "ext4", CheckVerdict.NOT_PROMISED, "nothing was lost this time"),
}  # fmt: skip


@pytest.mark.parametrize("case", JUDGED)
def test_judging(case: str) -> None:
    tier, kills, syncs, file_system, verdict, words = JUDGED[case]
    found, detail = judge(tier, kills, syncs, file_system)
    assert found is verdict
    assert words in detail
    assert bool(detail) == (verdict is not CheckVerdict.PASSED)


@pytest.mark.parametrize("verdict", CheckVerdict)
def test_only_failed_and_error_are_bad(verdict: CheckVerdict) -> None:
    assert checks(TierCheck("a", Tier.POWER, verdict)).bad == (verdict in (CheckVerdict.FAILED, CheckVerdict.ERROR))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], []), ([1], [(1, 1)]), ([1, 2, 3], [(1, 3)]), ([1, 3, 4, 7], [(1, 1), (3, 4), (7, 7)])],
)
def test_spans(numbers: list[int], expected: list[tuple[int, int]]) -> None:
    assert list(spans(numbers)) == expected


# Tiers


def test_tiers_in_their_own_order() -> None:
    assert checked_tiers(["power", "memory"]) == [Tier.MEMORY, Tier.POWER]
    assert checked_tiers([]) == list(Tier)


def test_an_unknown_tier_is_told_with_the_nearest() -> None:
    with pytest.raises(UserError, match="no durability tier 'powr'; did you mean 'power'"):
        checked_tiers(["memory", "powr"])


# Counting

FOLDER = "/check-1/data/"
FILE = f"</x{FOLDER}file>"
ACK = '7 write(9<pipe:[1]>, ""..., 8) = 8'


def counted(*text: str) -> Syncs:
    return strace.count("\n".join(text).splitlines(keepends=True), FOLDER, "pipe:[1]")


def commits(*calls: str, times: int = 2) -> Syncs:
    """The calls, then an acknowledgement, some times; the first of them opens the count."""
    return counted(ACK, *[line for _ in range(times) for line in (*calls, ACK)])


SYNCED_BY = {
    "fsync": [f"7 fsync(4{FILE}) = 0"],
    "fdatasync": [f"7 fdatasync(4{FILE})      = 0"],
    "fdatasync, in another thread": [f"8 fdatasync(4{FILE}) = 0"],
    "fdatasync, interrupted": [
        f"7 fdatasync(4{FILE} <unfinished ...>", '8 write(1<pipe:[2]>, ""..., 1) = 1', "7 <... fdatasync resumed>) = 0"],
    "syncfs": [f"7 syncfs(4{FILE}) = 0"],
    "sync": ["7 sync() = 0"],
    "msync": [f"7 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 4{FILE}, 0) = 0x7f0000001000",
              "7 msync(0x7f0000002000, 4096, MS_SYNC) = 0"],
    "O_DSYNC write": [f'7 openat(AT_FDCWD</y>, "file", O_RDWR|O_DSYNC) = 4{FILE}', f'7 pwrite64(4{FILE}, ""..., 1, 0) = 1'],
    "O_SYNC write": [f'7 open("file", O_RDWR|O_SYNC|O_CREAT, 0600) = 4{FILE}', f'7 write(4{FILE}, ""..., 1) = 1'],
    "RWF_DSYNC write": [f'7 pwritev2(4{FILE}, [{{iov_base=""..., iov_len=1}}], 1, 0, RWF_DSYNC) = 1'],
}  # fmt: skip


@pytest.mark.parametrize("way", SYNCED_BY)
def test_what_counts_as_a_sync(way: str) -> None:
    syncs = commits(*SYNCED_BY[way])
    assert (syncs.commits, syncs.unsynced, syncs.calls) == (2, 0, {way.partition(",")[0]: 2})
    assert syncs.in_words == f"1.0 {way.partition(',')[0]}"


NOT_SYNCED_BY = {
    "a write": [f'7 write(4{FILE}, ""..., 1) = 1'],
    "a failed fsync": [f"7 fsync(4{FILE}) = -1 EIO (Input/output error)"],
    "a file elsewhere": ["7 fsync(4</x/other/file>) = 0"],
    "sync_file_range": [f"7 sync_file_range(4{FILE}, 0, 0, SYNC_FILE_RANGE_WRITE) = 0"],
    "msync without waiting": [f"7 mmap(NULL, 8192, PROT_READ, MAP_SHARED, 4{FILE}, 0) = 0x7f0000001000",
                              "7 msync(0x7f0000001000, 4096, MS_ASYNC) = 0"],
    "msync of something else": ["7 msync(0x7f0000001000, 4096, MS_SYNC) = 0"],
    "a write to the same number, opened anew without O_DSYNC": [
        f'7 openat(AT_FDCWD</y>, "file", O_RDWR|O_DSYNC) = 4{FILE}',
        f'7 openat(AT_FDCWD</y>, "file", O_RDWR) = 4{FILE}', f'7 write(4{FILE}, ""..., 1) = 1'],
    "a write to another descriptor of a file opened with O_DSYNC": [
        f'7 openat(AT_FDCWD</y>, "file", O_RDWR|O_DSYNC) = 4{FILE}', f'7 write(5{FILE}, ""..., 1) = 1'],
    "a call that never ends": [f"7 fsync(4{FILE} <unfinished ...>", "7 +++ killed by SIGKILL +++"],
}  # fmt: skip


@pytest.mark.parametrize("way", NOT_SYNCED_BY)
def test_what_does_not(way: str) -> None:
    syncs = commits(*NOT_SYNCED_BY[way])
    assert (syncs.commits, syncs.unsynced, syncs.calls, syncs.in_words) == (2, 2, {}, "none")


def test_calls_before_the_first_and_after_the_last_commit_do_not_count() -> None:
    sync = f"7 fsync(4{FILE}) = 0"
    assert counted(sync, sync, ACK, ACK, sync, ACK, sync) == Syncs(2, 1, {"fsync": 1})


def test_many_syncs_of_one_commit_do_not_stand_for_another() -> None:
    sync = f"7 fsync(4{FILE}) = 0"
    syncs = counted(ACK, sync, sync, sync, ACK, ACK)
    assert (syncs.unsynced, syncs.in_words) == (1, "1.5 fsync")


def test_a_write_to_another_pipe_is_no_acknowledgement() -> None:
    assert counted(ACK, '7 write(9<pipe:[2]>, ""..., 8) = 8', ACK).commits == 1


def test_calls_that_hide_syncs_are_told() -> None:
    assert commits("7 io_uring_setup(8, {flags=0}) = 5<anon_inode:[io_uring]>").hidden == ("io_uring_setup",)
    assert commits("7 io_uring_setup(8, {flags=0}) = -1 EPERM (Operation not permitted)").hidden == ()


def test_lines_of_other_kinds_are_passed_over() -> None:
    assert counted("", "7 --- SIGCHLD {si_signo=SIGCHLD} ---", "7 <... read resumed>) = 1", "x", ACK, ACK).commits == 1


def test_a_machine_without_strace_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert strace.unusable() == "strace is missing (apt install strace)"


# Which engines

KEEPS = {"status": "available", "durability": ["process"], "operations": ["load", "query"]}
KNOWN = {
    "keeps": Probed("keeps", **KEEPS),
    "layer": Probed("layer", "available", durability=["process"], operations=["get"]),
    "null": Probed("null", **KEEPS | {"ranked": False}),
    "port": Probed("port", **KEEPS, by_name_only="it opens a port"),
    "gone": Probed("gone", "unavailable", detail="no driver"),
}


@pytest.fixture
def checkable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "names", lambda: list(KNOWN))
    monkeypatch.setattr(checks_module, "probe", lambda names, _options: {name: KNOWN[name] for name in names})
    monkeypatch.setattr(
        checks_module, "_check", lambda _, task, _report: TierCheck(task.engine, task.tier, CheckVerdict.PASSED, "")
    )


@pytest.mark.usefixtures("checkable")
def test_all_are_those_that_keep_data_and_need_not_be_named() -> None:
    found = check_all(CheckRequest(tiers=["process"]), lambda _: None)
    assert [check.engine for check in found.checks] == ["keeps"]
    assert found.absent == {"port": "runs only by name: it opens a port", "gone": "no driver"}
    named = check_all(CheckRequest(["port"], ["process"]), lambda _: None)
    assert [check.engine for check in named.checks] == ["port"]


@pytest.mark.usefixtures("checkable")
def test_an_interruption_leaves_the_checks_that_are_finished(
    monkeypatch: pytest.MonkeyPatch, dbbench_here: Dbbench, tmp_path: Path
) -> None:
    finished = iter([TierCheck("keeps", Tier.PROCESS, CheckVerdict.PASSED)])

    def check(*_: object) -> TierCheck:
        for each in finished:
            return each
        raise KeyboardInterrupt

    monkeypatch.setattr(checks_module, "_check", check)
    done = dbbench_here("durability", "keeps", "port", "--tier", "process", "--json", "found.json")
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert "keeps   process  passed" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert ([each["engine"] for each in found["checks"]], found["interrupted"]) == (["keeps"], True)
    with pytest.raises(KeyboardInterrupt):
        check_all(CheckRequest(["port"], ["process"]), lambda _: None)


@pytest.mark.parametrize("name", ["layer", "null"])
@pytest.mark.usefixtures("checkable")
def test_what_keeps_nothing_has_nothing_to_check(name: str) -> None:
    with pytest.raises(UserError, match=f"{name} keeps no data of its own"):
        check_all(CheckRequest([name]), lambda _: None)


@pytest.mark.parametrize(
    ("tier", "raised", "whole", "verdict", "why"),
    [
        ("process", "", None, CheckVerdict.ERROR, "no commit within 5 s (--timeout)"),
        ("process", "", [], CheckVerdict.FAILED, "1 of 1 acknowledged commits lost"),
        ("process", "", [[1, 1]], CheckVerdict.ERROR, "no commit within 5 s (--timeout)"),
        ("memory", "", None, CheckVerdict.NOT_PROMISED, "after kill 1 the database could not be used again: no commit"),
        ("process", "OSError: No space left on device", None, CheckVerdict.ERROR, "OSError: No space left on device"),
        ("process", "shared memory: No space left", None, CheckVerdict.ERROR, "shared memory: No space left"),
        ("process", "RuntimeError: damaged", None, CheckVerdict.FAILED, "after kill 1 the database could not be used"),
    ],
)
def test_only_damage_is_what_an_engine_fails_by_after_a_kill(
    tier: str, raised: str, whole: list[list[int]] | None, verdict: CheckVerdict, why: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    task = {"engine": "slow", "tier": tier, "file_system": "ext4", "kills": 2, "seconds": 5}
    atomic_json.write(tmp_path / "task.json", task)
    checker = Checker(tmp_path)
    checker.work.mkdir()

    def start(_data: Path, *, create: bool, first: int, **_more: object) -> Mock:
        """A writer that commits once in a new database, and never in one that is there."""
        if raised and not create:
            atomic_json.write(tmp_path / "failed.json", {"outcome": "failed", "detail": raised})
        if whole is not None and not create:
            atomic_json.write(tmp_path / "found.json", {"whole": whole, "half": []})
        last = first if create else first - 1
        return Mock(first=first, last=last, acknowledged=range(first, last + 1))

    monkeypatch.setattr(checker, "_start", start)
    monkeypatch.setattr(checker, "_listen", lambda writer, *_, **__: writer.last >= writer.first or not raised)
    monkeypatch.setattr(checker, "_count_syncs", lambda: UNSYNCED)
    found = checker._check()
    assert found.verdict is verdict
    assert found.detail.startswith(why)


def test_an_engine_that_is_too_slow_to_count_its_syncs_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    atomic_json.write(tmp_path / "task.json", {"engine": "slow", "tier": "power", "file_system": "ext4", "seconds": 5})
    checker = Checker(tmp_path)
    checker.work.mkdir()
    monkeypatch.setattr(strace, "unusable", lambda: "")
    monkeypatch.setattr(checker, "_start", lambda *_, **__: Mock(first=1, last=0))
    monkeypatch.setattr(checker, "_listen", lambda *_, **__: True)
    assert checker._count_syncs() == Syncs(uncounted="no answer within 5 s (--timeout)")


# Showing


def checks(*given: TierCheck) -> TierChecks:
    return TierChecks("2026-11-21T10:00:00+00:00", {**MACHINE, "dbbench": "1.0"}, 7, 20, given, {"c": "missing"})


PASSED = TierCheck("a", Tier.POWER, CheckVerdict.PASSED, "", GOOD, SYNCED, {"A": "1.2"})
REFUSED = [TierCheck("b", tier, CheckVerdict.REFUSED, "it offers: power | <b>") for tier in (Tier.MEMORY, Tier.PROCESS)]


def test_the_table() -> None:
    head, first, second, *rest = lines(checks(PASSED, *REFUSED), columns=1000)
    assert first.split() == ["a", "power", "passed", "20", "1,000", "1,003", "0", "0", "1.0", "fdatasync"]
    assert second.split() == ["b", "memory", "refused", *"------"]
    assert head.index("tier") == first.index("power") == second.index("memory")
    assert "b memory, process: refused: it offers: power | <b>" in rest
    assert "unavailable: c: missing" in rest
    assert "2026-11-21, dbbench 1.0, seed 7, 20 kills each" in rest
    assert "not a loss of power" in rest[-1]

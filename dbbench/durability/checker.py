"""`python -m dbbench.durability.checker DIR`: checks one tier of one engine with writers that it kills.

A process of its own that runs no driver's code, as the supervisor of trials is: it always answers signals,
none of what a writer starts can get away from it, and when dbbench is gone, even by SIGKILL, it ends what
runs and removes the directory. Reads DIR/task.json, leaves DIR/check.json, and prints a line as it goes on.
"""

import contextlib
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from dbbench.durability.check import (
    CHECK_TASK,
    COUNTED,
    FOUND,
    NUMBER_BYTES,
    TIER_CHECK,
    WRITER_TASK,
    Found,
    WriterTask,
    judge,
)
from dbbench.host import atomic_json
from dbbench.host.processes import (
    INTERRUPTED,
    adopt_orphans,
    descendants,
    end_with_parent,
    ended,
    environment,
    forbid_core_dumps,
    kill_all,
    last_line,
    python,
    signal_name,
)
from dbbench.results.crash_checks import CheckVerdict, Kills, Syncs, TierCheck
from dbbench.results.outcome import Outcome, no_space
from dbbench.runs import strace
from dbbench.suite.model import Tier

#: A writer is killed this many seconds after its first commit, at least and at most.
MOMENTS = (0.02, 0.6)
_POLL_SECONDS = 0.1
#: How long a writer that has closed its pipe may take to say why.
_LAST_WORDS_SECONDS = 10


class Interrupted(Exception):
    """A signal came, or dbbench is gone."""


class Failed(Exception):
    """The engine did not get as far as to be killed, or its data may be whole."""


class Writer:
    """A writer process and what it has acknowledged."""

    def __init__(self, process: subprocess.Popen[bytes], reader: int, first: int) -> None:
        self.process = process
        self.reader = reader
        self.first = first
        #: The greatest number acknowledged.
        self.last = first - 1
        self.rest = b""
        os.set_blocking(reader, False)

    @property
    def acknowledged(self) -> range:
        """The numbers acknowledged: they come in order."""
        return range(self.first, self.last + 1)

    def take(self) -> bool:
        """Take what can be read; whether more may come."""
        try:
            while data := os.read(self.reader, 1 << 16):
                self.rest += data
                whole = len(self.rest) // NUMBER_BYTES * NUMBER_BYTES
                if whole:
                    self.last = int.from_bytes(self.rest[whole - NUMBER_BYTES : whole], "big")
                self.rest = self.rest[whole:]
        except BlockingIOError:
            return True
        return False

    def kill(self) -> None:
        """End it and everything that it started, at once; what it has acknowledged until then still counts."""
        known = descendants()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        kill_all(self.process, known)
        self.take()
        os.close(self.reader)


class Checker:
    """One engine and one tier."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.task = CHECK_TASK.validate_python(atomic_json.read(directory / "task.json"))
        self.work = directory / "work"
        self.tier = self.task.tier
        self.parent = os.getppid()
        self.stop = False
        self.said = Found([], [])

    def run(self) -> int:
        """Make the check. The exit status: 0, or 130 if it was interrupted."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._interrupt)
        adopt_orphans()
        self.work.mkdir(mode=0o700)
        try:
            check = self._check()
        except Interrupted:
            shutil.rmtree(self.directory, ignore_errors=True)
            with contextlib.suppress(OSError):  # the last one out; nobody else may be left to do it
                self.directory.parent.rmdir()
            return INTERRUPTED
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        atomic_json.write(self.directory / "check.json", TIER_CHECK.dump_python(check, mode="json"))
        return 0

    def _interrupt(self, number: int, frame: object) -> None:
        self.stop = True

    def _check(self) -> TierCheck:
        started = time.monotonic()
        kills, syncs = Kills(), Syncs()
        try:
            kills = self._kill_often()
            syncs = self._count_syncs()
            verdict, detail = judge(self.tier, kills, syncs, self.task.file_system)
        except Failed as exc:
            refused = self._failed().get("outcome") == Outcome.UNSUPPORTED
            verdict, detail = CheckVerdict.UNSUPPORTED if refused else CheckVerdict.ERROR, str(exc)
        return TierCheck(
            engine=self.task.engine,
            tier=self.tier,
            verdict=verdict,
            detail=detail,
            kills=kills,
            syncs=syncs,
            versions=self.said.versions,
            settings=self.said.settings,
            seconds=round(time.monotonic() - started, 1),
            code=self.said.code,
        )

    # kill -9

    def _kill_often(self) -> Kills:
        """Write and kill repeatedly in one database; each writer first reports its content."""
        moments = random.Random(f"{self.task.seed} {self.task.engine} {self.tier}")
        data = self._new_data("kills")
        acknowledged: set[int] = set()
        lost: set[int] = set()
        half: set[int] = set()
        found = kills = 0
        first, unreadable = 1, ""
        for turn in range(self.task.kills + 1):
            last_look = turn == self.task.kills
            self._tell(f"kill {turn + 1} of {self.task.kills}" if not last_look else "last look")
            writer = self._start(data, create=turn == 0, first=first, commits=0 if last_look else None)
            try:
                unreadable, undecided = self._until_used(writer, last_look=last_look)
                if unreadable and turn == 0:
                    raise Failed(unreadable)
                stored = self._found()
                if turn and stored is not None:
                    whole = {number for low, high in stored.whole for number in range(low, high + 1)}
                    lost |= acknowledged - whole
                    half |= set(stored.half)
                    found = len(whole)
                elif turn and not undecided:
                    lost |= acknowledged
                    found = 0
                if undecided and self.tier is not Tier.MEMORY:
                    if not (lost or half):
                        raise Failed(unreadable)
                    unreadable = ""  # what is lost is known, and no more
                if undecided or unreadable or last_look:
                    break
                if not self._listen(writer, moments.uniform(*MOMENTS)):
                    after = len(writer.acknowledged)
                    raise Failed(f"{self._last_words(writer)}, after {after:,} commits and before it was killed")
            finally:
                writer.kill()
            kills += 1
            acknowledged.update(writer.acknowledged)
            first = writer.last + 2  # the one after the last acknowledged may be there too
        return Kills(kills, len(acknowledged), found, len(lost), len(half), unreadable)

    def _until_used(self, writer: Writer, *, last_look: bool) -> tuple[str, bool]:
        """Wait for the first commit, or for the writer's end; why that didn't come, or nothing.

        Second, whether the data may be whole nevertheless: it was too slow, or there was no room.
        """
        limit = self.task.seconds
        goes_on = self._listen(writer, limit, first_only=True)
        if writer.last >= writer.first:
            return "", False
        if goes_on:
            return f"no {'answer' if last_look else 'commit'} within {limit:g} s (--timeout)", True
        if (
            last_look
            and ended(writer.process, _LAST_WORDS_SECONDS)
            and self._found() is not None
            and not self._failed()
        ):
            return "", False  # a crash on closing is no concern of this
        why = self._last_words(writer)
        return why, no_space(why)

    def _listen(self, writer: Writer, seconds: float, *, first_only: bool = False) -> bool:
        """Collect acknowledgements for some time, or until the first; return whether the writer still runs."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._look_around()
            ready = select.select([writer.reader], [], [], min(left, _POLL_SECONDS))[0]
            if (ready and not writer.take()) or (not ready and writer.process.poll() is not None):
                return False
            if first_only and writer.last >= writer.first:
                break
        return True

    # Sync calls

    def _count_syncs(self) -> Syncs:
        """The sync calls of some commits, in a new database."""
        self._tell("sync calls")
        if reason := strace.unusable():
            return Syncs(uncounted=reason)
        data, out = self._new_data("syncs"), self.directory / "strace.txt"
        # Made without strace, under which a server may take minutes to make its files.
        writer = self._start(data, create=True, first=1, commits=0)
        try:
            if reason := self._until_used(writer, last_look=True)[0]:
                return Syncs(uncounted=reason)
        finally:
            writer.kill()
        writer = self._start(data, create=False, first=1, commits=COUNTED + 1, trace=out)
        try:
            goes_on = self._listen(writer, self.task.seconds)
            if goes_on or not ended(writer.process, self.task.seconds):
                return Syncs(uncounted=f"under strace it took more than {self.task.seconds:g} s (--timeout)")
        finally:
            writer.kill()
        if writer.last != COUNTED + 1:
            return Syncs(uncounted=f"under strace {self._last_words(writer)}")
        # The end of the path, which has a name that is used nowhere else: its start may have letters that
        # strace writes in a way of its own.
        folder = "/".join(("", *data.parts[-4:], ""))
        with out.open("r", encoding="utf-8", errors="replace") as lines:
            return strace.count(lines, folder, self.marker)

    # Writers

    def _new_data(self, name: str) -> Path:
        data = self.work / name
        data.mkdir(mode=0o700)
        return data

    def _start(self, data: Path, *, create: bool, first: int, commits: int | None, trace: Path | None = None) -> Writer:
        """Start a writer in a session of its own."""
        for name in ("found.json", "failed.json"):
            (self.directory / name).unlink(missing_ok=True)
        temporary = self.work / "tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(mode=0o700)
        reader, marker = os.pipe()
        self.marker = f"pipe:[{os.fstat(marker).st_ino}]"
        task = WriterTask(
            self.task.engine, self.tier, self.task.options, self.directory, data, marker, create, first, commits
        )
        command = python("dbbench.durability.writer", WRITER_TASK.dump_json(task).decode())
        with open(self.directory / "stdout.txt", "wb") as stdout, open(self.directory / "stderr.txt", "wb") as stderr:
            process = subprocess.Popen(
                strace.command(trace, command) if trace else command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=environment(TMPDIR=str(temporary)),
                cwd=temporary,
                start_new_session=True,
                pass_fds=(marker,),
                preexec_fn=end_with_parent,  # noqa: PLW1509 - no threads here; strace can't do it for itself
            )
        os.close(marker)
        return Writer(process, reader, first)

    def _look_around(self) -> None:
        if self.stop or os.getppid() != self.parent:
            raise Interrupted

    def _tell(self, text: str) -> None:
        with contextlib.suppress(OSError):
            print(text, flush=True)

    def _found(self) -> Found | None:
        """What the writer found, if it came so far."""
        try:
            self.said = FOUND.validate_python(atomic_json.read(self.directory / "found.json"))
        except (OSError, ValueError):
            return None
        return self.said

    def _failed(self) -> dict[str, str]:
        """The outcome and the detail of what the engine raised, if it did."""
        try:
            return dict(atomic_json.read(self.directory / "failed.json"))
        except (OSError, ValueError):
            return {}

    def _last_words(self, writer: Writer) -> str:
        """How the writer ended: what the engine raised, or the signal or status."""
        ended(writer.process, _LAST_WORDS_SECONDS)
        if failed := self._failed():
            return failed["detail"]
        status, said = writer.process.returncode, last_line(self.directory / "stderr.txt")
        if status is not None and status < 0:
            return f"its process ended by {signal_name(-status)}{said}"
        return f"its process ended with status {status}{said}"


def main() -> None:
    """Make the check in task.json of the given directory."""
    forbid_core_dumps()
    sys.exit(Checker(Path(sys.argv[1])).run())


if __name__ == "__main__":
    main()

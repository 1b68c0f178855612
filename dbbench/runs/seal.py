"""What a run has written so far, kept in this process: a trial has the rights to change it, but not for good.

After each trial all files are looked at. What isn't as it was kept is written anew, and results that nobody made are
removed.
"""

import os
import zlib
from pathlib import Path

from dbbench.errors import RunError
from dbbench.host import plain_file
from dbbench.results.run_directory import Run

#: What tells of a change: nobody can set the time at which a file's entry was changed.
_Look = tuple[int, int, int]


class Seal:
    """The manifest, the suite and every result of a run, as they are now. Raises RunError if they can't be read."""

    def __init__(self, run: Run) -> None:
        self._path = run.path
        self._kept: dict[tuple[str, ...], tuple[_Look | None, bytes]] = {}
        try:
            for names in (("run.json",), ("suite.yaml",), *self._results()):
                self._keep(names, plain_file.read(plain_file.inside(self._path, *names)))
        except OSError as exc:
            raise RunError(f"{self._path} can't be read: {exc.strerror or exc}") from exc

    def keep(self, trial: str) -> None:
        """Take in the result of a trial that has just ended."""
        names = _result(trial)
        self._keep(names, plain_file.read(plain_file.inside(self._path, *names)))

    def restore(self, trial: str) -> list[str]:
        """Undo what was changed while a trial ran, but for its own result; what that was.

        Raises RunError where it can't be undone.
        """
        changed = []
        try:
            for names, (look, packed) in self._kept.items():
                if names != _result(trial) and _look(self._path.joinpath(*names)) != look:
                    data = zlib.decompress(packed)
                    if not self._holds(names, data):
                        self._write(names, data)
                        changed.append("/".join(names))
                    self._keep(names, data)
            for names in self._results():
                if names != _result(trial) and names not in self._kept:
                    plain_file.inside(self._path, *names[:-1]).joinpath(names[-1]).unlink()
                    changed.append("/".join(names))
        except OSError as exc:
            raise RunError(
                f"while the trial {trial} ran, files of {self._path} were changed, and can't be restored: {exc.strerror or exc}"
            ) from exc
        return changed

    def _keep(self, names: tuple[str, ...], data: bytes) -> None:
        self._kept[names] = (_look(self._path.joinpath(*names)), zlib.compress(data))

    def _results(self) -> list[tuple[str, ...]]:
        found = [_result(name) for name in os.listdir(plain_file.inside(self._path, "trials"))]
        return [names for names in found if os.path.lexists(self._path.joinpath(*names))]

    def _holds(self, names: tuple[str, ...], data: bytes) -> bool:
        try:
            return plain_file.read(plain_file.inside(self._path, *names)) == data
        except OSError:
            return False

    def _write(self, names: tuple[str, ...], data: bytes) -> None:
        folder = self._path
        for name in names[:-1]:
            folder = plain_file.folder(folder, name)
        plain_file.write(folder / names[-1], data, durable=True)


def _result(trial: str) -> tuple[str, ...]:
    return ("trials", trial, "result.json")


def _look(path: Path) -> _Look | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_ctime_ns

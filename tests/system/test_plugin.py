"""An engine of one's own: the package that `plugin new` makes, and `plugin check` on it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from dbbench.results.outcome import Outcome
from dbbench.runs.begin import new_run
from dbbench.runs.request import Request
from dbbench.runs.runner import run_trials
from dbbench.suite.loader import find_suite
from tests.conftest import Dbbench, environment, run_here

#: Engine -> what `plugin new` is told besides, the suite that it names, and those steps of its first scenario that say all.
MADE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "mine": ("--sql", "invoices", ("bulk-insert", "database-size", "join-2", "insert-1")),
    "mine+fast.2": ("--records", "mixes", ("fill-session-store", "session-store")),
    "mine.blocks": ("--blocks", "virtual-file", ("fill", "size", "random-read-1-cold", "random-write-128-warm")),
}


def installed(package: Path, site: Path) -> None:
    command = ["-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(site), str(package)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a new engine's package once; the folder with the `package`, and the `site` where it is installed."""

    @cache
    def folder_of(name: str) -> Path:
        folder = tmp_path_factory.mktemp("made")
        done = run_here(folder, "plugin", "new", name, MADE[name][0], "--out", "package", status=0)
        assert "pip install -e 'package[test]'" in done.stdout
        installed(folder / "package", folder / "site")
        return folder

    return folder_of


def write_first_steps(name: str, path: Path) -> None:
    """Write the suite that the package names, with its few steps."""
    _, suite, steps = MADE[name]
    document = YAML(typ="safe").load(find_suite(suite))
    scenario = document["scenarios"][0]
    del document["source"], scenario["charts"]
    scenario["steps"] = [step for step in scenario["steps"] if step["name"] in steps]
    YAML(typ="safe").dump(document | {"scenarios": [scenario]}, path)


#: Lines of a package for records: where a value is read, and where the engine's class goes on.
READ, IN_CLASS = "            return found and found[0]\n", "    @classmethod\n    def versions(cls):\n"


def checked(right: Path, folder: Path, lines: str, others: str) -> str:
    """What the check of a package for records says, with other lines in place of these."""
    shutil.copytree(right / "site", folder / "site")
    module = folder / "site" / "dbbench_mine_fast_2.py"
    assert lines in module.read_text()
    module.write_text(module.read_text().replace(lines, others))
    return run_here(folder, "plugin", "check", "mine+fast.2", plugins=(str(folder / "site"),), status=1).stdout


@pytest.mark.matrix
@pytest.mark.parametrize("name", MADE)
def test_a_new_package_keeps_to_the_kit_and_runs_as_it_stands(
    made: Callable[[str], Path], name: str, dbbench_here: Dbbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = str(made(name) / "site")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", environment(site)["PYTHONPATH"])
    checked = dbbench_here("plugin", "check", name, status=0)
    assert checked.stdout.endswith(f"{name} passes the conformance tests; next, run: dbbench durability {name}\n")
    passed = [line for line in checked.stdout.splitlines() if line.endswith("  passed")]
    assert len(passed) > 20
    assert passed == sorted(passed)
    assert len({len(line) for line in passed}) == 1  # aligned
    workflow = (made(name) / "package" / ".github" / "workflows" / "tests.yml").read_text()
    steps = YAML(typ="safe").load(workflow)["jobs"]["conformance"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        'pip install -e ".[test]"', "pytest", f"dbbench plugin check {name}",
    ]  # fmt: skip
    assert f"dbbench suite {MADE[name][1]} " in (made(name) / "package" / "README.md").read_text()
    write_first_steps(name, tmp_path / "suite.yaml")
    ready = new_run(Request(str(tmp_path / "suite.yaml"), [name], rounds=1, scale=0.01, out=tmp_path / "run"))
    run_trials(replace(ready, trials=[trial for trial in ready.trials if trial.engine == name]))
    (result,) = ready.run.results()
    assert [(step.name, step.outcome) for step in result.steps] == [(step, Outcome.OK) for step in MADE[name][2]]


@pytest.mark.matrix
def test_a_new_package_has_a_test_that_runs_the_kit(made: Callable[[str], Path]) -> None:
    folder = made("mine+fast.2")
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "-k", "says_what_it_is", "tests"],
        cwd=folder / "package", env=environment(str(folder / "site")), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout


def test_the_kit_finds_what_is_wrong_and_says_what(made: Callable[[str], Path], tmp_path: Path) -> None:
    wrong = "            return found[0] if found else b''\n"
    ended = "            __import__('atexit').register(__import__('os')._exit, 3)\n"  # as by a driver's own crash
    output = checked(made("mine+fast.2"), tmp_path, READ, ended + wrong)
    said = output.partition("failed: a missing key gives none\n")[2].splitlines()
    assert said[:3] == [
        "  value read under a key that is not there (snapshot=False): expected None, got b''",
        "  why: Some drivers raise, or give an empty value, which can't be told from one that was stored.",
        "  see docs/plugins.md#records-under-keys",
    ]
    assert "passes the conformance tests" not in output
    assert "failed: the process ends in order\n  the process ended with exit status 3, after all clauses\n" in output
    assert re.match(r"mine\+fast\.2 fails 3 of \d\d clauses, for 3 causes; ", output.splitlines()[-1])


def test_a_crash_of_the_driver_is_the_verdict_of_its_clause(made: Callable[[str], Path], tmp_path: Path) -> None:
    crash = "            if not found:\n                __import__('os').abort()\n"
    output = checked(made("mine+fast.2"), tmp_path, READ, crash + READ)
    assert "failed: a missing key gives none\n  the process ended in the middle of it (signal 6)\n" in output


def test_a_crash_of_the_driver_after_its_clause_has_passed_is_a_failure(
    made: Callable[[str], Path], tmp_path: Path
) -> None:
    closed = "    def close(self):\n        __import__('os').abort()\n\n"
    output = checked(made("mine+fast.2"), tmp_path, IN_CLASS, closed + IN_CLASS)
    assert re.search(r"^failed: .*\n  the process ended in the middle of it \(signal 6\)\n", output, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["new", "Mine"], "'Mine' can't be an engine's name"),
        (["new", "../mine"], "'../mine' can't be an engine's name"),
        (["new", "sqlite"], "engine 'sqlite' already exists"),
        (["new", "mine", "--out", "."], ". is not empty; name another folder with --out"),
        (["check", "sqlit"], "there is no engine 'sqlit'; did you mean 'sqlite'?"),
        (["check", "sqlce"], "sqlce can't be checked here: "),
        (
            ["check", "sqlite", "--set", "sqlite.cache_mb=1"],
            "sqlite has no option 'cache_mb'; did you mean 'cache_mib'?",
        ),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], said: str, dbbench_here: Dbbench, tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    done = dbbench_here("plugin", *arguments, status=2)
    assert done.stderr.startswith(f"dbbench: {said}")
    assert len(done.stderr.splitlines()) == 1

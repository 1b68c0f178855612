"""An engine of one's own: the package that `plugin new` makes, and `plugin check` on it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.conftest import Dbbench, environment, run_dbbench, run_here, summary

#: Engine -> what `plugin new` is told besides, and a suite for it.
MADE: dict[str, tuple[list[str], str]] = {
    "mine": (["--sql"], "invoices"),
    "mine+fast.2": (["--records"], "mixes"),
    "mine.blocks": (["--blocks"], "virtual-file"),
}


def installed(package: Path, site: Path) -> None:
    command = ["-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(site), str(package)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(params=MADE)
def made(request: pytest.FixtureRequest, dbbench_here: Dbbench, tmp_path: Path) -> tuple[str, Path]:
    """A new engine's name and where its package is installed."""
    options, _ = MADE[request.param]
    done = dbbench_here("plugin", "new", request.param, *options, "--out", "package", status=0)
    assert "pip install -e 'package[test]'" in done.stdout
    installed(tmp_path / "package", tmp_path / "site")
    return request.param, tmp_path / "site"


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a new package for an engine on records is installed."""
    folder = tmp_path_factory.mktemp("mine")
    run_here(folder, "plugin", "new", "mine", "--records", "--out", "package", status=0)
    installed(folder / "package", folder / "site")
    return folder / "site"


def checked(right: Path, folder: Path, change: Callable[[str], str]) -> str:
    """What the check of the package says, with another line where a value is read."""
    shutil.copytree(right, folder / "site")
    module, line = folder / "site" / "dbbench_mine.py", "            return found and found[0]\n"
    assert line in module.read_text()
    module.write_text(module.read_text().replace(line, change(line)))
    return run_dbbench(folder, "plugin", "check", "mine", plugins=(str(folder / "site"),), status=1).stdout


@pytest.mark.matrix
def test_a_new_package_keeps_to_the_kit_and_runs_as_it_stands(
    made: tuple[str, Path], dbbench: Dbbench, tmp_path: Path
) -> None:
    name, site = made
    checked = dbbench("plugin", "check", name, plugins=(str(site),), status=0)
    assert checked.stdout.endswith(f"{name} passes the conformance tests; next, run: dbbench durability {name}\n")
    passed = [line for line in checked.stdout.splitlines() if line.endswith("  passed")]
    assert len(passed) > 20
    assert passed == sorted(passed)
    assert len({len(line) for line in passed}) == 1  # aligned
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "-k", "says_what_it_is", "tests"],
        cwd=tmp_path / "package", env=environment(str(site)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout
    workflow = (tmp_path / "package" / ".github" / "workflows" / "tests.yml").read_text()
    steps = YAML(typ="safe").load(workflow)["jobs"]["conformance"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        'pip install -e ".[test]"', "pytest", f"dbbench plugin check {name}",
    ]  # fmt: skip
    suite = MADE[name][1]
    how = ("--scale", "0.01", "--quick", "--format", "csv", "--out", "run")
    dbbench("suite", suite, "-e", name, *how, plugins=(str(site),), status=0)
    outcomes = {row["outcome"] for (_, engine), row in summary(tmp_path / "run").items() if engine == name}
    assert outcomes == {"ok"}


def test_the_kit_finds_what_is_wrong_and_says_what(right: Path, tmp_path: Path) -> None:
    output = checked(right, tmp_path, lambda _line: "            return found[0] if found else b''\n")
    said = output.partition("failed: a missing key gives none\n")[2].splitlines()
    assert said[:3] == [
        "  value read under a key that is not there (snapshot=False): expected None, got b''",
        "  why: Some drivers raise, or give an empty value, which can't be told from one that was stored.",
        "  see docs/plugins.md#records-under-keys",
    ]
    assert "passes the conformance tests" not in output
    assert re.match(r"mine fails 2 of \d\d clauses, for 2 causes; ", output.splitlines()[-1])


def test_a_crash_of_the_driver_is_the_verdict_of_its_clause(right: Path, tmp_path: Path) -> None:
    crash = "            if not found:\n                __import__('os').abort()\n"
    output = checked(right, tmp_path, lambda line: crash + line)
    assert "failed: a missing key gives none\n  the process ended in the middle of it (signal 6)\n" in output


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

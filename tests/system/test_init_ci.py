"""The workflows that `dbbench init-ci` writes, run step by step as a runner would: green, and red for a planted slowdown."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.conftest import Dbbench, run_here
from tests.wheels import offline, source_folder

SUITE = Path(__file__).parents[1] / "unit" / "small.yaml"


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A driver's repository with its package in a folder of its own, and a suite."""
    turso = pytest.importorskip("turso")
    folder = tmp_path / "repository"
    folder.mkdir()
    source_folder(folder / "python", Path(turso.__file__).parent, "99.1", "pyturso")
    shutil.copy(SUITE, folder / "suite.yaml")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "base")
    return folder


def steps(path: Path) -> list[dict[str, Any]]:
    found = YAML(typ="safe").load(path)
    job = found["runs"] if "runs" in found else next(iter(found["jobs"].values()))
    return [step for step in job["steps"] if "run" in step]


def run_as_a_runner(step: dict[str, Any], folder: Path, variables: dict[str, str]) -> int:
    """GitHub's `shell: bash`, with the expressions of `env` already replaced in `variables`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path, **variables}, check=False).returncode


def measured(step: dict[str, Any], folder: Path, variables: dict[str, str]) -> int:
    """The status of measuring; up to twice more where the control differs from base, as it does by chance."""
    for _ in range(3):
        shutil.rmtree(folder / "run", ignore_errors=True)
        if (status := run_as_a_runner(step, folder, variables)) == 1:
            break
    return status


def plant(repository: Path, planted: str) -> None:
    """Commit a head whose driver does one thing more in each call."""
    driver = repository / "python" / "turso" / "lib.py"
    head = "    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> "
    text = driver.read_text()
    assert text.count(head) == 2
    parts = text.replace("import annotations\n", "import annotations\nimport time\n", 1).split(head)
    driver.write_text(head.join([parts[0], *(part.replace(":\n", f":\n{planted}", 1) for part in parts[1:])]))
    git(repository, "commit", "-qam", "head")


@pytest.mark.matrix
@pytest.mark.parametrize("planted", ["", "        time.sleep(0.02)\n"])
def test_a_pull_request_is_gated_and_commented(repository: Path, tmp_path: Path, planted: str) -> None:
    chosen = ["suite.yaml", "--engine", "turso", "--from", "python", "--gate", "95%", "--rounds", "5"]
    run_here(repository, "init-ci", *chosen, status=0)
    plant(repository, planted)
    install, measure, summarise = steps(repository / ".github" / "workflows" / "benchmark.yml")
    assert install["run"] == "python -m pip install 'dbbench[turso]'"
    summary = tmp_path / "summary.md"
    variables = offline(tmp_path) | {"DBBENCH_CACHE": str(tmp_path / "cache")}
    measuring = measured if planted else run_as_a_runner
    assert measuring(measure, repository, variables) == (1 if planted else 0)
    assert run_as_a_runner(summarise, repository, {"GITHUB_STEP_SUMMARY": str(summary), "NUMBER": "17"}) == 0
    said = summary.read_text()
    assert said.startswith("### turso: head against base\n```\nturso@head against turso@base, round by round")
    assert "\nturso@head against turso@base, round by round, by CPU time" in said
    assert said.count("\ngate turso@head/turso@base") == 2
    assert said.count("\ngate turso@head/turso@base, by CPU time: ") == 1
    assert ("failed at 95 %" in said) == bool(planted)
    assert (repository / "run" / "comment.md").read_text() == said
    assert (repository / "run" / "pull-request").read_text() == "17\n"


@pytest.mark.matrix
def test_each_push_is_kept_on_a_branch_with_its_history_and_a_site(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "origin")
    git(repository, "remote", "add", "origin", str(tmp_path / "origin"))
    run_here(repository, "init-ci", "suite.yaml", "--engine", "turso", "--from", "python", "--rounds", "5", status=0)
    _, measure, keep = steps(repository / ".github" / "workflows" / "benchmark-history.yml")
    assert "--rounds 5 " in measure["run"]
    measure["run"] = measure["run"].replace("--rounds 5 ", "--rounds 1 ")  # they change nothing of what is kept
    variables = offline(tmp_path) | {"DBBENCH_CACHE": str(tmp_path / "cache")}
    assert run_as_a_runner(measure, repository, variables) == 0
    shutil.copytree(repository / "run", tmp_path / "second", symlinks=True)
    manifest = json.loads((tmp_path / "second" / "run.json").read_text())
    (tmp_path / "second" / "run.json").write_text(json.dumps(manifest | {"created": "2099-01-01T00:00:00Z"}))
    for pushes in (1, 2):
        assert run_as_a_runner(keep, repository, {}) == 0
        kept = git(tmp_path / "origin", "ls-tree", "-r", "--name-only", "benchmark-history").splitlines()
        assert len({name.split("/")[1] for name in kept if name.startswith("runs/")}) == pushes
        assert "docs/index.html" in kept
        assert not any(name.startswith("python/") for name in kept)
        git(repository, "worktree", "remove", "--force", "kept")  # a runner begins anew
        git(repository, "branch", "-D", "benchmark-history")
        (tmp_path / "second").rename(repository / "run") if pushes == 1 else None
        time.sleep(1)  # runs are named by the second
    assert "no change in 2 steps" in git(tmp_path / "origin", "show", "benchmark-history:README.md")


@pytest.mark.matrix
def test_the_action_gates_a_pull_request(repository: Path, tmp_path: Path) -> None:
    plant(repository, "        time.sleep(0.02)\n")
    action = YAML(typ="safe").load(Path(__file__).parents[2] / "action.yml")
    given = {name: known.get("default", "") for name, known in action["inputs"].items()}
    given |= {"suite": "suite.yaml", "engine": "turso", "from": "python", "gate": "50%", "rounds": "5"}
    install, measure = steps(Path(__file__).parents[2] / "action.yml")
    assert install["run"] == 'python -m pip install "$ACTION[${ENGINE//+/-}]"'
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], text)
        for name, text in measure["env"].items()
    }
    summary = tmp_path / "summary.md"
    variables |= offline(tmp_path) | {"DBBENCH_CACHE": str(tmp_path / "cache"), "GITHUB_STEP_SUMMARY": str(summary)}
    assert measured(measure, repository, variables) == 1
    assert "failed at 50 %" in summary.read_text()


def test_workflows_give_no_token_to_code_of_a_pull_request(tmp_path: Path, dbbench_here: Dbbench) -> None:
    dbbench_here("init-ci", "invoices", "--engine", "duckdb", "--out", str(tmp_path / "w"), status=0)
    runs, comments = (
        YAML(typ="safe").load(tmp_path / "w" / name) for name in ("benchmark.yml", "benchmark-comment.yml")
    )
    assert runs["permissions"] == {"contents": "read"}
    ((_, job),) = runs["jobs"].items()
    assert job["steps"][0]["with"]["persist-credentials"] is False
    assert [step["run"] for step in job["steps"] if "token" in str(step)] == []
    ((_, job),) = comments["jobs"].items()
    assert not any("checkout" in str(step) or "pip" in str(step) for step in job["steps"])
    assert "[[ $number =~ ^[0-9]+$ ]]" in job["steps"][1]["run"]
    again = dbbench_here("init-ci", "invoices", "--engine", "duckdb", "--out", str(tmp_path / "w"), status=2)
    assert "already exists; remove it" in " ".join(again.stderr.split())
    for words, said in (
        (("nosuch", "--engine", "duckdb"), "nosuch"),
        (("invoices", "--engine", "sqlite"), "needs no package of its own"),
        (("invoices", "--engine", "duckdb", "--from", "/tmp"), "outside of this repository"),
    ):
        refused = dbbench_here("init-ci", *words, "--out", str(tmp_path / "x"), status=2)
        assert said in " ".join(refused.stderr.split())
    (tmp_path / "file").touch()
    for command in (
        ("init-ci", "invoices", "--engine", "duckdb", "--out", "file"),
        ("plugin", "new", "mine", "--out", "file/x"),
    ):
        assert " can't be written: " in dbbench_here(*command, status=2).stderr

"""The conda recipe, as far as it can be read without conda: it says of each dependency what pyproject.toml says."""

import re
import tomllib
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from packaging.requirements import Requirement
from ruamel.yaml import YAML

from dbbench import __version__
from tests.conftest import TESTS

FOLDER = TESTS.parent / "conda"


def load_data(path: str, *, from_recipe_dir: bool) -> dict[str, Any]:
    assert from_recipe_dir
    return tomllib.loads((FOLDER / path).read_text("utf-8"))


def load_regex(path: str, pattern: str, *, from_recipe_dir: bool) -> re.Match[str] | None:
    assert from_recipe_dir
    return re.search(pattern, (FOLDER / path).read_text("utf-8"))


def test_the_conda_recipe() -> None:
    template = Environment(undefined=StrictUndefined).from_string((FOLDER / "meta.yaml").read_text("utf-8"))
    text = template.render(PYTHON="python", load_file_data=load_data, load_file_regex=load_regex)
    recipe = YAML(typ="safe").load(text)
    project = load_data("../pyproject.toml", from_recipe_dir=True)["project"]
    needs = [Requirement(each) for each in recipe["requirements"]["run"]]
    assert needs == [Requirement(f"python{project['requires-python']}"), *map(Requirement, project["dependencies"])]
    assert recipe["package"] == {"name": project["name"], "version": __version__}
    assert recipe["build"]["entry_points"] == ["dbbench = dbbench.cli:main"]
    assert recipe["about"]["license"] == "Apache-2.0"
    assert Path(FOLDER, recipe["source"]["path"]).resolve() == TESTS.parent

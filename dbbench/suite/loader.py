"""A Suite of YAML text. Every fault of a file is found at once, each with its place.

`document` reads the text, pydantic checks the shape, and `references` checks that every name leads somewhere.
"""

import os
from importlib import resources
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from dbbench.errors import UserError
from dbbench.message import did_you_mean
from dbbench.suite.answer import is_former
from dbbench.suite.document import MOST_FAULTS, Document, add_errors
from dbbench.suite.model import FORMAT, Suite
from dbbench.suite.plain import items
from dbbench.suite.references import dangling

SCENARIOS = "dbbench_scenarios"
#: More bytes than any suite has.
_BYTES = 4 * 2**20


def builtin_suites() -> list[str]:
    """The names of the suites that come with dbbench, sorted."""
    folder = resources.files(SCENARIOS)
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def find_suite(name: str) -> Path:
    """The file of a built-in suite, or the path itself. Raises UserError when there is neither."""
    if name in builtin_suites():
        return Path(str(resources.files(SCENARIOS) / f"{name}.yaml"))
    path = Path(name)
    if os.path.isdir(name):  # unlike Path.is_dir, it takes names that are too long
        raise UserError(f"{name} is a directory; name a suite file (*.yaml) in it")
    if os.path.isfile(name):
        return path
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        raise UserError(f"there is no file {name}")
    raise UserError(
        f"there is no suite {name!r}{did_you_mean(name, builtin_suites())}"
        f" (built in: {', '.join(builtin_suites())}; or give the path of a YAML file)"
    )


def read_text(path: Path) -> str:
    """A file's text. Raises UserError if it can't be read or isn't UTF-8."""
    try:
        with open(path, "rb") as file:
            data = file.read(_BYTES + 1)
        if len(data) > _BYTES:
            raise UserError(f"{path}: larger than {_BYTES // 2**20} MiB, the limit for a suite")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UserError(f"{path}: not UTF-8 at byte {exc.start}; save the file as UTF-8") from exc
    except OSError as exc:
        raise UserError(f"{path}: can't be read: {exc.strerror}") from exc


def load_suite(path: Path) -> Suite:
    """Read a suite file. Raises SuiteError with all of its faults, or UserError if it can't be read."""
    return parse_suite(read_text(path), str(path))


#: Texts that had no fault, and so need no check again: a site or a history reads a hundred runs of one suite.
_PARSED: dict[tuple[str, bool], tuple[Suite, Document]] = {}
_MOST_PARSED = 16


def parse_suite(text: str, file: str, *, former: bool = False) -> Suite:
    """Check a suite's text; `file` is the name to use in messages. Raises SuiteError.

    With `former`, for the suites of earlier runs, answers in a form that is no longer read are left out.
    """
    return _parsed(text, file, former=former)[0]


def document_of(text: str, file: str) -> Document:
    """The plain data of a suite without faults, for more checks of it."""
    return _parsed(text, file, former=False)[1]


def _parsed(text: str, file: str, *, former: bool) -> tuple[Suite, Document]:
    if (text, former) not in _PARSED:
        found = _parse(text, file, former=former)
        if len(_PARSED) >= _MOST_PARSED:
            _PARSED.clear()
        _PARSED[text, former] = found
    return _PARSED[text, former]


def _parse(text: str, file: str, *, former: bool) -> tuple[Suite, Document]:
    document = Document(text, file)
    if document.data is None:
        document.stop_at_faults()
    if not isinstance(document.data, dict):
        document.fault((), "a mapping that starts with 'dbbench: 1'")
        document.stop_at_faults()
    if document.data.get("dbbench") != FORMAT or isinstance(document.data.get("dbbench"), bool):
        expected = f"'dbbench: {FORMAT}', the version of the suite format that this dbbench reads"
        document.fault(("dbbench",) if "dbbench" in document.data else (), expected)
        document.stop_at_faults()
    if former:
        for _, scenario in items(document.data, "scenarios"):
            for _, step in items(scenario, "steps"):
                if is_former(step.get("answer")):
                    step.pop("answer")
    suite = None
    try:
        suite = Suite.model_validate(document.data)
    except ValidationError as exc:
        add_errors(document, exc)
    for path, expected, names in islice(dangling(document.data), MOST_FAULTS):
        document.fault(path, expected, names)
    document.stop_at_faults()
    assert suite is not None
    return suite, document

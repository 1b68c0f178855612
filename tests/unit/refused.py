"""A suite's text, changed, and what it is refused with."""

import pytest

from dbbench.errors import SuiteError
from dbbench.suite.loader import parse_suite


def rewritten(text: str, *changes: tuple[str, str]) -> str:
    """The text with other words in the place of some, each where it stands first."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def refused(text: str, file: str = "s.yaml") -> SuiteError:
    """What is said of a suite that is none."""
    with pytest.raises(SuiteError) as caught:
        parse_suite(text, file)
    return caught.value

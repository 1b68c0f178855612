"""Tests that share what is made once stay in one process."""

import pytest

from tests.sharing import together


@pytest.mark.parametrize(
    ("test", "with_all_of"),
    [
        ("tests/system/test_compare.py::test_a_wide_gate[a::b]", "tests/system/test_compare.py"),
        ("tests/contract/test_engines.py::TestLMDB::test_x[1]", "tests/contract/test_engines.py::TestLMDB"),
        ("tests/system/test_quick.py::test_x[a]", "tests/system/test_quick.py::test_x[a]"),
        ("tests/unit/test_report.py::test_x", "tests/unit/test_report.py::test_x"),  # its fixtures take milliseconds
    ],
)
def test_what_is_made_once_is_made_in_one_process(test: str, with_all_of: str) -> None:
    assert together(test) == with_all_of

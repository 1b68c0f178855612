"""What a name that doesn't exist was meant to be."""

from dbbench.message import did_you_mean, nearest


def test_the_nearest_name_is_offered_whatever_its_case() -> None:
    assert nearest("SQLLITE", ["duckdb", "sqlite"]) == "sqlite"
    assert did_you_mean("child", ["Child", "Parent"]) == "; did you mean 'Child'?"


def test_nothing_is_offered_for_what_is_like_no_name_or_too_long_to_be_a_slip() -> None:
    assert did_you_mean("oracle", ["duckdb", "lmdb"]) == ""
    assert nearest("a" * 50, ["a" * 49]) == ""

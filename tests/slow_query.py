"""A suite with a query in which a server sleeps for a minute, so that a test can do something to it meanwhile."""

from dbbench.testing.suite_text import suite_text
from tests.tables import one_table

SLOW = suite_text(
    "slow",
    one_table("One", 10),
    """
    - {kind: load, name: load, title: Load}
    - kind: query
      name: slow
      title: Slow
      sql: SELECT Id FROM One
      dialects: {postgresql: "SELECT Id FROM One, pg_sleep(60)", mysql: "SELECT Id FROM One WHERE SLEEP(60) = 0"}
      read: One.Id
    - {kind: size, name: size, title: Size}
    """,
    durability="memory",
)

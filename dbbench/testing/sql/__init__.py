"""The whole kit for a SQL engine: its clauses by theme, sizes, and a whole trial."""

from dbbench.engine.base import Engine
from dbbench.engine.offered import offers
from dbbench.results.outcome import Outcome
from dbbench.testing.clause import clause, expect, left_out
from dbbench.testing.contract import WholeTrial, expect_sized
from dbbench.testing.sql.queries import QueryContract
from dbbench.testing.sql.tables import Loaded
from dbbench.testing.sql.transactions import TransactionContract

_DATA = """
tables:
  Parent:
    rows: 50
    primary_key: Id
    columns:
      Id: {type: integer, values: {kind: sequence}}
      Name: {type: varchar(12), values: {kind: pattern, text: "name-#####"}}
  Child:
    rows: 4000
    primary_key: Id
    indexes: [ParentId]
    columns:
      Id: {type: integer, values: {kind: sequence}}
      ParentId: {type: integer, values: {kind: reference, table: Parent}}
      Price: {type: currency, values: {kind: quantiles, points: {0: 1, 1: 100}, step: 0.01}}
      Day: {type: datetime, values: {kind: days, first: 2020-01-01, last: 2020-12-31}}
  Weights:
    rows: 40000  # more than the 32,768 of a chunk
    primary_key: Id
    columns:
      Id: {type: integer, values: {kind: sequence}}
      # The sum of these doesn't fit into 4 bytes.
      Weight: {type: real, values: {kind: quantiles, points: {0: 0.1, 1: 30}, step: 0.1}}
"""
_STEPS = """
- {kind: load, name: load, title: Load}
- {kind: size, name: size, title: Size}
- kind: query
  name: sums
  title: Sums
  sql: SELECT A.Name, SUM(B.Price) AS Total FROM Parent A INNER JOIN Child B ON A.Id = B.ParentId GROUP BY A.Name ORDER BY A.Name
  read: Total
- kind: query
  name: wide
  title: Wide
  sql: SELECT * FROM Child
  read: Price
- kind: statement
  name: insert
  title: Insert
  sql: INSERT INTO Parent (Id, Name) SELECT MAX(Id) + 1, 'new' FROM Parent
  iterations: 3
  adds: {table: Parent}
  check: {sql: SELECT Name FROM Parent WHERE Id = 54, columns: [Parent.Name], rows: [[new]]}
- kind: query
  name: cold
  title: Cold
  sql: SELECT Price FROM Child
  cache: cold
  iterations: 2
  read: Price
- {kind: churn, name: churn, title: Churn, table: Child, share: 0.1, passes: 2}
"""
#: Steps that an engine may refuse with a reason: it writes no file, or has no such statement.
_MAY_BE_REFUSED = ("size", "insert", "cold", "churn")


class SQLContract(QueryContract, TransactionContract):
    """The whole kit for an engine that speaks SQL."""

    @clause("what-a-sql-engine-fills-in")
    def test_has_a_size(self, loaded: Loaded) -> None:
        """Size on disk is one of the figures; without files size() raises Unsupported with the reason."""
        engine, _ = loaded
        size = expect_sized(engine)
        expect(
            size.index is None or 0 < size.index < size.total,
            f"size().index: expected a part of {size.total} bytes, got {size.index}",
        )

    @clause("the-life-of-a-trial")
    def test_a_whole_trial_is_right(self, engine_class: type[Engine], whole_trial: WholeTrial) -> None:
        """The steps as a suite runs them, in a process of their own, with every answer checked."""
        if not offers(engine_class, "load"):
            left_out(f"can't load: {engine_class.unsupported_reasons.get('load', 'not yet written')}")
        for step in whole_trial(_DATA, _STEPS).steps:
            refused = step.outcome is Outcome.UNSUPPORTED and step.name in _MAY_BE_REFUSED
            expect(
                refused or (step.outcome is Outcome.OK and not step.detail),
                f"step {step.name}: expected ok, got {step.outcome}: {step.detail}",
            )
            why = step.facts.get("why", "")
            expect("keeps files open" not in why, f"step {step.name}: expected close() to let go of every file: {why}")

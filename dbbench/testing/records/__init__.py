"""The whole kit for an engine that keeps records under keys: its clauses by theme, sizes, and a whole trial."""

from typing import get_args, get_type_hints

from dbbench.engine.base import Engine
from dbbench.engine.offered import offers
from dbbench.engine.traits import Traits
from dbbench.results.outcome import Outcome
from dbbench.testing.clause import clause, expect, expect_equal
from dbbench.testing.contract import WholeTrial, expect_sized
from dbbench.testing.records.clauses import RecordContract
from dbbench.testing.records.commits import CommitContract
from dbbench.testing.records.store import WIDTH, Store

_DATA = "records: {count: 300, key_bytes: 16, key_order: scattered, value_bytes: 250}"
_STEPS = """
- {kind: keyvalue, name: insert, title: Insert, operation: insert, count: 50}
- {kind: keyvalue, name: insert-many, title: Insert, operation: insert, transaction: 100, order: random}
- {kind: size, name: size, title: Size}
- {kind: keyvalue, name: read, title: Read, operation: read, order: random}
- {kind: keyvalue, name: read-one, title: Read one, operation: read, order: same, count: 100}
- {kind: keyvalue, name: seek, title: Seek, operation: seek, order: random}
- {kind: keyvalue, name: update, title: Update, operation: update, order: random, count: 20}
- {kind: keyvalue, name: update-many, title: Update, operation: update, transaction: 100}
- {kind: keyvalue, name: scan, title: Scan, operation: scan}
- kind: mix
  name: mix
  title: Mix
  operations: 80
  weights: {read: 50, update: 15, insert: 20, modify: 15}
- kind: mix
  name: scans
  title: Mix with scans
  operations: 60
  weights: {scan: 80, insert: 20}
  keys: latest
  scan_length: 20
- {kind: keyvalue, name: delete, title: Delete, operation: delete, count: 20}
- {kind: keyvalue, name: delete-many, title: Delete, operation: delete, transaction: 100, count: 200}
"""
#: Step of the suite -> what it asks of a session.
_NEEDS = {
    "insert": ["insert"],
    "insert-many": ["insert_many"],
    "size": [],
    "read": ["read"],
    "read-one": ["read"],
    "seek": ["seek"],
    "update": ["update"],
    "update-many": ["update_many"],
    "scan": ["scan"],
    "mix": ["read", "update", "insert"],
    "scans": ["range", "insert"],
    "delete": ["delete"],
    "delete-many": ["delete_many"],
}
#: Steps that write nothing: the others still have their data if one of these is refused.
_READING = ("read", "read-one", "seek", "scan")


class KeyValueContract(RecordContract, CommitContract):
    """The whole kit for an engine that keeps records under keys."""

    @clause("records-under-keys")
    def test_says_what_a_store_is(self, engine_class: type[Engine]) -> None:
        """Runs refuse records that are too long, and reports print what else differs."""
        choices = get_args(get_args(get_type_hints(Traits)["duplicates"])[0])
        expect(
            engine_class.duplicates in choices,
            f"duplicates: expected one of {', '.join(choices)}, got {engine_class.duplicates!r}",
        )
        for name, least in (("longest_key", WIDTH), ("longest_value", 1024)):
            most = getattr(engine_class, name)
            expect(most is None or most >= least, f"{name}: expected {least} bytes or more, got {most}")
        for operation in ("seek", "range"):
            expect(
                engine_class.ordered or not offers(engine_class, operation),
                f"prepare_{operation} needs an order of keys, and ordered is False",
            )

    @clause("what-a-sql-engine-fills-in")
    def test_a_store_has_a_size(self, filled: Store) -> None:
        """Size on disk is one of the figures; without files size() raises Unsupported with the reason."""
        engine, _ = filled
        expect_sized(engine)

    @clause("the-life-of-a-trial")
    def test_a_whole_trial_on_records_is_right(self, engine_class: type[Engine], whole_trial: WholeTrial) -> None:
        """The steps as a suite runs them, in a process of their own, with all that the store holds checked."""
        steps = {step.name: step for step in whole_trial(_DATA, _STEPS).steps}
        expect_equal("steps of the trial", list(steps), list(_NEEDS))
        refused = False  # a step that writes, and so those after it are not run
        for name, step in steps.items():
            missing = [operation for operation in _NEEDS[name] if not offers(engine_class, operation)]
            expected = Outcome.NOT_RUN if refused else Outcome.UNSUPPORTED if missing else Outcome.OK
            if name == "size":
                allowed = (Outcome.OK, Outcome.UNSUPPORTED, expected)
                expect(
                    step.outcome in allowed, f"step size: expected ok or unsupported, got {step.outcome}: {step.detail}"
                )
                continue
            expect(step.outcome == expected, f"step {name}: expected {expected}, got {step.outcome}: {step.detail}")
            if expected is Outcome.UNSUPPORTED:
                why = engine_class.unsupported_reasons.get(missing[0])
                expect(
                    why is not None, f"step {name}: expected prepare_{missing[0]}, or a reason in unsupported_reasons"
                )
                expect(str(why) in step.detail, f"step {name}: expected the reason {why!r}, got {step.detail!r}")
                refused = name not in _READING

"""What holds for every engine, whatever it offers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest
from pydantic import ValidationError

from dbbench import registry
from dbbench.engine import Engine, Publication, Setup, offers
from dbbench.errors import Unavailable, Unsupported
from dbbench.suite import Tier

OPERATIONS = ("load", "query", "statement")
Opener = Callable[..., Engine]


def required(name: str) -> bool:
    """Whether DBBENCH_REQUIRE says that this engine must be there."""
    names = os.environ.get("DBBENCH_REQUIRE", "").split(",")
    return name in names or "all" in names


class EngineContract:
    """Inherit it, and say which engine."""

    #: The engine's name, as in its entry point.
    engine: ClassVar[str]
    #: Options to open it with, as after --set.
    options: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def engine_class(self) -> type[Engine]:
        try:
            return registry.load(self.engine)
        except Unavailable as exc:
            if required(self.engine):
                pytest.fail(f"{self.engine} is required and unavailable: {exc.reason}; {exc.install}")
            pytest.skip(f"{self.engine}: {exc.reason}; {exc.install}")

    @pytest.fixture
    def opened(self, engine_class: type[Engine], tmp_path: Path) -> Iterator[Opener]:
        """Opens the engine in a folder of its own (or one named), and closes it in the end."""
        with ExitStack() as closing:

            def open_engine(folder: str = "data", tier: Tier | None = None) -> Engine:
                directory = tmp_path / folder
                directory.mkdir(mode=0o700, exist_ok=True)
                chosen = tier or next(iter(engine_class.durability))
                engine = engine_class(Setup(directory, chosen, self.options))
                engine.open()
                closing.callback(engine.close)
                return engine

            yield open_engine

    def test_says_what_it_is(self, engine_class: type[Engine]) -> None:
        assert engine_class.name == self.engine
        assert engine_class.title.strip()
        assert engine_class.license.strip()
        assert isinstance(engine_class.publication, Publication)
        if engine_class.publication is not Publication.ALLOWED:
            assert engine_class.publication_note.strip(), "say where the licence says so"

    def test_tells_its_versions(self, engine_class: type[Engine]) -> None:
        versions = engine_class.versions()
        assert versions
        assert all(isinstance(version, str) and version for version in versions.values())

    def test_offers_an_operation(self, engine_class: type[Engine]) -> None:
        assert any(offers(engine_class, operation) for operation in OPERATIONS)

    def test_calls_impossible_only_what_it_does_not_offer(self, engine_class: type[Engine]) -> None:
        for operation, reason in engine_class.impossible.items():
            assert operation in OPERATIONS
            assert reason.strip()
            assert not offers(engine_class, operation)

    def test_gives_at_least_one_tier(self, engine_class: type[Engine]) -> None:
        assert engine_class.durability
        assert all(isinstance(tier, Tier) for tier in engine_class.durability)

    @pytest.mark.parametrize("tier", list(Tier))
    def test_gives_a_tier_or_refuses_it(self, engine_class: type[Engine], opened: Opener, tier: Tier) -> None:
        if tier in engine_class.durability:
            opened(tier=tier).connect().close()
        else:
            with pytest.raises(Unsupported, match=str(tier)):
                opened(tier=tier)

    def test_refuses_an_unknown_option(self, engine_class: type[Engine], tmp_path: Path) -> None:
        tier = next(iter(engine_class.durability))
        with pytest.raises(ValidationError, match="no_such_option"):
            engine_class(Setup(tmp_path, tier, {"no_such_option": 1}))

    def test_explains_its_options(self, engine_class: type[Engine]) -> None:
        for name, option in engine_class.options_class.model_fields.items():
            assert option.description, f"{name} has no description"
            assert not option.is_required(), f"{name} has no default"

    def test_tells_its_settings_as_json(self, opened: Opener) -> None:
        assert isinstance(json.dumps(opened().settings()), str)

    def test_leaves_no_process_behind(self, engine_class: type[Engine], tmp_path: Path) -> None:
        before = set(psutil.Process().children(recursive=True))
        engine = engine_class(Setup(tmp_path, next(iter(engine_class.durability)), self.options))
        engine.open()
        engine.connect().close()
        engine.close()
        assert set(psutil.Process().children(recursive=True)) <= before

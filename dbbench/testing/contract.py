"""What holds for every engine, whatever it offers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, NoReturn, get_args

import psutil
import pytest
from pydantic import ValidationError

from dbbench import registry
from dbbench.engine import Engine, Lack, Publication, Setup, offers
from dbbench.errors import Unavailable, Unsupported
from dbbench.request import Request, new_run
from dbbench.runner import run_trials
from dbbench.store import TrialResult
from dbbench.suite import Tier
from dbbench.urls import VARIABLE

#: Of a session on records under keys.
ON_RECORDS = (
    "insert",
    "update",
    "delete",
    "read",
    "seek",
    "range",
    "scan",
    "insert_many",
    "update_many",
    "delete_many",
)
OPERATIONS = ("load", "query", "statement", *ON_RECORDS, "get", "get_many")
Opener = Callable[..., Engine]
WholeTrial = Callable[[str], TrialResult]


def required(name: str) -> bool:
    """Whether DBBENCH_REQUIRE says that this engine must be there."""
    names = os.environ.get("DBBENCH_REQUIRE", "").split(",")
    return name in names or "all" in names


def missing(engine: str, why: str) -> NoReturn:
    """Skip the test of an engine that can't be used here, or fail it if it must be there."""
    if required(engine):
        pytest.fail(f"{engine} is required and unavailable: {why}")
    pytest.skip(f"{engine}: {why}", allow_module_level=True)


def usable(name: str, options: Mapping[str, Any] | None = None, *, url: str = "") -> type[Engine]:
    """An engine's class. Skips the test, or fails it if the engine must be there, where it can't be used."""
    try:
        engine = registry.load(name)
        if not url:
            registry.require(name, options or {})
    except Unavailable as exc:
        missing(name, "; ".join(filter(None, (exc.reason, exc.install))))
    return engine


class EngineContract:
    """Inherit it, and say which engine."""

    #: The engine's name, as in its entry point.
    engine: ClassVar[str]
    #: Options to open it with, as after --set.
    options: ClassVar[dict[str, Any]] = {}
    #: Where its database is, as after --url; `{tmp}` stands for the test's own folder.
    url: ClassVar[str] = ""
    #: Whether an engine joins the server that another one runs in its directory: then one serves most tests of the class.
    joins: ClassVar[bool] = False

    def asked(self, tmp_path: Path, directory: Path, tier: Tier, options: dict[str, Any] | None = None) -> Setup:
        """What the engine is made from."""
        return Setup(
            directory, tier, self.options if options is None else options, self.url.replace("{tmp}", str(tmp_path))
        )

    @pytest.fixture
    def engine_class(self) -> type[Engine]:
        return self.usable()

    def usable(self) -> type[Engine]:
        """The engine's class. Skips the test, or fails it if the engine must be there, where it can't be used."""
        found = usable(self.engine, self.options, url=self.url)
        if found.url_required and not self.url:
            missing(self.engine, f"it runs against a server of yours: give its test a url like {found.url_example}")
        return found

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path | None]:
        """The folder of the server that the tests of the class share, if they do."""
        if not cls.joins:
            yield None
            return
        kit, folder = cls(), tmp_path_factory.mktemp("shared")
        with kit.opening(kit.usable(), folder) as open_engine:
            open_engine()
            yield folder

    @pytest.fixture
    def opened(self, engine_class: type[Engine], tmp_path: Path, shared: Path | None) -> Iterator[Opener]:
        """Opens the engine, with nothing in it, and closes it in the end.

        In a folder of its own if it is named or a tier is asked for; else at the server that tests share, if they do.
        """
        with self.opening(engine_class, tmp_path, shared) as open_engine:
            yield open_engine

    @contextmanager
    def opening(self, engine_class: type[Engine], tmp_path: Path, shared: Path | None = None) -> Iterator[Opener]:
        """What `opened` gives, for as long as wanted."""
        tidied: Engine | None = None
        with pytest.MonkeyPatch.context() as patch, ExitStack() as closing:
            patch.setenv(VARIABLE, self.url.replace("{tmp}", str(tmp_path)))  # for clients in processes of their own

            def open_engine(folder: str = "", tier: Tier | None = None) -> Engine:
                nonlocal tidied
                place = shared if shared and not (folder or tier) else tmp_path
                directory = place / (folder or "data")
                directory.mkdir(mode=0o700, exist_ok=True)
                chosen = tier or next(iter(engine_class.durability))
                engine = engine_class(self.asked(tmp_path, directory, chosen))
                engine.open()
                closing.callback(engine.close)
                if place is shared or (self.url and "{tmp}" not in self.url):
                    tidied = engine
                return engine

            yield open_engine
        if tidied:
            self.tidy(tidied)

    @pytest.fixture
    def whole_trial(self, engine_class: type[Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WholeTrial:
        """Runs a suite, as a text in which `{tier}` is the engine's first tier, in a process of its own; nothing but the run directory is left."""
        monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))

        def run(text: str) -> TrialResult:
            suite = tmp_path / "kit.yaml"
            suite.write_text(text.format(tier=next(iter(engine_class.durability))), "utf-8")
            settings = {self.engine: {name: str(value) for name, value in self.options.items()}}
            urls = {self.engine: self.url.replace("{tmp}", str(tmp_path))} if self.url else {}
            request = Request(str(suite), [self.engine], rounds=1, options=settings, out=tmp_path / "run", urls=urls)
            ready = new_run(request)
            trials = [trial for trial in ready.trials if trial.engine == self.engine]  # without the null engine's
            run_trials(ready.run, trials, ready.datasets, lambda _progress: None, urls=ready.urls)
            (result,) = ready.run.results()
            assert not result.remarks
            assert not list(ready.run.path.glob("trials/*/work"))
            return result

        return run

    def tidy(self, engine: Engine) -> None:
        """Remove from a server at a URL, or a shared one, what a test has left there; `engine` is closed."""

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

    def test_says_what_it_lacks(self, engine_class: type[Engine]) -> None:
        assert set(engine_class.lacks) <= set(get_args(Lack))
        assert all(reason.strip() for reason in engine_class.lacks.values())

    def test_gives_at_least_one_tier(self, engine_class: type[Engine]) -> None:
        assert engine_class.durability
        assert all(isinstance(tier, Tier) for tier in engine_class.durability)

    @pytest.mark.parametrize("tier", list(Tier))
    def test_gives_a_tier_or_refuses_it(self, engine_class: type[Engine], opened: Opener, tier: Tier) -> None:
        promises_enough = any(other in engine_class.durability for other in list(Tier)[list(Tier).index(tier) :])
        if promises_enough:
            engine = opened(tier=tier)
            engine.connect().close()
            assert list(Tier).index(engine.tier) >= list(Tier).index(tier)
        else:
            with pytest.raises(Unsupported, match=str(tier)):
                opened(tier=tier)

    def test_refuses_an_unknown_option(self, engine_class: type[Engine], tmp_path: Path) -> None:
        tier = next(iter(engine_class.durability))
        with pytest.raises(ValidationError, match="no_such_option"):
            engine_class(self.asked(tmp_path, tmp_path, tier, {"no_such_option": 1}))

    def test_explains_its_options(self, engine_class: type[Engine]) -> None:
        for name, option in engine_class.options_class.model_fields.items():
            assert option.description, f"{name} has no description"
            assert not option.is_required(), f"{name} has no default"

    def test_tells_its_settings_as_json(self, opened: Opener) -> None:
        assert isinstance(json.dumps(opened().settings()), str)

    def test_leaves_no_process_behind(self, engine_class: type[Engine], tmp_path: Path) -> None:
        deep = not self.joins  # a shared server has workers that come and go
        before = set(psutil.Process().children(recursive=deep))
        engine = engine_class(self.asked(tmp_path, tmp_path, next(iter(engine_class.durability))))
        engine.open()
        engine.connect().close()
        engine.close()
        assert set(psutil.Process().children(recursive=deep)) <= before

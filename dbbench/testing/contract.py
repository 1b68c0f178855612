"""Clauses for every engine, and how a clause opens one."""

import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn, get_args

import psutil
import pytest
from pydantic import ValidationError

from dbbench.engine import registry
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.offered import OPERATIONS, offers
from dbbench.engine.options import Shares
from dbbench.engine.size import Size
from dbbench.engine.traits import MissingFeature, Publication
from dbbench.engine.urls import VARIABLE
from dbbench.errors import Unavailable, Unsupported
from dbbench.results.trial import TrialResult
from dbbench.runs.begin import new_run
from dbbench.runs.request import Request
from dbbench.runs.runner import run_trials
from dbbench.suite.model import Tier
from dbbench.testing.clause import clause, expect, expect_equal, expect_error, left_out, panics_as_errors
from dbbench.testing.suite_text import suite_text

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
#: For an engine that has one limit for cache and work.
_ENGINE_MIB = 512
Opener = Callable[..., Engine]
WholeTrial = Callable[[str, str], TrialResult]


def required(name: str) -> bool:
    """Whether DBBENCH_REQUIRE says that this engine must be there."""
    names = os.environ.get("DBBENCH_REQUIRE", "").split(",")
    return name in names or "all" in names


def missing(engine: str, why: str) -> NoReturn:
    """Skip the test of an engine that can't be used here, or fail it if it must be there."""
    if required(engine):
        pytest.fail(f"{engine} is required and unavailable: {why}")
    pytest.skip(f"{engine}: {why}", allow_module_level=True)


def usable(name: str, options: Mapping[str, object] | None = None, *, url: str = "") -> type[Engine]:
    """An engine's class. Skips the test, or fails it if the engine must be there, where it can't be used."""
    try:
        engine = registry.load(name)
        if not url:
            registry.require(name, options or {})
    except Unavailable as exc:
        missing(name, "; ".join(filter(None, (exc.reason, exc.install))))
    return engine


def said(engine: type[Engine]) -> set[str]:
    """The class attributes of the contract, which declare what an engine is and can do."""
    contract = [base for base in engine.__mro__ if base.__module__.startswith("dbbench.engine.")]
    return {
        name
        for base in contract
        for name, kind in inspect.get_annotations(base).items()
        if str(kind).removeprefix("typing.").startswith("ClassVar")  # a text, or evaluated
    }


def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a test session that all workers of xdist have in common."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


def expect_sized(engine: Engine) -> Size:
    """The size of a flushed engine that holds something, found to be one: bytes of files inside its directory."""
    engine.flush()
    size = engine.size()
    expect(size.total > 0, f"size(): expected more than 0 bytes, got {size.total}")
    for file in size.files:
        inside = Path(file.name).is_relative_to(engine.directory)
        expect(not inside, f"size(): expected a name relative to the directory, got {file.name}")
        expect(file.apparent >= 0, f"size(): expected the bytes of {file.name}, got {file.apparent}")
    apparent = sum(file.apparent for file in size.files if file.role != "reserved")
    expect(apparent > 0, "file_role(): expected data in files that aren't `reserved`, got none")
    return size


@contextmanager
def beside(engine: Engine, session: Session) -> Iterator[Any]:
    """Another session that may write, or the same where there may be one alone."""
    if engine.info().concurrency.threads == 1:
        yield session
        return
    other = engine.connect()
    yield other
    other.close()


def close(stored: tuple[Engine, Session, object]) -> None:
    """Close session and engine: some systems have one folder open in a process."""
    engine, session, _ = stored
    session.close()
    engine.close()


class EngineContract:
    """Inherit it, and say which engine."""

    #: The engine's name, as in its entry point.
    engine: ClassVar[str]
    #: Options to open it with, as after --set.
    options: ClassVar[Mapping[str, object]] = {}
    #: Where its database is, as after --url; `{tmp}` stands for the test's own folder.
    url: ClassVar[str] = ""
    #: Whether an engine joins the server that another one runs in its directory: then one serves most tests of the
    #: class.
    joins: ClassVar[bool] = False

    def asked(self, tmp_path: Path, directory: Path, tier: Tier, options: Mapping[str, object] | None = None) -> Setup:
        """What the engine is made from."""
        given = self.options if options is None else options
        return Setup(directory, tier, given, self.url.replace("{tmp}", str(tmp_path)), Shares(memory=_ENGINE_MIB))

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
        with pytest.MonkeyPatch.context() as patch, panics_as_errors(), ExitStack() as closing:
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
    def whole_trial(
        self,
        engine_class: type[Engine],
        tmp_path: Path,
        tmp_path_factory: pytest.TempPathFactory,
        monkeypatch: pytest.MonkeyPatch,
    ) -> WholeTrial:
        """Runs steps on a dataset at the engine's first tier, in another process; only the run directory is left."""
        # Not the user's; and one for all tests, so that a private server is set up once.
        monkeypatch.setenv("DBBENCH_CACHE", str(of_all_workers(tmp_path_factory) / "kit-cache"))

        def run(data: str, steps: str) -> TrialResult:
            suite = tmp_path / "kit.yaml"
            suite.write_text(suite_text("kit", data, steps, durability=next(iter(engine_class.durability))), "utf-8")
            settings = {self.engine: {name: str(value) for name, value in self.options.items()}}
            urls = {self.engine: self.url.replace("{tmp}", str(tmp_path))} if self.url else {}
            request = Request(str(suite), [self.engine], rounds=1, options=settings, out=tmp_path / "run", urls=urls)
            ready = new_run(request)
            trials = [trial for trial in ready.trials if trial.engine == self.engine]  # without the null engine's
            run_trials(replace(ready, trials=trials))
            (result,) = ready.run.results()
            expect_equal("what the trial remarked on", list(result.remarks), [])
            left = [str(path) for path in ready.run.path.glob("trials/*/work")]
            expect_equal("work directories left behind by the trial", left, [])
            return result

        return run

    def tidy(self, engine: Engine) -> None:
        """Remove from a server at a URL, or a shared one, what a test has left there; `engine` is closed."""

    @clause("what-a-sql-engine-fills-in")
    def test_says_what_it_is(self, engine_class: type[Engine]) -> None:
        """Reports print the name, title, licence and whether results may be published."""
        expect_equal("name, which is that of the entry point", engine_class.name, self.engine)
        expect(engine_class.title.strip(), "expected a title for charts, got an empty one")
        expect(engine_class.license.strip(), "expected the licence of the database and its driver, got an empty text")
        publication = engine_class.publication
        expect(isinstance(publication, Publication), f"expected a Publication, got {publication!r}")
        if publication is not Publication.ALLOWED:
            expect(
                engine_class.publication_note.strip(),
                f"publication is {publication}: expected a publication_note that says where the licence says so",
            )

    @clause("the-life-of-a-trial")
    def test_tells_its_versions(self, engine_class: type[Engine]) -> None:
        """A result without the version of the database and the driver can't be repeated."""
        versions = engine_class.versions()
        expect(versions, "expected versions() to name the driver and its version, got nothing")
        for name, version in versions.items():
            expect(isinstance(version, str) and version, f"expected {name}'s version as a text, got {version!r}")

    @clause("the-life-of-a-trial")
    def test_offers_an_operation(self, engine_class: type[Engine]) -> None:
        """An engine whose session has no prepare_ method has nothing to measure."""
        expect(
            any(offers(engine_class, operation) for operation in OPERATIONS),
            f"expected {engine_class.session_class.__name__} to have a prepare_ method, like prepare_query or prepare_read",
        )

    @clause("what-the-engine-cant-do")
    def test_calls_impossible_only_what_it_does_not_offer(self, engine_class: type[Engine]) -> None:
        """The report prints these reasons where another engine has a figure."""
        for operation, why in engine_class.unsupported_reasons.items():
            expect(
                operation in OPERATIONS,
                f"unsupported_reasons names {operation!r}: expected one of {', '.join(OPERATIONS)}",
            )
            expect(why.strip(), f"unsupported_reasons[{operation!r}]: expected a reason, got an empty text")
            expect(
                not offers(engine_class, operation),
                f"unsupported_reasons names {operation!r}, but the session has prepare_{operation}: remove one of the two",
            )

    @clause("what-the-engine-cant-do")
    def test_says_what_it_lacks(self, engine_class: type[Engine]) -> None:
        """Charts mark an engine that does less than its neighbours."""
        for lack, why in engine_class.missing_features.items():
            expect(
                lack in get_args(MissingFeature),
                f"missing_features names {lack!r}: expected one of {', '.join(get_args(MissingFeature))}",
            )
            expect(why.strip(), f"missing_features[{lack!r}]: expected what that means, got an empty text")

    @clause("durability-tiers")
    def test_gives_at_least_one_tier(self, engine_class: type[Engine]) -> None:
        """A suite asks for a tier; an engine without one takes part in no suite."""
        expect(engine_class.durability, "expected a tier in durability, got none")
        for tier in engine_class.durability:
            expect(isinstance(tier, Tier), f"durability: expected a Tier as key, got {tier!r}")

    @clause("durability-tiers")
    def test_gives_a_tier_or_refuses_it(self, engine_class: type[Engine], tmp_path: Path) -> None:
        """An engine that promises less than the suite asks for would win unfairly."""
        tiers = list(Tier)
        for place, tier in enumerate(tiers):
            (folder := tmp_path / tier).mkdir()
            with self.opening(engine_class, folder) as open_engine:
                if not any(other in engine_class.durability for other in tiers[place:]):
                    with expect_error(f"tier {tier}, which it doesn't offer", Unsupported, str(tier)):
                        open_engine(tier=tier)
                    continue
                try:
                    engine = open_engine(tier=tier)
                except Unsupported as exc:
                    raise AssertionError(f"tier {tier}: expected it to open, as durability offers it: {exc}") from exc
                engine.connect().close()
                given = engine.info().tier
                expect(tiers.index(given) >= place, f"tier {tier}: expected this tier or a stronger one, got {given}")

    @clause("options")
    def test_refuses_an_unknown_option(self, engine_class: type[Engine], tmp_path: Path) -> None:
        """A misspelt option would otherwise be ignored, and the run would measure something else."""
        tier = next(iter(engine_class.durability))
        with expect_error("the option no_such_option", ValidationError, "no_such_option"):
            engine_class(self.asked(tmp_path, tmp_path, tier, {"no_such_option": 1}))

    @clause("options")
    def test_explains_its_options(self, engine_class: type[Engine]) -> None:
        """Every option is listed with its description, and a run needs none of them."""
        for name, option in engine_class.options_class.model_fields.items():
            expect(option.description, f"option {name}: expected a description, got none")
            expect(not option.is_required(), f"option {name}: expected a default, got none")

    @clause("the-life-of-a-trial")
    def test_opens_without_changing_what_its_class_says(
        self, engine_class: type[Engine], opened: Opener, tmp_path: Path
    ) -> None:
        """Plans and reports read the class before anything is open; what a server adds to it comes from info()."""
        names = said(engine_class)
        before = {name: getattr(engine_class, name, None) for name in names}
        engine = opened()
        changed = {name for name in names if getattr(engine_class, name, None) is not before[name]}
        own = vars(engine_class(self.asked(tmp_path, engine.directory, engine.tier)))  # what its options make of it
        changed |= {name for name, value in vars(engine).items() if name in names and own.get(name, ...) != value}
        expect(
            not changed,
            f"expected open() to set none of these, but return them from info(): {', '.join(sorted(changed))}",
        )

    @clause("the-life-of-a-trial")
    def test_tells_its_settings_as_json(self, opened: Opener) -> None:
        """Settings are recorded with every result, as JSON."""
        settings = opened().settings()
        try:
            json.dumps(settings)
        except (TypeError, ValueError) as exc:
            raise AssertionError(f"settings(): expected what JSON can hold, got {settings!r} ({exc})") from exc

    @clause("the-life-of-a-trial")
    def test_leaves_no_process_and_no_open_file(self, engine_class: type[Engine], tmp_path: Path) -> None:
        """A server left running would take memory and CPU time from the next trial.

        An open file keeps its pages in memory, so that a cold start is not cold, and may keep its lock.
        """
        deep = not self.joins  # a shared server has workers that come and go
        before = set(psutil.Process().children(recursive=deep))
        engine = engine_class(self.asked(tmp_path, tmp_path, next(iter(engine_class.durability))))
        engine.open()
        engine.connect().close()
        engine.close()
        left = set(psutil.Process().children(recursive=deep)) - before
        expect(not left, f"expected no process after close(), got {', '.join(map(str, left))}")
        files = [file.path for file in psutil.Process().open_files() if Path(file.path).is_relative_to(tmp_path)]
        expect(not files, f"expected no open file in setup.directory after close(), got {', '.join(files)}")

    def reopened(self, engine: Engine, opened: Opener) -> Engine:
        """The engine opened again on its own directory. Leaves the clause out if it keeps its data in memory only."""
        try:
            engine.size()
        except Unsupported:  # it keeps no data on disk, whatever else it may keep there
            sized = False
        else:
            sized = True
        engine.close()
        if set(type(engine).durability) == {Tier.MEMORY} and not (sized and any(engine.directory.iterdir())):
            left_out("it offers tier memory alone and keeps no file: nothing is there after reopening")
        return opened("own")

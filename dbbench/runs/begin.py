"""A request, checked and turned into a run that is ready to go.

Everything that can be wrong is found here, before a directory is made.
"""

import datetime
import itertools
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dbbench
from dbbench.datasets.own_files import check_files
from dbbench.engine.probe import Probed
from dbbench.engine.urls import redacted
from dbbench.host import control_group, machine
from dbbench.results.found_runs import MADE_IN
from dbbench.results.run_directory import Manifest, Run, check_free
from dbbench.runs.choice import choose
from dbbench.runs.data import answers_of, check_room, doubtful, draw, existing, facts_of
from dbbench.runs.over_hosts import look_at_hosts
from dbbench.runs.plan import Ready, trials_of
from dbbench.runs.request import Request, check
from dbbench.runs.shares import to_keep
from dbbench.suite.loader import find_suite, parse_suite, read_text


def new_run(request: Request, report: Callable[[str], None] = lambda _line: None) -> Ready:
    """Check the request, draw the data and make the run directory. Raises UserError or SuiteError.

    `report` gets a line before each long operation.
    """
    check(request)
    path = find_suite(request.suite)
    text = read_text(path)
    suite = parse_suite(text, str(path))
    check_files(suite, path.parent, outside=request.allow_outside)
    if any(dataset.tables for dataset in suite.datasets.values()):
        from dbbench.answers import planned  # loads DataFusion

        for line in planned.check(suite, text, str(path)):
            report(line)
    with control_group.limited(request.memory_limit):
        pass  # where it can't be made, the user learns it before anything is drawn
    choice = choose(request, suite, report)
    suite = choice.suite
    out = request.out or MADE_IN / f"{suite.name}-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    if request.out:
        check_free(out)
    look_at_hosts(request.cluster, choice.engines.values())
    seed = request.seed if request.seed is not None else next(iter(suite.datasets.values())).seed
    datasets = draw(suite, choice.scale, seed, path.parent)
    check_room(out, datasets)
    answers = answers_of(suite, datasets, path.parent, request.memory_limit)
    for line in doubtful(suite, answers):
        report(line)
    limits = {
        "seconds": choice.trial_seconds,
        "memory": request.trial_memory or control_group.memory() * 3 // 4,
        **({"memory_limit": request.memory_limit} if request.memory_limit else {}),
    }
    text_bytes = max((files.manifest["csv_bytes"] for files in datasets.values()), default=0)
    manifest = Manifest(
        dbbench=dbbench.__version__,
        suite=suite.name,
        created=datetime.datetime.now(datetime.UTC),
        engines=_engines(choice.engines, request.urls),
        named=sorted(choice.named),
        rounds=choice.rounds,
        precision=request.precision,
        time_limit=request.time_limit,
        scale=choice.scale,
        quick=choice.quick,
        **({"cluster": request.cluster.address, "hosts": request.cluster.hosts} if request.cluster else {}),
        fleet=request.fleet,
        seed=seed,
        options=choice.options,
        variants=choice.variants,
        limits=limits | to_keep(suite, limits, text_bytes),
        machine=machine.describe(existing(out)),
        noise=choice.noise,
        datasets={name: facts_of(files) for name, files in datasets.items()},
        answers={name: {step: Path(file).name for step, file in each.items()} for name, each in answers.items()},
    )
    run = Run.create(out if request.out else _unused(out), manifest, suite, text)
    return Ready(
        run,
        trials_of(run),
        datasets,
        answers,
        choice.absent,
        request.urls,
        choice.idle,
        choice.folders,
        fleet=request.cluster if request.fleet else None,
    )


def _unused(path: Path) -> Path:
    """A path, with a number after it where another run began in the same second."""
    names = (path.with_name(f"{path.name}-{number}") for number in itertools.count(2))
    return next(each for each in itertools.chain([path], names) if not each.exists())


def _engines(found: Mapping[str, Probed], urls: Mapping[str, str]) -> dict[str, Any]:
    """What a run directory keeps of each engine; of a URL no password."""
    return {
        name: asdict(each) | ({"url": redacted(urls[name])} if name in urls else {}) for name, each in found.items()
    }

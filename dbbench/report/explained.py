"""What `explain` found, in words and as files: plans, profiles, and what was used."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from dbbench.analysis.profiles import Stacks, functions, samples, stacks
from dbbench.analysis.queryplans import plan_changed
from dbbench.analysis.units import amount, fitting
from dbbench.host import plain_file
from dbbench.report.charts.flame import flame
from dbbench.report.charts.layout import Look, save
from dbbench.report.charts.use import use
from dbbench.report.terminal.pairs import two_plans
from dbbench.results.outcome import Outcome
from dbbench.results.trial_files import Explained, Watched

#: Functions that are named.
_FUNCTIONS = 12
#: Seconds of computing below which a process isn't named.
_IDLE = 0.01


def lines(found: Sequence[Explained], width: int) -> Iterator[str]:
    """What there is to say, a line each."""
    yield f"{found[0].step.name}: one more trial of each engine, watched, which doesn't count"
    for each in found:
        yield f"  {each.engine}: {_figure(each)}"
        yield from (f"    {text}" for text in (*_used(each.watched), *each.watched.notes))
    yield ""
    yield from _plans(found, width)
    yield ""
    yield from _functions(found)


def _figure(each: Explained) -> str:
    result, calls = each.result, each.watched.calls
    if not calls:
        why = "ended while it was watched; what was seen until then is kept" if each.watched.samples else "not reached"
        return f"{result.outcome}: {result.detail or why}; {why}"
    figure = amount(result.unit, result.value) if result.unit and result.value is not None else ""
    bad = "" if result.outcome is Outcome.OK else f"{result.outcome}: {result.detail}"
    often = f"measured {calls} times" if calls > 1 else f"measured once{', as it writes' if each.step.writes else ''}"
    times = f"{often} in {each.watched.seconds:.1f} s"
    return ", ".join(filter(None, (bad, figure, times)))


def _used(watched: Watched) -> Iterator[str]:
    """A line for each process that computed or wrote anything."""
    for process, name in watched.names.items():
        mine = [sample for sample in watched.samples if sample.process == process]
        first, last = mine[0], mine[-1]
        if last.cpu - first.cpu < _IDLE and first.written == last.written and first.read == last.read:
            continue
        used = {
            "CPU": f"{last.cpu - first.cpu:.2f} s",
            "read": _bytes(first.read, last.read),
            "written": _bytes(first.written, last.written),
            "page faults": _count(first.faults, last.faults),
            "waits": _count(first.switches, last.switches),
            "memory": amount("B", max(each.memory for each in mine)),
        }
        yield f"{name}: {', '.join(f'{what} {much}' for what, much in used.items() if much)}"
    if watched.waits:
        yield f"waits that the server counts: {', '.join(f'{name} {much:,.6g}' for name, much in watched.waits.items())}"


def _bytes(first: int | None, last: int | None) -> str:
    return "" if first is None or last is None else fitting("B", [last - first]).text(max(0, last - first))


def _count(first: int | None, last: int | None) -> str:
    return "" if first is None or last is None else f"{max(0, last - first):,}"


def _plans(found: Sequence[Explained], width: int) -> Iterator[str]:
    """The plans beside each other, or what there is instead."""
    for each in found:
        if not each.plan:
            yield f"no plan of {each.engine}: {each.result.no_plan or 'only queries have one'}"
    planned = [each for each in found if each.plan]
    if len(planned) == 2:
        yield "the plans differ:" if plan_changed([planned[0].plan], [planned[1].plan]) else "the plans are alike:"
        titles, texts = [each.engine for each in planned], [each.plan for each in planned]
        yield from (f"  {line}" for line in two_plans(titles, texts, width - 2))
    for each in planned if len(planned) == 1 else ():
        yield f"plan of {each.engine}:"
        yield from (f"  {line}" for line in each.plan.splitlines())


def _profile(each: Explained) -> Stacks:
    return stacks(each.profile, each.cost)


def _functions(found: Sequence[Explained]) -> Iterator[str]:
    """The functions that compute most, or of two profiles those that differ by more than chance."""
    profiled = [each for each in found if each.profile]
    if not profiled:
        yield "no profile"
        return
    seen, two = [samples(each.profile) for each in profiled], len(profiled) > 1
    all_of_them = functions([_profile(each) for each in profiled], seen)
    most = [each for each in all_of_them if each.differs or not two][:_FUNCTIONS]
    if not all_of_them:
        yield "no function was seen to compute; more --seconds may show some"
        return
    if not most:
        looks = " and ".join(f"{count:,}" for count in seen)
        yield f"no function differs by more than chance in {looks} looks; more --seconds show smaller differences"
        return
    unit = fitting("s", [max(each.own) for each in most])
    of = "an operation" if profiled[0].result.unit == "1/s" else "a call"
    looks = ", ".join(f"{one.engine} {count:,} times" for one, count in zip(profiled, seen, strict=True))
    yield f"CPU time of {of}, {unit.symbol}, by the functions' own code (seen computing: {looks}):"
    heads = [*(each.engine for each in profiled), *(["difference"] if two else [])]
    widths = [max(len(head), 8) for head in heads]
    yield "  " + "  ".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True))
    for each in most:
        figures = [unit.figure(seconds) for seconds in each.own]
        figures += [f"{'+' if each.difference > 0 else ''}{unit.figure(each.difference)}"] if two else []
        yield (
            "  " + "  ".join(f"{text:>{width}}" for text, width in zip(figures, widths, strict=True)) + f"  {each.name}"
        )
    if two:
        yield "  no other function differs by more than chance; more --seconds show smaller differences"


def write(found: Sequence[Explained], folder: Path) -> list[Path]:
    """Write the profiles, their pictures and what was used; the files."""
    written = []
    profiles = {each.engine: _profile(each) for each in found if each.profile}
    for engine, profile in profiles.items():
        others = [other for name, other in profiles.items() if name != engine]
        title = f"{found[0].step.title}, {engine}"
        written += [folder / f"{engine}.speedscope.json", folder / f"{engine}-flame.svg"]
        plain_file.write(written[-2], json.dumps(speedscope(title, profile)).encode())
        plain_file.write(written[-1], flame(title, profile))
        if others:
            written.append(folder / f"{engine}-difference.svg")
            plain_file.write(written[-1], flame(f"{title}, beside the other", profile, others[0]))
    watched = {each.engine: each.watched for each in found if len(each.watched.samples) > 1}
    if watched:
        colours = {engine: f"c{number * 4}" for number, engine in enumerate(watched)}
        save(use(f"{found[0].step.title}: what was used", watched, Look(colours)), folder / "use", ["svg"])
        written.append(folder / "use.svg")
    written.append(folder / "explained.txt")
    plain_file.write(written[-1], "".join(f"{line}\n" for line in lines(found, 200)).encode())
    return written


def speedscope(title: str, profile: Stacks) -> dict[str, object]:
    """A profile in the file format of speedscope."""
    frames = {name: number for number, name in enumerate(dict.fromkeys(name for stack in profile for name in stack))}
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": [
            {
                "type": "sampled",
                "name": title,
                "unit": "seconds",
                "startValue": 0,
                "endValue": sum(profile.values()),
                "samples": [[frames[name] for name in stack] for stack in profile],
                "weights": [*profile.values()],
            }
        ],
        "exporter": "dbbench",
    }

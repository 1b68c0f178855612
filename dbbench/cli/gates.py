"""`--gate NEW/OLD[:STEP]:SHARE[:METRIC]` of `suite` and `report`: two engines of one run, compared in pairs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from dbbench.cli.common import share, writing
from dbbench.host.metric import Metric

if TYPE_CHECKING:
    from rich.console import Console

    from dbbench.analysis.gate import Answer
    from dbbench.results.run_directory import Run


@dataclass(frozen=True)
class PairGate:
    """Share by which one engine of a run may be worse than another."""

    new: str
    old: str
    share: float
    #: What is compared; None: see `pair_gate`.
    metric: Metric | None = None
    #: Whether a timed step that can't be told fails it.
    strict: bool = False
    #: The one step that counts, as STEP or SCENARIO/STEP; empty for all.
    step: str = ""


def parse_gate(text: Any) -> PairGate:
    """Like duckdb@1.4/duckdb@1.3:10%, or duckdb@1.4/duckdb@1.3:join:10%:cpu."""
    if isinstance(text, PairGate):  # click converts a default twice
        return text
    front, colon, last = str(text).rpartition(":")
    metric = Metric(last) if colon and last in [*Metric] else None
    names, colon, most = (front if metric else str(text)).rpartition(":")
    names, _, step = names.partition(":")
    new, slash, old = names.partition("/")
    form = (
        f"{text!r} is not NEW/OLD:SHARE, like duckdb@1.4/duckdb@1.3:10%, with a :STEP before the share and a :METRIC after it "
        f"if you like ({', '.join(Metric)})"
    )
    if not (colon and slash and new and old) or "/" in old:
        raise click.BadParameter(form)
    if new == old:
        raise click.BadParameter(
            f"{text!r} compares {new} with itself: name a variant of it, like {new}/{new}@again:10%"
        )
    try:
        return PairGate(new, old, share(most), metric, step=step)
    except click.BadParameter as exc:
        raise click.BadParameter(f"{form}: {exc.message}") from exc


gate_option = click.option(
    "--gate",
    "gates",
    type=parse_gate,
    multiple=True,
    metavar="NEW/OLD[:STEP]:SHARE[:METRIC]",
    help="Compare two engines of the run round by round, by one step or all that have no gate of their own; exit with 1 if NEW "
    "broke or is shown to be slower or larger than OLD by more than SHARE, with 3 if the run can't show it. May be given again.",
)

unknown_option = click.option(
    "--fail-on-unknown", is_flag=True, help="With --gate: exit with 1 for any step that can't be decided."
)


def chosen_gates(gates: tuple[PairGate, ...], metric: Metric | None, *, fail_on_unknown: bool) -> tuple[PairGate, ...]:
    """The gates with what other options say of them. Raises UserError for --fail-on-unknown without a gate."""
    from dbbench.errors import UserError

    if fail_on_unknown and not gates:
        raise UserError("--fail-on-unknown makes a gate stricter: add one, like --gate duckdb@1.4/duckdb@1.3:10%")
    return tuple(replace(gate, metric=gate.metric or metric, strict=fail_on_unknown) for gate in gates)


def check_gates(run: Run, gates: tuple[PairGate, ...]) -> None:
    """Raise UserError for a gate of an engine or a step that a run doesn't have."""
    from dbbench.errors import UserError
    from dbbench.runs.choice import check_steps

    check_steps(run.suite, [gate.step for gate in gates if gate.step])

    for name in (name for gate in gates for name in (gate.new, gate.old)):
        if name not in run.manifest.engines:
            raise UserError(
                f"--gate names {name}, which the run at {run.path} doesn't have ({', '.join(run.manifest.engines)})"
            )


def show_gates(
    run: Run, console: Console, gates: tuple[PairGate, ...], *, publish: bool = False, keep: bool = False
) -> int:
    """Print what each gate says, and with `keep` leave it in the run directory; returns the exit status.

    With `publish` a gate of an engine whose licence forbids that is undecided: what it says would be a figure.
    A strict gate fails then too, as it does where any timed step can't be decided. Each gate is
    corrected for the number of tests by its own metric, not for those by another.
    """
    if not gates:
        return 0
    from dbbench.analysis.gate import Answer
    from dbbench.analysis.paired import pair_gate
    from dbbench.analysis.publication import forbidden
    from dbbench.report.terminal.pairs import pair_lines

    answers, results, said = set(), run.results(), list[str]()
    withheld = forbidden(run.manifest, results) if publish else {}
    for wanted in gates:
        if clauses := [withheld[name] for name in (wanted.new, wanted.old) if name in withheld]:
            answer = Answer.FAILED if wanted.strict else Answer.UNDECIDED
            by = f", by {wanted.metric.by}" if wanted.metric and wanted.metric.by else ""
            text = f"gate {wanted.new}/{wanted.old}{by}: {answer}, withheld: {'; '.join(clauses)}"
            console.print(text, soft_wrap=True, highlight=False, markup=False)
            answers.add(answer)
            said.append(text)
            continue
        names = (wanted.new, wanted.old)
        beside = {gate.step for gate in gates if (gate.new, gate.old) == names} - {wanted.step}
        shown = pair_gate(
            run, results, names, wanted.share, wanted.metric, strict=wanted.strict, step=wanted.step, beside=beside
        )
        if not (wanted.step or shown.pairs) and pair_gate(run, results, names, wanted.share, wanted.metric).pairs:
            continue  # each step has a gate of its own
        if shown.control and {shown.control.name, shown.control.repeats} & withheld.keys():
            shown = replace(shown, control=None)
        answers.add(shown.gate.answer)
        for line in pair_lines(shown):
            console.print(line, soft_wrap=True, highlight=False)
            said.append(line.plain)
    if keep:
        with writing(run.path):
            run.keep_gates(said)
    return exit_status(answers)


def exit_status(answers: Collection[Answer]) -> int:
    """Exit status of a command with gates: 1 if any failed, else 3 if any could not decide."""
    from dbbench.analysis.gate import Answer

    return 1 if Answer.FAILED in answers else 3 if Answer.UNDECIDED in answers else 0

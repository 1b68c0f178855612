"""Vectors or texts deleted, some at a time; searches for them must return none of them."""

import random
from functools import partial

import numpy as np

from dbbench.datasets.absent import Absent, Keys
from dbbench.engine.offered import prepared
from dbbench.host.collector import collector_off
from dbbench.host.meters import CallMeter
from dbbench.loadgen.loops import timed
from dbbench.suite.dataset import TEXT_TABLE
from dbbench.suite.steps.delete import DeleteStep
from dbbench.workloads import nearest, search
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement


def measure(step: DeleteStep, context: StepContext) -> StepMeasurement:
    """The seconds of all deletes. Raises Unsupported if the engine has none."""
    remove = prepared(context.engine, context.session, "remove" if context.vectors else "remove_texts")()
    keys, meter, samples = picked(step, context), CallMeter(context.engine), []
    batches = np.array_split(keys, range(step.batch, len(keys), step.batch))
    with collector_off():
        for batch in batches if context.vectors else (batch.tolist() for batch in batches):
            with meter:
                samples.append(timed(partial(remove, batch))[0])
    absent, seconds = context.data.absent, sum(samples) / 1e9
    left = context.data.rows[_table(context)] - len(keys)
    return StepMeasurement(
        "time", "s", [seconds], facts={"rows": len(keys)}, usage=meter.usage(seconds), commits=len(batches),
        leaves=Leaves({_table(context): left}, absent=Absent(absent.never, np.union1d(absent.deleted, keys))),
    )  # fmt: skip


def picked(step: DeleteStep, context: StepContext) -> Keys:
    """The keys to delete, in no order: the same for every engine."""
    manifest = context.files.manifest
    present = context.data.absent.present(manifest["tables"][_table(context)]["rows"])
    chance = random.Random(f"{manifest['seed']} {step.name}")
    return np.array(chance.sample(present.tolist(), max(1, round(len(present) * step.share))), np.int64)


def _table(context: StepContext) -> str:
    return "vectors" if context.vectors else TEXT_TABLE


def check(step: DeleteStep, context: StepContext) -> None:
    """What was deleted isn't found, and what is left is. Raises WrongAnswer."""
    kind = nearest if context.vectors else search
    kind.check_deleted(context)
    kind.check_loaded(context)

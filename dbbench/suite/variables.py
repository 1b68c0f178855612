"""Environment variables that a variant may set. A suite may come from anyone, so only harmless ones are known.

A variable can name a library to load, a program to start, a file to read or write, a server or a password. No list of
such names is ever complete; hence this is a list of what is allowed. These set numbers of threads, memory allocators,
garbage collectors, language and time zone.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from dbbench.message import did_you_mean

ALLOWED = (
    "ARROW_DEFAULT_MEMORY_POOL",
    "ARROW_USER_SIMD_LEVEL",
    "BLIS_NUM_THREADS",
    "DOTNET_GCConserveMemory",
    "DOTNET_GCHeapCount",
    "DOTNET_GCHeapHardLimit",
    "DOTNET_TC_QuickJitForLoops",
    "DOTNET_TieredCompilation",
    "DOTNET_TieredPGO",
    "DOTNET_gcConcurrent",
    "DOTNET_gcServer",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_NUM_THREADS",
    "OMP_DYNAMIC",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_WAIT_POLICY",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "TZ",
)


def _allowed(name: str) -> str:
    if name not in ALLOWED:
        near = did_you_mean(name, ALLOWED)
        raise ValueError(f"a variable that a variant may set, see docs/variants.md; {name} is none{near}")
    return name


def _harmless(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.,:+@-]{0,100}", value) or ".." in value:
        raise ValueError("up to 100 letters, digits and _ . , : + @ -, for it is no path")
    return value


Variable = Annotated[str, Field(max_length=60), AfterValidator(_allowed)]
Value = Annotated[str, Field(max_length=100, coerce_numbers_to_str=True), AfterValidator(_harmless)]

"""Providers of ADO.NET: assemblies that can't be used, and providers that do wrong."""

import itertools
import subprocess
from pathlib import Path

import pytest

from dbbench.engine import registry
from dbbench.errors import Unavailable
from dbbench.testing.contract import missing, usable
from dbbench.testing.verdicts import Verdicts, run
from tests import dotnet
from tests.conftest import Dbbench

pytestmark = pytest.mark.matrix

FACTORY = """
using System.Data.Common;
public class Factory : DbProviderFactory {{
    {members}
    public static int Other() {{ return Needed.Thing.Number; }}
}}
"""
INSTANCE = "public static readonly Factory Instance = new Factory();"
NATIVE = (
    INSTANCE + 'public override DbConnection CreateConnection() { throw new System.DllNotFoundException("libthing"); }'
)
NEEDED = '[assembly: System.Reflection.AssemblyVersion("{version}")] namespace Needed {{ public class Thing {{ public static int Number; }} }}'


#: A process loads one assembly of a name.
NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def _runtime() -> None:
    usable("sqlite+ado")
    if dotnet.compiler() is None:
        missing("sqlite+ado", "there is no mcs; apt install mono-devel")


def compiled(folder: Path, name: str, source: str, *arguments: str) -> Path:
    (folder / f"{name}.cs").write_text(source)
    made = folder / f"{name}.dll"
    command = ["mcs", "-target:library", f"-out:{made}", "-r:System.Data.dll", *arguments, str(folder / f"{name}.cs")]
    subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.mark.parametrize(
    ("needed", "version", "members", "more", "told", "advice"),
    [
        (
            "Needed", "1.2.0.0", INSTANCE, ["-platform:x86"], "is for processes of 32 bits, and this one has 64",
            "64 bits",
        ),
        ("System.Runtime", "8.0.0.0", INSTANCE, [], "is built for .NET 8, and this process runs Mono", "coreclr"),
        ("Needed", "1.2.0.0", INSTANCE, [], "needs Needed 1.2.0.0, which isn't here", "put Needed.dll into"),
        ("", "", INSTANCE, [], "makes no connection", "ADO.NET provider"),
        ("", "", NATIVE, [], "opens no database: libthing", "it needs a native library"),
        ("", "", "", [], "has no field Instance", "ADO.NET provider"),
        ("", "", None, [], "must have one DbProviderFactory, and has none", "ADO.NET provider"),
    ],
)  # fmt: skip
def test_an_assembly_that_is_no_provider_for_this_process_is_told_with_what_to_do(
    needed: str, version: str, members: str | None, more: list[str], told: str, advice: str, tmp_path: Path
) -> None:
    source = FACTORY.format(members=members) if members is not None else "public class Nothing {}"
    if needed:
        more = [*more, f"-r:{compiled(tmp_path, needed, NEEDED.format(version=version))}"]
    else:
        source = source.replace("Needed.Thing.Number", "1")
    made = compiled(tmp_path, f"Provider{next(NUMBERS)}", source, *more)
    if needed:
        (tmp_path / f"{needed}.dll").unlink()
    with pytest.raises(Unavailable) as found:
        registry.load("sqlite+ado").available_with({"assembly": str(made)})
    assert str(made) in found.value.reason
    assert told in found.value.reason
    assert advice in found.value.install


@pytest.mark.parametrize(
    ("fault", "clause", "told"),
    [
        ("IGNORES", "what_is_rolled_back_is_gone_and_the_session_goes_on", "row 1 after its DELETE was rolled back"),
        ("IGNORES", "a_load_without_commit_is_gone", "rows in Order after a load whose session was closed"),
        ("DOUBLES", "keeps_every_type", "decimals: expected exact values, got floats"),
        ("KEEPS", "a_prepared_query_can_be_run_again", "A reader is open"),
    ],
)
def test_the_kit_names_what_a_provider_does_wrong(
    fault: str,
    clause: str,
    told: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = dotnet.assembly("sqlce", tmp_path_factory.getbasetemp(), fault)
    monkeypatch.setenv("DBBENCH_ASSEMBLY_SQLCE", str(made))
    found = Verdicts()
    more = ["-p", "no:faulthandler", "-p", "no:xdist", "-p", "no:benchmark", "-p", "no:cov", "--capture=no"]
    run("sqlce", {}, tmp_path, found, more, only=f"test_{clause}")
    (verdict,) = found.found.values()
    assert verdict.outcome == "failed"
    assert told in verdict.detail


def test_a_run_says_which_file_and_what_to_do(dbbench: Dbbench, tmp_path: Path) -> None:
    made = compiled(tmp_path, "Nothing", "public class Nothing {}")
    done = dbbench("suite", "invoices", "--quick", "-e", "sqlite+ado", "--set", f"sqlite+ado.assembly={made}")
    said = " ".join((done.stdout + done.stderr).split())
    assert f"{made} must have one DbProviderFactory, and has none" in said
    assert "name the assembly of an ADO.NET provider" in said
    assert done.returncode != 0

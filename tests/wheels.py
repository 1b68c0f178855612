"""Wheels made by hand, so that pip and uv have something real to install without any network."""

import shutil
import zipfile
from pathlib import Path


def wheel(folder: Path, name: str, version: str, source: str, requires: tuple[str, ...] = ()) -> Path:
    """A wheel of one package, of which `source` is the module `NAME/__init__.py`."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    needs = "".join(f"Requires-Dist: {text}\n" for text in requires)
    files = {
        f"{name}/__init__.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in files.items():
            archive.writestr(each, text)
    return path


def offline(folder: Path) -> dict[str, str]:
    """The environment variables with which uv and pip take packages from `folder` alone."""
    return {
        "UV_NO_INDEX": "1", "UV_FIND_LINKS": str(folder), "UV_OFFLINE": "1",
        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null",
    }  # fmt: skip


#: A build backend that needs nothing: it puts the folder's packages into a wheel as they are.
_BACKEND = """
import pathlib, zipfile

NAME, VERSION = {name!r}, {version!r}

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{{NAME}}-{{VERSION}}.dist-info"
    path = pathlib.Path(wheel_directory, f"{{NAME}}-{{VERSION}}-py3-none-any.whl")
    here = pathlib.Path(__file__).parent
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((here / {module!r}).rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(here))
        archive.writestr(f"{{info}}/METADATA", f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: {{VERSION}}\\n")
        archive.writestr(f"{{info}}/WHEEL", "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: false\\nTag: py3-none-any\\n")
        archive.writestr(f"{{info}}/RECORD", "")
    return path.name
"""


def source_folder(folder: Path, package: Path, version: str, name: str = "") -> Path:
    """A source folder that builds to an installed package, without any network; `name`: the distribution's, if another."""
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "backend.py").write_text(_BACKEND.format(name=name or package.name, module=package.name, version=version))
    system = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    (folder / "pyproject.toml").write_text(
        f'{system}[project]\nname = "{name or package.name}"\nversion = "{version}"\n'
    )
    return folder

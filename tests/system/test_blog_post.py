"""The example of a blog post, made from a run of three engines that pip brings."""

import re
import runpy
from pathlib import Path

import pytest
from matplotlib.image import imread

EXAMPLE = Path(__file__).parents[2] / "examples" / "blog-post"


@pytest.mark.matrix  # it runs three engines and draws
def test_the_post_is_made_with_its_pictures_and_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for package in ("pandas", "duckdb", "libsql"):
        pytest.importorskip(package)
    script = runpy.run_path(str(EXAMPLE / "make.py"))
    out = tmp_path / "post"
    script["main"](out, ["--scale", "0.005", "--rounds", "1"], list(script["SHOWN"]))
    post = (out / "post.md").read_text("utf-8")
    pictures = re.findall(r"!\[[^]]*\]\((\S+)\)", post)
    assert len(pictures) == 2
    for picture in pictures:
        pixels = imread(out / picture)
        assert pixels.shape[1] in (760, 1200)
        assert pixels[0, 0, :3].max() < 0.2  # dark
    links = re.findall(r"\]\((pictures/\S+)\)", post)
    assert [link for link in links if not (out / link).exists()] == []
    rows = post.partition("```text\n")[2].partition("```")[0].splitlines()
    assert rows[0].split()[:2] == ["bulk-insert", "join-1"]
    assert len(rows) == 1 + 3
    for step in range(1, 4):
        assert min(float(row.split()[-step]) for row in rows[1:]) == 1.0
    drawn = (out / "pictures" / "report" / "invoices-join-1.svg").read_text("utf-8")
    assert all(title in drawn for title in script["SHOWN"].values())
    assert "Three small databases and a join" in (out / "pictures" / "report" / "index.md").read_text("utf-8")
    assert "dbbench suite invoices --engine=sqlite" in post
    assert "I ran\n3 engines" in post
    assert "Every answer was checked, in one round, which gives no intervals. Measured on" in post


def test_the_post_that_is_kept_is_one_of_the_script() -> None:
    script = runpy.run_path(str(EXAMPLE / "make.py"))
    post = (EXAMPLE / "post.md").read_text("utf-8")
    shape = ".+?".join(map(re.escape, re.split(r"\{[^}]+\}", script["POST"])))
    assert re.fullmatch(shape, post, re.DOTALL), "make it anew: python examples/blog-post/make.py OUT"
    assert {name for name in script["ENGINES"] if f"--engine={name} " in post} == set(script["ENGINES"])

"""Sources, files and trees that no tool likes: facts for what can be read, a note for what cannot, always a report.

Every change here also edits `package/ops.py` in a known way: its fact has to be told whatever stands beside it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from analyzer import pipeline
from analyzer.change import facts, functions, limits
from analyzer.model.change import FileChange
from analyzer.plan import Request

OPS = {
    "base": "def scale(x):\n    return x.float() * 2\n",
    "head": "def scale(x):\n    return x * 2\n",
}

BRANCHES = "".join(f"    elif x == {n}:\n        y = {n}\n" for n in range(1500))


@pytest.fixture
def analyzed(repository, tmp_path, silent):
    """Commits two sides, analyzes them in both directions, and gives the files of base -> head by path.

    A side is a dictionary of contents, or a function that changes the work tree.
    """

    def side(name: str, made) -> str:
        if callable(made):
            made()
            made = {}
        return repository.commit({**made, "package/ops.py": OPS[name]})

    def run(base, head) -> dict[str, FileChange]:
        shas = side("base", base), side("head", head)
        found = []
        for start, end in (shas, shas[::-1]):
            out = tmp_path / end[:8]
            request = Request(revision=end, base=start, flags={"device": "none"})
            report = pipeline.run(repository.folder, request, out, silent).report
            assert {path.name for path in out.iterdir()} >= {"report.json", "report.en.md", "report.zh.md"}
            assert (out / "report.en.md").stat().st_size < 200_000
            found.append({file.path: file for file in report.implementation.files})
        kinds = [[edit.kind for edit in files["package/ops.py"].edits] for files in found]
        assert kinds == [["cast-removed"], ["cast-added"]]
        return found[0]

    return run


def kinds(file: FileChange) -> list[str]:
    return [edit.kind for edit in file.edits]


def notes(file: FileChange) -> str:
    """All notes of a file in English; each has to have a Chinese one."""
    assert all(note.en and note.zh for note in file.notes)
    return " ".join(note.en for note in file.notes)


# Sources


def test_sources_that_do_not_parse(analyzed):
    """Python 2 and broken sources have a note with the line; nothing is said of what they do."""
    old = "def f(x):\n    print x.float()\n"
    files = analyzed(
        {"two.py": old, "half.py": "def f(x):\n    return x\n"}, {"two.py": old * 2, "half.py": "def f(:\n"}
    )
    assert "two.py cannot be parsed (line 2)" in notes(files["two.py"])
    assert "half.py cannot be parsed (line 1)" in notes(files["half.py"])
    assert kinds(files["two.py"]) == kinds(files["half.py"]) == []


def test_merge_conflict(analyzed):
    """A committed conflict is named with its line, not only as a source that cannot be parsed."""
    torn = "def f(x):\n<<<<<<< ours\n    return x\n=======\n    return -x\n>>>>>>> theirs\n"
    files = analyzed({"torn.py": "def f(x):\n    return x\n"}, {"torn.py": torn})
    assert "unresolved merge conflict (line 2)" in notes(files["torn.py"])


def test_notebook(analyzed):
    """A notebook's outputs are never taken for code."""
    cell = '{"cells": [{"cell_type": "code", "source": ["x.float()"], "outputs": ["def g(x): return x.half()"]}]}'
    files = analyzed({"n.ipynb": cell}, {"n.ipynb": cell.replace("float", "half")})
    assert "A notebook" in notes(files["n.ipynb"]) and kinds(files["n.ipynb"]) == []


@pytest.mark.parametrize(
    "cookie, encoding",
    [("# -*- coding: latin-1 -*-\n", "latin-1"), ("#!/usr/bin/python\n# vim: set fileencoding=gbk :\n", "gbk")],
)
def test_declared_encoding(analyzed, cookie, encoding):
    """A declared encoding is followed, and nothing is noted."""
    word = "é" if encoding == "latin-1" else "温度"
    base = f"{cookie}def f(x):\n    return x.float(), '{word}'\n".encode(encoding)
    files = analyzed({"f.py": base}, {"f.py": base.replace(b".float()", b"")})
    (edit,) = files["f.py"].edits
    assert (edit.kind, edit.base_line) == ("cast-removed", 2 + cookie.count("\n"))
    assert notes(files["f.py"]) == ""


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_byte_order_marks(analyzed, encoding):
    """A mark is no part of the text, and UTF-16 with one is no binary file."""
    mark = "\ufeff".encode("utf-16-be") if encoding == "utf-16-be" else b""
    contents = ["torch==2.6.0\n", "torch==2.7.0\n"]
    base, head = ({"requirements.txt": mark + text.encode(encoding)} for text in contents)
    assert kinds(analyzed(base, head)["requirements.txt"]) == ["dependency-changed"]


def test_undeclared_bytes(analyzed):
    """Latin-1 without a declaration is read as far as it goes, and the reader is told."""
    base = "def f(x):\n    return x.float(), 'é'\n".encode("latin-1")
    files = analyzed({"f.py": base}, {"f.py": base.replace(b".float()", b"")})
    assert kinds(files["f.py"]) == ["cast-removed"]
    assert "Some bytes at head are no text" in notes(files["f.py"])


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(analyzed, end):
    """Lines are the same under every line end; a change of the ends alone is no edit."""
    base = "import os\n\n\ndef f(x):\n    return x.float()\n"
    files = analyzed(
        {"f.py": base.replace("\n", end), "g.py": base},
        {"f.py": base.replace(".float()", "").replace("\n", end), "g.py": base.replace("\n", end)},
    )
    assert [(edit.kind, edit.base_line) for edit in files["f.py"].edits] == [("cast-removed", 5)]
    assert kinds(files["g.py"]) == [] and notes(files["g.py"]) == ""


def test_form_feeds(analyzed):
    """A form feed before a definition is white space to Python."""
    base = "import os\n\f\n\fdef f(x):\n    return x.float()\n"
    files = analyzed({"f.py": base}, {"f.py": base.replace(".float()", "")})
    assert [(edit.kind, edit.head_line) for edit in files["f.py"].edits] == [("cast-removed", 4)]


def test_binaries_and_pointers(analyzed):
    """NUL bytes and pointers to large files are said, not parsed."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 3\n"
    files = analyzed(
        {"b.py": b"x = 1\0\n", "w.py": pointer.format("a" * 64)},
        {"b.py": b"x = 2\0\n", "w.py": pointer.format("b" * 64)},
    )
    assert files["b.py"].unread.en == "a binary file"
    assert files["w.py"].unread.en.startswith("a Git LFS pointer")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return " + "x + " * 3000 + "{}", id="a chain"),
        pytest.param("return " + "not " * 3000 + "{}", id="negations"),
        pytest.param("return " + "(" * 150 + "{}" + ")" * 150, id="brackets"),
        pytest.param("return " + "f(" * 150 + "{}" + ")" * 150, id="calls"),
        pytest.param("if x == 0:\n        y = {}\n" + BRANCHES, id="branches"),
        pytest.param("return x" + ".f()" * 3000 + "[{}]", id="methods"),
        pytest.param("return " + "x ** " * 3000 + "{}", id="powers"),
        pytest.param("return " + "lambda: " * 3000 + "{}", id="lambdas"),
    ],
)  # fmt: skip
def test_deep_nesting(analyzed, body):
    """Code that is nested deeper than Python's stack costs its file's facts at most."""
    source = "def deep(x):\n    " + body + "\n"
    files = analyzed({"deep.py": source.format(1)}, {"deep.py": source.format(2)})
    assert "deep.py" in files


def test_nested_loops_and_chains(analyzed):
    """What doubles with every level (loops are followed twice, a copy's operand is looked at twice) comes to an end."""
    loops = "".join(f"{'    ' * (n + 1)}for i{n} in x:\n" for n in range(40)) + "    " * 41 + "x.add_({})\n"
    copies = "def g(x):\n    y = x" + ".clone()" * 60 + "\n    y.add_({})\n    return y\n"
    source = "import torch\n\n\ndef f(x: torch.Tensor):\n" + loops + "\n\n" + copies
    files = analyzed({"loops.py": source.format(1, 1)}, {"loops.py": source.format(2, 2)})
    assert files["loops.py"].unread is None and notes(files["loops.py"]) == ""


def test_long_lines(analyzed):
    """A minified line of 300,000 characters is read like any other."""
    table = "T = [" + "1, " * 100_000 + "]\n"
    code = "def f(x):\n    return x.float()\n"
    files = analyzed({"m.py": table + code}, {"m.py": table.replace("1", "2", 1) + code.replace(".float()", "")})
    assert "cast-removed" in kinds(files["m.py"])


def test_generated_file(analyzed):
    """Of 50,000 generated lines the one function that differs is told."""
    one = "def f{0}(a, b):\n    c = a + {0}\n    d = c * b\n    return d.float()\n\n"
    base = "".join(one.format(n) for n in range(10_000))
    files = analyzed({"g.py": base}, {"g.py": base.replace("a + 77\n", "a - 77\n")})
    assert {(edit.kind, edit.symbol) for edit in files["g.py"].edits} == {("operator-changed", "f77")}


# Limits


def test_a_file_that_takes_too_long(analyzed, monkeypatch):
    """A file over its budget has a note in place of its facts."""
    monkeypatch.setattr(limits, "STEPS", 20_000)
    slow = ["def slow(a):\n" + "".join(f"    a = a * {n % k} + {n}\n" for n in range(400)) for k in (7, 5)]
    files = analyzed({"slow.py": slow[0]}, {"slow.py": slow[1]})
    assert "comparing its two sides takes too long" in notes(files["slow.py"])
    assert kinds(files["slow.py"]) == []


def test_more_than_fits_at_once(analyzed, monkeypatch):
    """Files that are too many for one go are read in groups, each of which has its facts."""
    monkeypatch.setattr(facts, "TOGETHER", 100)
    names = [f"many/m{n}.py" for n in range(6)]
    files = analyzed(dict.fromkeys(names, OPS["base"]), dict.fromkeys(names, OPS["head"]))
    assert all(kinds(files[name]) == ["cast-removed"] for name in names)


def test_too_many_functions_to_compare(analyzed, monkeypatch):
    """Where not all functions can be compared, that is said; rare statements still tell what was renamed."""
    monkeypatch.setattr(functions, "CANDIDATES", 10)
    common = "    y = x * 2\n    return y\n\n"
    base = "".join(f"def f{n}(x):\n{common}" for n in range(8)) + f"def old(x):\n    x = x.exp()\n{common}"
    head = "".join(f"def g{n}(x):\n{common}" for n in range(8)) + f"def new(x):\n    x = x.exp()\n{common}"
    files = analyzed({"f.py": base}, {"f.py": head})
    assert "not all were compared" in notes(files["f.py"])
    assert [edit.symbol for edit in files["f.py"].edits if edit.kind == "function-renamed"] == ["new"]


# Files


def test_modes_and_empty_files(analyzed, repository):
    """A change of the mode alone is said as that; an empty file is a file."""

    def executable():
        (repository.folder / "run.py").chmod(0o755)
        (repository.folder / "full.py").write_text("def f(x):\n    return x\n")
        (repository.folder / "empty.py").unlink()

    files = analyzed({"run.py": "x = 1\n", "full.py": "", "empty.py": ""}, executable)
    assert notes(files["run.py"]) == "Its mode changes from 644 to 755."
    assert kinds(files["full.py"]) == ["function-added"]
    assert (files["empty.py"].status, kinds(files["empty.py"])) == ("deleted", [])


def test_links(analyzed, repository):
    """A link is told by its target; what it points to is not opened, be it a file of the machine or a folder."""

    def links():
        for name, target in {"file.py": "/etc/passwd", "link.py": "package", "new.py": "package/ops.py"}.items():
            (repository.folder / name).unlink(missing_ok=True)
            (repository.folder / name).symlink_to(target)
        (repository.folder / "back.py").unlink()
        (repository.folder / "back.py").write_text("def f(x):\n    return x\n")

    def first():
        (repository.folder / "file.py").write_text("def f(x):\n    return x.float()\n")
        for name in ("link.py", "back.py"):
            (repository.folder / name).symlink_to("nowhere")

    files = analyzed(first, links)
    assert files["file.py"].unread.en == "a regular file, now a symbolic link to '/etc/passwd'"
    assert files["link.py"].unread.en == "a symbolic link to 'nowhere', now a symbolic link to 'package'"
    assert files["new.py"].unread.en == "a symbolic link to 'package/ops.py'"
    assert files["back.py"].unread.en == "a symbolic link to 'nowhere', now a regular file"


def test_submodules(analyzed, repository):
    """A submodule's bump and its removal are told by its commits, which need not be there."""

    def at(*commits: str):
        def set_them():
            repository.git("rm", "--cached", "-q", "--ignore-unmatch", "kept", "gone")
            for name, commit in zip(("kept", "gone"), commits, strict=False):
                repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit * 40},{name}")
                (repository.folder / name).mkdir(exist_ok=True)

        return set_them

    def second():
        (repository.folder / "gone").rmdir()
        at("3")()

    files = analyzed(at("1", "2"), second)
    assert files["kept"].unread.en == "a submodule at 1111111111, now a submodule at 3333333333"
    assert (files["gone"].status, files["gone"].unread.en) == ("deleted", "a submodule at 2222222222")


def test_moves(analyzed, repository):
    """An exact rename, one of the case alone, and a file that becomes a folder have no edits of their own."""
    body = "def f(x):\n    y = x.float()\n    return y * 2\n"

    def move():
        for old, new in {"a.py": "moved/a.py", "case.py": "Case.py", "tree.py": "tmp"}.items():
            (repository.folder / new).parent.mkdir(exist_ok=True)
            (repository.folder / old).rename(repository.folder / new)
        (repository.folder / "tree.py").mkdir()
        (repository.folder / "tmp").rename(repository.folder / "tree.py" / "inner.py")

    files = analyzed(
        {"a.py": body, "case.py": body.replace("2", "3"), "tree.py": body.replace("f(x)", "g(x)").replace("2", "4")},
        move,
    )
    assert files["moved/a.py"].previous_path == "a.py" and files["Case.py"].previous_path == "case.py"
    assert files["tree.py/inner.py"].previous_path == "tree.py"
    assert [kinds(files[name]) for name in ("moved/a.py", "Case.py", "tree.py/inner.py")] == [[], [], []]


@pytest.mark.parametrize(
    "name, shown",
    [
        (b"with space.py", "with space.py"),
        (b"line\nbreak.py", "line\nbreak.py"),
        (b"quo\"te's`$(x).py", "quo\"te's`$(x).py"),
        (b"tab\tand\\.py", "tab\tand\\.py"),
        (b"latin\xe9.py", "latin\\xe9.py"),
        ("温度.py".encode(), "温度.py"),
        (b":(glob)*.py", ":(glob)*.py"),
        (b"-n.py", "-n.py"),
    ],
)
def test_names_of_files(analyzed, repository, name, shown):
    """Whatever a file is called, its facts are told under that name."""
    path = Path(os.fsdecode(bytes(repository.folder) + b"/" + name))

    def write(content: str):
        return lambda: path.write_text(content)

    files = analyzed(write(OPS["base"].replace("scale", "other")), write(OPS["head"].replace("scale", "other")))
    assert kinds(files[shown]) == ["cast-removed"]


def test_hundreds_of_files(analyzed):
    """A change of hundreds of files has the facts of each, and a report of a size that can be read."""
    names = [f"many/part{n % 50}/m{n}.py" for n in range(300)]
    base = {name: f"def f{n}(x):\n    return x.float() + {n}\n" for n, name in enumerate(names)}
    head = {name: text.replace(".float()", "") for name, text in base.items()}
    files = analyzed(base, head)
    assert all(kinds(files[name]) == ["cast-removed"] for name in names)


def test_a_repository_without_python(repository, tmp_path, silent):
    """A change of no source at all has a report."""
    repository.commit({"LICENSE": "one\n"})
    repository.commit({"LICENSE": "two\n"})
    request = Request(revision="HEAD", flags={"device": "none"})
    assert pipeline.run(repository.folder, request, tmp_path / "out", silent).report.implementation.files
    assert subprocess.run(["git", "status", "--porcelain"], cwd=repository.folder, capture_output=True).stdout == b""

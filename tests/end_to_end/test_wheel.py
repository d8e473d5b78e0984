"""The built wheel, installed without torch into a fresh environment, does the static job outside the source tree."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("analyzer", "kernels", "rules", "templates", "pyproject.toml", "setup.py", "README.md")


def call(*command: object, cwd: Path, code: int = 0) -> str:
    ended = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr + ended.stdout
    return ended.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds the wheel and its base dependencies alone."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, source / part)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    call(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder / "dist", source, cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "environment", with_pip=False)
    python = folder / "environment" / "bin" / "python"
    call(*pip, "--python", python, "install", wheel, cwd=folder)
    return python.parent


def test_static_job(installed, repository, tmp_path):
    """The whole static job runs from the wheel, with its rules, templates and profiles."""
    where = call(installed / "python", "-c", "import analyzer; print(analyzer.__file__)", cwd=tmp_path)
    assert str(installed.parent) in where
    call(installed / "python", "-c", "import torch", cwd=tmp_path, code=1)
    repository.commit({"ops.py": "def f(x):\n    y = x.clone()\n    y.mul_(2)\n    return y\n"})
    repository.commit({"ops.py": "def f(x):\n    x.mul_(2)\n    return x\n"}, "In place")
    call(installed / "analyze", "main", "--repo", repository.folder, "--device", "none", "--out", "out", cwd=tmp_path)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["risk"]["level"] == "high"
    assert all((tmp_path / "out" / f"report.{lang}.md").read_text().startswith("> **") for lang in ("en", "zh"))


def test_without_torch(installed, repository, tmp_path):
    """Without torch the doctor says what to install, and a run with checks says why they did not run."""
    found = {one["what"]: one for one in json.loads(call(installed / "analyze", "doctor", "--json", cwd=tmp_path))}
    assert found["Git"]["ok"] and not found["torch"]["ok"]
    assert "pip install" in found["torch"]["detail"] and "pip install" in found["compiling for sm_90"]["detail"]
    repository.commit({"ops.py": "def f(x):\n    return x + 1\n", ".analyzer.yml": PROBE})
    repository.commit({"ops.py": "def f(x):\n    return x + 2\n"})
    call(installed / "analyze", "main", "--repo", repository.folder, "--out", "out", cwd=tmp_path)
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert [check["outcome"] for check in evidence["checks"]] == ["not-run"]
    assert "torch" in evidence["checks"][0]["reason"]["en"]


PROBE = """
probes:
  - name: f
    target: ops:f
    covers: [f]
    inputs: [{name: x, shape: [4]}]
    cases: {cpu: {rows: 4}}
    output: tensor
    checks: [mutation]
"""


def test_demos_files_are_installed(installed, tmp_path):
    """The demo's repository can be built from the wheel, and has the commits that it has everywhere."""
    program = "from pathlib import Path; from analyzer import demo; print(*demo.build(Path('demo'), demo.steps()))"
    built = call(installed / "python", "-c", program, cwd=tmp_path).split()
    here = call(sys.executable, "-c", program.replace("'demo'", "'here'"), cwd=tmp_path).split()
    assert built == here
    assert len(built) == 4

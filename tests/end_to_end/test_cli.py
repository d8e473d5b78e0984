"""The commands as a user meets them: output, files, exit codes, and one line for each mistake."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer import cli, pipeline
from analyzer.model.evidence import Evidence
from analyzer.model.report import Report

BASE = "import torch\n\n\ndef scale(x):\n    x = x.to(torch.float32, copy=True)\n    x.mul_(2.0)\n    return x\n"
HEAD = "import torch\n\n\ndef scale(x):\n    x.mul_(2.0)\n    return x\n"


@pytest.fixture
def change(repository, monkeypatch, tmp_path) -> Path:
    """A repository with one risky change; the working folder is another one."""
    repository.commit({"package/ops.py": BASE}, "Start")
    repository.commit({"package/ops.py": HEAD}, "Scale in place (#7)")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return repository.folder


def run(*arguments: object) -> int:
    return cli.invoke([str(argument) for argument in arguments])


def static(repository: Path, *more: object) -> int:
    return run("main", "--repo", repository, "--device", "none", *more)


def test_short_form_and_long_form(change, capsys):
    """`analyze REV` is `analyze run REV`, and so it is with the options first."""
    for arguments in (("main",), ("run", "main"), ("--device", "none", "main")):
        assert run(*arguments, "--repo", change, "--device", "none", "--out", "out") == 0
        assert "Scale in place" in capsys.readouterr().out
        assert {path.name for path in Path("out").iterdir()} == {"report.json", "report.en.md", "report.zh.md"}


def test_default_folder(change, repository):
    """Without --out the report goes to a folder that is named after head."""
    assert static(change) == 0
    assert (Path("reports") / repository.git("rev-parse", "main")[:10] / "report.json").exists()


def test_json(change, capsys):
    """--json prints the report, which validates, and nothing else on standard output."""
    assert static(change, "--json", "--out", "out") == 0
    out, err = capsys.readouterr()
    assert err == ""
    printed = Report.model_validate_json(out)
    assert printed == Report.model_validate_json(Path("out/report.json").read_text())
    assert printed.risk.level == "high"


@pytest.mark.parametrize(("level", "code"), [("low", 13), ("medium", 13), ("high", 13), ("critical", 0)])
def test_fail_on(change, level, code):
    """--fail-on gives the code of the risk there is, from that level on; the report is written all the same."""
    assert static(change, "--fail-on", level, "--out", "out") == code
    assert Path("out/report.en.md").exists()


def test_languages(change, capsys):
    """--lang chooses the terminal's language."""
    assert static(change, "--lang", "zh", "--out", "out") == 0
    assert re.search("[\u4e00-\u9fff]", capsys.readouterr().out)
    assert static(change, "--lang", "en", "--out", "out") == 0
    assert not re.search("[\u4e00-\u9fff]", capsys.readouterr().out)


def test_stages_one_by_one(change, capsys):
    """plan and report give the same report as the whole job; the bundle is all that report needs."""
    assert static(change, "--out", "whole") == 0
    assert run("plan", "main", "--repo", change, "-o", "b.tar.gz") == 0
    assert "digest" in capsys.readouterr().out
    assert run("report", "b.tar.gz", "--out", "parts") == 0
    whole, parts = (json.loads(Path(folder, "report.json").read_text()) for folder in ("whole", "parts"))
    for part in ("subject", "implementation", "risk", "related", "callers"):
        assert parts[part] == whole[part]


def test_conversation(change, capsys):
    """--pr-json gives the report its title, and the state that the PR is in."""
    Path("pr.json").write_text(json.dumps({"number": 7, "title": "Told otherwise", "state": "open", "comments": []}))
    assert static(change, "--pr-json", "pr.json", "--json") == 0
    subject = json.loads(capsys.readouterr().out)["subject"]
    assert (subject["title"], subject["state"], subject["pr"]) == ("Told otherwise", "open", 7)


CONVERSATIONS = [
    ('{"number": 7, "title": 3}', "title"),
    ('{"number": 7, "title": "half a pair \\ud800"}', "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[]", "no number"),
]


@pytest.mark.parametrize(("content", "said"), CONVERSATIONS, ids=["title", "surrogate", "deep", "list"])
def test_conversations_that_are_none(change, capsys, content, said):
    """A file that holds no conversation is refused in one line, before any check runs."""
    Path("pr.json").write_text(content)
    assert static(change, "--pr-json", "pr.json") == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


FIGURES = [
    '"delta": {"rows": NaN}',
    '"delta": {"rows": "many"}',
    '"head": {"ms": Infinity}',
    '"base": {"output_aliases": 1}',
    '"margin": NaN',
]


@pytest.mark.parametrize("figures", FIGURES)
def test_figures_that_are_none(change, capsys, figures):
    """Evidence with a figure that no report can calculate with is refused by its name."""
    assert run("plan", "main", "--repo", change, "-o", "b.tar.gz") == 0
    reason = '{"en": "", "zh": ""}'
    record = f'{{"check": "latency", "probe": "", "symbol": "f", "outcome": "fail", "reason": {reason}, {figures}}}'
    Path("e.json").write_text(f'{{"schema_version": 1, "bundle": "{"0" * 64}", "checks": [{record}]}}')
    assert run("report", "b.tar.gz", "e.json", "--out", "out") == 2
    assert re.search(r"e\.json: checks\.0\.(delta|head|base|margin): ", capsys.readouterr().err)


def test_checks_that_no_probe_asks_for(change, capsys):
    """--only with a check that the change does not call for gives a report that says that nothing was measured."""
    assert run("main", "--repo", change, "--device", "cpu", "--only", "latency", "--json", "--out", "out") == 0
    assert json.loads(capsys.readouterr().out)["not_measured"]


MISTAKES = [
    (("nowhere",), 3, "unknown revision 'nowhere'"),
    (("main", "--base", "main"), 3, "empty diff"),
    (("main", "--repo", "absent"), 3, "no repository at"),
    (("main", "--repo", "/"), 3, "no repository at"),
    (("run", "--", "--upload-pack=x"), 2, "not a revision"),
    (("main", "--profile", "nothing"), 2, "no profile 'nothing'"),
    (("main", "--device", "tpu"), 2, "--device"),
    (("main", "--budget", "soon"), 2, "--budget"),
    (("main", "--fail-on", "none"), 2, "--fail-on"),
    (("main", "--seed", "x"), 2, "--seed"),
    (("main", "--nonsense"), 2, "--nonsense"),
    (("main", "--pr-json", "absent.json"), 2, "absent.json"),
    (("main", "--only", "kept-sets"), 2, "no check 'kept-sets'"),
    (("plan", "main", "-o", "package"), 2, "cannot write to package: Is a directory"),
    (("check", "file", "-o", "package"), 2, "cannot write to package: Is a directory"),
    (("main", "--out", "file/below"), 2, "cannot write to file/below"),
    (("run",), 2, "REV"),
    (("check", "file", "-o", "e.json"), 2, "file: not a"),
    (("check", "absent", "-o", "e.json"), 2, "absent: No such file"),
    (("report", "file"), 2, "file: not a"),
    (("rules", "nothing"), 2, "no rule 'nothing'"),
    (("profiles", "nothing"), 2, "no profile 'nothing'"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), MISTAKES)
def test_mistakes(change, capsys, monkeypatch, arguments, code, said):
    """Each mistake is one line on standard error and its exit code, and no report is begun."""
    monkeypatch.chdir(change)
    Path("file").write_text("no bundle")
    assert run(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1 and err.startswith("analyze: ")
    assert not list(change.rglob("report.json"))


def test_no_permission_to_write(change, capsys, monkeypatch):
    """A folder that cannot be written to is refused before the work starts."""
    monkeypatch.setattr(pipeline.planning, "make", lambda *_: pytest.fail("the work had started"))
    Path("file").write_text("")
    assert static(change, "--out", "file") == 2
    assert "cannot write to file" in capsys.readouterr().err


def test_evidence_of_another_bundle(change, capsys):
    """Evidence counts for the bundle that it was measured on, and for no other."""
    assert run("plan", "main", "--repo", change, "-o", "b.tar.gz") == 0
    digest = json.loads(capsys.readouterr().out.split()[-1].join('""'))
    Evidence(bundle="0" * 64).dump(Path("other.json"))
    assert run("report", "b.tar.gz", "other.json", "--out", "out") == 2
    assert re.search(rf"bundle 000000000000, this is bundle {digest}", capsys.readouterr().err)
    Path("broken.json").write_text('{"schema_version": 1}')
    assert run("report", "b.tar.gz", "broken.json", "--out", "out") == 2
    assert "broken.json: bundle: Field required" in capsys.readouterr().err


def test_our_own_failure(change, capsys, monkeypatch):
    """What nobody foresaw is one line and exit code 1; with ANALYZER_DEBUG it is a traceback."""
    monkeypatch.setattr(pipeline, "run", lambda *_: 1 / 0)
    assert static(change) == 1
    assert re.fullmatch(r"analyze: ZeroDivisionError: .*ANALYZER_DEBUG=1.*\n", capsys.readouterr().err)
    monkeypatch.setenv("ANALYZER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        static(change)


def test_catalogues(capsys):
    """Rules and profiles can be listed, and each shown in full."""
    assert run("rules") == 0
    listed = capsys.readouterr().out
    assert "low-precision-round-trip" in listed
    assert run("rules", "low-precision-round-trip") == 0
    assert "Instead:" in capsys.readouterr().out
    assert run("profiles") == 0
    assert "generic" in capsys.readouterr().out
    assert run("profiles", "generic") == 0


def test_help_and_version(capsys):
    """Help names every command, and the version is one line."""
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("run", "plan", "check", "report", "doctor", "demo", "rules", "profiles"))
    assert run() == 2
    assert capsys.readouterr().out == shown
    assert run("--version") == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_a_termination_leaves_nothing(change, tmp_path):
    """A run that is told to end leaves no scratch folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = "import os, signal; from analyzer import cli, pipeline\n"
    code += "pipeline.planning.make = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\ncli.main()"
    command = [sys.executable, "-c", code, "main", "--repo", str(change)]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(scratch)}, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (143, b"")
    assert not list(scratch.iterdir())

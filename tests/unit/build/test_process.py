"""Child processes: their environment, how they are told things, and how their end is reported."""

import os
import sys
import time
from pathlib import Path

import pytest

from analyzer.build import isolation, procfs
from analyzer.build.process import Child, ChildEnded, Limits, capabilities
from analyzer.errors import AnalyzerError
from analyzer.model.evidence import Isolation

NO_LIMITS = Limits()
LEVELS = [pytest.param(True, id="isolated"), pytest.param(False, id="bare")]


@pytest.fixture
def start(tmp_path):
    """Start Python code as a child; whatever is left is ended with the test."""
    children = []

    def begin(code: str, isolated: bool = False, limits: Limits = NO_LIMITS, **env: str) -> Child:
        level = capabilities() if isolated else Isolation()
        child = Child.start([sys.executable, "-c", code], tmp_path, env, tmp_path / "log", limits, level)
        children.append(child)
        return child

    yield begin
    for child in children:
        child.kill()


@pytest.mark.parametrize("isolated", LEVELS)
@pytest.mark.parametrize(
    ("code", "kind", "number", "name"),
    [
        ("pass", "exit", 0, ""),
        ("raise SystemExit(3)", "exit", 3, ""),
        ("import os; os.kill(os.getpid(), 11)", "signal", -11, "SIGSEGV"),
        ("import os; os.abort()", "signal", -6, "SIGABRT"),
    ],
)
def test_the_end_is_told_apart(start, isolated, code, kind, number, name):
    """Exit codes and signals come back as such, with and without a namespace and its shell in between."""
    ended = start(code, isolated).wait(20)
    assert (ended.kind, ended.code, ended.signal_name, ended.out_of_memory) == (kind, number, name, False)


@pytest.mark.parametrize("isolated", LEVELS)
def test_lines_reach_the_child_and_its_output_the_log(start, isolated):
    """Lines sent, a long one too, are read in order; stdout and stderr are in the log; the tail is cut in bytes."""
    child = start("import sys\nfor line in sys.stdin: print(len(line), file=sys.stderr, flush=True)", isolated)
    for line in ("ab", "x" * 300_000, "ü\n"):
        child.send(line)
    deadline = time.monotonic() + 20
    while child.log_tail(1000).count("\n") < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert child.log_tail(1000).split() == ["3", "300001", "2"] and child.log_tail(2) == "2\n"
    assert child.poll() is None


def test_sending_to_a_dead_child_says_how_it_ended(start):
    """A line for a child that has ended raises ChildEnded with its end."""
    child = start("raise SystemExit(5)")
    child.wait(20)
    with pytest.raises(ChildEnded) as error:
        child.send("anyone?")
    assert error.value.ended.code == 5


def test_a_child_that_does_not_read_is_ended(start):
    """A full pipe does not hang the parent: after its time the child is ended."""
    child = start("import time; time.sleep(60)")
    with pytest.raises(ChildEnded) as error:
        child.send("x" * 1_000_000, timeout=0.3)
    assert error.value.ended.kind == "timeout" and child.poll() is error.value.ended


@pytest.mark.parametrize("isolated", LEVELS)
def test_kill_and_the_end_of_a_block(tmp_path, isolated):
    """`kill` ends a running child and is the block's end; it changes nothing about a child that has ended."""
    level = capabilities() if isolated else Isolation()
    with Child.start(["sleep", "60"], tmp_path, {}, tmp_path / "log", Limits(), level) as child:
        assert child.poll() is None
    assert child.poll().kind == "killed"
    child.kill()
    assert child.poll().kind == "killed"


def test_only_listed_variables_are_inherited(start, monkeypatch):
    """Of our environment a child gets the list and CUDA_*, never a name that looks secret; what is given wins."""
    planted = ("GITHUB_TOKEN", "NVIDIA_API_KEY", "CUDA_CACHE_TOKEN", "PYTHONPATH", "LD_PRELOAD_X", "SSH_AUTH_SOCK")
    for name in planted:
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    child = start("import os; print(dict(os.environ))", TRITON_CACHE_DIR="/x", LANG="C")
    child.wait(20)
    seen = eval(child.log_tail(10_000))
    assert not set(planted) & set(seen) and "planted" not in seen.values()
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["TRITON_CACHE_DIR"], seen["LANG"]) == ("0", "/x", "C")
    assert seen["HOME"] == seen["TMPDIR"] != os.environ["HOME"]


def test_home_is_the_first_writable_folder(tmp_path):
    """HOME and TMPDIR are scratch: the first writable folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = ["/bin/sh", "-c", "echo $HOME $TMPDIR"]
    child = Child.start(command, tmp_path, {}, tmp_path / "log", Limits(), Isolation(), [], [scratch])
    child.wait(20)
    assert child.log_tail(1000).split() == [str(scratch)] * 2


def test_what_cannot_be_started_is_said(tmp_path):
    """No folder is an error of ours; no program is the child's end, with the reason in its log."""
    with pytest.raises(AnalyzerError, match="cannot start"):
        Child.start(["true"], tmp_path / "none", {}, tmp_path / "log", Limits(), Isolation())
    child = Child.start(["/no/such/program"], tmp_path, {}, tmp_path / "log", Limits(), capabilities())
    assert child.wait(20).code == 127 and "/no/such/program" in child.log_tail(1000)


@pytest.mark.parametrize(
    "make", [os.symlink, os.link, lambda _, path: os.mkfifo(path)], ids=["symlink", "link", "pipe"]
)
def test_a_log_that_a_child_has_replaced_is_not_followed(tmp_path, make):
    """A child may put a link or a pipe where its log was: the next one does not write there, and no tail is read."""
    command, log, target = ["/bin/sh", "-c", "echo one"], tmp_path / "log", tmp_path / "target"
    child = Child.start(command, tmp_path, {}, log, Limits(), Isolation())
    child.wait(20)
    assert child.log_tail(100) == "one\n"
    log.unlink()
    target.write_text("ours")
    make(target, log)
    assert child.log_tail(100) == ""
    with pytest.raises(AnalyzerError, match="cannot start"):
        Child.start(command, tmp_path, {}, log, Limits(), Isolation())
    assert target.read_text() == "ours"


def test_the_kernels_own_memory_killer_is_recognised(start, monkeypatch):
    """A SIGKILL that is not ours counts as out of memory only where the kernel's count of such kills has grown."""
    for kills, expected in ((7, False), (8, True)):
        counts = iter([7, kills])
        monkeypatch.setattr(procfs, "oom_kills", lambda counts=counts: next(counts))
        ended = start("import os; os.kill(os.getpid(), 9)").wait(20)
        assert (ended.signal_name, ended.out_of_memory) == ("SIGKILL", expected)


def test_capabilities_say_what_is_missing_and_why(monkeypatch, tmp_path):
    """Where the tools are not there nothing is claimed, and each thing that cannot be had has its reason."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = capabilities.__wrapped__(sys.executable)
    assert not (found.pid_namespace or found.network_namespace or found.other_user)
    told = "\n".join(remark.en for remark in found.missing)
    assert "no process namespace (unshare is not installed" in told and "no network namespace (unshare" in told
    assert "the same user (" in told


def test_every_capability_is_had_or_missing_with_a_reason():
    """On this machine, whatever it is: what is not there is named."""
    found = capabilities()
    for had, name in (
        (found.pid_namespace, "no process namespace ("),
        (found.network_namespace, "no network namespace ("),
        (found.other_user, "the same user ("),
    ):
        assert had != any(one.en.startswith(name) and len(one.en) > len(name) for one in found.missing)


def test_a_closed_folder_on_the_way_is_named(tmp_path):
    """An interpreter or source that the other user cannot reach is found by its folder, not by trying alone."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path(folder.anchor):
            folder.chmod(folder.stat().st_mode | 0o011)
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0o700)
    assert isolation.open_to_other(closed / "inner") == f"{closed.resolve()} is not open to it"
    (tmp_path / "file").touch(0o600)
    assert isolation.open_to_other(tmp_path / "file") == f"{(tmp_path / 'file').resolve()} is not readable for it"


def test_without_proc_nothing_is_seen_and_nothing_breaks(start, monkeypatch, tmp_path):
    """Where there is no /proc the group alone is ended, and limits that need it do nothing."""
    monkeypatch.setattr(procfs, "PROC", tmp_path / "none")
    assert procfs.processes() == [] and procfs.memory([os.getpid()]) == 0 and procfs.oom_kills() == 0
    child = start("import time; time.sleep(60)", limits=Limits(memory_bytes=1, processes=0))
    assert child.wait(0.3).kind == "timeout"


@pytest.mark.skipif(not procfs.is_readable(), reason="there is no /proc")
def test_memory_counts_what_is_used_not_what_is_reserved(start):
    """1 GiB of reserved addresses is nothing; 64 MiB written are 64 MiB."""
    code = """
import mmap, sys
reserved = mmap.mmap(-1, 2**30)
print("reserved", flush=True); sys.stdin.readline()
used = bytearray(b"x" * 2**26)
print("used", flush=True); sys.stdin.readline()
"""
    child = start(code)
    seen = []
    for word in ("reserved", "used"):
        while word not in child.log_tail(100):
            time.sleep(0.01)
        seen.append(procfs.memory([child.pid]))
        child.send("go on")
    assert seen[0] < 2**28 and 2**26 <= seen[1] - seen[0] < 2**28

"""Children that mean harm, as real processes: each is denied or ended, and the parent goes on.

Each test also runs without isolation where that shows that the attack works: a test that could not fail proves nothing.
Where this machine cannot isolate, the reason must be among what `capabilities` calls missing.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from analyzer.build import isolation, procfs
from analyzer.build.process import Child, Limits, capabilities
from analyzer.model.evidence import Isolation

NO_LIMITS = Limits()
LEVELS = [pytest.param(True, id="isolated"), pytest.param(False, id="bare")]
needs_proc = pytest.mark.skipif(not procfs.is_readable(), reason="there is no /proc")


@pytest.fixture
def start(tmp_path):
    """Start Python code as a child; whatever is left is ended with the test."""
    children = []

    def begin(code: str, isolated: bool, limits: Limits = NO_LIMITS) -> Child:
        level = capabilities() if isolated else Isolation()
        child = Child.start([sys.executable, "-c", code], tmp_path, {}, tmp_path / "log", limits, level)
        children.append(child)
        return child

    yield begin
    for child in children:
        child.kill()


SNOOP = """
import glob
found = []
for path in glob.glob("/proc/[0-9]*/environ") + ["/proc/self/environ"]:
    try:
        found += [path] if b"planted_secret" in open(path, "rb").read() else []
    except OSError:
        pass
print("found" if found else "nothing")
"""

PARENT = """
import json, sys
from pathlib import Path
from analyzer.build.process import Child, Limits
from analyzer.model.evidence import Isolation
folder, level, code = Path(sys.argv[1]), Isolation(**json.loads(sys.argv[2])), sys.argv[3]
with Child.start([sys.executable, "-c", code], folder, {}, folder / "log", Limits(), level) as child:
    child.wait(20)
    print(child.log_tail(1000))
"""


def test_a_token_of_an_ancestor_cannot_be_read(tmp_path):
    """A token in the environment of the analyzer is neither in the child's nor, in a namespace, in any it can see."""

    def snoop(level: Isolation) -> str:
        command = [
            sys.executable,
            "-c",
            PARENT,
            str(tmp_path),
            json.dumps(level.model_dump(exclude={"missing"})),
            SNOOP,
        ]
        environment = {**os.environ, "GITHUB_TOKEN": "planted_secret"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60).stdout.split()[-1]

    level = capabilities()
    if level.pid_namespace:
        assert snoop(level) == "nothing"
    else:
        assert any(line.en.startswith("no process namespace: ") for line in level.missing)
    if procfs.is_readable():
        assert snoop(Isolation()) == "found"  # what the namespace is for


@pytest.mark.parametrize("isolated", LEVELS)
def test_no_network(start, isolated):
    """A child in a network namespace reaches not even a server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)"
        child = start(code, isolated)
        got_through = child.wait(20).code == 0
    if isolated and capabilities().network_namespace:
        assert not got_through and "unreachable" in child.log_tail(1000)
    else:
        assert got_through
        assert not isolated or any(line.en.startswith("no network namespace (") for line in capabilities().missing)


SURVIVOR = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:  # its parent ends: it has no session, group or ancestor of ours, and keeps the log open
        while True:
            with open("beats", "a") as beats:
                beats.write("x")
            time.sleep(0.01)
    os._exit(0)
while not os.path.exists("beats"):
    time.sleep(0.01)
{then}
"""


@needs_proc
@pytest.mark.parametrize("isolated", LEVELS)
@pytest.mark.parametrize("then", ["print('done')", "time.sleep(60)"])
def test_a_survivor_in_its_own_session_is_ended(start, tmp_path, isolated, then):
    """What a child leaves behind is ended with it, whether it ends by itself or in time, and nobody waits for it."""
    started = time.monotonic()
    ended = start(SURVIVOR.format(then=then), isolated).wait(1)
    assert ended.kind == ("exit" if "done" in then else "timeout")
    assert time.monotonic() - started < 10
    size = (tmp_path / "beats").stat().st_size
    time.sleep(0.2)
    assert size > 0 and (tmp_path / "beats").stat().st_size == size


@pytest.mark.parametrize("isolated", LEVELS)
def test_a_hang_that_ignores_signals_is_ended(start, tmp_path, isolated):
    """A child that ignores every signal it can is ended when its time is over."""
    code = """
import signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
open("ready", "w").close()
time.sleep(60)
"""
    child = start(code, isolated)
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    started = time.monotonic()
    assert child.wait(0.2).kind == "timeout" and time.monotonic() - started < 5


@needs_proc
@pytest.mark.parametrize("isolated", LEVELS)
def test_filling_memory_is_out_of_memory(start, isolated):
    """A child, or what it started, over its memory limit is ended and called out of memory."""
    code = "import os\nos.fork()\nkept = []\nwhile True: kept.append(b'x' * 2**20)"
    ended = start(code, isolated, Limits(memory_bytes=200 * 2**20)).wait(20)
    assert (ended.kind, ended.out_of_memory) == ("killed", True) and "209715200 bytes" in ended.reason


@needs_proc
@pytest.mark.parametrize("isolated", LEVELS)
def test_a_fork_bomb_is_bounded(start, isolated):
    """More processes than allowed end all of them, and none is left."""
    child = start("import os\nwhile True: os.fork()", isolated, Limits(processes=30))
    assert child.wait(60).reason == "more than 30 processes"
    assert not {process.session for process in procfs.processes() if process.state != "Z"} & {child.pid}


@pytest.mark.parametrize("isolated", LEVELS)
def test_files_and_the_log_are_bounded(start, tmp_path, isolated):
    """No file of a child grows over the limit, its log included."""
    limits = Limits(file_bytes=100 * 1024)
    start("open('big', 'wb').write(b'x' * 10**7)", isolated, limits).wait(20)
    start("while True: print('x' * 1000)", isolated, limits).wait(20)
    assert (tmp_path / "big").stat().st_size <= 100 * 1024
    assert 0 < (tmp_path / "log").stat().st_size <= 100 * 1024


@pytest.mark.parametrize("isolated", LEVELS)
def test_processor_time_is_bounded(start, isolated):
    """A child that computes for longer than its processor time is ended by the signal of that limit."""
    assert start("while True: pass", isolated, Limits(cpu_seconds=1)).wait(20).signal_name == "SIGXCPU"


def test_another_user_cannot_read_what_is_ours():
    """As another user a child reads no private file of ours, holds no capability, and can write its own folder."""
    level = capabilities("/bin/sh")
    if not level.other_user:
        assert any(line.en.startswith("the same user (") for line in level.missing)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "closed" / "work"
        folder.mkdir(mode=0o700, parents=True)
        (Path(name) / "closed").chmod(0o700)
        secret = Path(name) / "secret"
        secret.write_text("private")
        secret.chmod(0o600)
        os.link(secret, folder / "linked")
        code = f"cat {secret} linked; id -u; grep CapEff /proc/self/status; echo mine > made"
        with Child.start(
            ["/bin/sh", "-c", code], folder, {}, Path(name) / "log", Limits(), level, [], [folder]
        ) as child:
            assert child.wait(20).code == 0
        told = child.log_tail(1000)
        assert "private" not in told and str(isolation.OTHER_USER) in told and "CapEff:\t0000000000000000" in told
        assert (folder / "made").stat().st_uid == isolation.OTHER_USER
        assert secret.stat().st_uid == os.geteuid()


@pytest.mark.skipif(not procfs.is_readable(), reason="there is no /proc")
def test_an_isolated_child_holds_no_capability(start):
    """Root of a namespace could mount or trace: a child of one has no capability and cannot gain any."""
    child = start("print(open('/proc/self/status').read())", True)
    child.wait(20)
    if capabilities().pid_namespace:
        lines = dict(line.split(":\t") for line in child.log_tail(10_000).splitlines() if ":\t" in line)
        assert int(lines["CapEff"], 16) == int(lines["CapBnd"], 16) == 0 and lines["NoNewPrivs"] == "1"
    else:
        assert any(line.en.startswith("no process namespace: ") for line in capabilities().missing)

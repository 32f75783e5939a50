"""Mechanisms of isolation, refusals without them, and leftovers, of which there are none."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ohr.sandbox import UNSAFE, Isolation, Limits, Sandbox, SandboxError, isolation, readings, starting
from ohr.sandbox.inside import kernel, seccomp
from ohr.sandbox.values import NEEDED, WORDS

from .conftest import HONEST, WEAKER, WITHOUT_ALL, processes, settled

SMALL = Limits(seconds=2, modules=("math",))


def test_each_mechanism_is_reported_as_working_or_with_a_reason():
    found = isolation()
    assert {*found.works, *found.lacks} == set(WORDS)
    assert all(found.lacks.values())
    assert str(found).count("\n") == len(WORDS)


def test_a_mechanism_that_is_left_out_is_reported(here):
    with Sandbox(SMALL, workers=1, without=("namespaces",)) as sandbox:
        assert sandbox.isolation.lacks == {"namespaces": "left out"}
        assert sandbox.isolation.suffices


@pytest.mark.parametrize("name", NEEDED)
def test_without_the_filter_or_the_limits_programs_are_refused(name):
    with pytest.raises(SandboxError, match=f"cannot be isolated on this machine: no {name} .left out.; run them on"):
        Sandbox(SMALL, workers=1, without=(name,))


def test_where_nothing_works_programs_are_refused_and_run_only_by_the_words():
    with pytest.raises(SandboxError) as error:
        Sandbox(SMALL, workers=1, without=WITHOUT_ALL)
    assert f'or pass unsafe="{UNSAFE}"' in str(error.value)
    with Sandbox(SMALL, workers=1, without=WITHOUT_ALL, unsafe=UNSAFE) as sandbox:
        assert not sandbox.isolation.works
        assert [outcome.number for outcome in sandbox.run([HONEST])] == [42]


def test_the_words_do_not_switch_off_what_works(here):
    with Sandbox(SMALL, workers=1, unsafe=UNSAFE) as sandbox:
        assert sandbox.isolation == here


def test_an_attack_that_succeeds_is_a_reason_to_refuse():
    held = Isolation(NEEDED, {})
    broken = Isolation(NEEDED, {}, broken="a program could open a socket")
    assert (held.suffices, broken.suffices) == (True, False)
    assert str(broken).startswith("programs cannot be isolated on this machine: a program could open a socket; run")


@pytest.mark.parametrize("without", [(), *WEAKER.values()], ids=["everything", *WEAKER])
def test_walls_do_not_change_an_honest_result(without, here):
    program = (
        "import numpy, datetime\ndef solution():\n    return numpy.arange(7).sum() + datetime.date(2024, 2, 1).day\n"
    )
    with Sandbox(workers=1, without=without) as sandbox:
        assert [outcome.number for outcome in sandbox.run([program, program])] == [22, 22]


def test_without_a_root_of_its_own_no_file_can_be_opened(here):
    with Sandbox(SMALL, workers=1, without=("namespaces",)) as sandbox:
        assert not sandbox.isolation.files
        (outcome,) = sandbox.run(["def solution(): return open('x', 'w').write('x')"])
        assert outcome.error == "PermissionError: [Errno 1] Operation not permitted: 'x'"


@pytest.mark.parametrize("without", [(), *WEAKER.values(), WITHOUT_ALL], ids=["everything", *WEAKER, "nothing"])
def test_no_process_and_no_folder_is_left(without, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    with Sandbox(SMALL, workers=2, without=without, unsafe=UNSAFE) as sandbox:
        assert len(settled(sandbox)) >= 3
        name = sandbox._processes.name.encode()
        list(sandbox.run(["def solution(): return open('x', 'w').write('x')"] * 3))
    assert list(tmp_path.iterdir()) == []
    assert not [file for file in Path("/proc").glob("[0-9]*/cmdline") if name in _read(file)]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def test_processes_end_with_the_process_that_uses_them(here):
    script = (
        "from ohr.sandbox import Limits, Sandbox\n"
        "sandbox = Sandbox(Limits(seconds=60), workers=2)\n"
        "print(sandbox._processes.name, flush=True)\n"
        "list(sandbox.run(['while True: pass'] * 2))\n"
    )
    user = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    name = user.stdout.readline().strip()
    user.kill()
    user.wait()
    user.stdout.close()
    deadline = time.monotonic() + 20
    while found := [file for file in Path("/proc").glob("[0-9]*/cmdline") if name in _read(file)]:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def test_a_lost_sandbox_costs_the_programs_in_it_and_starts_again(here):
    with Sandbox(SMALL, workers=1) as sandbox:
        settled(sandbox)
        os.killpg(sandbox._processes.starter.pid, signal.SIGKILL)
        (lost,) = sandbox.run([HONEST])
        assert (lost.how, lost.error) == ("killed", "the process that ran it was lost")
        assert [outcome.number for outcome in sandbox.run([HONEST])] == [42]


def test_an_interpreter_that_does_not_start_is_named(monkeypatch):
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(SandboxError, match="the sandbox's interpreter ended at its start: "):
        Sandbox(SMALL, workers=1)


def test_an_interpreter_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(SandboxError, match=r"interpreter does not start: .*No such file.*/nowhere/python"):
        Sandbox(SMALL)
    assert list(tmp_path.iterdir()) == []


def test_a_system_without_fork_is_refused(monkeypatch):
    monkeypatch.delattr(os, "fork")
    with pytest.raises(SandboxError, match="needs a Unix system"):
        Sandbox(SMALL, unsafe=UNSAFE)


@pytest.mark.parametrize(("owner", "name", "value"), [(sys, "platform", "darwin"), (sys, "maxsize", 2**31 - 1)])
def test_other_machines_have_no_filter(owner, name, value, monkeypatch):
    monkeypatch.setattr(owner, name, value)
    with pytest.raises(OSError, match="needs 64-bit Linux on x86_64 or aarch64"):
        seccomp.Filter(files=False)


def test_libseccomp_knows_every_call_on_the_list(here):
    filter = seccomp.Filter(files=True)
    unknown = [
        name
        for name in (*seccomp.PLAIN, *seccomp.FILES)
        if filter.library.seccomp_syscall_resolve_name(name.encode()) == -1
    ]
    assert unknown == []


def test_a_call_that_the_system_lacks_is_an_error_of_the_system():
    with pytest.raises(OSError, match="no_such_call: Function not implemented"):
        kernel.call("no_such_call")


def _begin_with(monkeypatch, line: str) -> None:
    monkeypatch.setattr(
        starting, "_BOOT", starting._BOOT.replace("from inside.starter", f"{line}; from inside.starter")
    )


def test_without_libseccomp_programs_are_refused_with_the_name_of_the_package(monkeypatch):
    _begin_with(monkeypatch, "from inside import seccomp; seccomp.LIBRARY = 'libseccomp.so.no-such-version'")
    with pytest.raises(SandboxError) as error:
        Sandbox(SMALL, workers=1)
    reason = "no seccomp (libseccomp is not installed; apt-get install libseccomp2 installs it); run them on Linux"
    assert str(error.value).startswith(f"programs cannot be isolated on this machine: {reason}")


def test_namespaces_without_a_right_to_mount_leave_the_other_walls(here, monkeypatch):
    _begin_with(monkeypatch, "from inside import walls; walls._PLACE = '/no/such/place'")
    with Sandbox(SMALL, workers=2) as sandbox:
        assert "mount" in sandbox.isolation.lacks["namespaces"] or "namespaces" not in here.works
        assert sandbox.isolation.suffices
        outcomes = list(sandbox.run([HONEST, "def solution(): return open('x', 'w').write('x')"] * 3))
    assert [outcome.number for outcome in outcomes] == [42, None] * 3


def test_a_program_whose_walls_did_not_go_up_stops_the_run():
    with pytest.raises(SandboxError, match="was not run, since it could not be isolated: unshare: No memory"):
        readings.outcome((256, 0.1, 0.1, "unshare: No memory"), b"", SMALL)


SCANNER = """
import random, re
os = random._os
sys = os.sys
modules = sys.modules
kernel, ctypes, gc = modules["inside.kernel"], modules["ctypes"], modules["gc"]
libc = kernel._LIBC
libc.sbrk.restype = ctypes.c_void_p
pattern = re.compile(rb"RESIDUE-[0-9a-f]{16}")

def solution():
    gc.unfreeze()
    objects, found = gc.get_objects(), set()
    chunks = {id(o) >> 20 for o in objects} | {id(v) >> 20 for o in objects if type(o) is dict for v in o.values()}
    top = libc.sbrk(0) >> 20
    chunks |= set(range(top - 64, top + 1))
    scanned = 0
    with open("memory", "w+b", buffering=0) as file:
        for page in (c << 20 | p << 12 for c in chunks for p in range(256)):
            if libc.write(file.fileno(), ctypes.c_void_p(page), 4096) == 4096:
                file.seek(0)
                found |= {m.decode() for m in pattern.findall(file.read(4096))}
                scanned += 1
            file.seek(0)
    return scanned, sorted(found - {"RESIDUE-" + "0" * 16})
"""


def test_a_program_finds_nothing_of_earlier_programs_in_its_memory(here):
    if not here.files:
        pytest.skip("the scan of the memory needs a file")
    marker = f"RESIDUE-{secrets.token_hex(8)}"
    left = f"def solution():\n    return '{marker}' * 100\n"
    with Sandbox(Limits(seconds=30, cpu_seconds=30), workers=1) as sandbox:
        own = SCANNER + f"OWN = '{marker}'\n"
        before, _, after = sandbox.run([own, left, SCANNER])
    scanned, found = eval(before.value)
    assert scanned > 1000
    assert found == [marker]
    assert eval(after.value)[1] == []


def test_a_sandbox_counts_its_own_processes(here):
    with Sandbox(SMALL, workers=2) as sandbox:
        assert settled(sandbox) == processes(sandbox)

"""The filter of system calls that libseccomp makes, run by a small interpreter of BPF."""

import ctypes
import platform
import struct
import tempfile
from errno import ENOTTY, EPERM

import pytest

from ohr.sandbox.inside import seccomp

ALLOWED, KILLED = "allowed", "killed"
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

pytestmark = pytest.mark.skipif(platform.machine() not in AUDIT, reason="the test knows no name of this machine")


def run(program: bytes, number: int, *arguments: int, audit: int | None = None) -> str | int:
    """Return what a filter makes of a call: allowed, killed, or the error number."""
    audit = AUDIT[platform.machine()] if audit is None else audit
    data = struct.pack("<iIQ6Q", number, audit, 0, *(*arguments, *[0] * (6 - len(arguments))))
    lines = [struct.unpack_from("HBBI", program, place) for place in range(0, len(program), 8)]
    value, at = 0, 0
    while True:
        operation, if_true, if_false, operand = lines[at]
        at += 1
        match operation:
            case 0x05:
                at += operand
            case 0x06:
                return {0x7FFF0000: ALLOWED, 0: KILLED}.get(operand, operand & 0xFFFF)
            case 0x20:
                value = struct.unpack_from("<I", data, operand)[0]
            case 0x54:
                value &= operand
            case 0x15 | 0x25 | 0x35:
                holds = {0x15: value == operand, 0x25: value > operand, 0x35: value >= operand}[operation]
                at += if_true if holds else if_false
            case _:
                raise AssertionError(f"operation {operation:#x}")


@pytest.fixture(scope="module", params=[False, True], ids=["no files", "files"])
def files(request, here) -> bool:
    return request.param


def build(*, files: bool) -> bytes:
    """Return the filter as BPF instructions."""
    made = seccomp.Filter(files=files)
    with tempfile.TemporaryFile() as file:
        assert made.library.seccomp_export_bpf(made.context, file.fileno()) == 0
        file.seek(0)
        return file.read()


def number(name: str) -> int:
    """Return the number of a call; below 0 where this machine has no such call."""
    return ctypes.CDLL(seccomp.LIBRARY).seccomp_syscall_resolve_name(name.encode())


def ask(name: str, *arguments: int, files: bool = True) -> str | int:
    return run(build(files=files), number(name), *arguments)


@pytest.mark.parametrize("name", ["socket", "clone", "kill", "mount", "unshare", "prctl", "seccomp", "capset"])
def test_calls_off_the_list_fail(name, files):
    assert ask(name, files=files) == EPERM


def test_all_calls_on_the_list_are_allowed_and_no_other_number(files):
    named = {*seccomp.PLAIN, "mmap", "mprotect", *((*seccomp.FILES, "open", "openat") if files else ())}
    program = build(files=files)
    allowed = {number for number in range(1024) if run(program, number) == ALLOWED}
    allowed -= {number("fcntl")}  # of which some commands are
    assert allowed == {number(name) for name in named if number(name) >= 0}


def test_calls_of_another_machine_end_the_process(files):
    for audit in {0x40000003, 0x40000028, *AUDIT.values()} - {AUDIT[platform.machine()]}:
        assert run(build(files=files), 0, audit=audit) == KILLED


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other machines have no such calls")
def test_calls_by_x32_end_the_process(files):
    assert run(build(files=files), 0x40000000 + 39) == KILLED


@pytest.mark.parametrize("name", ["mmap", "mprotect"])
def test_memory_is_never_code(name, files):
    assert [ask(name, 0, 4096, bits, files=files) for bits in (3, 4, 5, 7)] == [ALLOWED, EPERM, EPERM, EPERM]


def test_files_are_opened_only_where_something_else_confines_them(here):
    assert ask("openat", files=False) == EPERM
    assert ask("openat", -100 & 0xFFFFFFFF, 0, 0o1101) == ALLOWED


def test_files_without_a_name_or_rights_are_not_opened(here):
    assert ask("openat", 0, 0, 0o10000000) == EPERM
    assert ask("openat", 0, 0, 0o20200002) == EPERM


def test_questions_about_paths_need_a_root_of_its_own(here):
    assert ask("newfstatat", files=False) == EPERM
    assert ask("newfstatat") == ALLOWED


def test_no_file_gets_an_owner_whom_it_signals(files):
    answers = {command: ask("fcntl", 3, command, files=files) for command in range(16)}
    assert [command for command, answer in answers.items() if answer == ALLOWED] == [0, 1, 2, 3]
    assert ask("ioctl", 1, 0x5401, files=files) == ENOTTY

"""The filter of system calls, run by a small interpreter of BPF, for both machines."""

import re
import struct
from errno import ENOTTY, EPERM
from pathlib import Path

import pytest

from ohr.sandbox.inside import kernel, seccomp

ALLOWED, KILLED = "allowed", "killed"
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
HEADERS = (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm-generic/unistd.h"))


def run(program: bytes, number: int, *arguments: int, audit: int) -> str | int:
    """Return what a filter makes of a call: allowed, killed, or the error number."""
    data = struct.pack("<iIQ6Q", number, audit, 0, *(*arguments, *[0] * (6 - len(arguments))))
    lines = [struct.unpack_from("HBBI", program, place) for place in range(0, len(program), 8)]
    value, at = 0, 0
    while True:
        operation, if_true, if_false, operand = lines[at]
        at += 1
        match operation:
            case 0x20:
                value = struct.unpack_from("<I", data, operand)[0]
            case 0x06:
                return {0x7FFF0000: ALLOWED, 0x80000000: KILLED}.get(operand, operand & 0xFFFF)
            case 0x15 | 0x35 | 0x45:
                holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[operation]
                at += if_true if holds else if_false
            case _:
                raise AssertionError(f"operation {operation:#x}")


@pytest.fixture(params=MACHINES)
def machine(request, monkeypatch):
    column, audit = MACHINES[request.param]
    monkeypatch.setattr(kernel, "machine", lambda: column)
    return audit


def ask(machine: int, name: str, *arguments: int, files: bool = True, looks: bool = False) -> str | int:
    number = kernel.number(name)
    assert number is not None
    return run(seccomp.build(files=files, looks=looks), number, *arguments, audit=machine)


def test_calls_on_the_list_are_allowed(machine):
    names = [name for name in seccomp.PLAIN if kernel.number(name) is not None]
    assert {name: ask(machine, name, files=False) for name in names} == dict.fromkeys(names, ALLOWED)


@pytest.mark.parametrize("name", ["socket", "clone", "kill", "mount", "unshare", "prctl", "seccomp", "capset"])
def test_calls_off_the_list_fail(name, machine):
    assert ask(machine, name, looks=True) == EPERM


def test_no_other_number_is_allowed(machine):
    program = seccomp.build(files=True, looks=True)
    named = {*seccomp.PLAIN, *seccomp.FILES, *seccomp.LOOKS, "mmap", "mprotect", "open", "openat"}
    allowed = {number for number in range(1024) if run(program, number, audit=machine) == ALLOWED}
    allowed -= {kernel.number("fcntl")}  # of which some commands are
    assert allowed == {kernel.number(name) for name in named} - {None}


def test_calls_of_another_machine_end_the_process(machine):
    program = seccomp.build(files=True, looks=True)
    for audit in (0x40000003, 0x40000028, *(other for _, other in MACHINES.values() if other != machine)):
        assert run(program, 0, audit=audit) == KILLED


def test_calls_by_x32_end_the_process(machine):
    assert run(seccomp.build(files=True, looks=True), 0x40000000 + 39, audit=machine) == KILLED


@pytest.mark.parametrize("name", ["mmap", "mprotect"])
def test_memory_is_never_code(name, machine):
    assert [ask(machine, name, 0, 4096, bits) for bits in (3, 4, 5, 7)] == [ALLOWED, EPERM, EPERM, EPERM]


def test_files_are_opened_only_where_something_else_confines_them(machine):
    assert ask(machine, "openat", files=False) == EPERM
    assert ask(machine, "openat", -100 & 0xFFFFFFFF, 0, 0o1101) == ALLOWED


def test_files_without_a_name_or_rights_are_not_opened(machine):
    assert ask(machine, "openat", 0, 0, 0o10000000) == EPERM
    assert ask(machine, "openat", 0, 0, 0o20200002) == EPERM


def test_questions_about_paths_need_a_root_of_its_own(machine):
    assert ask(machine, "newfstatat") == EPERM
    assert ask(machine, "newfstatat", looks=True) == ALLOWED


def test_no_file_gets_an_owner_whom_it_signals(machine):
    answers = {command: ask(machine, "fcntl", 3, command) for command in range(16)}
    assert [command for command, answer in answers.items() if answer == ALLOWED] == [0, 1, 2, 3]
    assert ask(machine, "ioctl", 1, 0x5401) == ENOTTY


def test_numbers_are_those_of_the_headers():
    if not all(header.exists() for header in HEADERS):
        pytest.skip("the headers of Linux are not installed")
    x86, generic = (header.read_text() for header in HEADERS)
    for name, (first, second) in kernel.CALLS.items():
        assert _defined(x86, name) == first, name
        if name == "newfstatat":  # the generic header has it under another name on 64 bits
            name = "fstatat"
        assert _defined(generic, name) == second, name


def _defined(header: str, name: str) -> int | None:
    found = re.search(rf"#define __NR(?:3264)?_{name}\s+(\d+)", header)
    return int(found[1]) if found else None

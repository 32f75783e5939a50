"""Programs that try to reach out of the sandbox, to outlast it, or to confuse it, by kind and name.

A program that gets what it should not returns ESCAPED, or the content of a file that it must not read, or leaves a
trace that the tests look for. Where it fails it may end in any way. Words between at signs are filled in by the tests.
"""

PRELUDE = """\
import math, numpy
_os = next(c for c in object.__subclasses__() if c.__name__ == "_wrap_close").__init__.__globals__
sys = _os["sys"]
modules = sys.modules
os, kernel, ctypes, io = modules["os"], modules["inside.kernel"], modules["ctypes"], modules["io"]
libc = kernel._LIBC
def raw(number, *given):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(g) if isinstance(g, int) else g for g in given])
    error = ctypes.get_errno()
    return "ESCAPED" if result >= 0 or error not in (1, 38) else f"error {error}"
def forged(**fields):
    given = {"how": "returned", "value": "'FORGED'", "number": 7.0, "kind": "str", "error": None, **fields}
    return modules["json"].dumps(given).encode()
"""
"""The usual way around any list of imports; what follows has all of os and of the kernel's calls at hand."""


def _returning(expression: str) -> str:
    return f"{PRELUDE}def solution():\n    return {expression}\n"


def _doing(*lines: str) -> str:
    return PRELUDE + "def solution():\n" + "".join(f"    {line}\n" for line in lines)


def _escaping(*lines: str) -> str:
    """Return a program that says ESCAPED if its lines raise nothing."""
    return _doing(*lines, "return 'ESCAPED'")


def _forking(call: str) -> str:
    """Return a program that makes a process by a call of the kernel."""
    return _doing(f"child = {call}", "if child == 0: os._exit(0)", "return 'ESCAPED' if child > 0 else 0")


READING = {
    "open /etc/passwd": _returning("open('/etc/passwd').read() and 'ESCAPED'"),
    "open a canary in /tmp": _returning("open('@CANARY@').read()"),
    "open a canary at home": _returning("open('@HOME@').read()"),
    "open by many steps up": _returning("open('../' * 30 + '@CANARY@').read()"),
    "os.open": _returning("os.read(os.open('@CANARY@', os.O_RDONLY), 100)"),
    "open without following paths": _escaping("os.open('@CANARY@', os.O_PATH)"),
    "io.FileIO": _returning("io.FileIO('@CANARY@').readall()"),
    "numpy.fromfile": _returning("bytes(numpy.fromfile('@CANARY@', dtype='u1'))"),
    "numpy.memmap": _returning("bytes(numpy.memmap('@CANARY@', dtype='u1', mode='r'))"),
    "numpy.load": _returning("numpy.load('@CANARY@', allow_pickle=True)"),
    "C's open": _escaping("assert libc.open(b'@CANARY@', 0) >= 0"),
    "the old open call": _escaping("assert libc.syscall(2, b'@CANARY@', 0) >= 0"),
    "openat2": _returning("raw(437, -100, b'@CANARY@', bytes(24), 24)"),
    "open by handle": _returning("raw(304, -100, bytes(128), 0)"),
    "list the root": _escaping("names = os.listdir('/')", "assert 'etc' in names"),
    "list /tmp": _escaping("assert os.listdir('/tmp')"),
    "the size of a file": _returning("'ESCAPED' if os.stat('@CANARY@').st_size else 0"),
    "whether a file may be read": _returning("'ESCAPED' if os.access('@CANARY@', os.R_OK) else 0"),
    "a symbolic link": _doing("os.symlink('@CANARY@', 'link')", "return open('link').read()"),
    "a hard link": _doing("os.link('@CANARY@', 'link')", "return open('link').read()"),
    "read a link": _returning("'ESCAPED' if os.readlink('/proc/self/exe') else 0"),
    "change folder": _doing("os.chdir('/')", "return open('@CANARY@'.lstrip('/')).read()"),
    "the way up from a folder": _doing(
        "up = os.open('../../../../..', os.O_RDONLY)",
        "return os.read(os.open('@CANARY@'.lstrip('/'), os.O_RDONLY, dir_fd=up), 100)",
    ),
    "change the root": _doing(
        "open('d', 'w')", "os.mkdir('e')", "os.chroot('e')", "os.chdir('../../..')", "return open('@CANARY@').read()"
    ),
    "own environment": _returning("repr(dict(os.environ))"),
    "/proc/self/environ": _escaping("assert open('/proc/self/environ').read()"),
    "/proc/self/root": _returning("open('/proc/self/root@CANARY@').read()"),
    "/proc/self/maps": _escaping("open('/proc/self/maps').read()"),
    "the test's environment": _returning("open('/proc/@PARENT@/environ').read()"),
    "the test's memory": _escaping("open('/proc/@PARENT@/mem', 'rb').read(1)"),
    "files that are open already": _doing(
        "found = []",
        "for n in [0, 1, 2, *range(4, 300)]:",
        "    try:",
        "        os.lseek(n, 0, 0)",
        "        found.append(os.read(n, 1000))",
        "    except OSError:",
        "        pass",
        "assert any(found)",
        "return 'ESCAPED'",
    ),
    "load a module from a file": _doing(
        "loader = modules['importlib._bootstrap_external'].SourceFileLoader('x', '@CANARY@')",
        "return loader.get_data('@CANARY@')",
    ),
    "import from a folder": _doing(
        "sys.path.append('@OUTSIDE@')", "return modules['importlib'].import_module('canary').token"
    ),
    "a device": _escaping("open('/dev/zero', 'rb').read(1)"),
}

WRITING = {
    "open for writing": _escaping("open('@OUTSIDE@/new', 'w').write('x')"),
    "change a file": _escaping("open('@CANARY@', 'a').write('x')"),
    "delete a file": _escaping("os.unlink('@CANARY@')"),
    "truncate a file": _escaping("os.truncate('@CANARY@', 0)"),
    "make a folder": _escaping("os.mkdir('@OUTSIDE@/folder')"),
    "delete a folder": _escaping("os.rmdir('@OUTSIDE@/empty')"),
    "rename a file": _escaping("os.rename('@CANARY@', '@OUTSIDE@/renamed')"),
    "a link to the outside": _escaping("os.symlink('x', '@OUTSIDE@/link')"),
    "a pipe with a name": _escaping("os.mkfifo('@OUTSIDE@/pipe')"),
    "a device file": _returning("raw(133, b'@OUTSIDE@/device', 0o20666, 259)"),
    "change rights": _escaping("os.chmod('@CANARY@', 0o600)"),
    "change the owner": _escaping("os.chown('@CANARY@', 1, 1)"),
    "change times": _escaping("os.utime('@CANARY@', (1, 1))"),
    "extended attributes": _escaping("os.setxattr('@CANARY@', 'user.x', b'x')"),
    "a file without a name": _escaping("os.open('@OUTSIDE@', os.O_TMPFILE | os.O_WRONLY)"),
    "numpy.save": _escaping("numpy.save('@OUTSIDE@/array.npy', numpy.arange(3))"),
    "C's creat": _escaping("assert libc.creat(b'@OUTSIDE@/created', 0o666) >= 0"),
    "a socket file": _doing("s = modules['socket'].socket(1)", "s.bind('@OUTSIDE@/socket')", "return 'ESCAPED'"),
    "one huge file": _doing(
        "with open('huge', 'wb') as f:",
        "    for _ in range(100): f.write(bytes(1 << 20))",
        "return 'ESCAPED'",
    ),
    "a hundred files": _doing(
        "for n in range(100): open(f'file{n}', 'wb').write(bytes(1 << 20))",
        "modules['time'].sleep(0.2)",
        "return 'ESCAPED'",
    ),
    "files without an end": _doing("n = 0", "while True:", "    open(str(n), 'w').write('x')", "    n += 1"),
}

PROCESSES = {
    "fork": _doing("if os.fork() == 0: os._exit(0)", "os.wait()", "return 'ESCAPED'"),
    "fork, and stay": _doing("if os.fork() == 0: modules['time'].sleep(3)", "return 'ESCAPED'"),
    "fork bomb": _doing("for _ in range(5): os.fork()", "modules['time'].sleep(0.3)", "return 'ESCAPED'"),
    "fork bomb that tries again": _doing(
        "n = 0",
        "for _ in range(100):",
        "    try: n += 1 if os.fork() == 0 else 2",
        "    except OSError: pass",
        "    if n: break",
        "return 'ESCAPED' if n else 0",
    ),
    "the fork call": _forking("libc.syscall(57)"),
    "the vfork call": _forking("libc.syscall(58)"),
    "the clone call": _forking("libc.syscall(56, 0x11, 0, 0, 0, 0)"),
    "the clone3 call": _forking("libc.syscall(435, (17).to_bytes(40, 'little') + bytes(48), 88)"),
    "C's fork": _escaping("assert libc.fork() >= 0"),
    "a daemon": _doing(
        "if os.fork() == 0:",
        "    os.setsid()",
        "    if os.fork(): os._exit(0)",
        "    open('@OUTSIDE@/daemon', 'w')",
        "    modules['time'].sleep(3)",
        "return 'ESCAPED'",
    ),
    "os.system": _escaping("assert os.system('echo x > @OUTSIDE@/system') == 0"),
    "C's system": _escaping("assert libc.system(b'echo x > @OUTSIDE@/system') == 0"),
    "os.popen": _returning("os.popen('cat @CANARY@').read()"),
    "posix_spawn": _escaping("os.posix_spawn('/bin/sh', ['sh', '-c', 'echo x > @OUTSIDE@/spawned'], {})"),
    "exec": _doing("os.execv('/bin/sh', ['sh', '-c', 'echo x > @OUTSIDE@/executed'])"),
    "execveat": _returning("raw(322, -100, b'/bin/sh', 0, 0, 0)"),
    "a program in memory": _doing(
        "there = os.memfd_create('x')", "os.write(there, b'#!/bin/sh\\necho x')", "return 'ESCAPED'"
    ),
    "a thread": _doing(
        "modules['_thread'].start_new_thread(lambda: None, ())", "modules['time'].sleep(0.1)", "return 'ESCAPED'"
    ),
    "a new session": _escaping("os.setsid()"),
    "a new group": _escaping("os.setpgid(0, os.getppid())"),
}

SIGNALS = {
    "kill the parent": _escaping("os.kill(os.getppid(), 9)"),
    "stop the parent": _escaping("os.kill(os.getppid(), 19)"),
    "end the parent": _escaping("os.kill(os.getppid(), 15)"),
    "signal the test": _escaping("os.kill(@PARENT@, 10)"),
    "signal the first process": _escaping("os.kill(1, 15)"),
    "reach all processes": _escaping("os.kill(-1, 0)"),
    "signal the group": _escaping("os.killpg(os.getpgid(os.getppid()), 10)"),
    "tgkill": _returning("raw(234, os.getppid(), os.getppid(), 10)"),
    "tkill": _returning("raw(200, os.getppid(), 10)"),
    "rt_sigqueueinfo": _returning("raw(129, os.getppid(), 10, bytes(128))"),
    "pidfd": _returning("raw(434, os.getppid(), 0)"),
    "pidfd_send_signal": _returning("raw(424, 3, 10, 0, 0)"),
    "a file that signals its owner": _doing(
        "fcntl = modules.get('fcntl')",
        "result = libc.fcntl(3, 8, os.getppid())",
        "return 'ESCAPED' if result >= 0 else 0",
    ),
    "a file that signals by ioctl": _doing(
        "who = ctypes.c_int(os.getppid())", "return 'ESCAPED' if libc.ioctl(3, 0x8901, ctypes.byref(who)) >= 0 else 0"
    ),
    "trace the parent": _returning("raw(101, 16, os.getppid(), 0, 0)"),
    "read the parent's memory": _returning("raw(310, os.getppid(), bytes(16), 1, bytes(16), 1, 0)"),
    "write the parent's memory": _returning("raw(311, os.getppid(), bytes(16), 1, bytes(16), 1, 0)"),
    "limits of the parent": _returning("raw(302, os.getppid(), 7, 0, bytes(16))"),
    "raise the own limits": _escaping(
        "r = modules['resource']", "r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))"
    ),
    "priority of the parent": _escaping("os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)"),
    "cores of the parent": _escaping("os.sched_setaffinity(os.getppid(), {0})"),
    "a signal at the parent's end": _returning("raw(157, 1, 10, 0, 0, 0)"),
}

NETWORK = {
    "connect by TCP": _doing("s = modules['socket'].socket()", "s.connect(('127.0.0.1', @PORT@))", "return 'ESCAPED'"),
    "connect by the kernel's calls": _doing(
        "s = libc.socket(2, 1, 0)",
        "to = (2).to_bytes(2, 'little') + (@PORT@).to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8)",
        "return 'ESCAPED' if s >= 0 and libc.connect(s, to, 16) == 0 else 0",
    ),
    "send by UDP": _doing(
        "s = modules['socket'].socket(2, 2)", "s.sendto(b'x', ('127.0.0.1', @PORT@))", "return 'ESCAPED'"
    ),
    "connect over IPv6": _escaping("modules['socket'].socket(10).connect(('::1', @PORT@))"),
    "an abstract Unix socket": _escaping("modules['socket'].socket(1).connect('\\x00@ABSTRACT@')"),
    "a raw socket": _escaping("modules['socket'].socket(2, 3, 1)"),
    "a packet socket": _escaping("modules['socket'].socket(17, 3, 768)"),
    "a netlink socket": _escaping("modules['socket'].socket(16, 3, 0)"),
    "a socket for cryptography": _escaping("modules['socket'].socket(38, 5, 0)"),
    "a socket to the host of a virtual machine": _escaping("modules['socket'].socket(40, 1, 0)"),
    "a pair of sockets": _escaping("modules['socket'].socketpair()"),
    "listen": _doing("s = modules['socket'].socket()", "s.bind(('127.0.0.1', 0))", "s.listen()", "return 'ESCAPED'"),
    "look up a name": _escaping("assert modules['socket'].getaddrinfo('localhost', 80)"),
    "sockets that are open already": _doing(
        "for n in [0, 1, 2, *range(3, 300)]:",
        "    if libc.send(n, b'x', 1, 0) >= 0: return 'ESCAPED'",
        "return 0",
    ),
    "receive the sandbox's files": _returning("raw(47, 3, bytes(56), 0)"),
}

KERNEL = {
    "users of its own": _returning("raw(272, 0x10000000)"),
    "namespaces of its own": _returning("raw(272, 0x6c020000)"),
    "another namespace": _returning("raw(308, 3, 0)"),
    "mount": _returning("raw(165, b'none', b'/', b'tmpfs', 0, 0)"),
    "unmount": _returning("raw(166, b'/', 2)"),
    "mount by the new calls": _returning("raw(430, b'tmpfs', 0)"),
    "pivot_root": _returning("raw(155, b'.', b'.')"),
    "become root": _returning("raw(105, 0)"),
    "capabilities": _returning("raw(126, (0x20080522).to_bytes(8, 'little'), bytes(24))"),
    "a second filter": _returning("raw(317, 1, 0, 0)"),
    "bpf": _returning("raw(321, 0, bytes(64), 64)"),
    "perf_event_open": _returning("raw(298, bytes(128), 0, -1, -1, 0)"),
    "userfaultfd": _returning("raw(323, 1)"),
    "io_uring": _returning("raw(425, 1, bytes(120))"),
    "keys": _returning("raw(250, 0, -1, 0)"),
    "a new key": _returning("raw(248, b'user', b'x', b'x', 1, -2)"),
    "load a kernel module": _returning("raw(175, bytes(1), 1, b'')"),
    "kexec": _returning("raw(246, 0, 1, bytes(32), 0)"),
    "reboot": _returning("raw(169, 0, 0, 0)"),
    "swap": _returning("raw(167, b'/x', 0)"),
    "set the clock": _returning("raw(227, 99, bytes(16))"),
    "host name": _returning("raw(170, b'', -1)"),
    "kernel log": _returning("raw(103, 10, 0, 0)"),
    "shared memory": _returning("raw(29, 0, 4096, 0o1600)"),
    "a message queue": _returning("raw(240, b'x', 0o102, 0o600, 0)"),
    "a semaphore": _returning("raw(64, 0, 1, 0o1600)"),
    "personality": _returning("raw(135, 0x0400000)"),
    "ports": _returning("raw(173, 0, 1, 1)"),
    "watch files": _returning("raw(300, 0, 0)"),
    "secret memory": _returning("raw(447, 0)"),
    "Landlock again": _returning("raw(446, 3, 0)"),
    "timers that signal": _returning("raw(222, 0, 0, bytes(8))"),
    "a call by x32": _doing("libc.syscall(ctypes.c_long(0x40000000 + 39))", "return 'ESCAPED'"),
    "machine code": _doing(
        "there = libc.mmap", "there.restype = ctypes.c_void_p",
        "place = there(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))",
        "return 'ESCAPED' if place not in (None, 2**64 - 1) else 0",
    ),
    "memory that becomes machine code": _doing(
        "place = libc.mmap", "place.restype = ctypes.c_void_p",
        "at = place(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))",
        "return 'ESCAPED' if libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(4096), 5) == 0 else 0",
    ),
}  # fmt: skip

MEMORY = {
    "one large object": _doing("b = bytearray(100 << 20)", "return 'ESCAPED'"),
    "many objects": _doing("b = [bytes(1000) for _ in range(150_000)]", "return 'ESCAPED'"),
    "an array that is filled": _doing("a = numpy.ones(15_000_000)", "return 'ESCAPED'"),
    "a mapping": _doing(
        "m = libc.mmap", "m.restype = ctypes.c_void_p",
        "at = m(None, ctypes.c_size_t(1 << 32), 3, 0x22, -1, ctypes.c_long(0))",
        "return 'ESCAPED' if at not in (None, 2**64 - 1) else 0",
    ),
    "again after each MemoryError": _doing(
        "kept, n = [], 0",
        "while n < 300:",
        "    try: kept.append(bytes(1 << 20)); n += 1",
        "    except MemoryError: modules['time'].sleep(0.01)",
        "return 'ESCAPED'",
    ),
    "a string that doubles": _doing("s = 'x'", "while len(s) < 300 << 20: s += s", "return 'ESCAPED'"),
    "a number without an end": _doing("return 'ESCAPED' if 9 ** 9 ** 9 else 0"),
    "deep recursion": _doing("def f(): return f()", "return f()"),
    "recursion without a limit": _doing("sys.setrecursionlimit(10 ** 9)", "def f(n): return f(n + 1)", "return f(0)"),
    "recursion on the C stack": _doing(
        "sys.setrecursionlimit(10 ** 9)", "a = []", "for _ in range(10 ** 6): a = [a]", "return repr(a)[:5]"
    ),
    "nested source text": _returning("eval('(' * 5000 + ')' * 5000)"),
    "a segmentation fault": _returning("ctypes.string_at(1)"),
    "an abort": _doing("os.abort()"),
    "broken byte code": _doing("f = lambda: 0", "f.__code__ = f.__code__.replace(co_code=b'\\x64\\xff' * 8)", "f()"),
}  # fmt: skip

TIME = {
    "an endless loop": _doing("while True: pass"),
    "an endless loop at the top": f"{PRELUDE}while True: pass\n",
    "an endless sleep": _doing("modules['time'].sleep(10 ** 6)"),
    "a loop that catches all": _doing("while True:", "    try:", "        while True: pass", "    except: pass"),
    "a loop that ignores signals": _doing(
        "s = modules['_signal']",
        "for n in range(1, 65):",
        "    try: s.signal(n, s.SIG_IGN)",
        "    except (OSError, ValueError): pass",
        "while True: pass",
    ),
    "a loop that blocks signals": _doing(
        "s = modules['_signal']", "s.pthread_sigmask(0, range(1, 65))", "while True: pass"
    ),
    "a loop after the result is closed": _doing("os.close(3)", "while True: pass"),
    "a loop that writes to the lane": _doing("while True: os.write(4, b'x' * 65536)"),
    "a sleep that seems to have ended": _doing("os.close(4)", "modules['time'].sleep(10 ** 6)"),
    "one slow operation": _returning("sum(range(10 ** 12))"),
    "a slow pattern": _doing("import re", "return re.match('(a+)+$', 'a' * 60 + 'b')"),
    "a slow repr": _doing("class A:", "    def __repr__(self):", "        while True: pass", "return A()"),
    "a slow float": _doing("class A:", "    def __float__(self):", "        while True: pass", "return A()"),
    "a slow message": _doing("class E(Exception):", "    def __str__(self):", "        while True: pass", "raise E"),
    "an endless list": _doing("import itertools", "for n in itertools.count(): pass"),
}

OUTPUT = {
    "print 10 MB": _doing("for _ in range(10_000): print('x' * 1000)", "return 'printed'"),
    "write 10 MB to stdout": _doing("for _ in range(10_000): os.write(1, b'x' * 1000)", "return 'printed'"),
    "write to stderr without an end": _doing("while True: sys.stderr.write('x' * 1000)"),
    "write to stdout without an end": _doing("while True: os.write(1, b'x' * 65536)"),
    "write to the result without an end": _doing("while True: os.write(3, b'x' * 65536)"),
    "write 10 MB to the result": _doing("for _ in range(10): os.write(3, b'x' * (1 << 20))"),
    "return 10 MB": _returning("'x' * 10_000_000"),
    "return a long list": _returning("list(range(1_000_000))"),
    "return characters that JSON makes long": _returning("chr(1) * 1_000_000"),
    "raise 10 MB": _doing("raise ValueError('x' * 10_000_000)"),
    "leave with 10 MB": _doing("sys.exit('x' * 10_000_000)"),
    "a type with a long name": _returning("type('x' * 1_000_000, (), {})()"),
    "half a character": _returning("'\\ud800 half'"),
}

FORGERY = {
    "a result of its own": _doing("os.write(3, forged())", "os._exit(0)"),
    "a result and more": _doing("os.write(3, forged())", "return 1"),
    "two results": _doing("os.write(3, forged() + forged())", "os._exit(0)"),
    "a result to all files": _doing(
        "for n in range(300):",
        "    try: os.write(n, forged())",
        "    except OSError: pass",
        "os._exit(0)",
    ),
    "no JSON": _doing("os.write(3, b'{')", "os._exit(0)"),
    "no text": _doing("os.write(3, b'\\xff\\xfe\\x00' * 100)", "os._exit(0)"),
    "JSON of other types": _doing("os.write(3, forged(value=[1], kind={}, error=5))", "os._exit(0)"),
    "a number that is text": _doing("os.write(3, forged(number='seven'))", "os._exit(0)"),
    "a number beyond floats": _doing("os.write(3, forged(number=10 ** 400))", "os._exit(0)"),
    "a number with many digits": _doing(
        "os.write(3, forged(number=0)[:-1] + b', \"x\": ' + b'9' * 9999 + b'}')", "os._exit(0)"
    ),
    "deep JSON": _doing("os.write(3, b'[' * 50_000)", "os._exit(0)"),
    "an ending of its own": _doing("os.write(3, forged(how='timeout'))", "os._exit(0)"),
    "an ending that is a list": _doing("os.write(3, forged(how=[]))", "os._exit(0)"),
    "that it was not isolated": _doing("os.write(3, b'\\0it was not isolated')", "os._exit(1)"),
    "a lane's report": _doing("os.write(3, bytes(25) + forged())", "os._exit(0)"),
    "nothing": _doing("os._exit(0)"),
    "nothing, and a status": _doing("os._exit(77)"),
    "a closed result": _doing("os.close(3)", "return 1"),
    "another json.dumps": _doing("modules['json'].dumps = lambda *_, **__: 'ESCAPED'", "return 1"),
    "other builtins": _doing(
        "b = modules['builtins']", "b.repr = b.str = b.type = b.isinstance = b.len = lambda *_: 1 / 0", "return 1"
    ),
    "another runner": _doing("modules['inside.programs'].describe = lambda *_: {'how': 'ESCAPED'}", "return 1"),
    "another end": _doing("os._exit = lambda _: None", "return 'FORGED'"),
    "frames of the runner": _doing(
        "frame, found = sys._getframe(), []",
        "while frame:",
        "    found += [v for v in frame.f_locals.values() if isinstance(v, modules['socket'].socket)]",
        "    frame = frame.f_back",
        "sent = [s.send(bytes(25) + forged()) for s in found]",
        "return 'ESCAPED' if sent else 0",
    ),
    "objects of the lane": _doing(
        "modules['gc'].unfreeze()",
        "found = [o for o in modules['gc'].get_objects() if isinstance(o, modules['socket'].socket)]",
        "sent = [s.send(bytes(25) + forged()) for s in found]",
        "return 'ESCAPED' if sent else 0",
    ),
    "the lane once more": _doing(
        "frame = sys._getframe()",
        "while 'line' not in frame.f_locals: frame = frame.f_back",
        "modules['inside.lane'].serve(*map(frame.f_locals.get, ('line', 'task', 'walls')))",
        "return 'ESCAPED'",
    ),
    "a trace of the runner": _doing("sys.settrace(lambda *_: 1 / 0)", "sys.setprofile(lambda *_: 1 / 0)", "return 1"),
    "no recursion left": _doing("sys.setrecursionlimit(40)", "return 1"),
    "no modules left": _doing("modules.clear()", "return 1"),
}

RESULTS = {
    "a repr that raises": _doing("class A:", "    def __repr__(self): raise SystemExit('x')", "return A()"),
    "a float that raises": _doing("class A:", "    def __float__(self): raise KeyboardInterrupt", "return A()"),
    "a float that is none": _doing("class A:", "    def __float__(self): return 'x'", "return A()"),
    "a false class": _doing("class A:", "    __class__ = float", "return A()"),
    "a type without a name": _doing(
        "class M(type):", "    @property", "    def __name__(cls): raise SystemExit", "return M('A', (), {})()"
    ),
    "an exception without a message": _doing("class E(Exception):", "    def __str__(self): 1 / 0", "raise E"),
    "a new base exception": _doing("class E(BaseException): pass", "raise E('x')"),
    "an exception that is none": _doing("raise 5"),
    "sys.exit": _doing("sys.exit(0)"),
    "an interrupt": _doing("raise KeyboardInterrupt"),
    "a generator": _doing("yield 1"),
    "a list in itself": _doing("a = []", "a.append(a)", "return a"),
    "a handler at exit": _doing("modules['atexit'].register(lambda: os.write(3, b'x'))", "return 'late'"),
    "an object that ends late": _doing(
        "class A:", "    def __del__(self): os.write(3, b'x')", "sys.kept = A()", "return 'late'"
    ),
}

TRICKS = {
    "pickle that runs a command": _returning(
        "'ESCAPED' if modules['pickle']._loads(b\"cposix\\nsystem\\n(S'echo x > @OUTSIDE@/pickled'\\ntR.\") == 0 else 0"
    ),
    "pickle that reads a file": _returning(
        "modules['pickle']._loads(b\"cio\\nopen\\n(S'@CANARY@'\\ntR.\").read()"
    ),
    "an array that runs a command": _doing(
        "class A:",
        "    def __reduce__(self): return os.system, ('echo x > @OUTSIDE@/pickled',)",
        "b = io.BytesIO()",
        "numpy.save(b, numpy.array([A()], dtype=object), allow_pickle=True)",
        "b.seek(0)",
        "return 'ESCAPED' if numpy.load(b, allow_pickle=True).item() == 0 else 0",
    ),
    "subclasses of object": "def solution():\n    for c in ().__class__.__base__.__subclasses__():\n"
    "        if c.__name__ == 'FileLoader':\n            return c('x', '@CANARY@').get_data('@CANARY@')\n",
    "the loader of builtins": "def solution():\n"
    "    os = (lambda: 0).__globals__['__builtins__']['__loader__'].load_module('posix')\n"
    "    return os.read(os.open('@CANARY@', 0), 100)\n",
    "globals of an allowed function": "import random\ndef solution():\n"
    "    return random._os.read(random._os.open('@CANARY@', 0), 100)\n",
    "modules in a module": "import statistics\ndef solution():\n"
    "    return statistics.sys.modules['io'].open('@CANARY@').read()\n",
    "a frame's builtins": "def solution():\n    try: 1 / 0\n"
    "    except ZeroDivisionError as e: f = e.__traceback__.tb_frame\n"
    "    while f.f_back: f = f.f_back\n    return f.f_builtins['open']('@CANARY@').read()\n",
    "the real import": "def solution():\n"
    "    os = __builtins__['__import__'].__closure__[1].cell_contents('posix')\n"
    "    return os.read(os.open('@CANARY@', 0), 100)\n",
    "a format string": "import random\ndef solution():\n"
    "    return '{0.__globals__[_os].environ}'.format(random.Random.seed)\n",
    "ctypes writes into the interpreter": _doing("ctypes.memset(id(None), 0, 64)", "return None"),
    "ctypes calls the kernel": _escaping("assert libc.syscall(257, -100, b'@CANARY@', 0, 0) >= 0"),
    "compile and exec": _doing("exec(\"found = open('@CANARY@').read()\", globals())", "return found"),
    "a debugger hook": _doing("return sys.breakpointhook() or 'done'"),
    "an audit hook": _doing("sys.addaudithook(lambda *_: None)", "return open('@CANARY@').read()"),
}  # fmt: skip

KINDS = {
    "reading files": READING,
    "writing files": WRITING,
    "processes and threads": PROCESSES,
    "signals, and other processes": SIGNALS,
    "network": NETWORK,
    "the kernel": KERNEL,
    "memory and crashes": MEMORY,
    "time": TIME,
    "output": OUTPUT,
    "forged results": FORGERY,
    "odd results": RESULTS,
    "tricks of Python": TRICKS,
}

HARMFUL = (
    "open a canary in /tmp", "open a canary at home", "open by many steps up", "numpy.memmap", "list /tmp",
    "the size of a file", "a symbolic link", "import from a folder", "/proc/self/root", "open for writing",
    "change a file", "make a folder", "change rights", "numpy.save", "fork", "the clone call",
    "os.system", "a daemon", "a thread", "kill the parent", "signal the test", "connect by TCP",
    "connect by the kernel's calls", "an abstract Unix socket", "listen", "machine code", "one large object",
    "a mapping", "pickle that runs a command", "pickle that reads a file", "an array that runs a command",
    "subclasses of object", "the loader of builtins", "globals of an allowed function", "modules in a module",
    "a frame's builtins", "the real import", "ctypes calls the kernel", "compile and exec",
)  # fmt: skip
"""Programs that must do harm where nothing keeps them in, or they show nothing; none harms the machine."""

CASES = [(kind, name, text) for kind, programs in KINDS.items() for name, text in programs.items()]

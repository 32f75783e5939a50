"""Honest programs: values, numbers, errors and limits."""

import math
import time
from pathlib import Path

import pytest

from ohr.errors import DataError
from ohr.sandbox import Limits, Sandbox, SandboxError, run_program, run_programs

from .conftest import HONEST


def solution(*lines: str, imports: str = "") -> str:
    return f"{imports}\ndef solution():\n" + "".join(f"    {line}\n" for line in lines)


VALUES = [
    ("return 2 * 21", "42", 42.0, "int"),
    ("return 0.1 + 0.2", "0.30000000000000004", 0.1 + 0.2, "float"),
    ("return -0.0", "-0.0", -0.0, "float"),
    ("return True", "True", 1.0, "bool"),
    ("return None", "None", None, "NoneType"),
    ("return '438.2'", "'438.2'", 438.2, "str"),
    ("return ' 438.2\\n'", "' 438.2\\n'", 438.2, "str"),
    ("return '438.2%'", "'438.2%'", None, "str"),
    ("return '1,234'", "'1,234'", None, "str"),
    ("return '１２'", "'１２'", 12.0, "str"),
    ("return [1, 2.5, 'x', None]", "[1, 2.5, 'x', None]", None, "list"),
    ("return {'a': (1, 2)}", "{'a': (1, 2)}", None, "dict"),
    ("return 1 + 2j", "(1+2j)", None, "complex"),
    ("return float('inf')", "inf", math.inf, "float"),
    ("return 10 ** 400", f"1{'0' * 400}", None, "int"),
    ("return '价值 €'", "'价值 €'", None, "str"),
    ("return numpy.float64(1) / 3", "0.3333333333333333", 1 / 3, "float64"),
    ("return numpy.float32(0.1)", "0.10000000149011612", 0.10000000149011612, "float32"),
    ("return numpy.int64(7)", "7", 7.0, "int64"),
    ("return numpy.array(2.5)", "2.5", 2.5, "ndarray"),
    ("return numpy.arange(3)", "[0, 1, 2]", None, "ndarray"),
    ("return numpy.linalg.solve([[2.0]], [8.0])[0]", "4.0", 4.0, "float64"),
    ("return numpy.std([1, 2, 3, 4])", "1.118033988749895", 1.118033988749895, "float64"),
    ("return statistics.median([1, 5, 2])", "2", 2.0, "int"),
    ("return statistics.NormalDist(100, 15).cdf(100)", "0.5", 0.5, "float"),
    ("return (datetime.date(2024, 3, 1) - datetime.date(2024, 2, 1)).days", "29", 29.0, "int"),
    ("return datetime.datetime.strptime('2024-02-29', '%Y-%m-%d').year", "2024", 2024.0, "int"),
    ("return decimal.Decimal('1.10') + decimal.Decimal('2.20')", "Decimal('3.30')", 3.3, "Decimal"),
    ("return fractions.Fraction(1, 4)", "Fraction(1, 4)", 0.25, "Fraction"),
    ("return math.comb(5, 2)", "10", 10.0, "int"),
    ("return f'{1234.5:,.2f}'", "'1,234.50'", None, "str"),
    ("print('x')", "None", None, "NoneType"),
]
IMPORTS = "import datetime, decimal, fractions, math, numpy, statistics"


@pytest.fixture(scope="module")
def honest(here):
    with Sandbox(Limits(seconds=10, memory_mb=128), workers=1) as sandbox:
        yield sandbox


@pytest.fixture
def run(honest):
    return lambda *programs: list(honest.run(programs))


@pytest.mark.parametrize(("line", "value", "number", "kind"), VALUES, ids=[line for line, *_ in VALUES])
def test_a_value_keeps_its_text_its_number_and_its_type(line, value, number, kind, run):
    (outcome,) = run(solution(line, imports=IMPORTS))
    assert (outcome.how, outcome.error) == ("returned", None)
    assert (outcome.value, outcome.number, outcome.kind) == (value, number, kind)
    if number is not None:
        assert math.copysign(1, outcome.number) == math.copysign(1, number)


def test_nan_is_a_number(run):
    (outcome,) = run(solution("return float('nan')"))
    assert outcome.value == "nan"
    assert math.isnan(outcome.number)


def test_outcomes_come_in_the_order_of_their_programs(here):
    programs = [f"import time\ndef solution():\n    time.sleep({0.05 * (n % 2)})\n    return {n}\n" for n in range(9)]
    assert [o.number for o in run_programs(programs, workers=3)] == list(range(9))


def test_two_runs_give_the_same_results(here):
    program = solution(
        "names = list({'rent', 'tax', 'cost', 'fee', 'loan'})",
        "return names, hash('x'), random.random(), float(numpy.random.rand()), object(), lambda: 1",
        imports="import numpy, random",
    )
    first, second = (list(run_programs([program, program], workers=1)) for _ in range(2))
    assert first[0].value.startswith("([")
    assert {outcome.value for outcome in (*first, *second)} == {first[0].value}


def test_a_program_sees_nothing_of_an_earlier_one(run):
    first = solution("statistics.left = 1", "return 1", imports="import statistics")
    second = solution("return hasattr(statistics, 'left')", imports="import statistics")
    assert [outcome.value for outcome in run(first, second)] == ["1", "False"]


def test_errors_are_values_of_one_line_with_the_type_and_the_message(run):
    division, syntax, name, nothing = run(solution("return 1 / 0"), "def solution(:", solution("return x"), "x = 1")
    assert (division.how, division.value, division.error) == ("raised", None, "ZeroDivisionError: division by zero")
    assert syntax.error.startswith("SyntaxError: ")
    assert name.error == "NameError: name 'x' is not defined"
    assert nothing.error == "NameError: the program defines no solution()"


def test_imports_off_the_list_are_refused_with_the_list(run):
    inside, above, relative = run(solution("import os"), "import subprocess", "from . import x")
    assert (inside.how, above.how) == ("refused", "refused")
    assert inside.error.startswith("the program imports os; allowed are __future__, abc, ")
    assert relative.how == "raised"


def test_other_modules_and_another_function_can_be_named(here):
    program = "import json, textwrap\ndef answer(): return textwrap.fill('a b', 1)\n"
    limits = Limits(modules=("json", "textwrap"))
    (outcome,) = run_programs([program], limits, function="answer", workers=1)
    assert outcome.value == "'a\\nb'"
    (outcome,) = run_programs([HONEST], limits, workers=1)
    assert outcome.how == "refused"


def test_a_module_that_is_not_installed_is_named():
    with pytest.raises(DataError, match="modules: no_such_module cannot be imported: No module named"):
        Sandbox(Limits(modules=("no_such_module",)))


def test_a_program_may_use_its_own_folder_which_is_empty_again_for_the_next(run, here):
    if not here.files:
        pytest.skip("a root of its own does not work here")
    writes = solution("open('note', 'w').write('42')", "return open('note').read()")
    looks = solution("return open('note', 'a').tell()")  # prose: ok
    assert [outcome.number for outcome in run(writes, looks, looks)] == [42, 0, 0]


def test_the_text_of_a_long_value_is_cut(here):
    programs = [solution("return 'é' * 1000"), solution("return list(range(1000))"), solution("return chr(1) * 30")]
    outcomes = list(run_programs(programs, Limits(output_bytes=100), workers=1))
    assert [outcome.how for outcome in outcomes] == ["returned"] * 3
    assert outcomes[0].value == "'" + "é" * 49 + "…"
    assert outcomes[1].value.startswith("[0, 1, 2, ")
    assert len(outcomes[1].value) == 101
    assert outcomes[2].value == "'" + "\\x01" * 24 + "\\x0…"


def test_a_long_message_is_cut(run):
    (outcome,) = run(solution("raise ValueError('x' * 10 ** 6)"))
    assert outcome.error == "ValueError: " + "x" * 988


def test_too_much_memory_and_too_much_time_are_said_so(here):
    limits = Limits(seconds=0.3, memory_mb=32)
    memory, time, next_one = run_programs(
        [solution("return len(bytes(64 << 20))"), solution("while True: pass"), HONEST], limits, workers=1
    )
    assert (memory.how, memory.error) == ("memory", "MemoryError")
    assert (time.how, time.error) == ("timeout", "it took longer than 0.3 seconds, or 3 of CPU time")
    assert next_one.number == 42


@pytest.mark.acceptance
def test_too_much_cpu_time_is_a_timeout_also_when_its_signal_is_ignored(here):
    ignores = (
        "import random\nsignal = random._os.sys.modules['_signal']\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
    )
    limits = Limits(seconds=20, cpu_seconds=1)
    plain, ignored = run_programs([solution("while True: pass"), f"{ignores}while True: pass"], limits, workers=2)
    for outcome in (plain, ignored):
        assert (outcome.how, outcome.error) == ("timeout", "it took longer than 20 seconds, or 1 of CPU time")


def test_a_program_that_is_too_long_is_refused_and_the_others_run(run):
    long, honest = run("#" * (1 << 20) + HONEST, HONEST)
    assert (long.how, honest.number) == ("refused", 42)
    assert "1048576 bytes" in long.error


def test_a_program_with_half_a_character_is_an_error_of_the_program(run):
    outcome, honest = run("x = '\ud800'", HONEST)
    assert outcome.how == "raised"
    assert honest.number == 42


def test_one_program_at_a_time_uses_one_sandbox(here):
    from ohr.sandbox.running import _kept

    _kept.cache_clear()
    limits = Limits(modules=("math",))
    assert [run_program(HONEST, limits).number for _ in range(3)] == [42, 42, 42]
    assert _kept.cache_info().misses == 1


def test_no_programs_have_no_outcomes(run):
    assert run() == []


def test_a_sandbox_runs_again_after_a_caller_stopped_halfway(here):
    with Sandbox(Limits(modules=("math",)), workers=2) as sandbox:
        half = sandbox.run([HONEST] * 20)
        assert next(half).number == 42
        half.close()
        assert [outcome.number for outcome in sandbox.run([HONEST])] == [42]


def test_a_sandbox_that_is_closed_halfway_leaves_no_file_open(here):
    limits = Limits(modules=("math",))
    before = len([*Path("/proc/self/fd").iterdir()])
    with Sandbox(limits, workers=2) as sandbox:
        half = sandbox.run([HONEST, *["while True: pass"] * 2])
        assert next(half).number == 42
        began = time.monotonic()
        half.close()
    assert time.monotonic() - began < limits.seconds
    assert len([*Path("/proc/self/fd").iterdir()]) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limits": {"seconds": 0}}, "seconds is 0; it must be above 0"),
        ({"limits": {"memory_mb": -1}}, "memory_mb is -1; it must be above 0"),
        ({"limits": {"seconds": math.nan}}, "seconds is nan; it must be above 0"),
        ({"limits": {"modules": ("",)}}, "modules has an empty name"),
        ({"function": "not a name"}, "function is 'not a name'; it must be a name"),
        ({"workers": 0}, "workers is 0; it must be at least 1"),
        ({"unsafe": "yes"}, "unsafe is 'yes'; to run programs without isolation, write \"I accept that"),
        ({"unsafe": True}, "unsafe is True; to run programs without isolation, write"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(DataError) as error:
        list(run_programs([HONEST], **{**arguments, "limits": Limits(**arguments.get("limits", {}))}))
    assert message in str(error.value)


def test_the_error_of_the_sandbox_is_one_of_ohr():
    from ohr.errors import OhrError

    assert issubclass(SandboxError, OhrError)


def test_an_error_is_one_line_without_characters_that_steer_a_terminal(run):
    (outcome,) = run(solution("raise ValueError('a\\nb\\x1b[2Jc')"))
    assert outcome.error == "ValueError: a b [2Jc"

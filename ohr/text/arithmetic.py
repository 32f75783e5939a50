"""Arithmetic in a text, without `eval`: numbers, operators and a few functions, within limits of size."""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

_LONGEST = 1000
"""Most characters of an expression; the published extraction asks for at most 16 tokens."""
_BITS = 10_000
"""Most bits of a whole number, ten times those of the largest double."""

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitXor: operator.xor,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "log2", "log10", "floor", "ceil", "fabs")},
    "pow": math.pow,
    "abs": abs,
    "min": min,
    "max": max,
    "sum": sum,
    "int": int,
    "float": float,
    "round": round,
}
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}


class TooLargeError(ValueError):
    """A number has more bits than any result that can be compared."""


def evaluate(text: str) -> object:
    """Return the value of an expression as Python computes it, or the constant or collection that it writes.

    Functions of `math` need its name, as in `math.sqrt(2)`; those of Python do not.

    Raises:
        TooLargeError: a whole number in it has more than 10,000 bits.
        ValueError: it is no expression, has other names or functions, divides by zero, or is too long.
    """
    if len(text) > _LONGEST:
        raise ValueError("too long")
    try:
        with warnings.catch_warnings():  # of numbers that run into words, as in `1if`
            warnings.simplefilter("ignore")
            return _value(ast.parse(text.lstrip(" \t"), mode="eval").body)
    except TooLargeError:
        raise
    except (SyntaxError, ArithmeticError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"no arithmetic: {error}") from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return [_value(part) for part in parts]
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_number(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            first, second = _number(left), _number(right)
            if isinstance(first, int) and isinstance(second, int):
                _refuse_large(type(op), first, second)
            return _BINARY[type(op)](first, second)
        case ast.Call(func=function, args=arguments, keywords=[]):
            return _called(_name(function), [_value(argument) for argument in arguments])
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
    raise ValueError(f"no arithmetic: {type(node).__name__}")


def _number(node: ast.expr) -> Any:
    value = _value(node)
    if not isinstance(value, int | float | complex):
        raise ValueError("no arithmetic: an operator has no number")
    return value


def _refuse_large(op: type[ast.operator], left: int, right: int) -> None:
    """Estimate the bits of a result before it is computed."""
    bits = left.bit_length()
    if op is ast.Pow and bits:
        bits = (bits - 1) * max(right, 0)  # at least; 1 and -1 stay small
    elif op is ast.LShift:
        bits += max(right, 0)
    elif op is ast.Mult:
        bits += right.bit_length()
    if bits > _BITS:
        raise TooLargeError(f"a whole number of some {bits:,} bits")


def _name(function: ast.expr) -> str:
    """Name a function as it is written; those of `math` are known by their own name only behind `math.`."""
    match function:
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if hasattr(math, name):
            return name
        case ast.Name(id=name) if not hasattr(math, name) or name == "pow":
            return name
    raise ValueError("no arithmetic: a function that is not known")


def _called(name: str, arguments: list[Any]) -> Any:
    """Call a function with numbers or lists of them; `round` takes few digits: it computes a power of ten of them."""
    flat = [part for one in arguments for part in (one if isinstance(one, list) else [one])]
    if name not in _FUNCTIONS or not all(isinstance(part, int | float | complex) for part in flat):
        raise ValueError(f"no arithmetic: {name}")
    if name == "round" and len(arguments) > 1 and abs(arguments[1]) > _BITS:
        raise TooLargeError("a number of digits to round to")
    return _FUNCTIONS[name](*arguments)

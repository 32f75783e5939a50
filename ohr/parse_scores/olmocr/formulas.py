r"""Formulas compared by a normal form of their LaTeX.

The published test renders both formulas with KaTeX in a browser and compares the characters and where they are. Ours
needs no browser; its outcomes are marked `math: normalized`. It takes two formulas as equal that differ in

- white space and commands for space, `\left`, `\right`, `\big`, `\displaystyle`, `\limits`, `\tag`, `\label`, color;
- fonts, `\text`, `\operatorname` and names of functions: `\sin` is `\operatorname{sin}`;
- braces: `x^2` is `x^{2}`, `{x}` is `x`, `\frac12` is `\frac{1}{2}`, `{a \over b}` is `\frac{a}{b}`;
- `\dfrac`, `\tfrac`, `\le` for `\leq` and other second names, Unicode letters and signs for commands;
- the order of indices and exponents, `'` for `^{\prime}`;
- matrices as `array` in brackets or as `pmatrix`, environments that only align, and punctuation at the end.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from .formula_names import (
    ALIGNING,
    ARGUMENTS,
    BRACKETS,
    DROPPED,
    DROPPED_WITH_ARGUMENT,
    FUNCTIONS,
    MATRICES,
    SAME,
    TRANSPARENT,
)

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\S", re.DOTALL)
_DEEPEST = 100
"""Levels of braces; a formula with more is compared token by token."""

_DELIMITED = [r"\\\((.+?)\\\)", r"\\\[(.+?)\\\]"]
_DOLLARS = [r"\$\$(.+?)\$\$", r"\$(.+?)\$"]
_AROUND = re.compile(r"\s*(?:\$\$?|\\\[|\\\()?(.*?)(?:\$\$?|\\\]|\\\))?\s*", re.DOTALL)


@lru_cache(maxsize=8)  # the tests of a page follow each other
def formulas_in(page: str, *, dollars: bool) -> tuple[str, ...]:
    r"""Return the formulas in `\(...\)`, then those in `\[...\]`, and if `dollars`, in `$$...$$`, then `$...$`."""
    formulas: list[str] = []
    for pattern in [*_DELIMITED, *(_DOLLARS if dollars else ())]:
        formulas += (formula.strip() for formula in re.findall(pattern, page, re.DOTALL))
        page = re.sub(pattern, "", page, flags=re.DOTALL)
    return tuple(formulas)


def holds_formula(formula: str, part: str) -> bool:
    """Report whether the normal form of `part`, unless it is empty, is within that of `formula`."""
    tokens, wanted = normal_formula(formula), normal_formula(part)
    return formula == part or (bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(tokens)} ")


@lru_cache(maxsize=4096)
def normal_formula(latex: str) -> tuple[str, ...]:
    r"""Return the tokens of a formula in normal form; arguments, indices and exponents are in braces."""
    whole = _AROUND.fullmatch(latex)
    tokens = _TOKEN.findall(whole[1] if whole else latex)
    try:
        normal = _Reader(tokens).whole()
    except RecursionError:
        normal = tokens
    while normal and normal[-1] in {".", ",", ";", ":", r"\\"}:
        normal.pop()
    return tuple(normal)


class _Reader:
    """Reads tokens of LaTeX from left to right; what is missing or in excess is passed over."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens, self.position, self.depth = tokens, 0, 0

    def whole(self) -> list[str]:
        normal: list[str] = []
        while self.position < len(self.tokens):
            normal += self._sequence()
            self.position += 1  # a brace that nothing opened
        return normal

    def _sequence(self) -> list[str]:
        """Read up to a closing brace or to the end."""
        normal: list[str] = []
        while (token := self._peek()) not in ("", "}"):
            if token == r"\over":
                self.position += 1
                return [r"\frac", *_braced(normal), *_braced(self._sequence())]
            normal += self._scripts() if token in ("^", "_", "'") else self._item()
        return normal

    def _scripts(self) -> list[str]:
        """Read what is raised and lowered at one place: lowered first."""
        scripts: dict[str, list[str]] = {"_": [], "^": []}
        while (sign := self._peek()) in ("^", "_", "'"):
            self.position += 1
            scripts["^" if sign == "'" else sign] += [r"\prime"] if sign == "'" else self._item()
        return [token for sign, content in scripts.items() if content for token in (sign, *_braced(content))]

    def _item(self) -> list[str]:
        """Read a group, a command with its arguments, or a sign."""
        token = self._next()
        if token in ("", "}"):
            return []
        if token == "{":
            return self._group()
        if token in (r"\begin", r"\end"):
            return self._environment(token)
        if token in DROPPED_WITH_ARGUMENT:
            self._item()
            return []
        if token in DROPPED or (token == "." and self._before() in (r"\left", r"\right")):
            return []
        if token == r"\\" and self._peek() == "[":
            self._optional()
        if token in TRANSPARENT:
            return self._item() if self._peek() == "{" else []
        name = SAME.get(token, token)
        if name in FUNCTIONS:
            return list(name[1:])
        optional = _braced(self._optional()) if name == r"\sqrt" and self._peek() == "[" else []
        arguments = [_braced(self._item()) for _ in range(ARGUMENTS.get(name, 0))]
        return [name, *optional, *(part for argument in arguments for part in argument)]

    def _group(self) -> list[str]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise RecursionError
        content = self._sequence()
        self.depth -= 1
        self.position += 1
        return content

    def _optional(self) -> list[str]:
        self._next()
        content: list[str] = []
        while self._peek() not in ("", "]", "}"):
            content += self._item()
        self.position += self._peek() == "]"
        return content

    def _environment(self, token: str) -> list[str]:
        name = "".join(self._item()).removesuffix(r"\ast")
        if name in ALIGNING:
            return []
        if token == r"\begin" and name == "array" and self._peek() == "{":
            self._item()  # the columns
        start, end = BRACKETS.get(name, ("", ""))
        if name in MATRICES:
            name = "matrix"
        tokens = [start, rf"\begin:{name}"] if token == r"\begin" else [rf"\end:{name}", end]
        return [part for part in tokens if part]

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _before(self) -> str:
        return self.tokens[self.position - 2] if self.position > 1 else ""

    def _next(self) -> str:
        token = self._peek()
        self.position += token != "}"
        return token


def _braced(tokens: Sequence[str]) -> Iterator[str]:
    yield from ("{", *tokens, "}")

"""Inside a LaTeX formula: the gaps where space may be added, and the symbols that have equivalents."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from ohr.contracts import Edit, Span

BOLD = ("mathbf", "boldsymbol")
CURSIVE = ("mathbb", "pmb", "mathscr", "EuScript", "mathcal")
"""Families of alphabets that the paper swaps; its mathrsfs and euscript are the packages of the commands here."""

FAMILY: Mapping[str, tuple[str, ...]] = {name: family for family in (BOLD, CURSIVE) for name in family}

_COMMAND = re.compile(r"\\([A-Za-z]+) ?")
_LETTER = re.compile(rf"\\({'|'.join(FAMILY)})\{{([A-Za-z])\}}")


@dataclass(frozen=True, slots=True)
class Symbols:
    """Commands and the characters that they print.

    Args:
        characters: Unicode character by command name, without its backslash.
        commands: command, with backslash and argument, by Unicode character.
        letters: Unicode character by alphabet and letter, as in ("mathbb", "R").
    """

    characters: Mapping[str, str]
    commands: Mapping[str, str]
    letters: Mapping[tuple[str, str], str]


@cache
def symbols() -> Symbols:
    """Read the tables; a character that several commands share goes to the one that the W3C names."""
    w3c = _w3c()
    by_character = _by_character()
    entities = {match[1]: sign for sign, given in w3c.items() if (match := _COMMAND.fullmatch(given))}
    characters = {}
    for sign, names in by_character.items():
        for name in names:
            characters[name] = entities.get(name, sign) if len(names) > 1 else sign
    commands = {sign: f"\\{names[0]}" for sign, names in by_character.items()}
    letters = {}
    for sign, given in w3c.items():
        if match := _LETTER.fullmatch(given):
            letters[match[1], match[2]] = sign
            commands[sign] = given
    return Symbols(characters, commands, letters)


def _w3c() -> dict[str, str]:
    from pylatexenc.latexencode import get_builtin_conversion_rules

    [table] = [rule.rule for rule in get_builtin_conversion_rules("unicode-xml") if isinstance(rule.rule, dict)]
    return {chr(code): str(given) for code, given in table.items()}


def _by_character() -> dict[str, list[str]]:
    from pylatexenc.latex2text import get_default_latex_context_db

    tables = get_default_latex_context_db()
    table: dict[str, list[str]] = {}
    for category in ("latex-base", "advanced-symbols"):
        for name, macro in tables.d[category]["macros"].items():
            sign = macro.simplify_repl
            if isinstance(sign, str) and _is_mathematical(sign) and name.isalpha() and not name.startswith("text"):
                table.setdefault(sign, []).append(name)
    return {sign: list(dict.fromkeys(names)) for sign, names in table.items()}


def _is_mathematical(sign: str) -> bool:
    if len(sign) != 1 or sign.isascii():
        return False
    kind, name = unicodedata.category(sign), unicodedata.name(sign, "")
    return kind in ("Sm", "So", "Po", "Ps", "Pe") or name.startswith("GREEK") or "\u2100" <= sign <= "\u214f"


@cache
def arguments(name: str) -> int | None:
    """Return how many arguments a command must have; None for an unknown command."""
    from pylatexenc.latexwalker import get_default_latex_context_db

    spec = _specs(get_default_latex_context_db).get(name)
    return None if spec is None else str(spec).count("{")


@cache
def _specs(tables: object) -> dict[str, str]:
    table: dict[str, str] = {}
    given = tables()  # type: ignore[operator] # a function of a library without types
    for category in given.categories():
        for name, macro in given.d[category]["macros"].items():
            table.setdefault(name, getattr(macro.args_parser, "argspec", None) or "")
    return table


SPACES = ("\\ ", "\\quad", "\\qquad", "\\;", "\\:")
"""The extraneous elements of III.1.2."""

_TOKEN = re.compile(
    r"\\(?:begin|end)\s?\{[A-Za-z]+\*?\}|\\[A-Za-z]+\*?|\\.|\.?\d+(?:[.,]\d+)*|\S",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"\s*\{\s*([A-Za-z])\s*\}")
_FRACTIONS = ("frac", "dfrac", "tfrac", "cfrac", "sqrt")
_ACCENTS = ("overline", "underline", "hat", "widehat", "bar", "tilde", "widetilde", "vec", "dot")
_OPEN = frozenset({*_FRACTIONS, *_ACCENTS})
"""Commands whose arguments are formulas themselves; the arguments of all others are unchanged."""

_DELIMITED = re.compile(r"\\(?:left|right|middle|[bB]igg?[lmr]?)(?![A-Za-z])")


class Symbol(NamedTuple):
    """Where it starts in the formula's body, and the (end, replacement) pairs that are equivalent to it."""

    start: int
    options: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """The parts of a formula that may be changed, by their places in it; none where its braces do not balance."""

    gaps: tuple[int, ...] = ()
    symbols: tuple[Symbol, ...] = ()


@lru_cache(maxsize=1 << 13)
def scan(body: str) -> Formula:
    """Find gaps and symbols between a formula's delimiters, in one pass.

    Results are kept, because every rate and seed meets the same formulas again.
    """
    scanner = _Scanner(body)
    for token in _TOKEN.finditer(body):
        if not scanner.take(token[0], token.start()):
            return Formula()
    return Formula() if scanner.groups else Formula(tuple(scanner.gaps), tuple(scanner.symbols))


@dataclass(slots=True)
class _Group:
    closes: str
    sealed: bool
    owed: int  # arguments that the command before the group still wants, this one included


class _Scanner:
    """Knows what TeX would take as an argument, so that no command is parted from its own."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.gaps: list[int] = []
        self.symbols: list[Symbol] = []
        self.groups: list[_Group] = []
        self._owed = 0  # arguments still to come
        self._sealed = False  # the next group is no formula
        self._inside = False  # within a group that is no formula
        self._after_atom = False
        self._table = symbols()

    def take(self, token: str, start: int) -> bool:
        """Read one token; False when a brace has no partner."""
        if token.isalnum():  # most are
            self._atom(token, start)
        elif token == "{" or (token == "[" and (self._owed or self._sealed)):
            self._inside = self._sealed or self._inside
            self.groups.append(_Group("}" if token == "{" else "]", self._inside, self._owed))
            self._owed, self._sealed, self._after_atom = 0, False, False
        elif self.groups and token == self.groups[-1].closes:
            self._close(self.groups.pop())
        elif token == "}":
            return False
        elif token in "^_":
            self._owed, self._sealed, self._after_atom = 1, False, False
        elif token == "&" or token.startswith((r"\\", r"\begin")):
            self._owed, self._sealed, self._after_atom = 0, token.startswith(r"\begin"), False
        elif token[0] == "\\":
            self._command(token, start)
        elif token not in "'[]~":
            self._atom(token, start)
        return True

    def _close(self, group: _Group) -> None:
        self._owed = group.owed if group.closes == "]" else max(group.owed - 1, 0)
        self._inside = bool(self.groups) and self.groups[-1].sealed
        self._sealed = group.sealed and not self._inside  # an argument may follow another
        self._after_atom = self._owed == 0

    def _command(self, token: str, start: int) -> None:
        name = token[1:].rstrip("*")
        if token.startswith(r"\end") or not name.isalpha():
            self._sealed = False
            return
        if name in self._table.characters:
            self._atom(token, start)
            return
        wanted, sealed = arguments(name), self._sealed or self._inside
        if wanted and self._after_atom and not sealed:
            self.gaps.append(start)
        if name in FAMILY and not sealed:
            self._alphabet(name, start, start + len(token))
        self._owed = 1 if _DELIMITED.fullmatch(token) else wanted or 0
        self._sealed = name not in _OPEN and name not in FAMILY and not _DELIMITED.fullmatch(token)
        self._after_atom = False

    def _atom(self, token: str, start: int) -> None:
        if not self._inside:
            self._sealed = False
            if self._after_atom:
                self.gaps.append(start)
            if token[0] == "\\" or token in self._table.commands:
                self._equivalent(token, start)
        if self._owed:
            self._owed -= 1
        self._after_atom = self._owed == 0

    def _equivalent(self, token: str, start: int) -> None:
        table, end = self._table, start + len(token)
        if token[0] == "\\":
            # a letter beside a command's name would become part of it
            space = " " if self.text[start - 1 : start].isalpha() else ""
            self.symbols.append(Symbol(start, ((end, space + table.characters[token[1:].rstrip("*")]),)))
        else:
            given = table.commands[token]
            space = " " if given[-1].isalpha() and self.text[end : end + 1].isalpha() else ""
            self.symbols.append(Symbol(start, ((end, given + space),)))

    def _alphabet(self, name: str, start: int, end: int) -> None:
        options = [(end, f"\\{other}") for other in FAMILY[name] if other != name]
        letter = _ARGUMENT.match(self.text, end)
        if letter and (name, letter[1]) in symbols().letters:
            space = " " if self.text[start - 1 : start].isalpha() else ""
            options.append((letter.end(), space + symbols().letters[name, letter[1]]))
        self.symbols.append(Symbol(start, tuple(options)))


# --- edits --------------------------------------------------------------------------------------------------


def converted(rule: str, text: str, start: int, end: int, body: Span) -> tuple[Edit, ...]:
    r"""Make an inline formula a block, or a block an inline formula: `$` for `$$`, `\(` for `\[`, and back."""
    first, last = body
    opening, closing = text[start:first], text[last:end]
    new = {"$": "$$", "$$": "$", "\\(": "\\[", "\\[": "\\("}.get(opening)
    if new is None or "\\tag" in text[first:last]:  # an environment, or a number that only a block can have
        return ()
    if new == "$":
        # no white space within the dollars and no digit or dollar beside them, or they would be money
        if text[start - 1 : start] in ("$", "\\") or text[end : end + 1].isdigit() or text[end : end + 1] == "$":
            return ()
        first += len(text[first:last]) - len(text[first:last].lstrip())
        last -= len(text[first:last]) - len(text[first:last].rstrip())
    elif new == "$$" and "$" in (text[start - 1 : start], text[end : end + 1]):
        return ()
    ends = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"}[new]
    return (
        Edit(rule, start, first, new, opening + text[body[0] : first]),
        Edit(rule, last, end, ends, text[last : body[1]] + closing),
    )


def spaced(rule: str, text: str, body: Span, draws: list[float]) -> tuple[Edit, ...]:
    """Insert 1 to 5 extraneous elements; `draws` are how many, and a place and an element for each of five."""
    gaps = scan(text[slice(*body)]).gaps
    if not gaps:
        return ()
    found = []
    for place, element in zip(draws[1 : 2 + int(draws[0] * 5)], draws[6:], strict=False):
        at = body[0] + gaps[int(place * len(gaps))]
        added = SPACES[int(element * len(SPACES))]
        after = text[at : at + 1]
        space = (
            " " if added[-1].isalpha() and (after.isalpha() or after == "\\") else ""
        )  # a command may become a letter
        found.append(Edit(rule, at, at, added + space))
    return tuple(sorted(found, key=lambda edit: edit.start))


def swapped(rule: str, text: str, offset: int, symbol: Symbol, draw: float) -> tuple[Edit, ...]:
    """Replace a symbol by one of its equivalents; `offset` is where its formula's body starts."""
    end, replacement = symbol.options[int(draw * len(symbol.options))]
    start, end = offset + symbol.start, offset + end
    return (Edit(rule, start, end, replacement, text[start:end]),)

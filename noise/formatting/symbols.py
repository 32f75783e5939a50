"""Equivalent symbols of LaTeX formulas, from pylatexenc's tables, which carry the W3C's list of entities."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

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
    found: dict[str, list[str]] = {}
    for category in ("latex-base", "advanced-symbols"):
        for name, macro in tables.d[category]["macros"].items():
            sign = macro.simplify_repl
            if isinstance(sign, str) and _is_mathematical(sign) and name.isalpha() and not name.startswith("text"):
                found.setdefault(sign, []).append(name)
    return {sign: list(dict.fromkeys(names)) for sign, names in found.items()}


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
    found: dict[str, str] = {}
    given = tables()  # type: ignore[operator] # a function of a library without types
    for category in given.categories():
        for name, macro in given.d[category]["macros"].items():
            found.setdefault(name, getattr(macro.args_parser, "argspec", None) or "")
    return found

"""Conformance of every stage, and the texts that the suites try."""

import io
import json
import pickle
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from pydantic import ValidationError
from ruamel.yaml import YAML

from ohr.contracts import Stage
from ohr.messages.blame import place
from ohr.registry import Registry

TEXTS = (
    "",
    " \n\t \n",
    "One.",
    "The lease of the ferry berth began in 1964. It ends after ninety years. See below.\n\nRent is due each May.",
    "# Title\n\nInline $a_1 + b$ and \\(x^2\\) stay.\n\n$$\\frac{a}{b} = c$$\n\n- a list\n- of two things\n",
    "Before.\n\n\\begin{tabular}{|l|r|}\n\\hline Name & Price \\\\\n\\hline Oak & 12.50 \\\\\n\\end{tabular}\n\nAfter.",
    "<chart>\n| year | sales |\n|---|---|\n| 2021 | 3 |\n</chart>\n\nUnbalanced $, \\textbf{open, <table> and **bold.",
    "今年的租金是三百元。合同从二〇二一年开始。二〇二一年增长10%！\n\n第二段。",
    "e\u0301 \u200d\u202e 👩‍👩‍👧 ﬁ \x00 \ufeff ß \u3000 ½ ﷽ " + "x" * 3000,
)
"""Texts that any stage must accept: empty, markup whole and broken, Chinese, and the odd ends of Unicode."""

RATES = (0.05, 0.1, 0.3, 0.6, 1.0)
"""Rates at which a text noise is tried."""


_faults: ContextVar[list[str] | None] = ContextVar("faults", default=None)
_MOST = 20
"""Faults after which a check ends: many inputs may show one fault in different words."""

P = ParamSpec("P")
S = TypeVar("S", bound=Stage)


def suite(check: Callable[Concatenate[S, P], None]) -> Callable[Concatenate[S, P], None]:
    """Let a function check a stage to its end: one AssertionError lists all faults, one a line.

    What a plugin raises, or what cannot be done with what it returns, is a fault with the plugin's file and line.
    """

    @wraps(check)
    def checked(stage: S, /, *given: P.args, **named: P.kwargs) -> None:
        outer = _faults.get()
        found = [] if outer is None else outer
        token = _faults.set(found)
        try:
            check(stage, *given, **named)
        except Exception as error:
            known = isinstance(error, AssertionError)
            at = "" if known else place(error, type(stage))
            raised = str(error) if known else f"raised {type(error).__name__}: {error}"
            found.append(f"{type(stage).family} {stage.kind}: {raised}" + (f" ({at})" if at else ""))
        finally:
            _faults.reset(token)
        if outer is None and found:
            raise AssertionError("\n".join(dict.fromkeys(found)))

    return checked


def require(stage: Stage, holds: bool, sentence: str) -> None:
    """Note a fault of the stage unless `holds`; outside of a `suite`, raise an AssertionError."""
    if not holds:
        fault, found = f"{type(stage).family} {stage.kind}: {sentence}", _faults.get()
        if found is None:
            raise AssertionError(fault)
        found.append(fault)
        if len(found) > _MOST:
            raise AssertionError("has more faults than are listed")


# --- every stage ------------------------------------------------------------------------------------------


@suite
def check_stage(stage: Stage) -> None:
    """Check that a stage is frozen, written and read as YAML, sent to another process, identified and documented."""
    plugin = type(stage)
    require(stage, plugin.model_fields["kind"].default == stage.kind, "`kind` must be a Literal with its own default")
    require(
        stage, bool((plugin.__doc__ or "").strip()), "the class needs a docstring: its first line is shown to users"
    )
    for name, field in plugin.model_fields.items():
        require(stage, name == "kind" or bool(field.description), f"field {name!r} needs a description")
    stage.check()
    # parts need not be registered: they may be made for a test
    context = {"registry": _Parts(trusted=True, own=tuple(type(part) for part in _parts(stage)))}
    written = io.StringIO()
    YAML(typ="safe", pure=True).dump(stage.model_dump(mode="json", by_alias=True), written)
    read = plugin.model_validate(YAML(typ="safe", pure=True).load(written.getvalue()), context=context)
    require(stage, read == stage, "written to YAML and read again it must be the same")
    require(stage, pickle.loads(pickle.dumps(stage)) == stage, "it must survive pickling: stages go to other processes")
    require(stage, hash(read) == hash(stage), "equal stages must have equal hashes")
    require(stage, as_json(read.identity()) == as_json(stage.identity()), "equal stages must have one identity")
    run = {name for name, field in plugin.model_fields.items() if _is_execution(field.json_schema_extra)}
    require(stage, not run & set(stage.identity()), f"execution fields {sorted(run)} must not be in the identity")
    try:
        plugin.model_validate({**stage.model_dump(by_alias=True), "no_such_key": 1}, context=context)
    except ValidationError:
        return
    require(stage, False, "an unknown key must be refused (`extra` is forbidden)")


@dataclass(frozen=True)
class _Parts(Registry):
    """The plugins that a stage is made of, and the registered ones."""

    own: tuple[type[Stage], ...] = ()

    def load(self, family: str, kind: str) -> type[Stage]:
        found = (part for part in self.own if part.family == family and part.model_fields["kind"].default == kind)
        return next(found, None) or super().load(family, kind)


def _parts(stage: Stage) -> Iterator[Stage]:
    """Yield the stages that a stage holds, and those that they hold."""
    for name in type(stage).model_fields:
        value = getattr(stage, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Stage):
                yield part
                yield from _parts(part)


def as_json(value: Any) -> str:
    """Write a value in one way, to compare two."""
    return json.dumps(value, sort_keys=True)


def _is_execution(extra: object) -> bool:
    return isinstance(extra, dict) and bool(extra.get("execution"))

"""Two versions of a text side by side, with what changed marked, as one page of HTML that needs nothing else."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ohr import extras
from ohr.contracts import Edit
from ohr.messages.wording import counted
from ohr.text.words import words

_BESIDE, _FOLDED = 2, 6  # rows shown beside an edit; rows without one that are folded away

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><style>
body { font: 14px/1.45 system-ui, sans-serif; color: #1c1c1c; background: #f4f3f0; margin: 2em; }
h2 { font-size: 1.15em; margin: 1.8em 0 .2em; } p { color: #666; margin: 0 0 .5em; }
.sheet { background: #fff; max-height: 44em; overflow-y: auto; }
.pair { display: grid; grid-template-columns: 1fr 1fr; }
.pair > * { padding: 0 1em; white-space: pre-wrap; overflow-wrap: anywhere; font: 12.5px/1.5 ui-monospace, monospace; }
.pair > :nth-child(2n) { border-left: 1px solid #ddd; }
.head { position: sticky; top: 0; background: #fff; border-bottom: 1px solid #ddd; }
.head > *, summary { padding: .3em 1em; font: 12px system-ui, sans-serif; color: #666; }
summary { cursor: pointer; background: #f9f8f6; }
.touched { background: #fffbea; }
del { background: #f6cfca; text-decoration-thickness: 1px; } ins { background: #cfe8cf; text-decoration: none; }
.gap { text-decoration: none; } .break::before { content: "\\21b5"; }
</style></head><body><h1>{{ title }}</h1>
{% macro lines(rows) %}<div class="pair">
{% for row in rows %}{% for side in row %}<div dir="auto" class="{{ "touched" if row | touched else "same" }}">
{%- for part in side %}
{%- if part.tag == "del" %}<del title="{{ part.rule }}"{{ part | blank }}>{{ part.text }}</del>
{%- elif part.tag %}<ins title="{{ part.rule }}"{{ part | blank }}>{{ part.text }}</ins>
{%- else %}{{ part.text }}{% endif %}
{%- endfor %}</div>
{% endfor %}{% endfor %}</div>{% endmacro %}
{% for change in changes %}<h2>{{ change.title }}</h2><p>{{ change.about }}</p>
{% if change.rows %}<div class="sheet"><div class="pair head"><div>before</div><div>after</div></div>
{% for folded, rows in change.rows | blocks %}
{% if folded %}<details><summary>{{ rows | length }} lines as they were</summary>{{ lines(rows) }}</details>
{% else %}{{ lines(rows) }}{% endif %}
{% endfor %}</div>{% endif %}
{% endfor %}</body></html>
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text: as it was (no tag), removed (`del`) or put there (`ins`) by a rule."""

    text: str
    tag: str = ""
    rule: str = ""


Side = tuple[Part, ...]
Row = tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class Change:
    """A text before and after, in rows that end where a line ends on both sides; no rows: nothing to show."""

    title: str
    about: str
    rows: tuple[Row, ...]


def change(title: str, text: str, edits: Sequence[Edit]) -> Change:
    """Part a text and its edited version, from the ledger of edits.

    Words that an edit only partly replaces are marked where it did.
    """
    if not text.strip() and not edits:
        return Change(title, "the page is empty: there is nothing to change", ())
    counts = ", ".join(f"{rule} {count}" for rule, count in Counter(edit.rule for edit in edits).most_common())
    length = max(1, len(words(text)))
    about = f"{counted(len(edits), 'edit')}, {100 * len(edits) / length:.1f} per 100 words"
    about += f": {counts}" if counts else ""
    return Change(title, about, tuple(_rows(text, edits)))


def _rows(text: str, edits: Sequence[Edit]) -> Iterator[Row]:
    before: list[Part] = []
    after: list[Part] = []
    place = 0
    for edit in [*edits, None]:
        for line in text[place : edit.start if edit else None].splitlines(keepends=True):
            before.append(Part(line))
            after.append(Part(line))
            if line.endswith("\n"):
                yield tuple(before), tuple(after)
                before, after = [], []
        if edit:
            before += [Part(edit.removed, "del", edit.rule)] if edit.removed else []
            after += [Part(edit.text, "ins", edit.rule)] if edit.text else []
            place = edit.end
    if before or after:
        yield tuple(before), tuple(after)


def _touched(row: Row) -> bool:
    return any(part.tag for side in row for part in side)


def _blocks(rows: Sequence[Row]) -> list[tuple[bool, list[Row]]]:
    """Fold away long stretches without an edit, but for a few rows beside the edits; nothing where there is none."""
    touched = [number for number, row in enumerate(rows) if _touched(row)]
    near = {number + off for number in touched for off in range(-_BESIDE, _BESIDE + 1)}
    runs = groupby(enumerate(rows), key=lambda pair: bool(touched) and pair[0] not in near)
    blocks = [(far, [row for _, row in run]) for far, run in runs]
    return [(far and len(run) >= _FOLDED, run) for far, run in blocks]


def page(title: str, changes: Sequence[Change]) -> str:
    """Write the page."""
    jinja2 = extras.load("jinja2", "report")
    scene = jinja2.Environment(autoescape=True)
    scene.filters |= {"touched": _touched, "blocks": _blocks, "blank": lambda part: scene.filters["safe"](_blank(part))}
    return str(scene.from_string(_PAGE).render(title=title, changes=changes))


def _blank(part: Part) -> str:
    """Let an edit of blanks alone be seen: a struck blank looks like a dash, and a line's end like nothing."""
    if part.text.strip():
        return ""
    return ' class="gap break"' if "\n" in part.text else ' class="gap"'

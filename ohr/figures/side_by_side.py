"""Two versions of a text side by side, with what changed marked, as one page of HTML that needs nothing else."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ohr import extras
from ohr.contracts import Edit
from ohr.wording import counted

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><style>
body { font: 14px/1.45 system-ui, sans-serif; color: #1c1c1c; background: #f4f3f0; margin: 2em; }
h2 { font-size: 1.15em; margin: 1.8em 0 .2em; } p { color: #666; margin: 0 0 .5em; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; }
pre { background: #fff; padding: 1em; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere;
  max-height: 40em; overflow-y: auto; }
del { background: #f6cfca; text-decoration-thickness: 1px; } ins { background: #cfe8cf; text-decoration: none; }
</style></head><body><h1>{{ title }}</h1>
{% for change in changes %}<h2>{{ change.title }}</h2><p>{{ change.about }}</p><div class="pair">
{% for side in change.sides %}<pre>{% for part in side %}
{%- if part.tag == "del" %}<del title="{{ part.rule }}">{{ part.text }}</del>
{%- elif part.tag %}<ins title="{{ part.rule }}">{{ part.text }}</ins>
{%- else %}{{ part.text }}{% endif %}
{%- endfor %}</pre>
{% endfor %}</div>
{% endfor %}</body></html>
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text: as it was (no tag), removed (`del`) or put there (`ins`) by a rule."""

    text: str
    tag: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A text before and after, in parts."""

    title: str
    about: str
    sides: tuple[tuple[Part, ...], tuple[Part, ...]]


def change(title: str, text: str, edits: Sequence[Edit]) -> Change:
    """Part a text and its edited version, from the ledger of edits.

    Words that an edit only partly replaces are marked where it did.
    """
    before, after, place = [], [], 0
    for edit in edits:
        same = Part(text[place : edit.start])
        before += [same, Part(edit.removed, "del", edit.rule)]
        after += [same, Part(edit.text, "ins", edit.rule)]
        place = edit.end
    rest = Part(text[place:])
    counts = ", ".join(f"{rule} {count}" for rule, count in Counter(edit.rule for edit in edits).most_common())
    words = max(1, len(text.split()))
    about = f"{counted(len(edits), 'edit')}, {100 * len(edits) / words:.1f} per 100 words"
    about += f": {counts}" if counts else ""
    sides = tuple(tuple(part for part in side if part.text) for side in ([*before, rest], [*after, rest]))
    return Change(title, about, (sides[0], sides[1]))


def page(title: str, changes: Sequence[Change]) -> str:
    """Write the page."""
    jinja2 = extras.load("jinja2", "report")
    return str(jinja2.Environment(autoescape=True).from_string(_PAGE).render(title=title, changes=changes))

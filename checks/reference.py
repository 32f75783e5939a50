"""Write what follows from the code: the reference pages of plugins' fields and tables' columns, and ohr's own plugins.

python -m checks.reference

The page of tables has what columns mean; their names, types and order are those of the schema.
"""

import json
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

from ohr.cli.display.plugin_fields import Parameter, parameters
from ohr.contracts import FAMILIES
from ohr.registry import Registry
from ohr.results.tables.schema import DERIVED, TABLES, column_kinds
from ohr.spec.own_plugins import PATH
from ohr.spec.schema import described

from .source import ROOT

FOLDER = ROOT / "docs" / "reference"
_TITLES = {"ocr": "OCR", "ocr_format": "OCR format", "image_noise": "Image noise", "text_noise": "Text noise"}
_COPIES = (*DERIVED, "attribution", "attribution_doses", "decomposition")
"""Tables with a copy as CSV."""
_TYPES = {
    "string": "text",
    "int64": "whole number",
    "double": "number",
    "bool": "true or false",
    "texts": "list of texts",
    "numbers": "list of whole numbers",
    "judged": "list of `document`, `page`, `grade`",
}
"""Types of columns, in words."""
MISSING = "no meaning yet"
"""Words for a table or a column of which the page says nothing."""


def pages() -> dict[str, str]:
    """Return the text of each page, by its name in docs/reference."""
    return {"plugins.md": "\n".join(_plugins()), "tables.md": "\n".join(_tables())}


def _plugins() -> Iterator[str]:
    yield "# Fields of plugins\n"
    yield "<!-- written by `python -m checks.reference`; change the fields' descriptions in the code -->\n"
    yield (
        "Every plugin that comes with ohr, with the keys that it takes in a spec beside `kind` and `name`. "
        "`ohr plugins show FAMILY KIND` prints the same, also of plugins of your own. "
        "[Engines and backends](../backends.md) says how far each was tried.\n"
    )
    yield (
        "A range follows the type. A field marked \\* changes no result: it is in no key, and stored results stay "
        "valid. Where a field takes one value, a list of values makes a condition of each.\n"
    )
    registry = Registry()
    for family in FAMILIES:
        yield f"## {_TITLES.get(family, family.capitalize())}\n"
        for kind in registry.names(family):
            plugin = registry.load(family, kind)
            yield f"### {family}: {kind}\n"
            first = cleandoc(plugin.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
            needs = f" It needs the extra `{plugin.extra}`." if plugin.extra else ""
            yield f"{first}{needs} Version {plugin.version}.\n"
            fields = parameters(plugin)
            if fields:
                yield "| field | type | default | meaning |\n|---|---|---|---|"
                yield from map(_field, fields)
                yield ""


def _field(field: Parameter) -> str:
    kind = f"{field.type}, {field.range}" if field.range else field.type
    default = field.default if field.default in ("required", "none") else f"`{field.default}`"
    mark = "" if field.changes_results else " \\*"
    return _row(f"`{field.name}`{mark}", kind, default, field.description)


def _tables() -> Iterator[str]:
    head, *sections = (FOLDER / "tables.md").read_text(encoding="utf-8").split("\n## ")
    known = {section.partition("\n")[0]: section for section in sections}
    yield head
    for table in TABLES:
        section = known.get(table, "")
        row = re.search(r"A row is (.*)", section)
        meanings = dict(re.findall(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", section, re.MULTILINE))
        yield f"## {table}\n"
        yield f"{'CSV. ' if table in _COPIES else ''}A row is {row[1] if row else MISSING}\n"
        yield "| column | type | meaning |\n|---|---|---|"
        yield from (
            f"| `{name}` | {_TYPES[kind]} | {meanings.get(name, MISSING)} |" for name, kind in column_kinds(table)
        )
        yield ""


def _row(*cells: str) -> str:
    plain = (" ".join(cell.split()).replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(plain)} |"


def own_plugins() -> str:
    """Return the text of the file from which ohr lists its own plugins, a line for each."""
    registry = Registry()
    names = [(family, kind) for family in FAMILIES for kind in registry.names(family) if registry.is_own(family, kind)]
    lines = (f'"{family}.{kind}": {json.dumps(described(registry, family, kind))}' for family, kind in names)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(folder: Path = FOLDER) -> None:
    """Write the pages and the file."""
    PATH.write_text(own_plugins(), encoding="utf-8")
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()

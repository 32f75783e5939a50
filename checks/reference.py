"""Write the reference pages that follow from the code: every plugin's fields, and every table's columns.

python -m checks.reference
"""

from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

from ohr.cli.display.plugin_fields import Parameter, parameters
from ohr.contracts import FAMILIES
from ohr.registry import Registry
from ohr.results.tables.meanings import ROWS, columns
from ohr.results.tables.schema import DERIVED, TABLES

from .source import ROOT

FOLDER = ROOT / "docs" / "reference"
_TITLES = {"ocr": "OCR", "ocr_format": "OCR format", "image_noise": "Image noise", "text_noise": "Text noise"}
_COPIES = (*DERIVED, "attribution", "attribution_doses", "decomposition")
"""Tables with a copy as CSV."""


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
    yield "# Columns of tables\n"
    yield "<!-- written by `python -m checks.reference`; change the meanings in ohr/results/tables -->\n"
    yield (
        "Every table that a run writes, in its folder as `NAME.parquet`. Tables marked CSV have a copy as `NAME.csv`, "
        "with six digits. [Files and columns](../results.md) explains how to read them. "
        "A *cell* is a knowledge base, chunker, retriever, generator and stage.\n"
    )
    for table in TABLES:
        yield f"## {table}\n"
        yield f"{'CSV. ' if table in _COPIES else ''}A row is {ROWS[table]}.\n"
        yield "| column | type | meaning |\n|---|---|---|"
        yield from (_row(f"`{column.name}`", column.type, column.meaning) for column in columns(table))
        yield ""


def _row(*cells: str) -> str:
    plain = (" ".join(cell.split()).replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(plain)} |"


def write(folder: Path = FOLDER) -> None:
    """Write the pages."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()

"""The reference pages are what the code says, and nothing in them is without a meaning."""

import pytest

from checks.reference import FOLDER, pages
from ohr.cli.display.plugin_fields import parameters
from ohr.contracts import FAMILIES
from ohr.registry import Registry
from ohr.results.tables.column_words import COLUMNS, MEASURED_TABLES
from ohr.results.tables.derived_column_words import DERIVED_TABLES
from ohr.results.tables.meanings import ROWS, columns
from ohr.results.tables.schema import TABLES, schema


def test_the_pages_are_current():
    """Write them again with `make schema`."""
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert written == pages()


@pytest.mark.parametrize("table", TABLES)
def test_every_column_has_its_type_and_a_meaning(table: str):
    listed = columns(table)
    assert [column.name for column in listed] == schema(table).names
    assert all(column.meaning and column.type for column in listed)


def test_no_meaning_is_left_of_a_column_that_is_gone():
    names = {table: set(schema(table).names) for table in TABLES}
    assert set(ROWS) == set(TABLES)
    gone = [(table, set(own) - names[table]) for table, own in (MEASURED_TABLES | DERIVED_TABLES).items()]
    assert [pair for pair in gone if pair[1]] == []
    assert set(COLUMNS) <= set.union(*names.values())


def test_every_field_of_every_plugin_has_a_description():
    registry = Registry()
    silent = [
        (family, kind, field.name)
        for family in FAMILIES
        for kind in registry.names(family)
        for field in parameters(registry.load(family, kind))
        if not field.description
    ]
    assert silent == []

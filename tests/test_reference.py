"""The reference pages are what the code says, and nothing in them is without a meaning."""

from checks.reference import FOLDER, MISSING, own_plugins, pages
from ohr.cli.display.plugin_fields import parameters
from ohr.contracts import FAMILIES
from ohr.registry import Registry
from ohr.spec.own_plugins import PATH


def test_the_pages_are_current():
    """Write them again with `make schema`."""
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert written == pages()


def test_the_file_of_own_plugins_is_current():
    """Write it again with `make schema`."""
    assert PATH.read_text(encoding="utf-8") == own_plugins()


def test_every_table_and_column_has_a_meaning():
    """Write the missing ones into the page."""
    assert MISSING not in pages()["tables.md"]


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

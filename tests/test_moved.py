"""Modules of the surface that have moved can be imported by their old names."""

from importlib import import_module

import pytest

import ohr.registry  # noqa: F401 # which every plugin goes through
from ohr.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_has_what_its_successors_have(old):
    module = import_module(f"ohr.{old}")
    for new in MOVED[old].split():
        successor = import_module(f"ohr.{new}")
        assert {name for name in vars(successor) if not name.startswith("_")} <= vars(module).keys()


def test_what_plugins_imported_is_the_same_object():
    from ohr.contracts import TextNoise
    from ohr.contracts.noise import TextNoise as old  # type: ignore[import-not-found]
    from ohr.models.check import check_device  # type: ignore[import-not-found]

    assert old is TextNoise and callable(check_device)


def test_what_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("ohr.models.check.further")
    with pytest.raises(ModuleNotFoundError):
        import_module("ohr.contracts.nothing")

"""Prices of a run: beside its results, and free to change."""

import pytest

from ohr.errors import DataError
from ohr.prices import Price
from ohr.results.folder.tags_and_prices import PriceList, read_prices, write_prices

GPT = PriceList({"gpt": Price.model_validate({"in": 2.5, "out": 10})}, "EUR")


def test_prices_are_read_as_they_were_written(tmp_path):
    assert read_prices(tmp_path) == PriceList()
    assert write_prices(tmp_path, GPT)
    assert read_prices(tmp_path) == GPT
    assert [path.name for path in tmp_path.iterdir()] == ["prices.json"]


def test_the_same_prices_change_nothing(tmp_path):
    assert not write_prices(tmp_path, PriceList())
    assert not write_prices(tmp_path, PriceList({}, "EUR"))
    write_prices(tmp_path, GPT)
    assert not write_prices(tmp_path, GPT)


def test_a_spec_without_prices_removes_them(tmp_path):
    write_prices(tmp_path, GPT)
    assert write_prices(tmp_path, PriceList())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "5", '{"prices": {"a": {"in": -1, "out": 0}}, "currency": ""}', '{"currency": ""}', "\xff", "[" * 9**5],
)
def test_a_damaged_file_is_said_and_written_again(tmp_path, text):
    (tmp_path / "prices.json").write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match=r"prices\.json: "):
        read_prices(tmp_path)
    assert write_prices(tmp_path, GPT)
    assert read_prices(tmp_path) == GPT


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "prices.json").mkdir()
    with pytest.raises(DataError, match=r"prices\.json: "):
        write_prices(tmp_path, GPT)

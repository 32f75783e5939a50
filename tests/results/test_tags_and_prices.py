"""Tags and prices of a run: beside its results, free to change, also at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from ohr.errors import DataError
from ohr.prices import Price
from ohr.results.folder.tags_and_prices import PriceList, change_tags, read_prices, read_tags, write_prices

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


def test_tags_that_are_added_at_the_same_time_all_stay(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: change_tags(tmp_path, {f"tag{number}": "yes"}), range(40)))
    assert len(read_tags(tmp_path)) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["tags.json"]


def test_a_link_with_the_name_of_a_file_that_is_being_written_is_not_followed(tmp_path):
    mine, run = tmp_path / "mine.txt", tmp_path / "run"
    mine.write_text("{}")
    run.mkdir()
    (run / ".new-tags.json").symlink_to(mine)
    (run / "tags.json").symlink_to(mine)
    change_tags(run, {"paper": "yes"})
    assert mine.read_text() == "{}"
    assert read_tags(run) == {"paper": "yes"}

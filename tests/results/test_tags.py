"""Tags of a run survive other changes at the same time, and are written nowhere else."""

from concurrent.futures import ThreadPoolExecutor

from ohr.results.folder.tags_and_prices import change_tags, read_tags


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

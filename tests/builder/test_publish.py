"""A build's folder: its own files are replaced, those of people stay."""

from pathlib import Path

import pytest

from ohr.builder.publish import check_places, check_target, publish
from ohr.errors import DataError
from ohr.results.folder.replace import RECORD, UNFINISHED


def writer(**files):
    """Return what writes some files; a double underscore in a name is a folder."""

    def write(folder):
        for name, text in files.items():
            path = folder / name.replace("__", "/").replace("_md", ".md").replace("_yaml", ".yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in (RECORD, UNFINISHED)
    }


def test_a_second_build_replaces_and_removes_what_the_first_wrote(tmp_path):
    out = tmp_path / "sets" / "mine"
    assert publish(out, writer(gt__law__a="1", gt__law__b="2", README_md="first")) == []
    assert publish(out, writer(gt__law__a="3", README_md="second")) == []
    assert content(out) == {"gt/law/a": "3", "README.md": "second"}
    assert list(out.parent.iterdir()) == [out]
    publish(out, writer(README_md="third"))
    assert not (out / "gt").exists()


def test_decisions_and_a_study_that_people_completed_stay(tmp_path):
    out = tmp_path / "mine"
    publish(out, writer(a="1", README_md="first", study_yaml="seed: 0"))
    (out / "README.md").write_text("first\n## Licence and contact\nCC BY\n")
    (out / "study.yaml").write_text("seed: 7")
    (out / "decisions.jsonl").write_text("{}\n")
    for changed in (2, 1):
        assert len(publish(out, writer(a="2", README_md="second", study_yaml="seed: 1"))) == changed
    files = content(out)
    assert files.pop(next(name for name in files if ".bak-" in name)).endswith("CC BY\n")
    assert files == {"a": "2", "README.md": "second", "study.yaml": "seed: 7", "decisions.jsonl": "{}\n"}


def test_a_datasheet_that_people_changed_is_kept_beside_the_new_one(tmp_path):
    out = tmp_path / "mine"
    publish(out, writer(README_md="first"))
    (out / "README.md").write_text("my own words")
    (sentence,) = publish(out, writer(README_md="second"))
    assert sentence.endswith("README.md was changed since it was written: it is kept as README.md.bak-TIME")
    assert publish(out, writer(README_md="third")) == []
    kept = content(out)
    assert kept.pop("README.md") == "third"
    assert list(kept.values()) == ["my own words"]


def test_data_that_were_changed_by_hand_are_not_overwritten(tmp_path):
    out = tmp_path / "mine"
    publish(out, writer(a="1", b="1"))
    (out / "a").write_text("corrected by hand")
    with pytest.raises(DataError, match=r"or they were changed since: a\. .* or add --force"):
        publish(out, writer(a="2", b="2"))
    assert content(out) == {"a": "corrected by hand", "b": "1"}
    publish(out, writer(a="2", b="2"), force=True)
    kept = content(out)
    assert (kept.pop("a"), kept.pop("b")) == ("2", "2")
    assert list(kept.values()) == ["corrected by hand"]


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis").write_text("")
    with pytest.raises(DataError, match="a folder that has files already: name another with --to"):
        check_target(tmp_path, force=False)


def test_a_writer_that_fails_leaves_the_older_set(tmp_path):
    out = tmp_path / "mine"
    publish(out, writer(a="1"))

    def fails(folder):
        (folder / "a").write_text("2")
        raise DataError("no")

    with pytest.raises(DataError, match="no"):
        publish(out, fails)
    assert content(out) == {"a": "1"}
    assert list(tmp_path.iterdir()) == [out]


def test_a_file_of_somebody_else_is_not_written_over(tmp_path):
    out = tmp_path / "mine"
    publish(out, writer(set_json="1"))
    (out / "repairs").write_text("my own list")
    with pytest.raises(DataError, match="no build wrote these files, or they were changed since: repairs"):
        publish(out, writer(set_json="2", repairs="of the build"))
    assert content(out) == {"set_json": "1", "repairs": "my own list"}


def test_a_build_that_was_killed_while_it_moved_its_files_is_continued(tmp_path, monkeypatch):
    out = tmp_path / "mine"
    for before in ("1", "2"):  # a first build, and one over an older set
        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", dies_after(3))
            with pytest.raises(KeyboardInterrupt):
                publish(out, writer(a=before, b=before, c=before, d=before))
        assert (out / UNFINISHED).exists()
        publish(out, writer(a="3", b="3"))
        assert content(out) == {"a": "3", "b": "3"}


def dies_after(count):
    """Return what moves files until a build is killed; the first call moves its mark."""
    replace, left = Path.replace, [count]

    def replaces(path, target):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return replace(path, target)

    return replaces


def test_while_a_build_is_continued_files_of_others_stay(tmp_path):
    out = tmp_path / "mine"
    publish(out, writer(a="1"))
    (out / UNFINISHED).write_text('{"command": "data build", "files": {"a": {}}}')
    (out / "b").write_text("mine")
    with pytest.raises(DataError, match="no build wrote these files, or they were changed since: b"):
        publish(out, writer(a="2", b="2"))
    assert content(out) == {"a": "1", "b": "mine"}


def test_a_folder_that_another_command_left_unfinished_is_refused(tmp_path):
    (tmp_path / UNFINISHED).write_text('{"command": "data convert"}')
    with pytest.raises(DataError, match="a folder that has files already"):
        check_target(tmp_path, force=False)


def test_with_force_a_set_without_its_record_keeps_decisions(tmp_path):
    out = tmp_path / "mine"
    publish(out, writer(a="1"))
    (out / "set.json").write_text("{}")
    (out / "decisions.jsonl").write_text("{}\n")
    (out / RECORD).unlink()
    publish(out, writer(a="2"), force=True)
    kept = content(out)
    assert (kept["a"], kept["decisions.jsonl"]) == ("2", "{}\n")
    assert [name for name in kept if name.startswith("a.bak")]


@pytest.mark.parametrize(
    ("documents", "out"), [("docs", "docs"), ("docs", "docs/set"), ("all/docs", "all"), ("docs", "/")]
)
def test_a_set_and_its_documents_are_not_in_each_other(tmp_path, documents, out):
    (tmp_path / documents).mkdir(parents=True)
    with pytest.raises(DataError, match="name a folder beside it"):
        check_places(tmp_path / documents, tmp_path / out)

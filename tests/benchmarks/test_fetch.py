"""Fetching with the real client, from a small hub on this machine."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ohr.benchmarks.ohrbench import REPOSITORY
from ohr.errors import DataError
from ohr.files.hub import RECORD, fetch, root_below, unpack

from .hub_server import archive, large


def get(hub, folder, revision=None):
    return fetch("o/r", folder, revision, endpoint=hub.url)


def test_files_are_fetched_unpacked_and_written_down(hub, tmp_path):
    found = get(hub, tmp_path / "data")
    assert (len(found.files), found.unpacked, found.commit) == (2, 1, "a" * 40)
    assert found.line == f"2 files of o/r at commit {'a' * 40}, 1 unpacked"
    assert (tmp_path / "data/retrieval_base/gt/law/lease.json").read_bytes() == b"[]"
    record = json.loads((tmp_path / "data" / RECORD).read_text())
    assert record["commit"] == "a" * 40
    assert record["sha256"] == {name: large(content) for name, content in hub.files.items()}


def test_a_second_fetch_takes_the_same_commit_and_downloads_nothing(hub, tmp_path):
    get(hub, tmp_path, "v2")
    hub.asked.clear()
    assert get(hub, tmp_path).commit == "b" * 40
    assert not [path for command, path, _ in hub.asked if command == "GET" and "/resolve/" in path]


def test_a_folder_inside_the_archive_may_be_the_root(hub, tmp_path):
    hub.files = {"all.zip": archive({"OHR-Bench/data/retrieval_base/gt/law/a.json": b"[]"})}
    get(hub, tmp_path)
    assert root_below(tmp_path, lambda path: (path / "retrieval_base").is_dir()) == tmp_path / "OHR-Bench/data"
    assert root_below(tmp_path, lambda path: (path / "absent").is_dir()) is None


@pytest.mark.parametrize("name", ["qas_v2.json", "base.zip"])
def test_a_file_that_is_not_what_the_hub_has_is_refused_and_deleted(hub, tmp_path, name):
    hub.forged[name] = bytes(len(hub.files[name]))
    with pytest.raises(DataError, match=rf"{re.escape(name)}: the download differs from the hub's file"):
        get(hub, tmp_path)
    assert not (tmp_path / name).exists()
    hub.forged.clear()
    assert len(get(hub, tmp_path).files) == 2


def test_an_interrupted_download_is_resumed(hub, tmp_path):
    kept = 10 << 20  # the client writes pieces of this size
    hub.files["pages.zip"] = archive({"retrieval_base/MinerU/law/lease.json": b" " * (kept + 4000) + b"[]"})
    hub.breaks["pages.zip"] = kept + 2000
    with pytest.raises(DataError, match=r"o/r: cannot be fetched .*; run the same command again to resume"):
        get(hub, tmp_path)
    assert not (tmp_path / RECORD).exists()
    hub.breaks.clear()
    hub.asked.clear()
    assert get(hub, tmp_path).unpacked == 2
    sent = [(path.rsplit("/", 1)[1], part) for command, path, part in hub.asked if command == "GET" and part]
    assert sent == [("pages.zip", f"bytes={kept}-")]
    assert (tmp_path / "pages.zip").read_bytes() == hub.files["pages.zip"]


@pytest.mark.acceptance  # three commands; the tests above call the same function
def test_the_command_fetches_from_the_hub_that_the_environment_names(hub, tmp_path):
    texts = [{"page_idx": 0, "text": "It began in 1964."}]
    hub.files["base.zip"] = archive({"retrieval_base/gt/law/lease.json": json.dumps(texts).encode()})
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_TELEMETRY": "1"}

    def ohr(*arguments):
        command = [str(Path(sys.executable).with_name("ohr")), *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    found = ohr("data", "get", "ohrbench")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines() == [
        f"2 files of {REPOSITORY} at commit {'a' * 40}, 1 unpacked",
        "root: data/ohrbench",
    ]
    counted = ohr("data", "verify", "data/ohrbench", "--json")
    assert counted.returncode == 1  # it is no whole copy
    assert {"what": "law: documents", "found": 1, "published": 95} in json.loads(counted.stdout)["tallies"]
    hub.forged["base.zip"] = archive({"retrieval_base/gt/law/lease.json": b"[]" + b" " * len(json.dumps(texts)[2:])})
    broken = ohr("data", "get", "ohrbench", "--to", "again")
    assert broken.returncode == 2
    assert "base.zip: the download differs from the hub's file" in broken.stderr


@pytest.mark.parametrize("changed", [b"short", None])
def test_what_was_changed_on_disk_is_fetched_again(hub, tmp_path, changed):
    get(hub, tmp_path)
    whole = hub.files["base.zip"]
    (tmp_path / "base.zip").write_bytes(changed or bytes(len(whole)))
    hub.asked.clear()
    get(hub, tmp_path)
    assert (tmp_path / "base.zip").read_bytes() == whole
    assert [path.rsplit("/", 1)[1] for _, path, _ in hub.asked if "/resolve/" in path] == ["base.zip"]


@pytest.mark.parametrize("name", ["base.zip", RECORD, "retrieval_base/gt/law/lease.json"])
def test_a_file_that_was_not_fetched_is_not_replaced(hub, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("these are mine")
    with pytest.raises(DataError, match=rf"{re.escape(str(path))}: is there already and not the hub's file.*--to"):
        get(hub, tmp_path)
    assert path.read_text() == "these are mine"


def test_a_fetched_file_that_was_changed_is_kept_beside_the_new_one(hub, tmp_path):
    get(hub, tmp_path)
    (tmp_path / "base.zip").write_text("these are mine")
    get(hub, tmp_path)
    assert [path.read_text() for path in tmp_path.glob("base.zip.bak-*")] == ["these are mine"]


def test_only_wanted_files_of_a_hub_within_reach_are_fetched(hub, tmp_path):
    found = fetch("o/r", tmp_path, wanted=lambda name: name.endswith(".json"), endpoint=hub.url)
    assert (found.files, found.unpacked) == (("qas_v2.json",), 0)
    assert not (tmp_path / "base.zip").exists()
    for revision, endpoint in (("no-such-revision", hub.url), (None, "http://127.0.0.1:9")):
        with pytest.raises(DataError, match=r"^o/r: cannot be fetched \(.*\); run the same command again to resume$"):
            fetch("o/r", tmp_path, revision, endpoint=endpoint)


def test_a_name_that_would_leave_the_folder_is_refused(hub, tmp_path):
    hub.files["../out.json"] = b"[]"
    with pytest.raises(DataError, match=r"'\.\./out\.json' would be written outside of"):
        get(hub, tmp_path / "data")
    assert not (tmp_path / "out.json").exists()


OUTSIDE = ("../out.json", "/etc/out.json", "a/../../out.json", "..\\out.json", "C:/out.json")


@pytest.mark.parametrize(
    ("name", "link", "message"),
    [
        *((name, {}, "would be written outside") for name in OUTSIDE),
        *((name, {}, f"'{re.escape(name)}' names no file") for name in (".", "")),
        ("link", {"link": 0o120777}, "is a link"),
    ],
)
def test_an_archive_that_would_write_elsewhere_is_refused_before_anything_is_written(tmp_path, name, link, message):
    path = tmp_path / "evil.zip"
    path.write_bytes(archive({"good.json": b"[]", name: b"x"}, **link))
    (tmp_path / "data").mkdir()
    with pytest.raises(DataError, match=message):
        unpack(path, tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


def test_a_name_in_utf8_that_is_not_marked_as_such_is_read(tmp_path):
    path = tmp_path / "old.zip"
    content = archive({"26-潘婠/001_正常.jpg": b"x", "caf\u00e9.jpg": b"y"})
    marked = (0x800).to_bytes(2, "little")
    assert content.count(marked) >= 4
    path.write_bytes(
        content.replace(b"PK\x03\x04\x14\x00" + marked, b"PK\x03\x04\x14\x00\0\0").replace(
            b"PK\x01\x02\x14\x03\x14\x00" + marked, b"PK\x01\x02\x14\x03\x14\x00\0\0"
        )
    )
    with zipfile.ZipFile(path) as opened:
        assert "26-潘婠/001_正常.jpg" not in opened.namelist()
    assert unpack(path, tmp_path) == 2
    before = (tmp_path / "café.jpg").stat().st_mtime_ns
    assert unpack(path, tmp_path) == 2
    assert (tmp_path / "café.jpg").stat().st_mtime_ns == before  # what is there is kept
    assert (tmp_path / "26-潘婠/001_正常.jpg").read_bytes() == b"x"
    assert (tmp_path / "café.jpg").read_bytes() == b"y"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA], ids=["deflate", "lzma"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_archive_is_refused(tmp_path, damage, method):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("a", b"x y z " * 1000)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[-30:]
    else:
        content[45] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.zip: damaged: .*; delete it and fetch again"):
        unpack(path, tmp_path)


def test_a_bomb_is_refused_before_anything_is_written(tmp_path):
    path, claimed = tmp_path / "bomb.zip", 3 << 30
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a", bytes(77_777))
    path.write_bytes(path.read_bytes().replace((77_777).to_bytes(4, "little"), claimed.to_bytes(4, "little")))
    with pytest.raises(DataError, match="unpacks to 3,221,225,472 bytes, more than 100 times its size"):
        unpack(path, tmp_path)
    assert [found.name for found in tmp_path.iterdir()] == ["bomb.zip"]

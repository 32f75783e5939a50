import tarfile
import zipfile
from io import BytesIO

import pytest

from checks import distributions

FILES = {"ohr/py.typed": b"", "ohr/commit.txt": b"0123\n", "ohr/keys.py": b"# see /tmp and https://a.b/home/c/d\n"}


@pytest.fixture
def write(tmp_path):
    """Write an sdist and two wheels, with other files than the usual ones where they are given."""

    def written(sdist=FILES, wheel=FILES, direct=FILES):
        (tmp_path / "direct").mkdir(exist_ok=True)
        for path, files in ((tmp_path / "ohr-1.whl", wheel), (tmp_path / "direct" / "ohr-1.whl", direct)):
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in files.items():
                    archive.writestr(name, content)
        with tarfile.open(tmp_path / "ohr-1.tar.gz", "w:gz") as archive:
            for name, content in sdist.items():
                about = tarfile.TarInfo(f"ohr-1/{name}")
                about.size = len(content)
                archive.addfile(about, BytesIO(content))
        return distributions.faults(tmp_path)

    return written


def test_two_equal_wheels_and_an_sdist_pass(write):
    assert write() == []


def test_a_file_that_the_sdist_lost_is_named(write):
    assert write(direct={**FILES, "ohr/data.json": b"{}"}) == [
        "ohr/data.json: the sdist's wheel lacks it; is it in MANIFEST.in, or left in build/ by an earlier build?"
    ]


def test_a_file_that_differs_is_named(write):
    assert write(direct={**FILES, "ohr/keys.py": b"\n"}) == ["ohr/keys.py: differs between the two wheels"]


def test_what_a_wheel_needs_is_named(write):
    bare = {"ohr/py.typed": b""}
    assert write(wheel=bare, direct=bare) == ["ohr-1.whl: lacks ohr/commit.txt"]


@pytest.mark.parametrize(
    "name",
    ["tests/data/page.png", "ohr/.hypothesis/x", "build/lib/ohr/a.py", ".git/config", "ohr/__pycache__/a.pyc", ".env"],
)
def test_what_is_no_part_of_a_release_is_named(write, name):
    assert write(sdist={**FILES, name: b""}) == [f"ohr-1.tar.gz: {name} is no part of a release"]


@pytest.mark.parametrize("path", ["/root/ohr/data", "/home/ann/x/y.pdf", "/tmp/build-1/ohr/a.py"])
def test_a_path_of_a_machine_is_named(write, path):
    files = {**FILES, "ohr/report.html": f'<a href="{path}">'.encode()}
    assert write(sdist=files) == [f"ohr-1.tar.gz: ohr/report.html has a path of a machine: {path}"]


def test_a_folder_without_the_files_is_named(tmp_path):
    assert distributions.faults(tmp_path) == [f"{tmp_path}: needs a .tar.gz, a .whl and a direct/*.whl"]
